# SPDX-License-Identifier: Apache-2.0
"""Fits the imports of a test to its file: what the file has is reused, the rest joins its imports."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from redfirst.agents.strategies.snippet.needed import used_names
from redfirst.agents.strategies.snippet.steps import bound_names, parse_quietly
from redfirst.agents.strategies.snippet.write import TestText


@dataclass(frozen=True, slots=True)
class Imported:
    """One imported thing. ``name``: '' for a module itself; ``bound``: the name it gets."""

    module: str
    name: str
    bound: str


@dataclass(frozen=True, slots=True)
class Fitted:
    """A test in the names of its file. ``top``: import lines for the file's head; those left in ``test`` are local."""

    test: TestText
    top: tuple[str, ...]


def fit_imports(test: TestText, text: str) -> Fitted:
    """Rename, reuse and sort out the imports of ``test`` for a file with ``text``."""
    body = parse_quietly(text)
    held = _held(body)
    bound = Counter(bound_names(body))
    local_names = _own_names(test)
    renames: dict[str, str] = {}
    top: list[str] = []
    local: list[str] = []
    for line in exploded(test.imports):
        one = _single(line)
        if one is None:
            (local if line.startswith("from __future__") or text else top).append(line)
            continue
        known = _known_as(one, held, bound)
        if known == one.bound:
            continue
        if (
            known
            and one.bound not in local_names
            and _root(known) not in local_names
            and _renameable(test, one)
        ):
            renames[one.bound] = known
        elif one.bound not in bound and one.bound not in _defined(text):
            top.append(line)
        else:
            local.append(line)
    renamed = replace(test, imports=regrouped(local))
    return Fitted(_renamed(renamed, renames) if renames else renamed, regrouped(top))


def exploded(lines: Sequence[str]) -> list[str]:
    """One line for each name, in the same order."""
    found: list[str] = []
    for line in lines:
        tree = ast.parse(line).body[0]
        if isinstance(tree, ast.ImportFrom):
            found += [ast.unparse(ast.ImportFrom(tree.module, [alias], tree.level)) for alias in tree.names]
        else:
            found.append(line)
    return list(dict.fromkeys(found))


def regrouped(lines: Sequence[str]) -> tuple[str, ...]:
    """Lines that import from one module made one; sorted as most projects do: standard library first."""
    names: dict[tuple[str | None, int], list[ast.alias]] = {}
    plain: list[str] = []
    for line in lines:
        tree = ast.parse(line).body[0]
        if isinstance(tree, ast.ImportFrom):
            names.setdefault((tree.module, tree.level), []).extend(tree.names)
        else:
            plain.append(line)
    joined = [
        ast.unparse(ast.ImportFrom(module, sorted(aliases, key=lambda a: a.name), level))
        for (module, level), aliases in names.items()
    ]
    return tuple(sorted([*plain, *joined], key=_order))


def _order(line: str) -> tuple[int, bool, str]:
    if line.startswith("from __future__"):
        return -1, False, line
    return _sort(ast.parse(line).body[0])[0], line.startswith("from"), line


def _root(name: str) -> str:
    return name.partition(".")[0]


def _own_names(test: TestText) -> set[str]:
    """Names that the test binds itself, at any depth."""
    trees = [tree for code in test.code[len(test.imports) :] for tree in parse_quietly(code)]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return arguments | stored | set(bound_names(trees)) | set(test.arguments)


def _defined(text: str) -> set[str]:
    """Names that any function of the file binds: an import of that name would not reach it, but confuse."""
    nodes = ast.walk(ast.Module(parse_quietly(text), []))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _single(line: str) -> Imported | None:
    """The one thing that a line imports; None for several, for a dotted module and for relative ones."""
    body = parse_quietly(line)
    found = list(_imported(body[0])) if len(body) == 1 else []
    return found[0] if len(found) == 1 else None


def _imported(tree: ast.stmt) -> list[Imported]:
    if isinstance(tree, ast.Import):
        plain = [alias for alias in tree.names if alias.asname or "." not in alias.name]
        return [Imported(alias.name, "", alias.asname or alias.name) for alias in plain]
    if isinstance(tree, ast.ImportFrom) and not tree.level and tree.module != "__future__":
        return [Imported(tree.module or "", a.name, a.asname or a.name) for a in tree.names if a.name != "*"]
    return []


def _held(body: Sequence[ast.stmt]) -> list[Imported]:
    return [one for tree in body for one in _imported(tree)]


def _known_as(one: Imported, held: Sequence[Imported], bound: Counter[str]) -> str:
    """How the file calls what ``one`` imports, '' if it does not know it."""
    whole = f"{one.module}.{one.name}" if one.name else one.module
    for other in held:
        path = f"{other.module}.{other.name}" if other.name else other.module
        if path == whole and bound[other.bound] == 1:
            return other.bound
    for other in held:
        path = f"{other.module}.{other.name}" if other.name else other.module
        if one.name and path == one.module and bound[other.bound] == 1:
            return f"{other.bound}.{one.name}"
    return ""


def _renameable(test: TestText, one: Imported) -> bool:
    """Whether every use of a name can be replaced: none stands in a formatted string."""
    nodes = [n for code in test.code for tree in parse_quietly(code) for n in ast.walk(tree)]
    formatted = [inner for node in nodes if isinstance(node, ast.JoinedStr) for inner in ast.walk(node)]
    return not any(isinstance(inner, ast.Name) and inner.id == one.bound for inner in formatted)


def _renamed(test: TestText, renames: dict[str, str]) -> TestText:
    parts = tuple(replace(p, lines=tuple(rename(p.code, renames).splitlines())) for p in test.parts)
    definitions = tuple(rename(code, renames) for code in test.definitions)
    return replace(test, parts=parts, definitions=definitions)


def rename(code: str, renames: dict[str, str]) -> str:
    """``code`` with other text for some of the names that it reads."""
    body = parse_quietly(code)
    if not body or not used_names(ast.Module(body, [])) & set(renames):
        return code
    lines = [line.encode() for line in code.splitlines()]
    names = [n for tree in body for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in renames]
    for node in sorted(names, key=lambda n: (n.lineno, n.col_offset), reverse=True):
        line = lines[node.lineno - 1]
        end = node.end_col_offset or node.col_offset
        lines[node.lineno - 1] = line[: node.col_offset] + renames[node.id].encode() + line[end:]
    return b"\n".join(lines).decode()


def place_for(text: str, line: str) -> int:
    """Behind how many lines of the file an import line belongs: beside its like, in the file's order."""
    block = _import_block(parse_quietly(text))
    if not block:
        return _behind_docstring(text)
    kind = _sort(ast.parse(line).body[0])
    for like in (
        [tree for tree in block if _sort(tree) == kind],
        [tree for tree in block if _sort(tree)[:2] == kind[:2]],
        [tree for tree in block if _sort(tree)[0] == kind[0] == 0],
    ):
        before = [tree for tree in like if ast.unparse(tree) < line]
        if before:
            return before[-1].end_lineno or 0
        if like:
            return like[0].lineno - 1
    return block[0].lineno - 1 if kind[0] == 0 else (block[-1].end_lineno or 0)


def _import_block(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The imports at the head of a file, ``__future__`` ones left out."""
    found: list[ast.stmt] = []
    for tree in body:
        if isinstance(tree, ast.Import | ast.ImportFrom):
            found.append(tree)
        elif not (isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant)):
            break
    plain = [tree for tree in found if getattr(tree, "module", "") != "__future__"]
    return plain or found


def _sort(tree: ast.stmt) -> tuple[int, str, str]:
    """0 for the standard library, 1 for others; the top-level package of the others; and the form."""
    names = getattr(tree, "names", [])
    module = getattr(tree, "module", "") if isinstance(tree, ast.ImportFrom) else names[0].name
    top = _root(module or ".")
    form = "from" if isinstance(tree, ast.ImportFrom) else "import"
    return (0, "", form) if top in sys.stdlib_module_names else (1, top, form)


def _behind_docstring(text: str) -> int:
    body = parse_quietly(text)
    first = body[0] if body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return first.end_lineno or 0
    return (first.lineno - 1) if first is not None else 0
