# SPDX-License-Identifier: Apache-2.0
"""Ties what a report says of exit statuses to its commands, and holds it against the real ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from redfirst.agents.strategies.snippet.claims import Mark, Role
from redfirst.agents.strategies.snippet.exits import Exit, exits_in
from redfirst.agents.strategies.snippet.facts import Facts
from redfirst.agents.strategies.snippet.findings import Check, Finding, Kind
from redfirst.agents.strategies.snippet.report import Section, Sentence
from redfirst.agents.strategies.snippet.shell_line import Command, read_line
from redfirst.agents.strategies.snippet.story import Scene, Story
from redfirst.agents.strategies.snippet.terminal import traceback_in

_COMPLAINS = re.compile(
    r"\b(?:although|even though|even if|though|despite|but|yet|silently|wrong|bug|nevertheless|anyway|regardless|"
    r"success(?:fully)?)\b",
    re.IGNORECASE,
)
_ORDER = {"first": 0, "second": 1, "third": 2, "fourth": 3, "last": -1}
_ORDINAL = re.compile(
    rf"\b(?:the|my|this) ({'|'.join(_ORDER)})\b(?: (?:one|command|call|run|invocation)| |$)", re.IGNORECASE
)

_ALONE = re.compile(
    r"\b(?:plain|bare|alone|on its own|by itself|without (?:\w+ )?arguments?)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Told:
    """A statement about the exit status of the command at ``place``. ``titled``: the report's title makes it."""

    place: int
    exit: Exit
    titled: bool = False


def commands_of(facts: Facts) -> list[int]:
    """Places of the commands that ran."""
    steps = facts.scene.steps[: len(facts.seen)]
    return [place for place, step in enumerate(steps) if step.command and facts.seen[place].process]


def code_at(facts: Facts, place: int) -> int:
    process = facts.seen[place].process
    return process.code if process else 0


def told_statuses(facts: Facts, story: Story) -> list[Told]:
    """All statements about the commands of a scene that can be tied to one of them."""
    found: list[Told] = []
    for place in commands_of(facts):
        for text in facts.scene.steps[place].comment.splitlines():
            found += [Told(place, replace(one, bare=False)) for one in exits_in(text)]
    lone = all(step.command or not step.block >= 0 for step in story.steps)
    for one, section, at in _in_prose(story):
        if one.bare and not lone and not is_known(story, one.about):
            continue
        if section is Section.EXPECTED and one.role is Role.ACTUAL and not re.search(r"\bbut\b", one.before):
            one = replace(one, role=Role.EXPECTED)
        if scene_of(story, one.about, at) is facts.scene:
            titled = one.evidence == story.report.title
            found += [Told(place, one, titled) for place in _places(facts, one)]
    return found


def _in_prose(story: Story) -> Iterator[tuple[Exit, Section, int]]:
    """Statements on statuses, the command that their sentence names in ``about``, with the sentence's place.

    Those on commands of others are left out.
    """
    for at, sentence in enumerate(story.report.parts):
        if not isinstance(sentence, Sentence):
            continue
        known = [span for span in sentence.spans if is_known(story, span)]
        about = known[0] if len(known) == 1 else ""
        for one in exits_in(sentence.text):
            if is_known(story, one.about):
                about = one.about
            elif _is_foreign(one.about):
                continue
            yield replace(one, about=about or one.about), sentence.section, at


def is_known(story: Story, span: str) -> bool:
    """Whether code in backticks is one of the commands that were run."""
    return any(_is_named(step.command, span) for step in story.steps if step.command)


def _is_foreign(span: str) -> bool:
    """Whether code in backticks looks like a command with options."""
    words = span.removeprefix("$ ").split()
    return len(words) > 1 and words[0].isalnum() and any(word.startswith("-") for word in words[1:])


def arguments_of(span: str) -> tuple[str, ...]:
    """The words behind the program that a span in backticks calls; empty if it is no command with arguments."""
    line = read_line(span.removeprefix("$ ")) if span else None
    words = line.words if line else ()
    if words[:1] and re.fullmatch(r"python(?:3(?:\.\d+)?)?|py", words[0]):
        return words[3:] if words[1:2] == ("-m",) else words[1:] if words[1:2] != ("-c",) else words[2:]
    return words[1:] if words and re.fullmatch(r"[\w.-]+", words[0]) else ()


def scene_of(story: Story, about: str, at: int) -> Scene | None:
    """The scene that a sentence is about: the one with the command it names, else the last before it."""
    scenes = [scene for scene in story.scenes if any(step.command for step in scene.steps)]
    named = [scene for scene in scenes if any(_is_named(step.command, about) for step in scene.steps)]
    if named:
        return named[-1]
    if about.startswith("-"):
        scenes = [scene for scene in scenes if any(_has_options(step.command, about) for step in scene.steps)]
    places = [(_place(story, scene), scene) for scene in scenes]
    before = [(place, scene) for place, scene in places if place < at]
    if before:
        return max(before, key=lambda one: one[0])[1]
    return scenes[0] if len(scenes) == 1 else None


def _place(story: Story, scene: Scene) -> int:
    """Where in the report a scene stands: its block, or the first sentence that names its command."""
    step = scene.steps[0]
    if step.block >= 0 or step.command is None:
        return step.block
    parts = enumerate(story.report.parts)
    return next((n for n, p in parts if isinstance(p, Sentence) and step.command.text in p.spans), 0)


def _has_options(command: Command | None, about: str) -> bool:
    return command is not None and _holds(command.arguments, tuple(about.split()))


def _is_named(command: Command | None, about: str) -> bool:
    arguments = arguments_of(about)
    return bool(arguments) and command is not None and command.arguments == arguments


def named_places(facts: Facts, about: str) -> list[int]:
    """Commands of a scene with just these arguments; else the one that has them among its own."""
    places = commands_of(facts)
    exact = [p for p in places if _is_named(facts.scene.steps[p].command, about)]
    if exact or not about:
        return exact
    words = tuple(about.split())
    holding = [p for p in places if _holds(_arguments(facts, p), words)]
    return holding if len(holding) == 1 else []


def _arguments(facts: Facts, place: int) -> tuple[str, ...]:
    command = facts.scene.steps[place].command
    return command.arguments if command else ()


def _holds(words: Sequence[str], piece: Sequence[str]) -> bool:
    return any(
        tuple(words[at : at + len(piece)]) == tuple(piece) for at in range(len(words) - len(piece) + 1)
    )


def _places(facts: Facts, one: Exit) -> list[int]:
    """Which commands of its scene a statement is about; none where that is not clear."""
    places = commands_of(facts)
    if one.about.startswith("-") and _ALONE.search(one.evidence):
        return [p for p in places if _arguments(facts, p) == tuple(one.about.split())]
    named = named_places(facts, one.about)
    if named:
        return named
    if one.about.startswith("-"):
        places = [p for p in places if _has_options(facts.scene.steps[p].command, one.about)]
    order = _ORDINAL.search(one.before)
    if order and not one.whole:
        every = [place for place, step in enumerate(facts.scene.steps) if step.command]
        at = _ORDER[order.group(1).lower()]
        return [every[at]] if at < len(every) and every[at] in places else []
    if one.whole or len(places) == 1:
        return places
    marked = [p for p in places if facts.scene.remarks[p].mark is Mark.BAD]
    differing = [p for p in places if one.status.holds(code_at(facts, p)) is (one.role is Role.ACTUAL)]
    fit = marked if len(marked) == 1 else differing
    if len(fit) == 1:
        return fit
    if one.role is Role.EXPECTED:
        facts.doubts.append(f"which command should end with {one.status.words} is not clear")
    return []


def status_findings(facts: Facts, told: Sequence[Told]) -> tuple[list[Finding], list[Finding]]:
    """Stated statuses that did not come, then those that did."""
    findings: list[Finding] = []
    guards: list[Finding] = []
    for place in commands_of(facts):
        mine = [one for one in told if one.place == place and one.exit.sure]
        wanted = _strictest([one.exit for one in mine if one.exit.role is Role.EXPECTED])
        if wanted is None:
            facts.doubts.append(f"line {facts.scene.steps[place].line}: different exit statuses are stated")
            continue
        for one in wanted:
            met = one.status.holds(code_at(facts, place))
            (guards if met else findings).append(_finding(facts, place, one))
        right = [o.exit for o in mine if o.exit.role is Role.ACTUAL and o.exit.lasting]
        held = [one for one in right if one.status.holds(code_at(facts, place)) and not one.bare]
        guards += [_finding(facts, place, one) for one in held[:1] if not wanted]
        if not wanted and not held:
            findings += _complained(facts, place, mine)
    return findings, guards


def _strictest(wanted: Sequence[Exit]) -> list[Exit] | None:
    """One status of those stated, the most exact; None where they exclude each other."""
    exact = [one for one in wanted if not one.status.other]
    if len({one.status for one in exact}) > 1:
        return None
    if exact and not all(one.status.holds(exact[0].status.code) for one in wanted):
        return None
    return (exact or list(wanted))[:1]


def _finding(facts: Facts, place: int, one: Exit) -> Finding:
    index = facts.scene.first + place
    observed = f"exit status {code_at(facts, place)}"
    check = Check(index, one.status.expression)
    return Finding(Kind.EQUAL, index, observed, one.status.words, (one.evidence,), (check,))


def _complained(facts: Facts, place: int, told: Sequence[Told]) -> Iterator[Finding]:
    """A status that is only complained of. That of a traceback is none: what is wrong is the traceback."""
    process = facts.seen[place].process
    if process is None or traceback_in(process.err):
        return
    bad = facts.scene.remarks[place].mark is Mark.BAD
    for one in told:
        status = one.exit.status
        plain = one.exit.role is Role.ACTUAL and not (status.other or one.exit.bare or one.exit.lasting)
        objected = bad or one.titled or _COMPLAINS.search(one.exit.evidence)
        if plain and objected and status.holds(process.code):
            finding = _finding(facts, place, replace(one.exit, status=status.inverse))
            yield replace(finding, kind=Kind.NOT_VALUE)
            return


def belied(facts: Facts, told: Sequence[Told]) -> Iterator[str]:
    """Statuses that the report says a command has and that it has not here."""
    for one in told:
        given = one.exit.role is Role.ACTUAL and one.exit.sure and not one.exit.bare
        real = code_at(facts, one.place)
        if given and not one.exit.status.holds(real):
            line = facts.scene.steps[one.place].line
            yield f"line {line}: the report says {one.exit.status.words}, here it is {real}"


__all__ = ["Told", "belied", "commands_of", "named_places", "status_findings", "told_statuses"]
