# SPDX-License-Identifier: Apache-2.0
"""Turns a block of a report into steps: statements with what the report shows beside each."""

from __future__ import annotations

import ast
import io
import re
import textwrap
import tokenize
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from redfirst.agents.strategies.snippet.report import Block
from redfirst.agents.strategies.snippet.shell_line import Command

_PROMPT = re.compile(r"^>>>(?: |$)")
_MORE = re.compile(r"^\.\.\.(?: |$)")
_IN = re.compile(r"^In \[\d+\]:\s?")
_IN_MORE = re.compile(r"^\s*\.\.\.+:\s?")
_OUT = re.compile(r"^Out\[\d+\]:\s?")
_PYTHON_TAGS = frozenset({"python", "py", "python3", "py3", "pycon", "python-console", "ipython", "doctest"})
_OTHER_TAGS_TEXT = """
sh bash shell console zsh fish cmd bat powershell text txt plain output log json yaml yml toml
ini xml html jinja jinja2 django diff patch rust rs js javascript ts typescript c cpp java go
sql css pytb traceback none markdown md rst make makefile dockerfile
"""
_OTHER_TAGS = frozenset(_OTHER_TAGS_TEXT.split())


_MAX_LINES = 1_000
#: Fixtures that a report's own test may ask for, and the module of pytest that each comes from.
FIXTURES = {
    "monkeypatch": "_pytest.monkeypatch",
    "tmp_path": "_pytest.tmpdir",
    "capsys": "_pytest.capture",
    "caplog": "_pytest.logging",
    "recwarn": "_pytest.recwarn",
}
Reader = Callable[[str], tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Step:
    """One statement. ``shown``: output the report puts under it; ``comment``: what it says beside it.

    ``command``: the command of a shell session that it runs. ``file``: the name of the file that it writes.
    """

    code: str
    line: int
    block: int
    shown: str | None = None
    comment: str = ""
    command: Command | None = None
    file: str = ""

    @property
    def tree(self) -> ast.stmt | None:
        """The statement's syntax tree; None where it does not parse alone."""
        body = parse_quietly(self.code)
        return body[0] if body else None


def parse_quietly(code: str) -> list[ast.stmt]:
    """The statements of ``code``; empty if it does not parse."""
    try:
        return ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def steps_of(block: Block, number: int) -> tuple[Step, ...]:
    """The steps of a block; empty where it holds no Python that parses. ``number``: its place in the report."""
    lines = block.text.splitlines()
    if len(lines) > _MAX_LINES:
        return ()
    if any(_PROMPT.match(line) for line in lines):
        return _session(lines, block, number, _doctest_line)
    if any(_IN.match(line) for line in lines):
        return _session(lines, block, number, _ipython_line)
    if block.language in _OTHER_TAGS:
        return ()
    steps = _script(block, number)
    tagged = block.language in _PYTHON_TAGS
    return steps if tagged or _looks_like_code(steps) else ()


def _looks_like_code(steps: tuple[Step, ...]) -> bool:
    """Whether untagged lines that happen to parse are a program rather than output or a lone word."""
    trees = [step.tree for step in steps]
    telling = (
        ast.Import,
        ast.ImportFrom,
        ast.FunctionDef,
        ast.ClassDef,
        ast.AsyncFunctionDef,
        ast.With,
        ast.For,
    )
    if any(isinstance(tree, telling) for tree in trees):
        return True
    calls = (ast.Expr, ast.Assign)
    return any(isinstance(tree, calls) and isinstance(tree.value, ast.Call) for tree in trees)


def _doctest_line(line: str) -> tuple[str, str]:
    if _PROMPT.match(line):
        return "new", line[4:]
    if _MORE.match(line):
        return "more", line[4:]
    return "out", line


def _ipython_line(line: str) -> tuple[str, str]:
    for kind, pattern in (("new", _IN), ("more", _IN_MORE), ("out", _OUT)):
        match = pattern.match(line)
        if match:
            return kind, line[match.end() :]
    return "out", line


def _session(lines: list[str], block: Block, number: int, reader: Reader) -> tuple[Step, ...]:
    """Group prompts with the output under them."""
    steps: list[Step] = []
    code: list[str] = []
    shown: list[str] = []
    begun = 0
    for offset, line in enumerate([*lines, ">>> " if reader is _doctest_line else "In [0]: "]):
        kind, text = reader(line)
        if kind == "new":
            steps += _group(code, shown, begun, number)
            code, shown, begun = [text], [], block.line + offset
        elif kind == "more" and code and not shown:
            code.append(text)
        elif code:
            shown.append(text)
    return tuple(steps)


def _group(code: list[str], shown: list[str], line: int, number: int) -> list[Step]:
    """The statements of one prompt; what is shown belongs to the last of them."""
    source = textwrap.dedent("\n".join(code)).strip("\n")
    if not source.strip() or source.lstrip().startswith(("%", "!", "?")):
        return []
    parts = _statements(source, line, number)
    output = "\n".join(shown).strip("\n").replace("<BLANKLINE>", "")
    if parts and output.strip():
        parts[-1] = replace(parts[-1], shown=output)
    return parts


def _script(block: Block, number: int) -> tuple[Step, ...]:
    return tuple(_statements(block.text, block.line, number))


def _statements(source: str, line: int, number: int) -> list[Step]:
    body = parse_quietly(source)
    if not body:
        return []
    lines = source.splitlines()
    comments = _comments(source)
    steps: list[Step] = []
    for place, tree in enumerate(body):
        first = min([tree.lineno, *(d.lineno for d in getattr(tree, "decorator_list", []))])
        last = tree.end_lineno or tree.lineno
        following = body[place + 1].lineno if place + 1 < len(body) else len(lines) + 1
        inner = _guarded(lines, tree, following)
        if inner:
            steps += _statements(inner, line + tree.body[0].lineno - 1, number)  # type: ignore[attr-defined]
            continue
        code = _text_of(lines, tree, first, last, body, place)
        steps.append(Step(code, line + first - 1, number, comment=_beside(comments, tree, last, following)))
    return steps


def _guarded(lines: list[str], tree: ast.stmt, following: int) -> str:
    """What stands under ``if __name__ == "__main__":``, moved out of it; '' for any other statement."""
    if not isinstance(tree, ast.If) or tree.orelse:
        return ""
    if ast.unparse(tree.test) not in ("__name__ == '__main__'", "'__main__' == __name__"):
        return ""
    begun = tree.body[0].lineno
    text = textwrap.dedent("\n".join(lines[begun - 1 : following - 1])) if begun > tree.lineno else ""
    moved = [ast.dump(node) for node in parse_quietly(text)]
    return text if moved == [ast.dump(node) for node in tree.body] else ""


def _text_of(
    lines: list[str], tree: ast.stmt, first: int, last: int, body: list[ast.stmt], place: int
) -> str:
    """The lines of a statement as written; canonical text where it shares a line with another."""
    neighbours = [*body[max(place - 1, 0) : place], *body[place + 1 : place + 2]]
    shared = any(first <= n.lineno <= last or first <= (n.end_lineno or 0) <= last for n in neighbours)
    if shared:
        return ast.unparse(tree)
    text = "\n".join(lines[first - 1 : last])
    kept = _without_comment(text) if not hasattr(tree, "body") else text
    return kept.rstrip()


def _without_comment(text: str) -> str:
    """Drop the comments of a simple statement: they belong to the report, not to the test."""
    lines = text.splitlines()
    for row, column, _ in reversed(_tokens(text)):
        lines[row - 1] = lines[row - 1][:column].rstrip()
    return "\n".join(line for line in lines if line.strip())


def _comments(source: str) -> dict[int, tuple[str, bool]]:
    """Line → the comment on it, and whether it stands alone on its line."""
    lines = source.splitlines()
    found = {}
    for row, column, text in _tokens(source):
        found[row] = (text.lstrip("#").strip(), not lines[row - 1][:column].strip())
    return found


def _tokens(source: str) -> list[tuple[int, int, str]]:
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                found.append((token.start[0], token.start[1], token.string))
    except (tokenize.TokenError, SyntaxError):
        return found
    return found


def _beside(comments: dict[int, tuple[str, bool]], tree: ast.stmt, last: int, following: int) -> str:
    """The comment at the end of a statement, with those that go on under it."""
    if hasattr(tree, "body"):
        return ""
    texts = [comments[last][0]] if last in comments else []
    under: list[str] = []
    row = last + 1
    while row < following and row in comments and comments[row][1]:
        under.append(comments[row][0])
        row += 1
    if under and (row < following or _tells_a_result(under[0])):
        texts += under
    return "\n".join(texts)


def _tells_a_result(comment: str) -> bool:
    """Whether a comment between two statements is about the one above: it begins with what came out."""
    return bool(
        re.match(r"(?:[-=]+>|>+|[\[{('\"\d]|True\b|False\b|None\b|\w*(?:Error|Exception)\b)", comment)
    )


def bound_names(trees: Iterable[ast.stmt | None]) -> Iterator[str]:
    """Names that statements bind at their own level."""
    for tree in trees:
        if isinstance(tree, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in tree.names)
        elif isinstance(tree, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            yield tree.name
        elif tree is not None:
            yield from (
                n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            )


def is_example(tree: ast.stmt | None) -> bool:
    """Whether a statement is a plain test function that asserts something and needs no fixture of its own."""
    if not isinstance(tree, ast.FunctionDef) or not tree.name.startswith("test") or tree.decorator_list:
        return False
    arguments = tree.args
    named = {argument.arg for argument in arguments.args} <= set(FIXTURES)
    others = (
        arguments.vararg
        or arguments.kwarg
        or arguments.kwonlyargs
        or arguments.posonlyargs
        or arguments.defaults
    )
    return named and not others and any(isinstance(node, ast.Assert) for node in ast.walk(tree))
