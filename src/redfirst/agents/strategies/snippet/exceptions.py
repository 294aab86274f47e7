# SPDX-License-Identifier: Apache-2.0
"""Decides what a report asks for where an exception came, or did not come."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from redfirst.agents.strategies.snippet.assertions import by_form, equality
from redfirst.agents.strategies.snippet.claims import Claim, How, Mark, Role
from redfirst.agents.strategies.snippet.compare import same_exception
from redfirst.agents.strategies.snippet.facts import VARIANT, Facts
from redfirst.agents.strategies.snippet.findings import Check, Finding, Kind
from redfirst.agents.strategies.snippet.probe import Raised, Value
from redfirst.agents.strategies.snippet.steps import bound_names
from redfirst.agents.strategies.snippet.story import Story, expressions_of, fits, speaks_of
from redfirst.agents.strategies.snippet.tracebacks import find_exception

_WANTS_ERROR = re.compile(
    r"\b(?:reject(?:ed|s)?|invalid|malformed|(?:should|must|to) (?:raise|fail|throw|complain)|"
    r"(?:proper|same kind of|usual|clean|specific) (?:error|exception)|"
    r"unhandled|instead of a|documented to raise|catch|except)\b",
    re.IGNORECASE,
)
ABOUT_DOCUMENTS = re.compile(
    r"\b(?:please (?:document|mention)|undocumented|not documented|should be documented|"
    r"doc(?:s|umentation)? (?:do|does)(?:n't| not) (?:mention|say|tell))\b",
    re.IGNORECASE,
)
_ABOUT_MESSAGE = re.compile(
    r"\b(?:better|clearer|nicer|friendlier|helpful|useful|understandable|misleading|confusing|unclear|unhelpful|cryptic|"
    r"obscure)(?: error| exception)? (?:message|wording|text|error)\b|"
    r"\bwrong(?: error| exception)? (?:message|wording|text)\b|"
    r"\b(?:message|wording|error) (?:\w+ ){0,3}(?:misleading|confusing|unclear|unhelpful|cryptic|obscure|helpful|"
    r"understandable|better|clearer)\b",
    re.IGNORECASE,
)
_LIKE_OTHERS = re.compile(
    r"\b(?:the )?(?:same|usual|proper|normal|ordinary|regular) (?:kind of |sort of |type of )?"
    r"(?:(?!Type|Value|Key|Index)\w+ )?(?:error|exception)\b(?: as (?:for|with|in|when)\b)?|"
    r"\b(?:treat|handle|reject|refuse)\w*\b[^.;`]{0,60}\b(?:like|as) (?:any|all|the|every) (?:the )?other\b",
    re.IGNORECASE,
)
_WISHED = re.compile(r"\b(?:should|must|ought|would|'d|expect\w*|please|want|like)\b", re.IGNORECASE)
_RIGHTLY = re.compile(
    r"\b(?:properly|correctly|rightly|fine|as (?:it should|expected|documented)|cleanly|usual|documented|documentation|"
    r"rejected|rejects|complains|catch|itself)\b",
    re.IGNORECASE,
)


def decide_exceptions(facts: Facts, story: Story) -> Iterator[Finding]:
    """Findings about exceptions: one that should come, or one that came as reported and should not."""
    wanted = [*_wanted(facts), *_like_others(facts, story)]
    yield from wanted
    if wanted:
        return
    raising = [place for place, seen in enumerate(facts.seen) if seen.raised and _unmarked(facts, place)]
    confirmed = [place for place in raising if reported(facts, story, place)]
    for place in raising:
        if place not in confirmed:
            raised = facts.seen[place].raised
            line = facts.scene.steps[place].line
            told = f"{raised.name}: {raised.message}"[:160] if raised else ""
            facts.doubts.append(f"line {line} raises {told}, of which the report does not speak")
    for place in _complained_of(facts, story, confirmed):
        yield from _unwanted(facts, story, place)


def exceptions_kept(facts: Facts, story: Story) -> Iterator[Finding]:
    """Guards: exceptions that came, and of which the report says that they are right."""
    for place, seen in enumerate(facts.seen):
        raised, remark = seen.raised, facts.scene.remarks[place]
        if raised is None:
            continue
        stated = [c for c in remark.claims if c.role in (Role.EXPECTED_RAISE, Role.ACTUAL_RAISE)]
        stated += [c for c in facts.scene.claims if _speaks_of_raising(facts, c, place)]
        names = [c for c in stated if raised.is_a(c.value)]
        good = [c for c in names if c.role is Role.EXPECTED_RAISE or remark.mark is Mark.GOOD or is_right(c)]
        if good and not is_titled(facts, story, place):
            index = facts.scene.first + place
            text = f"{good[0].value} is raised"
            yield Finding(
                Kind.RAISES,
                index,
                f"{raised.name}: {raised.message}",
                text,
                (good[0].evidence,),
                exception=good[0].value,
            )


def _speaks_of_raising(facts: Facts, claim: Claim, place: int) -> bool:
    """Whether a sentence says that this step raises something, and that it should."""
    if claim.role is Role.EXPECTED_RAISE:
        return (claim.lasting or not claim.hedged) and _raise_target(facts, claim) == place
    right = claim.role is Role.ACTUAL_RAISE and is_right(claim)
    return right and speaks_of(claim, facts.scene.steps[place])


def is_titled(facts: Facts, story: Story, place: int) -> bool:
    """Whether the report complains of the exception that a step raised."""
    raised = facts.seen[place].raised
    return raised is not None and raised.name in story.report.title


def _like_others(facts: Facts, story: Story) -> Iterator[Finding]:
    """ "The same kind of error": the one that the report shows elsewhere and calls right."""
    wishes = [s for s in story.report.sentences if _LIKE_OTHERS.search(s.text) and _WISHED.search(s.text)]
    raising = [
        place for place, seen in enumerate(facts.seen) if seen.raised and reported(facts, story, place)
    ]
    names = {name for claim in _right_errors(story) for name in (claim.value,)}
    if not wishes or len(names) != 1 or not raising:
        return
    name = names.pop()
    for place in raising:
        raised = facts.seen[place].raised
        if raised is not None and not raised.is_a(name) and _unmarked(facts, place):
            index = facts.scene.first + place
            observed = f"{raised.name}: {raised.message}"
            evidence = (wishes[0].text, *(c.evidence for c in _right_errors(story)))
            yield Finding(Kind.RAISES, index, observed, f"{name} is raised", evidence, exception=name)


def _right_errors(story: Story) -> list[Claim]:
    """Exceptions that the report names with approval, each with its message or with its module."""
    claims = [*story.loose, *(claim for scene in story.scenes for claim in scene.claims)]
    named = [c for c in claims if c.role in (Role.ACTUAL_RAISE, Role.EXPECTED_RAISE)]
    return [c for c in dict.fromkeys(named) if (c.message or "." in c.value) and is_right(c)]


def is_right(claim: Claim) -> bool:
    """Whether the sentence speaks of the exception with approval."""
    return bool(_RIGHTLY.search(claim.evidence.partition(claim.value)[0]))


def _unmarked(facts: Facts, place: int) -> bool:
    tree = facts.scene.steps[place].tree
    raised, step = facts.seen[place].raised, facts.scene.steps[place]
    told = [c for c in facts.scene.claims if c.role is Role.ACTUAL_RAISE and speaks_of(c, step)]
    right = [c for c in told if raised and raised.is_a(c.value) and is_right(c)]
    return facts.scene.remarks[place].mark is not Mark.GOOD and not right and not isinstance(tree, ast.Assert)


# ------------------------------------------------------------------------- an exception that should come
def _wanted(facts: Facts) -> Iterator[Finding]:
    for place, remark in enumerate(facts.scene.remarks[: len(facts.seen)]):
        for claim in remark.claims:
            if claim.role is Role.EXPECTED_RAISE and not claim.hedged:
                yield from _raises(facts, place, claim)
    for claim in facts.scene.claims:
        if claim.role is Role.EXPECTED_RAISE and not claim.hedged:
            place_or_none = _raise_target(facts, claim)
            if place_or_none is not None:
                yield from _raises(facts, place_or_none, claim)


def _raise_target(facts: Facts, claim: Claim) -> int | None:
    """The one call that a claim about a missing exception can mean."""
    scene = facts.scene
    named = [place for place in range(len(facts.seen)) if speaks_of(claim, scene.steps[place])]
    if named:
        return named[-1]
    shown = " ".join(step.shown or "" for step in scene.steps)
    if not fits(claim, scene.code, shown):
        return None
    speaking = facts.speaking()
    if len(speaking) == 1:
        return speaking[0]
    if not speaking and scene.steps and _has_call(scene.steps[len(facts.seen) - 1].tree):
        return len(facts.seen) - 1
    facts.doubts.append(f"line {claim.line}: which statement should raise {claim.value} is not clear")
    return None


def _has_call(tree: ast.stmt | None) -> bool:
    return isinstance(tree, ast.Expr | ast.Assign) and isinstance(tree.value, ast.Call)


def _source_of(facts: Facts, place: int) -> int:
    """Where a step only shows a variable: the step that gave it its value, for that is what must raise."""
    tree = facts.scene.steps[place].tree
    shown = expressions_of(tree)[-1:] if isinstance(tree, ast.Expr) else []
    if not shown or not isinstance(shown[0], ast.Name):
        return place
    name = shown[0].id
    binding = [p for p in range(place) if name in set(bound_names([facts.scene.steps[p].tree]))]
    return binding[-1] if binding and _has_call(facts.scene.steps[binding[-1]].tree) else place


def _raises(facts: Facts, shown_at: int, claim: Claim) -> Iterator[Finding]:
    place = _source_of(facts, shown_at)
    seen = facts.seen[place]
    if facts.scene.steps[place].command:
        return
    if facts.contradicted(place):
        facts.doubts.append(
            f"line {facts.scene.steps[place].line}: what the report shows is not what happens"
        )
        return
    if seen.raised and seen.raised.is_a(claim.value):
        facts.doubts.append(f"line {claim.line}: {claim.value} is raised already")
        return
    if seen.raised and not _text_names(facts.report_text, seen.raised):
        return
    result = f"{seen.raised.name}: {seen.raised.message}" if seen.raised else _shown(facts, place)
    index = facts.scene.first + place
    yield Finding(
        Kind.RAISES, index, result, f"{claim.value} is raised", (claim.evidence,), exception=claim.value
    )


def _shown(facts: Facts, place: int) -> str:
    value = facts.seen[place].value
    return value.repr if value else "no exception"


def _text_names(text: str, raised: Raised) -> bool:
    return raised.name in text


# ----------------------------------------------------------------------- an exception that should not come
def reported(facts: Facts, story: Story, place: int) -> bool:
    """Whether the report shows or names the exception that this step raised."""
    raised, step = facts.seen[place].raised, facts.scene.steps[place]
    if raised is None:
        return False
    if step.shown is not None:
        shown = find_exception(step.shown)
        return shown is not None and same_exception(raised, shown.type, shown.message)
    for claim in (*facts.scene.remarks[place].claims, *facts.scene.claims, *story.loose):
        if claim.role is Role.ACTUAL_RAISE and same_exception(raised, claim.value, claim.message):
            return True
    outputs = [output.exception for scene in story.scenes for output in scene.outputs]
    tracebacks = [find_exception(block.text) for block in story.report.blocks]
    known = [e for e in (*outputs, *tracebacks) if e is not None]
    if _asked_of_kin(facts, story, place, raised):
        return True
    if facts.scene.remarks[place].mark is Mark.BAD and any(e.name == raised.name for e in known):
        return True  # the message may speak of another input
    if any(same_exception(raised, e.type, e.message) for e in known):
        return True
    return bool(re.search(rf"\b{re.escape(raised.name)}\b", story.report.title))


def _asked_of_kin(facts: Facts, story: Story, place: int, raised: Raised) -> bool:
    """Whether prose states the result of a call that stands in no block, and a call in a block fails like it."""
    step = facts.scene.steps[place]
    stated = [c for c in facts.scene.claims if _wants_value(c) and speaks_of(c, step)]
    told = [c for scene in story.scenes for remark in scene.remarks for c in remark.claims]
    kin = any(c.role is Role.ACTUAL_RAISE and raised.is_a(c.value) for c in told)
    return step.block < 0 and bool(stated) and kin


def _complained_of(facts: Facts, story: Story, confirmed: list[int]) -> list[int]:
    """The raising steps that the report is about; none where two kinds of errors leave a choice."""
    bad = [place for place in confirmed if facts.scene.remarks[place].mark is Mark.BAD]
    places = bad or confirmed
    names = {raised.name for place in places if (raised := facts.seen[place].raised)}
    if len(names) > 1:
        titled = [p for p in places if (r := facts.seen[p].raised) and r.name in story.report.title]
        places = titled
        if not titled:
            facts.doubts.append(f"which of {', '.join(sorted(names))} is the complaint is not clear")
    return places


def _unwanted(facts: Facts, story: Story, place: int) -> Iterator[Finding]:
    raised = facts.seen[place].raised
    if raised is None:
        return
    if _ABOUT_MESSAGE.search(facts.report_text):
        facts.doubts.append("the report is about the wording of a message, which the snippet cannot settle")
        return
    if ABOUT_DOCUMENTS.search(facts.report_text):
        facts.doubts.append("the report asks for documentation, which no test can settle")
        return
    index = facts.scene.first + place
    observed = f"{raised.name}: {raised.message}"
    evidence = _evidence(facts, story, place, raised)
    result = _stated_result(facts, place)
    if result is not None:
        claim, expression = result
        yield Finding(
            Kind.RETURNS,
            index,
            observed,
            claim.value,
            (claim.evidence, *evidence),
            (Check(index, expression),),
            exception=raised.name,
        )
    named = facts.scene.steps[place].block == VARIANT  # what else its input deserves is not said
    open_end = named or bool(_WANTS_ERROR.search(facts.report_text))
    expected = f"no {raised.name}"
    yield Finding(
        Kind.NOT_RAISES, index, observed, expected, evidence, exception=raised.name, open_end=open_end
    )


def _stated_result(facts: Facts, place: int) -> tuple[Claim, str] | None:
    """The one result that the report says the raising expression should give."""
    step = facts.scene.steps[place]
    if not isinstance(step.tree, ast.Expr | ast.Assign):
        return None
    claims = [c for c in facts.scene.remarks[place].claims if _wants_value(c)]
    sure = bool(claims)
    if not sure:
        alone = [p for p, seen in enumerate(facts.seen) if seen.raised] == [place]
        told = [c for c in facts.scene.claims if _wants_value(c)]
        named = [c for c in told if speaks_of(c, step)]
        claims = named or ([c for c in told if fits(c, facts.scene.code, "")] if alone else [])
    neighbours = [seen.value for seen in facts.seen if seen.value]
    found = {expression: c for c in claims if (expression := _result_of(c, neighbours))}
    single = len(found) == 1 and all(len(c.listed) == 1 for c in claims)
    return next(((c, expression) for expression, c in found.items()), None) if single else None


def _wants_value(claim: Claim) -> bool:
    return claim.role is Role.EXPECTED and claim.how is How.IS and not claim.hedged


def _result_of(claim: Claim, neighbours: list[Value]) -> str | None:
    """The comparison for a result that never came: with a literal, or with the repr that neighbours show."""
    literal = equality(claim.value, None, names=frozenset(), printed=False, sure=True)
    return literal or by_form(claim.value, neighbours)


def _evidence(facts: Facts, story: Story, place: int, raised: Raised) -> tuple[str, ...]:
    """The report's own lines that name the exception."""
    step = facts.scene.steps[place]
    lines = [f"{step.code.strip().splitlines()[0]}"]
    for line in (
        *(step.shown or "").splitlines(),
        *(line for block in story.report.blocks for line in block.text.splitlines()),
        *(sentence.text for sentence in story.report.sentences),
    ):
        if raised.name in line and line.strip() not in lines:
            lines.append(line.strip())
            break
    return tuple(lines)
