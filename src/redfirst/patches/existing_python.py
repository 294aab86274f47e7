# SPDX-License-Identifier: Apache-2.0
"""What a patch does to the tests, tables and assertions that one Python file already has."""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from redfirst.patches.python_grown import (
    BLOCKS,
    Definition,
    Function,
    Lines,
    body_grown,
    expression_grown,
    same,
    span,
    targets_of,
)
from redfirst.patches.python_hooks import new_hooks, new_hooks_of_text
from redfirst.patches.python_names import bound_here, late_stars
from redfirst.patches.python_reach import bound_from_afar, reached
from redfirst.patches.python_runner import runner_changes
from redfirst.patches.python_switches import new_switches, new_switches_of_text

_TEST_CLASS = re.compile(r"Test\w*|\w*(?:Test|Tests|TestCase|TestSuite)")
_BINDS = re.compile(
    rb"(?:\b(?:def|class|del|as|import)[ \t]+|^[ \t]*(?=\w+[ \t]*=))([tT]est\w*)", re.MULTILINE
)
_REPLACING = re.compile(
    r"assert[A-Z_]\w*|fail|subTest|run|__init__|__new__|__call__|__getattr\w*__|__init_subclass__|_call(?:Test|SetUp)\w*|defaultTestResult"
)
_EMPTIED = frozenset({"clear", "pop", "popitem", "remove", "__delitem__", "__setitem__"})


@dataclass(frozen=True, slots=True)
class _Text:
    """A parsed file and its lines."""

    tree: ast.Module
    lines: tuple[str, ...]

    def words(self, numbers: Sequence[int]) -> list[str]:
        """Those lines without margins, blank ones left out."""
        return [text for number in numbers if (text := self.lines[number - 1].strip())]


def python_faults(path: str, old: bytes | None, new: bytes) -> list[str]:
    """Faults of the new text against the old one (None: a new file).

    A new text that does not parse is left to the run, but what it removes is a fault all the same.
    """
    after = _parse(new)
    before = _parse(old) if old is not None else _Text(ast.Module([], []), ())
    if after is None or before is None:
        return _text_faults(old or b"", new)
    try:
        return _tree_faults(path, before, after, existing=old is not None)
    except RecursionError:
        return ["it is nested too deeply to be judged"]


def _tree_faults(path: str, before: _Text, after: _Text, *, existing: bool) -> list[str]:
    faults = [f"it brings or changes the hook {name}" for name in new_hooks(path, before.tree, after.tree)]
    faults += [f"it changes the runner: {name}" for name in runner_changes(before.tree, after.tree)]
    if existing or path.endswith("conftest.py"):
        switches = new_switches(before.tree, after.tree)
        faults += [f"it may switch existing tests off: {name}" for name in switches]
    if existing:
        faults += _Judge(before, after).scope(before.tree.body, after.tree.body, "")
        faults += reached(before.tree, after.tree)
    return list(dict.fromkeys(faults))


def _parse(text: bytes) -> _Text | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        decoded = text.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
        return _Text(tree, (*decoded.split("\n"), ""))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _text_faults(old: bytes, new: bytes) -> list[str]:
    """Every old line but comments stands in the new text, in order and as far in; no name is bound again."""
    rest = iter([line.rstrip() for line in new.split(b"\n")])
    wanted = [
        line.rstrip() for line in old.split(b"\n") if line.strip() and not line.strip().startswith(b"#")
    ]
    gone = [line.strip().decode("utf-8", "replace")[:80] for line in wanted if line not in rest]
    faults = [f"an existing line is gone: {line!r}" for line in gone[:1]]
    added = Counter(_BINDS.findall(new)) - Counter(_BINDS.findall(old))
    again = sorted(name.decode("utf-8", "replace") for name in set(added) & set(_BINDS.findall(old)))
    faults += [f"the existing {name} is bound again" for name in again]
    faults += [f"it brings the hook {name}" for name in new_hooks_of_text(old, new)]
    if old:
        faults += [f"it may switch existing tests off: {name}" for name in new_switches_of_text(old, new)]
    return faults


def _sites(
    body: Sequence[ast.stmt], chain: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], ast.stmt]]:
    """Every statement of one scope with the heads of the blocks around it."""
    for node in body:
        yield chain, node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        head = _head(node)
        for name in BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield from _sites(block, (*chain, f"{name} {head}"))
        for number, case in enumerate(getattr(node, "cases", [])):
            wording = ast.dump(case.pattern) + (ast.dump(case.guard) if case.guard else "")
            yield from _sites(case.body, (*chain, f"case {number} {wording} {head}"))
        for number, handler in enumerate(getattr(node, "handlers", [])):
            yield from _sites(handler.body, (*chain, f"handler {number} {head}"))


def _head(node: ast.stmt) -> str:
    """The head of a compound statement; growth of a literal that it walks over does not count."""
    left_out = (*BLOCKS, "handlers", "cases", "iter")
    parts = [value for name, value in ast.iter_fields(node) if name not in left_out]
    flat = [item for part in parts for item in (part if isinstance(part, list) else [part])]
    return " ".join([type(node).__name__, *(ast.dump(item) for item in flat if isinstance(item, ast.AST))])


@dataclass(frozen=True, slots=True)
class _Judge:
    """Compares two versions of one file, scope by scope."""

    before: _Text
    after: _Text

    def scope(self, old: Sequence[ast.stmt], new: Sequence[ast.stmt], prefix: str) -> list[str]:
        """Faults of one module or class body."""
        faults = []
        places: dict[tuple[object, ...], list[ast.stmt]] = {}
        for chain, node in _sites(new):
            if (key := _key(node)) is not None:
                places.setdefault((chain, *key), []).append(node)
        held = set()
        for chain, node in _sites(old):
            key = _key(node)
            if key is None or not _is_kept(node):
                continue
            held |= set(_names(node))
            name = prefix + key[1]
            same_place = places.get((chain, *key), [])
            if not same_place:
                faults.append(f"the existing {name} is gone, moved or of another kind")
                continue
            faults += self._pair(node, same_place.pop(0), name)
        faults += [f"everything of {name} is imported over it" for name in late_stars(old, new, held)]
        return faults + self._rebound(old, new, held, prefix) + _emptied(old, new, held, prefix)

    def _pair(self, old: ast.stmt, new: ast.stmt, name: str) -> list[str]:
        if isinstance(old, ast.ClassDef) and isinstance(new, ast.ClassDef):
            return self._class(old, new, name)
        if isinstance(old, Function) and isinstance(new, Function):
            return self._function(old, new, name)
        assert isinstance(old, ast.Assign | ast.AnnAssign)
        assert isinstance(new, ast.Assign | ast.AnnAssign)
        return [] if expression_grown(old.value, new.value) else [f"what {name} held is gone or changed"]

    def _class(self, old: ast.ClassDef, new: ast.ClassDef, name: str) -> list[str]:
        decorators = _decorators(old, new, name)
        faults = [decorators] if isinstance(decorators, str) else []
        heads = [[ast.dump(item) for item in (*node.bases, *node.keywords)] for node in (old, new)]
        if heads[0] != heads[1]:
            faults.append(f"the existing class {name} has other bases")
        known = {bound for _, node in _sites(old.body) for bound in _names(node)}
        added = {bound for _, node in _sites(new.body) for bound in _names(node)} - known
        faults += [
            f"{name}.{bound} replaces what its tests rely on"
            for bound in sorted(added)
            if _REPLACING.fullmatch(bound)
        ]
        return faults + self.scope(old.body, new.body, f"{name}.")

    def _function(self, old: Function, new: Function, name: str) -> list[str]:
        decorators = _decorators(old, new, name)
        if isinstance(decorators, str):
            return [decorators]
        body = body_grown(old, new)
        if isinstance(body, str):
            return [f"the existing {name}: {body}"]
        if not _is_test(name):
            return []
        if not same(old.args, new.args):
            return [f"the existing {name} has other parameters"]
        return self._lines(old, new, name, decorators | body)

    def _lines(self, old: Function, new: Function, name: str, grown: Lines) -> list[str]:
        """Comments and layout of a test are lines too."""
        first, last = ((min([node.lineno, *(d.lineno for d in node.decorator_list)])) for node in (old, new))
        rest = iter(self.after.words(range(last, (new.end_lineno or last) + 1)))
        wanted = [number for number in range(first, (old.end_lineno or first) + 1) if number not in grown]
        for word in self.before.words(wanted):
            if word not in rest:
                return [f"the existing {name}: this line is gone or changed: {word[:70]!r}"]
        return []

    def _rebound(
        self, old: Sequence[ast.stmt], new: Sequence[ast.stmt], held: set[str], prefix: str
    ) -> list[str]:
        before, after = _bindings(old), _bindings(new)
        checks = {name for name in before if name.startswith("assert")}
        return [
            f"the existing {prefix}{name} is shadowed"
            for name in sorted(held | checks)
            if after[name] > before[name]
        ]


def _key(node: ast.stmt) -> tuple[str, str] | None:
    """What kind of thing a statement defines, and under which name."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return type(node).__name__, node.name
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return "data", ", ".join(ast.unparse(target) for target in targets_of(node))
    return None


def _names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        yield from (target.id for target in targets_of(node) if isinstance(target, ast.Name))


def _is_test(name: str) -> bool:
    return name.rsplit(".", 1)[-1].startswith("test")


def _is_kept(node: ast.stmt) -> bool:
    """Whether a definition must stay: a test, what holds tests, what asserts, or a table."""
    if isinstance(node, Function):
        return _is_test(node.name) or asserts(node)
    if isinstance(node, ast.ClassDef):
        bases = [ast.unparse(base) for base in node.bases]
        return any(
            map(_TEST_CLASS.fullmatch, [node.name, *(base.split(".")[-1] for base in bases)])
        ) or asserts(node)
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return False
    if any(_is_test(name) or _TEST_CLASS.fullmatch(name) for name in _names(node)):
        return True
    return isinstance(node.value, ast.List | ast.Tuple | ast.Set | ast.Dict | ast.Constant)


def asserts(node: ast.AST) -> bool:
    """Whether there is an assertion in it: the statement, a method or function ``assert…``, ``pytest.raises``."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Assert):
            return True
        if isinstance(inner, ast.Raise) and inner.exc is not None and "AssertionError" in ast.dump(inner.exc):
            return True
        if isinstance(inner, ast.Call):
            name = inner.func.attr if isinstance(inner.func, ast.Attribute) else getattr(inner.func, "id", "")
            if re.fullmatch(r"assert\w*|fail|raises|warns", name):
                return True
    return False


def _decorators(old: Definition, new: Definition, name: str) -> str | Lines:
    rest = list(new.decorator_list)
    lines: Lines = frozenset()
    for decorator in old.decorator_list:
        if not rest or not expression_grown(decorator, rest[0]):
            return f"the decorators of the existing {name} have changed"
        if not same(decorator, rest.pop(0)):
            lines |= span(decorator)
    if rest:
        return f"the existing {name} gets the decorator {ast.unparse(rest[0])[:60]}"
    return lines


def _bindings(body: Sequence[ast.stmt]) -> Counter[str]:
    """How often a scope binds each name: definitions, assignments, different imports, deletions, attributes, by text.

    Adding to a table (``+=``) is no binding. Attributes and texts count for names of tests and assertions only.
    """
    count: Counter[str] = Counter()
    imports: set[tuple[str, str, str]] = set()
    for _, node in _sites(body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports |= {(getattr(node, "module", "") or "", a.name, a.asname or a.name) for a in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            count[node.name] += 1
            count.update(name for inner in ast.walk(node) for name in bound_from_afar(inner))
        elif not (isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add)):
            for inner in _own_nodes(node):
                count.update([*bound_here(inner), *bound_from_afar(inner)])
    count.update(bound.split(".")[0] for _, _, bound in imports)
    return count


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The node without the statements of its blocks, which are sites of their own."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt | ast.ExceptHandler):
            yield from _own_nodes(child)


def _emptied(old: Sequence[ast.stmt], new: Sequence[ast.stmt], held: set[str], prefix: str) -> list[str]:
    """Tables that an added statement of the scope takes items from."""
    added = Counter(_takes(new, held)) - Counter(_takes(old, held))
    return [f"what {prefix}{name} held is taken out" for name in sorted(added)]


def _takes(body: Sequence[ast.stmt], held: set[str]) -> Iterator[str]:
    for _, node in _sites(body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for inner in _own_nodes(node):
            target = None
            if (
                isinstance(inner, ast.Call)
                and isinstance(inner.func, ast.Attribute)
                and inner.func.attr in _EMPTIED
            ):
                target = inner.func.value
            elif isinstance(inner, ast.Subscript) and isinstance(inner.ctx, ast.Store | ast.Del):
                target = inner.value
            if isinstance(target, ast.Name) and target.id in held:
                yield target.id
