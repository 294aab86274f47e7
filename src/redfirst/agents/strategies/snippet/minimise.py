# SPDX-License-Identifier: Apache-2.0
"""Takes statements out of a test as long as everything that it asserts does the same on Base.

Only statements that look at something are tried: what binds a name or calls something for its effect stays, since a
wrong result that stays the same does not show that the right one would. For the same reason the state of every
variable that an assertion reads must stay what it was.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Sequence
from dataclasses import replace

from redfirst.agents.strategies.snippet.needed import used_names
from redfirst.agents.strategies.snippet.probe import Prober, Seen, agree
from redfirst.agents.strategies.snippet.rehearse import script
from redfirst.agents.strategies.snippet.steps import bound_names, parse_quietly
from redfirst.agents.strategies.snippet.write import Part, TestText

_MAX_RUNS = 6
_SECONDS = 10.0
_STATE = """
def _redfirst_state(*roots):
    import hashlib, types
    numbers, out, budget = {}, [], [20000]
    plain = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))

    def walk(value):
        budget[0] -= 1
        if budget[0] < 0:
            raise ValueError("too large")
        if type(value) in plain:
            out.append(repr(value))
            return
        if id(value) in numbers:
            out.append("#%d" % numbers[id(value)])
            return
        numbers[id(value)] = len(numbers)
        kept.append(value)
        kind = type(value)
        out.append("<" + kind.__module__ + "." + kind.__qualname__)
        if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.ModuleType)):
            out.append(value.__name__)
        elif isinstance(value, type):
            own = value.__module__ == "__main__"
            walk(sorted((k, v) for k, v in vars(value).items() if own and not k.startswith("__")))
        elif isinstance(value, dict):
            for key, item in value.items():
                walk(key)
                walk(item)
        elif kind in (list, tuple):
            for item in value:
                walk(item)
        elif isinstance(value, (set, frozenset)):
            out.append(repr(sorted(map(repr, value))))
        elif isinstance(value, types.MethodType):
            walk(value.__self__)
            out.append(value.__name__)
        else:
            walk(value.__reduce_ex__(4))
        out.append(">")

    kept = []
    for root in roots:
        walk(root)
    return hashlib.sha256("".join(out).encode("utf-8", "replace")).hexdigest()
"""


def minimised(prober: Prober, test: TestText, seen: Sequence[Seen]) -> TestText:
    """``test`` without the statements that do not matter; ``seen``: what each part did.

    Raises SandboxError, EnvironmentFailed.
    """
    spare = [
        n for n, one in enumerate(seen) if _may_go(n, test.parts) and not _for_effect(test.parts[n], one)
    ]
    if not spare:
        return test
    began = time.monotonic()
    wanted = _watched(prober, test, frozenset())
    gone: frozenset[int] = frozenset()
    waiting = [spare]
    for _ in range(_MAX_RUNS):
        if not waiting or time.monotonic() - began > _SECONDS:
            break
        chunk = waiting.pop(0)
        trial = gone | set(chunk)
        if wanted is not None and _alike(wanted, _watched(prober, test, trial)):
            gone = trial
        elif len(chunk) > 1:
            waiting += [chunk[: len(chunk) // 2], chunk[len(chunk) // 2 :]]
    return replace(test, parts=tuple(p for number, p in enumerate(test.parts) if number not in gone))


def _may_go(number: int, parts: Sequence[Part]) -> bool:
    """Whether a part asserts nothing, binds nothing that later ones read, and is no call made for its effect."""
    part = parts[number]
    if part.shows is not None or part.fixed:
        return False
    body = parse_quietly(part.code)
    later = set().union(
        *(used_names(tree) for p in parts[number + 1 :] for tree in parse_quietly(p.code)), ()
    )
    if set(bound_names(body)) & later or not later:
        return False
    return not any(isinstance(node, ast.Attribute | ast.Subscript) and _is_set(node) for node in _nodes(body))


def _for_effect(part: Part, seen: Seen) -> bool:
    """Whether a part is a call that gave None: what it is there for cannot be seen."""
    body = parse_quietly(part.code)
    none = seen.value is not None and seen.value.type == "builtins.NoneType"
    return none and bool(body) and isinstance(body[-1], ast.Expr) and not seen.out


def _is_set(node: ast.Attribute | ast.Subscript) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _nodes(body: Sequence[ast.stmt]) -> list[ast.AST]:
    return [node for tree in body for node in ast.walk(tree)]


def _watched(prober: Prober, test: TestText, gone: frozenset[int]) -> tuple[Seen, ...] | None:
    """What the asserting parts did, and the state of what they read before them; None where it cannot be told."""
    kept = tuple(part for number, part in enumerate(test.parts) if number not in gone)
    bound = set(bound_names(tree for part in test.parts for tree in parse_quietly(part.code)))
    codes, first = script(replace(test, parts=kept))
    asked, places = [*codes[:first], _STATE], []
    for part in kept:
        if part.shows is not None:
            read = set().union(*(used_names(tree) for tree in parse_quietly(part.code)), ())
            asked.append(f"_redfirst_state({', '.join(sorted(read & bound & _before(kept, part)))})")
            places += [len(asked) - 1, len(asked)]
        asked.append(part.code)
    observed = prober.observe(asked)
    if len(observed.steps) < len(asked):
        return None
    watched = tuple(observed.steps[place] for place in places)
    return watched if all(seen.value is not None for seen in watched[::2]) else None


def _before(parts: Sequence[Part], part: Part) -> set[str]:
    earlier = parts[: list(parts).index(part)]
    return set(bound_names(tree for p in earlier for tree in parse_quietly(p.code)))


def _alike(one: tuple[Seen, ...], other: tuple[Seen, ...] | None) -> bool:
    if other is None or len(one) != len(other):
        return False
    return all(
        agree(left, right) and _message(left) == _message(right)
        for left, right in zip(one, other, strict=True)
    )


def _message(seen: Seen) -> str:
    return seen.raised.message if seen.raised else ""
