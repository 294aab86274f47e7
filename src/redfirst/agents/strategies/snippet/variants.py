# SPDX-License-Identifier: Apache-2.0
"""Makes statements of the inputs that a report only names: the shown call with what stands in backticks put in."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

from redfirst.agents.strategies.snippet.claims import Claim, How, Mark, Remark, Role, is_literal
from redfirst.agents.strategies.snippet.facts import VARIANT
from redfirst.agents.strategies.snippet.report import Sentence
from redfirst.agents.strategies.snippet.steps import Step, bound_names
from redfirst.agents.strategies.snippet.story import Scene, Story

_MAX = 12
_SPAN = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_CLAUSE = re.compile(
    r"(?<!\0)[,;:.]\s+|[,;:.]\s+(?!\0)|[;:.]\s+|\s+(?:but|while|whereas|only|although|though)\s+"
)
_BRACKET = re.compile(r"\([^()]*\)")
_FINE = re.compile(
    r"\b(?:(?:is|are|was|'s|'re) (?:\w+ )?(?:fine|right|ok(?:ay)?|correct|good|unaffected|not affected)|"
    r"(?:work|pass|behave)(?:s|es|ed)?\b(?! around)|(?:properly|correctly|rightly)\b|as (?:it should|expected))",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:not|no|never|neither|nor|isn't|doesn't|don't|wasn't|aren't|hardly|should|must|once)\b", re.I
)
_SAME = re.compile(
    r"\b(?:same(?! as\b)|also|as well|too|alike|likewise|similarly|"
    r"fails?|failed|crash(?:es)?|affected|breaks?|seen with)\b",
    re.IGNORECASE,
)
_ALIKE = re.compile(
    r"\b(?:the|this) same (?:\w+ )?(?:holds|happens|goes|applies|is true|is seen|problem|bug|issue|wrong)\b|"
    r"\b(?:is|are) (?:\w+ )?affected\b(?! by)|\baffected (?:alike|too|as well)\b|\bsuffers?\b",
    re.IGNORECASE,
)
_SHOULD_WORK = re.compile(
    r"\b(?:should|must|ought to) (?:also |both |all |just |equally )*"
    r"(?:work|be (?:accepted|allowed|possible|supported|fine|ok))\b",
    re.IGNORECASE,
)
_HOLDS = re.compile(
    r"\b(?:must|should)(?P<no>n't| not| never)? (?:still )?(?:match|be in|be accepted|be equal|contain|be valid|hold)\b"
    r"(?! either)",
    re.IGNORECASE,
)


class Verdict(StrEnum):
    """What a clause says of the input that it names."""

    FINE = "fine"
    SAME = "same"
    TRUE = "true"
    FALSE = "false"


@dataclass(frozen=True, slots=True)
class Model:
    """A statement whose literals may be exchanged. ``slots``: the literals in order, as written."""

    step: Step
    pattern: str
    slots: tuple[str, ...]

    def filled(self, values: dict[int, str]) -> str:
        """The statement with other literals in some slots."""
        code = self.pattern
        for number, slot in enumerate(self.slots):
            code = code.replace(f"_slot_{number}_", values.get(number, slot))
        return code


def with_variants(story: Story) -> Story:
    """The story with a scene more for each input that its prose names and judges. They run after everything else."""
    models = [model for scene in story.scenes for step in scene.steps if (model := model_of(step))]
    if not models:
        return story
    known = {_canonical(step.code) for step in story.steps}
    count, scenes = len(story.steps), list(story.scenes)
    for code, sentence, verdict, clause in _named(story, models):
        if _canonical(code) in known or count - len(story.steps) >= _MAX:
            continue
        known.add(_canonical(code))
        step = Step(code, sentence.line, VARIANT)
        scenes.append(Scene(count, (step,), (_remark(verdict, sentence, clause),)))
        count += 1
    return replace(story, scenes=tuple(scenes))


def _remark(verdict: Verdict, sentence: Sentence, clause: str) -> Remark:
    """What a clause says, in the form of a comment beside the statement."""
    if verdict is Verdict.FINE:
        return Remark((), Mark.GOOD)
    if verdict is Verdict.SAME:
        alike = sentence.text if _ALIKE.search(clause) else ""
        return Remark((), Mark.BAD, alike)
    value = "True" if verdict is Verdict.TRUE else "False"
    claim = Claim(
        Role.EXPECTED,
        value,
        sentence.line,
        sentence.text,
        before=sentence.text,
        how=How.TRUTH,
        hedged=True,
        lasting=True,
    )
    return Remark((claim,))


def model_of(step: Step) -> Model | None:
    """A bare expression, or what is printed, with literals in its call or comparison; None for anything else."""
    tree = None if step.file else step.tree
    if not isinstance(tree, ast.Expr) or not isinstance(tree.value, ast.Call | ast.Compare):
        return None
    slots: list[str] = []
    pattern = ast.unparse(_Cut(slots).visit(ast.parse(ast.unparse(tree))))
    return Model(step, pattern, tuple(slots))


class _Cut(ast.NodeTransformer):
    """Takes texts and numbers out of an expression."""

    def __init__(self, slots: list[str]) -> None:
        self.slots = slots

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, bool) or not isinstance(node.value, str | int | float):
            return node
        self.slots.append(ast.unparse(node))
        return ast.Name(f"_slot_{len(self.slots) - 1}_", ast.Load())

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        return node


def _named(story: Story, models: list[Model]) -> Iterator[tuple[str, Sentence, Verdict, str]]:
    """Statements with inputs that clauses of the prose name, and what those clauses say of them."""
    names = frozenset(bound_names(step.tree for step in story.steps))
    for sentence in story.report.sentences:
        if sentence.text.rstrip().endswith("?"):
            continue
        for clause in clauses(sentence.text):
            verdict = verdict_of(clause)
            spans = [match.group(2).strip() for match in _SPAN.finditer(clause)]
            if verdict is None or not spans:
                continue
            for code in _filled(models, spans, names):
                yield code, sentence, verdict, clause


def clauses(text: str) -> list[str]:
    """The parts of a sentence between commas, colons and words such as "but"; brackets and code are never cut."""
    hidden = _SPAN.sub(lambda match: "\0" * len(match.group(0)), text)
    hidden = _BRACKET.sub(lambda match: re.sub(r"[^\0]", "_", match.group(0)), hidden)
    cuts = [0, *(match.end() for match in _CLAUSE.finditer(hidden)), len(text)]
    return [text[a:b] for a, b in pairwise(cuts) if text[a:b].strip()]


def verdict_of(clause: str) -> Verdict | None:
    """What a clause says of the input that it names; None where it says nothing or is not clear."""
    words = _SPAN.sub(" ", clause)
    holds = _HOLDS.search(words)
    if holds:
        return Verdict.FALSE if holds.group("no") else Verdict.TRUE
    if _SHOULD_WORK.search(words):
        return Verdict.SAME
    if _FINE.search(words) and not _NOT.search(words):
        return Verdict.FINE
    if _SAME.search(words) and not _NOT.search(words) and not _FINE.search(words):
        return Verdict.SAME
    return None


def _filled(models: list[Model], spans: list[str], names: frozenset[str]) -> Iterator[str]:
    """The statements that spans stand for: whole calls, or the models with other literals."""
    literals: list[str] = []
    for span in spans:
        if _is_call(span, models, names):
            yield span
        else:
            literals.append(span)
    patterns = {model.pattern: model for model in models}
    fitting = [found for model in patterns.values() if (found := list(_fitted(model, models, literals)))]
    if len(fitting) == 1:
        yield from fitting[0]
        return
    for span in literals:
        exchanged = {code for model in patterns.values() for code in _exchanged(model.step.code, span)}
        if len(exchanged) == 1:
            yield from exchanged


def _exchanged(code: str, span: str) -> Iterator[str]:
    """A statement with an expression in place of the one part that has the same head: ``X[1]`` for ``X[2]``."""
    try:
        new = ast.parse(span, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return
    head = _head(new)
    names = {node.id for node in ast.walk(new) if isinstance(node, ast.Name)}
    tree = ast.parse(code)
    known = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | set(dir(builtins))
    alike = [node for node in ast.walk(tree) if isinstance(node, ast.expr) and head and _head(node) == head]
    if len(alike) == 1 and names <= known and not isinstance(tree.body[0], ast.Assign):
        yield ast.unparse(_Put(alike[0], new).visit(tree))


def _head(node: ast.expr) -> str | None:
    if isinstance(node, ast.Subscript):
        return f"{ast.unparse(node.value)}[]"
    return f"{ast.unparse(node.func)}()" if isinstance(node, ast.Call) else None


class _Put(ast.NodeTransformer):
    """Puts one expression in the place of another."""

    def __init__(self, old: ast.expr, new: ast.expr) -> None:
        self.old = old
        self.new = new

    def visit(self, node: ast.AST) -> ast.AST:
        """The new expression for the old one; anything else is gone through."""
        return self.new if node is self.old else self.generic_visit(node)


def _is_call(span: str, models: list[Model], names: frozenset[str]) -> bool:
    """Whether a span is a call of a function that the report's code calls, with nothing unknown in it."""
    try:
        tree = ast.parse(span, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    if not isinstance(tree, ast.Call) or any(
        isinstance(n, ast.Constant) and n.value is ... for n in ast.walk(tree)
    ):
        return False
    called = {
        ast.unparse(n.func)
        for m in models
        for n in ast.walk(ast.parse(m.step.code))
        if isinstance(n, ast.Call)
    }
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return ast.unparse(tree.func) in called and used <= names | set(dir(builtins))


def _fitted(model: Model, models: list[Model], spans: list[str]) -> Iterator[str]:
    """A model with spans in its slots: one span for each slot in turn, or single ones where only one slot can be."""
    if not 0 < len(model.slots) <= 3:
        return
    kin = [other for other in models if other.pattern == model.pattern]
    places = [_slots_for(span, model, kin) for span in spans]
    at = 0
    while at < len(spans):
        width = len(model.slots)
        group = places[at : at + width]
        if width > 1 and len(group) == width and all(n in slots for n, slots in enumerate(group)):
            yield model.filled({n: _written(spans[at + n], model.slots[n]) for n in range(width)})
            at += width
            continue
        if width == 1 and places[at] == [0]:
            yield model.filled({0: _written(spans[at], model.slots[0])})
        at += 1


def _slots_for(span: str, model: Model, kin: list[Model]) -> list[int]:
    return [n for n in range(len(model.slots)) if any(fits_slot(span, other.slots[n]) for other in kin)]


def fits_slot(span: str, slot: str) -> bool:
    """Whether a span can stand for a literal: of the same type, and bare text only where it is built alike."""
    if is_literal(span) and not is_literal(slot):
        return False
    real = ast.literal_eval(slot)
    if is_literal(span) and type(ast.literal_eval(span)) is type(real) and not isinstance(real, str):
        return True
    if not isinstance(real, str):
        return False
    if span[:1] in "'\"" and is_literal(span):
        return _alike(str(ast.literal_eval(span)), real)
    return not re.fullmatch(r"[A-Za-z_][\w.]*(?:\(\))?", span) and _alike(span, real)


def _alike(one: str, other: str) -> bool:
    """Whether two texts begin with the same kind of character and differ by few punctuation marks."""
    if not one or not other or _class(one[0]) != _class(other[0]):
        return False
    marks = [set(re.sub(r"[\w\s]", "", text)) for text in (one, other)]
    return len(marks[0] ^ marks[1]) <= (1 if min(map(len, marks)) > 1 else 2)


def _class(char: str) -> str:
    return "0" if char.isdigit() else "a" if char.isalpha() else char


def _written(span: str, slot: str) -> str:
    """A span as a literal of the slot's type."""
    real = ast.literal_eval(slot)
    if isinstance(real, str) and not (span[:1] in "'\"" and is_literal(span)):
        return repr(span)
    return span


def _canonical(code: str) -> str:
    return ast.unparse(ast.parse(code))
