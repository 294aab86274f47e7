# SPDX-License-Identifier: Apache-2.0
"""What a patch does to the tests of one Python file, judged on its syntax tree."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_HOOK_NAMES = frozenset({"pytest_plugins", "load_tests"})
_SKIPS = frozenset(
    {
        "skip",
        "skipif",
        "skipIf",
        "skipUnless",
        "xfail",
        "expectedFailure",
        "skipTest",
        "SkipTest",
        "importorskip",
    }
)
_COMPOUND = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith, ast.Try)
_BLOCKS = ("body", "orelse", "finalbody")


def python_faults(old: bytes | None, new: bytes) -> list[str]:
    """Faults of the new text against the old one (None: a new file).

    A new text that does not parse is left to the run, but what it removes is a fault all the same.
    """
    after = _parse(new)
    before = _parse(old) if old is not None else ast.Module([], [])
    if after is None or before is None:
        return _text_faults(old or b"", new)
    faults = [f"it brings the hook {name}" for name in sorted(_hooks(after) - _hooks(before))]
    if old is None:
        return faults
    tests = _tests(before)
    faults += _scope_faults(before.body, after.body, "")
    faults += _switch_faults(before, after, frozenset(tests))
    return list(dict.fromkeys(faults))


def _parse(text: bytes) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _text_faults(old: bytes, new: bytes) -> list[str]:
    kept = Counter(line.strip() for line in new.split(b"\n"))
    lost = Counter(line.strip() for line in old.split(b"\n")) - kept
    gone = [line for line in lost if line and not line.startswith(b"#")]
    return [f"an existing line is gone: {gone[0].decode('utf-8', 'replace')[:80]!r}"] if gone else []


def _hooks(tree: ast.Module) -> set[str]:
    """Names of hooks that the file defines, assigns or imports, at any depth."""
    return {name for node in ast.walk(tree) for name in _bound(node) if _is_hook(name)}


def _is_hook(name: str) -> bool:
    return name.startswith("pytest_") or name in _HOOK_NAMES


def _bound(node: ast.AST) -> Iterator[str]:
    """Names that this one node binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
        yield node.id
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).split(".")[0]
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
        yield node.attr


def _is_test(name: str) -> bool:
    return name.startswith("test")


def _tests(tree: ast.Module) -> list[str]:
    return [name for name, _ in _named_tests(tree.body, "")]


def _named_tests(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, _Function]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _named_tests(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_test(node.name):
            yield prefix + node.name, node
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from _named_tests(node.body, prefix)


def _scope_faults(old: Sequence[ast.stmt], new: Sequence[ast.stmt], prefix: str) -> list[str]:
    """Faults of one scope: every test and every class with tests of ``old`` must stand in ``new``, grown at most."""
    faults = []
    for node in _definitions(old):
        if isinstance(node, ast.ClassDef):
            if not any(True for _ in _named_tests(node.body, "")):
                continue
        elif not _is_test(node.name):
            continue
        faults += _definition_faults(node, new, prefix)
    return faults


def _definitions(body: Sequence[ast.stmt]) -> Iterator[_Function | ast.ClassDef]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from _definitions(node.body)


def _definition_faults(node: _Function | ast.ClassDef, new: Sequence[ast.stmt], prefix: str) -> list[str]:
    name = prefix + node.name
    same = [other for other in _definitions(new) if other.name == node.name and type(other) is type(node)]
    if not same:
        return [f"the existing {name} is gone or of another kind"]
    if _bindings(new, node.name) > 1:
        return [f"the existing {name} is shadowed"]
    other = same[0]
    faults = _decorator_faults(node, other, name)
    if isinstance(node, ast.ClassDef) and isinstance(other, ast.ClassDef):
        if [ast.dump(base) for base in node.bases] != [ast.dump(base) for base in other.bases]:
            faults.append(f"the existing class {name} has other bases")
        return faults + _scope_faults(node.body, other.body, f"{name}.")
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    assert isinstance(other, ast.FunctionDef | ast.AsyncFunctionDef)
    if ast.dump(node.args) != ast.dump(other.args):
        faults.append(f"the existing {name} has other parameters")
    fault = _block_fault(node.body, other.body)
    return [*faults, f"the existing {name}: {fault}"] if fault else faults


def _bindings(body: Sequence[ast.stmt], name: str) -> int:
    """How often the scope binds ``name``: definitions, assignments, imports, deletions, attributes of it."""
    count = 0
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            count += node.name == name
        else:
            count += sum(bound == name for inner in ast.walk(node) for bound in _bound(inner))
    return count


def _decorator_faults(
    node: _Function | ast.ClassDef, other: _Function | ast.ClassDef, name: str
) -> list[str]:
    rest = iter(other.decorator_list)
    kept: list[ast.expr] = []
    for decorator in node.decorator_list:
        match = next((new for new in rest if _expression_grown(decorator, new)), None)
        if match is None:
            return [f"a decorator of the existing {name} is gone or changed"]
        kept.append(match)
    added = [new for new in other.decorator_list if new not in kept]
    return [f"the existing {name} gets the decorator {ast.unparse(new)[:60]}" for new in added]


def _expression_grown(old: ast.expr, new: ast.expr) -> bool:
    """Equal, or a literal (also as an argument) that keeps all it held, in its order."""
    if ast.dump(old) == ast.dump(new):
        return True
    if isinstance(old, ast.Call) and isinstance(new, ast.Call):
        return (
            ast.dump(old.func) == ast.dump(new.func)
            and len(old.args) == len(new.args)
            and all(map(_expression_grown, old.args, new.args))
            and [key.arg for key in old.keywords] == [key.arg for key in new.keywords[: len(old.keywords)]]
            and all(
                _expression_grown(a.value, b.value) for a, b in zip(old.keywords, new.keywords, strict=False)
            )
        )
    if isinstance(old, ast.List | ast.Tuple | ast.Set) and type(old) is type(new):
        assert isinstance(new, ast.List | ast.Tuple | ast.Set)
        rest = iter(new.elts)
        return all(any(_expression_grown(item, other) for other in rest) for item in old.elts)
    if isinstance(old, ast.Dict) and isinstance(new, ast.Dict):
        pairs = list(zip(new.keys, new.values, strict=True))
        return all(
            any(_same_key(key, k) and _expression_grown(value, v) for k, v in pairs)
            for key, value in zip(old.keys, old.values, strict=True)
        )
    return False


def _same_key(old: ast.expr | None, new: ast.expr | None) -> bool:
    if old is None or new is None:
        return old is new
    return ast.dump(old) == ast.dump(new)


def _block_fault(old: Sequence[ast.stmt], new: Sequence[ast.stmt]) -> str:
    """'' if every old statement stands in ``new``, in order, and nothing before them leaves early."""
    at = 0
    for statement in old:
        start = at
        while at < len(new) and not _statement_grown(statement, new[at]):
            at += 1
        if at == len(new):
            return f"this is gone or changed: {ast.unparse(statement).splitlines()[0][:70]!r}"
        if any(_leaves(added) for added in new[start:at]):
            return "an added line leaves before the rest of it"
        at += 1
    return ""


def _leaves(statement: ast.stmt) -> bool:
    kinds = (ast.Return, ast.Raise, ast.Break, ast.Continue)
    return any(isinstance(node, kinds) for node in ast.walk(statement)) or bool(_switches(statement))


def _statement_grown(old: ast.stmt, new: ast.stmt) -> bool:
    if ast.dump(old) == ast.dump(new):
        return True
    if type(old) is not type(new):
        return False
    if isinstance(old, ast.Assign) and isinstance(new, ast.Assign):
        same = [ast.dump(a) for a in old.targets] == [ast.dump(b) for b in new.targets]
        return same and _is_table(old.value) and _expression_grown(old.value, new.value)
    if not isinstance(old, _COMPOUND):
        return False
    if not _same_head(old, new):
        return False
    return all(not _block_fault(getattr(old, name, []), getattr(new, name, [])) for name in _BLOCKS)


def _is_table(value: ast.expr) -> bool:
    """A literal of rows; a flat list may be an expected value, which must stay."""
    items = value.values if isinstance(value, ast.Dict) else getattr(value, "elts", [])
    return bool(items) and all(isinstance(item, ast.Tuple | ast.List | ast.Dict) for item in items)


def _same_head(old: ast.stmt, new: ast.stmt) -> bool:
    """Whether two compound statements differ in nothing but their blocks (and a literal that is looped over)."""
    for name, value in ast.iter_fields(old):
        other = getattr(new, name)
        if name in _BLOCKS:
            continue
        if name == "iter":
            if not _expression_grown(value, other):
                return False
        elif _dumped(value) != _dumped(other):
            return False
    return True


def _dumped(value: object) -> object:
    if isinstance(value, ast.AST):
        return ast.dump(value)
    return [_dumped(item) for item in value] if isinstance(value, list) else value


def _switch_faults(before: ast.Module, after: ast.Module, tests: frozenset[str]) -> list[str]:
    """Skips and ``__test__`` that reach existing tests: all but those inside tests that the patch adds."""
    if not tests:
        return []
    added = {node for name, node in _named_tests(after.body, "") if name not in tests}
    new_classes = {node.name for node in after.body if isinstance(node, ast.ClassDef)}
    new_classes -= {node.name for node in before.body if isinstance(node, ast.ClassDef)}
    rest = [node for node in after.body if getattr(node, "name", None) not in new_classes]
    old = Counter(_switches(before))
    new = Counter(name for node in rest for name in _switches(node, added))
    return [f"it switches existing tests off: {name}" for name in new - old]


def _switches(node: ast.AST, left_out: set[_Function] | frozenset[_Function] = frozenset()) -> list[str]:
    if node in left_out:
        return []
    found = []
    if isinstance(node, ast.Attribute) and node.attr in _SKIPS:
        found.append(node.attr)
    elif isinstance(node, ast.Name) and (node.id in _SKIPS or node.id == "__test__"):
        found.append(node.id)
    for child in ast.iter_child_nodes(node):
        found += _switches(child, left_out)
    return found
