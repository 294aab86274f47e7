# SPDX-License-Identifier: Apache-2.0
"""Whether a piece of Python holds all that an older version of it held, in the same order.

Every answer is None for no, or the lines of the old text whose wording may differ because a table in them
grew: all other lines must still be there as they were.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef
Lines = frozenset[int]

SWITCHES = frozenset(
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
    | {"__test__", "__unittest_skip__"}
)
_EXITS = frozenset({"exit", "_exit", "quit", "abort"})
_NOTHING: Lines = frozenset()
_LITERALS = (ast.List, ast.Tuple, ast.Set, ast.Dict)
_COMPOUND = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith, ast.Try)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
BLOCKS = ("body", "orelse", "finalbody")


def same(one: ast.AST | None, other: ast.AST | None) -> bool:
    """Equal but for place, comments and layout."""
    if one is None or other is None:
        return one is other
    return ast.dump(one) == ast.dump(other)


def expression_grown(old: ast.expr | None, new: ast.expr | None) -> bool:
    """Equal, or a literal (also as an argument) that keeps all it held, in its order."""
    if old is None or new is None or same(old, new):
        return same(old, new)
    if isinstance(old, ast.Call) and isinstance(new, ast.Call):
        return _call_grown(old, new)
    if isinstance(old, ast.List | ast.Tuple | ast.Set):
        return type(old) is type(new) and _in_order(old.elts, new.elts)
    if isinstance(old, ast.Dict) and isinstance(new, ast.Dict):
        pairs = iter(zip(new.keys, new.values, strict=True))
        return all(
            any(same(key, other) and _entry_grown(value, grown) for other, grown in pairs)
            for key, value in zip(old.keys, old.values, strict=True)
        ) and _no_key_twice(old, new)
    return _made_of_tables(old, new)


def _made_of_tables(old: ast.expr, new: ast.expr) -> bool:
    """Sums of tables, and comprehensions over one."""
    if isinstance(old, ast.BinOp) and isinstance(new, ast.BinOp) and isinstance(old.op, ast.Add):
        return (
            same(old.op, new.op)
            and expression_grown(old.left, new.left)
            and expression_grown(old.right, new.right)
        )
    if isinstance(old, ast.Starred) and isinstance(new, ast.Starred):
        return expression_grown(old.value, new.value)
    if isinstance(old, ast.ListComp | ast.GeneratorExp) and type(old) is type(new):
        assert isinstance(new, ast.ListComp | ast.GeneratorExp)
        return (
            same(old.elt, new.elt)
            and len(old.generators) == len(new.generators)
            and all(
                same(one.target, other.target)
                and expression_grown(one.iter, other.iter)
                and list(map(ast.dump, one.ifs)) == list(map(ast.dump, other.ifs))
                for one, other in zip(old.generators, new.generators, strict=True)
            )
        )
    return False


def _in_order(old: Sequence[ast.expr], new: Sequence[ast.expr]) -> bool:
    """Every row is there as it was: a list inside a row is a value, not a table."""
    rest = iter(new)
    return all(any(_row_kept(item, other) for other in rest) for item in old)


def _row_kept(old: ast.expr, new: ast.expr) -> bool:
    return expression_grown(old, new) if isinstance(old, ast.Starred) else same(old, new)


def _entry_grown(old: ast.expr, new: ast.expr) -> bool:
    """What a key holds may grow only where it is a table of rows itself."""
    rows = isinstance(old, ast.List | ast.Tuple) and any(isinstance(row, _LITERALS) for row in old.elts)
    return expression_grown(old, new) if rows else same(old, new)


def _no_key_twice(old: ast.Dict, new: ast.Dict) -> bool:
    """A key that stands again further down would replace what the old one held."""
    keys = [ast.dump(key) for key in new.keys if key is not None]
    held = {ast.dump(key) for key in old.keys if key is not None}
    return all(keys.count(key) <= 1 for key in held) or same(old, new)


def _call_grown(old: ast.Call, new: ast.Call) -> bool:
    if (
        not same(old.func, new.func)
        or len(old.args) != len(new.args)
        or len(old.keywords) != len(new.keywords)
    ):
        return False
    return all(map(expression_grown, old.args, new.args)) and all(
        one.arg == other.arg and expression_grown(one.value, other.value)
        for one, other in zip(old.keywords, new.keywords, strict=True)
    )


def body_grown(old: Function, new: Function) -> str | Lines:
    """What is wrong with the new body, as a sentence; else the lines whose wording may differ."""
    if any(_yields(new.body)) and not any(_yields(old.body)):
        return "it becomes a generator"
    return _block(old.body, new.body, _tables(old), outermost=True)


def _yields(body: Sequence[ast.stmt]) -> Iterator[bool]:
    return (isinstance(node, ast.Yield | ast.YieldFrom) for statement in body for node in inside(statement))


def inside(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all below it, but not what nested functions and classes hold."""
    yield node
    if isinstance(node, _SCOPES):
        return
    for child in ast.iter_child_nodes(node):
        yield from inside(child)


def _tables(function: Function) -> frozenset[str]:
    """Names whose items the function walks over."""
    heads = [
        node.iter
        for node in ast.walk(function)
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension)
    ]
    return frozenset(node.id for head in heads for node in ast.walk(head) if isinstance(node, ast.Name))


def _block(
    old: Sequence[ast.stmt], new: Sequence[ast.stmt], tables: frozenset[str], *, outermost: bool = False
) -> str | Lines:
    """Every old statement stands in the new block, in order, and nothing added leaves before the rest."""
    lines: Lines = _NOTHING
    at = 0
    for statement in old:
        start, found = at, None
        while at < len(new) and (found := _statement(statement, new[at], tables)) is None:
            at += 1
        if found is None:
            return f"this is gone or changed: {_shown(statement)}"
        if any(leaves(added) for added in new[start:at]):
            return "an added line leaves before the rest of it"
        lines |= found
        at += 1
    if not outermost and any(leaves(added) for added in new[at:]):
        return "an added line leaves before the rest of it"
    return lines


def _shown(statement: ast.stmt) -> str:
    return repr(ast.unparse(statement).splitlines()[0][:70])


def _statement(old: ast.stmt, new: ast.stmt, tables: frozenset[str]) -> Lines | None:
    if same(old, new):
        return _NOTHING
    if type(old) is not type(new):
        return None
    if isinstance(old, ast.Assign | ast.AnnAssign):
        return _assignment(old, new, tables)
    return _compound(old, new, tables) if isinstance(old, _COMPOUND) else None


def _assignment(old: ast.Assign | ast.AnnAssign, new: ast.stmt, tables: frozenset[str]) -> Lines | None:
    """A table that is walked over, or whose items are rows, may grow; any other value may be an expected one."""
    assert isinstance(new, ast.Assign | ast.AnnAssign)
    targets, others = targets_of(old), targets_of(new)
    if len(targets) != len(others) or not all(map(same, targets, others)) or old.value is None:
        return None
    walked = any(isinstance(target, ast.Name) and target.id in tables for target in targets)
    if not (isinstance(old.value, _LITERALS) and walked):
        return None
    return span(old) if expression_grown(old.value, new.value) else None


def targets_of(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    """What an assignment binds."""
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _compound(old: ast.stmt, new: ast.stmt, tables: frozenset[str]) -> Lines | None:
    lines = _head(old, new)
    if lines is None:
        return None
    for name in BLOCKS:
        before, after = getattr(old, name, []), getattr(new, name, [])
        if not isinstance(before, list):
            continue
        found = _block(before, after, tables)
        if isinstance(found, str):
            return None
        lines |= found
    return lines


def _head(old: ast.stmt, new: ast.stmt) -> Lines | None:
    """Whether two compound statements differ in nothing but their blocks and a literal that is walked over."""
    lines: Lines = _NOTHING
    for name, value in ast.iter_fields(old):
        other = getattr(new, name)
        if name in BLOCKS or _dumped(value) == _dumped(other):
            continue
        if name != "iter" or not expression_grown(value, other):
            return None
        lines |= frozenset(range(old.lineno, value.end_lineno + 1))
    return lines


def _dumped(value: object) -> object:
    if isinstance(value, ast.AST):
        return ast.dump(value)
    return [_dumped(item) for item in value] if isinstance(value, list) else value


def leaves(statement: ast.stmt) -> bool:
    """Whether an added statement may end its block early: return, raise, break, exit, skip."""
    if isinstance(statement, ast.Raise | ast.Break | ast.Continue):
        return True
    return any(_leaves(node) for node in inside(statement)) or _breaks(statement)


def _leaves(node: ast.AST) -> bool:
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, ast.Attribute):
        return node.attr in SWITCHES or node.attr in _EXITS
    return isinstance(node, ast.Name) and (node.id in SWITCHES or node.id in _EXITS)


def _breaks(statement: ast.AST) -> bool:
    """A break or continue that belongs to a loop around the statement."""
    if isinstance(statement, ast.Break | ast.Continue):
        return True
    if isinstance(statement, (*_LOOPS, *_SCOPES)):
        return any(map(_breaks, getattr(statement, "orelse", [])))
    return any(_breaks(child) for child in ast.iter_child_nodes(statement))


def span(node: ast.stmt | ast.expr) -> Lines:
    """All lines of a node, 1-based."""
    return frozenset(range(node.lineno, (node.end_lineno or node.lineno) + 1))
