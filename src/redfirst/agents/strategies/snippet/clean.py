# SPDX-License-Identifier: Apache-2.0
"""Takes the report's talk out of its code: comments beside statements, and prints in a test function."""

from __future__ import annotations

import ast
import io
import textwrap
import tokenize

from redfirst.agents.strategies.snippet.steps import parse_quietly

_PURE = frozenset({"vars", "len", "repr", "ascii", "str", "type", "dir", "id", "sorted", "list", "dict"})


def without_comments(code: str) -> str:
    """``code`` without its comments; a line that held nothing else goes with it."""
    lines = code.splitlines()
    dropped: set[int] = set()
    for row, column in _comments(code):
        lines[row - 1] = lines[row - 1][:column].rstrip()
        if not lines[row - 1]:
            dropped.add(row - 1)
    kept = "\n".join(line for number, line in enumerate(lines) if number not in dropped)
    before, after = parse_quietly(code), parse_quietly(kept)
    same = [ast.dump(tree) for tree in before] == [ast.dump(tree) for tree in after]
    return kept if same else code


def _comments(code: str) -> list[tuple[int, int]]:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError):
        return []
    return [token.start for token in tokens if token.type == tokenize.COMMENT]


def example_lines(code: str, tree: ast.FunctionDef) -> list[str]:
    """The body of the report's own test function, without comments and without prints of what it asserts."""
    if tree.body[0].lineno == tree.lineno:
        return [ast.unparse(part) for part in tree.body]
    gone: set[int] = set()
    rest = [part for part in tree.body if not _is_bare_print(part)]
    if rest:
        for part in tree.body:
            if _is_bare_print(part):
                gone |= set(range(part.lineno, (part.end_lineno or part.lineno) + 1))
    lines = code.splitlines()
    opening = tree.body[0]
    first = min([opening.lineno, *(d.lineno for d in getattr(opening, "decorator_list", []))])
    kept = [line for number, line in enumerate(lines[first - 1 :], first) if number not in gone]
    return without_comments(textwrap.dedent("\n".join(kept)).strip("\n")).splitlines()


def _is_bare_print(tree: ast.stmt) -> bool:
    """A print of names, attributes and constants, through functions that only look."""
    if not isinstance(tree, ast.Expr) or not isinstance(tree.value, ast.Call):
        return False
    called = [node.func for node in ast.walk(tree.value) if isinstance(node, ast.Call)]
    names = {func.id if isinstance(func, ast.Name) else "" for func in called}
    printing = isinstance(tree.value.func, ast.Name) and tree.value.func.id == "print"
    return printing and names <= {"print", *_PURE}
