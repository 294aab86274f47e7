# SPDX-License-Identifier: Apache-2.0
"""Makes the expression that a stated value asks for: the narrowest one that its words support."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence

from redfirst.agents.strategies.snippet.claims import Claim, is_literal
from redfirst.agents.strategies.snippet.compare import alike, literal_type
from redfirst.agents.strategies.snippet.probe import Value
from redfirst.agents.strategies.snippet.wishes import How

_NUMBERS = (int, float, complex)
_SIZED = ("builtins.list", "builtins.tuple", "builtins.dict", "builtins.set", "builtins.frozenset")


def wished(
    claim: Claim,
    text: str,
    value: Value,
    tree: ast.stmt | None,
    *,
    names: frozenset[str],
    printed: bool,
    sure: bool,
) -> str | None:
    """An expression over ``_`` for what a claim says of a result, or None where its words do not settle it.

    ``text``: the claim's value, or one of those that it lists. ``tree``: the statement that gave ``value``.
    """
    if claim.how is How.IS:
        return equality(text, value, names=names, printed=printed, sure=sure)
    if claim.how is How.LENGTH:
        return _length(text, value)
    if claim.how in (How.CONTAINS, How.LACKS):
        return _holding(text, value, "in" if claim.how is How.CONTAINS else "not in")
    if claim.how is How.TRUTH:
        return f"_ is {text}" if value.type == "builtins.bool" else None
    if claim.how is How.TYPE:
        return f"isinstance(_, {text})" if value.type != f"builtins.{text}" else None
    return _same(claim, text, tree, names)


def _length(text: str, value: Value) -> str | None:
    if value.type in ("builtins.int", "builtins.float"):
        return f"_ == {text}"
    return f"len(_) == {text}" if value.type in _SIZED else None


def _holding(text: str, value: Value, sign: str) -> str | None:
    """What must be found in a text or among the items of a container, or must not."""
    wanted = text.strip()
    if not wanted or "..." in wanted or "…" in wanted:
        return None
    literal = ast.literal_eval(wanted) if is_literal(wanted) else wanted
    if value.text is not None:
        return f"{str(literal)!r} {sign} _"
    if value.type not in _SIZED or isinstance(literal, list | dict | set):
        return None
    if (
        value.type == "builtins.dict"
        and sign == "in"
        and value.literal
        and len(ast.literal_eval(value.repr)) == 1
    ):
        return f"list(_) == [{literal!r}]"  # the one key is called otherwise
    return f"{literal!r} {sign} _"


def _same(claim: Claim, text: str, tree: ast.stmt | None, names: frozenset[str]) -> str | None:
    """A result that is to be like that of other code, or like what went in."""
    call = tree.value if isinstance(tree, ast.Expr | ast.Assign) else None
    if (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "print"
        and call.args
    ):
        call = call.args[0]
    if not isinstance(call, ast.Call):
        return None
    if claim.how is How.UNCHANGED:
        single = len(call.args) == 1 and not call.keywords and is_literal(ast.unparse(call.args[0]))
        return f"_ == {ast.unparse(call.args[0])}" if single else None
    try:
        other = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    called = {ast.unparse(node.func) for node in ast.walk(other) if isinstance(node, ast.Call)}
    used = {node.id for node in ast.walk(other) if isinstance(node, ast.Name)}
    if ast.unparse(call.func) not in called or not used <= names | set(dir(builtins)):
        return None
    return f"_ == {ast.unparse(other)}"


def by_form(text: str, neighbours: Sequence[Value]) -> str | None:
    """A comparison of reprs for an object that never came out, where a neighbour's repr has the stated form."""
    form = _form(text)
    if form is None or not any(_form(value.repr) == form and value.stable for value in neighbours):
        return None
    return f"repr(_) == {text.strip()!r}"


def _form(text: str) -> tuple[str, int, tuple[str, ...]] | None:
    """The constructor that a repr shows, and its arguments without their values."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    if not isinstance(tree, ast.Call) or ast.unparse(tree) != text.strip():
        return None
    return ast.unparse(tree.func), len(tree.args), tuple(keyword.arg or "" for keyword in tree.keywords)


def equality(
    text: str, value: Value | None, *, names: frozenset[str], printed: bool, sure: bool
) -> str | None:
    """An expression over ``_`` for "the result is ``text``", or None where the words do not settle it.

    ``value``: what came out instead, None if an exception did. ``names``: names that the code binds.
    ``printed``: the value is only shown through print. ``sure``: the report ties this value to this statement.
    """
    wanted = text.strip()
    if not wanted or "..." in wanted or "…" in wanted:
        return None
    if is_literal(wanted):
        return _literal(wanted, value, printed=printed, sure=sure)
    condition = _condition(wanted, names)
    if condition:
        return condition if value is not None else None
    if value is None:
        return None
    if value.text is not None:
        return _text(wanted, value.text)
    return _by_repr(wanted, value)


def inequality(value: Value) -> str | None:
    """An expression for "anything but this value", or None if the value cannot be written down."""
    if not value.stable:
        return None
    if value.text is not None or value.literal:
        sign = "is not" if value.repr in ("True", "False", "None") else "!="
        return f"_ {sign} {value.repr}"
    return f"repr(_) != {value.repr!r}"


def _literal(wanted: str, value: Value | None, *, printed: bool, sure: bool) -> str | None:
    kind = literal_type(wanted)
    if value is not None and (printed or sure) and value.text is not None and kind is not str:
        return f"_ == {wanted!r}"
    if value is not None and not sure and not _comparable(kind, value):
        return None
    if isinstance(ast.literal_eval(wanted), float) and not _exact(ast.literal_eval(wanted)):
        return None if value is not None and _rounded(wanted, value.repr) else _near(wanted)
    if not _exact(ast.literal_eval(wanted)):
        return None
    single = wanted in ("True", "False", "None")
    same_kind = value is None or value.type in ("builtins.bool", "builtins.NoneType")
    if single and value is None and wanted != "None":
        return f"_ == {wanted}" if sure else None
    return f"_ is {wanted}" if single and same_kind else f"_ == {_normal(wanted)}"


def _comparable(kind: type | None, value: Value) -> bool:
    """Whether a value of one type can be the corrected form of the other."""
    if kind is None or value.type == "builtins.NoneType" or kind is type(None):
        return True
    known = getattr(builtins, value.type.removeprefix("builtins."), None)
    both_numbers = kind in _NUMBERS and known in _NUMBERS
    return kind is known or both_numbers or not value.literal


def _rounded(wanted: str, shown: str) -> bool:
    """Whether a stated float may be cut short by its writer: the observed one has many more digits."""
    return len(shown.lstrip("-")) > len(wanted.lstrip("-")) + 3 and len(wanted) < 12


def _near(wanted: str) -> str:
    size = 1e-9 * max(1.0, abs(float(ast.literal_eval(wanted))))
    return (
        f"abs(_ - {wanted}) < {size!r}" if not wanted.startswith("-") else f"abs(_ - ({wanted})) < {size!r}"
    )


def _exact(value: object) -> bool:
    """Whether a literal can be compared with ==: no float in it that its writer may have rounded."""
    if isinstance(value, float):
        return (value * 1024).is_integer()
    if isinstance(value, dict):
        return all(_exact(item) for pair in value.items() for item in pair)
    return not isinstance(value, list | tuple | set) or all(_exact(item) for item in value)


def _normal(wanted: str) -> str:
    """One line for a literal that was written over several."""
    return wanted if "\n" not in wanted else ast.unparse(ast.parse(wanted, mode="eval"))


def _condition(wanted: str, names: frozenset[str]) -> str | None:
    """A comparison as the report wrote it; a leading unknown name is an attribute of the result."""
    try:
        tree = ast.parse(wanted, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    if not isinstance(tree, ast.Compare):
        return None
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    known = names | set(dir(builtins))
    if used <= known:
        return ast.unparse(tree)
    unknown = used - known
    root = tree.left
    while isinstance(root, ast.Attribute):
        root = root.value
    right = all(is_literal(ast.unparse(item)) for item in tree.comparators)
    if len(unknown) == 1 and isinstance(root, ast.Name) and root.id in unknown and right:
        return f"_.{ast.unparse(tree)}"
    return None


def _text(wanted: str, real: str) -> str | None:
    """For a string whose corrected form is written without quotes: equal, blank ends aside, or contained."""
    if not alike(wanted, real):
        return None
    if "\n" in wanted or real.count("\n") == 0:
        whole = real.strip() == real
        if len(wanted) >= 0.8 * len(real.strip()) and whole and "\n" not in real:
            return f"{wanted!r} in _"
        return f"_.strip() == {wanted!r}" if "\n" in wanted else f"{wanted!r} in _"
    return f"{wanted!r} in _"


def _by_repr(wanted: str, value: Value) -> str | None:
    """For an object shown by its repr: compare reprs, if the observed one has the form that is stated."""
    try:
        stated, real = ast.parse(wanted, mode="eval").body, ast.parse(value.repr, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return _by_brackets(wanted, value)
    if not (isinstance(stated, ast.Call) and isinstance(real, ast.Call)):
        return None
    if ast.unparse(stated.func).rpartition(".")[2] != ast.unparse(real.func).rpartition(".")[2]:
        return None
    if ast.unparse(real) != value.repr or ast.unparse(stated.func) != ast.unparse(real.func):
        return None
    return f"repr(_) == {ast.unparse(stated)!r}"


def _by_brackets(wanted: str, value: Value) -> str | None:
    both = wanted.startswith("<") and value.repr.startswith("<") and wanted.endswith(">")
    return f"repr(_) == {wanted!r}" if both and value.stable and alike(wanted, value.repr) else None
