# SPDX-License-Identifier: Apache-2.0
"""Decides what a report asks for of the commands that it shows: their exit status and what they write."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from redfirst.agents.strategies.snippet.blame import ordinal
from redfirst.agents.strategies.snippet.claims import Claim, How, Mark, Role, is_literal
from redfirst.agents.strategies.snippet.compare import alike, likeness, same_output
from redfirst.agents.strategies.snippet.exceptions import ABOUT_DOCUMENTS
from redfirst.agents.strategies.snippet.exits import exits_in
from redfirst.agents.strategies.snippet.facts import Facts
from redfirst.agents.strategies.snippet.findings import Check, Finding, Kind
from redfirst.agents.strategies.snippet.probe import Process
from redfirst.agents.strategies.snippet.statuses import (
    belied,
    commands_of,
    named_places,
    status_findings,
    told_statuses,
)
from redfirst.agents.strategies.snippet.story import Story, subject_of
from redfirst.agents.strategies.snippet.terminal import reproduced, terminal_texts, traceback_in
from redfirst.agents.strategies.snippet.wrong import COMPLAINT

_MAX = 2_000


def decide_commands(facts: Facts, story: Story) -> tuple[list[Finding], list[Finding]]:
    """Findings and guards about the commands of one scene."""
    if not commands_of(facts):
        return [], []
    statuses = told_statuses(facts, story)
    findings, guards = status_findings(facts, statuses)
    for finding, held in _outputs(facts):
        (guards if held else findings).append(finding)
    stated = {finding.step for finding in findings}
    weak = [f for place in commands_of(facts) for f in _complaints(facts, story, place)]
    stated |= {facts.scene.first + one.place for one in statuses if one.exit.role is Role.EXPECTED}
    findings += [finding for finding in weak if finding.step not in stated]
    blamed = {finding.step for finding in findings}
    guards += [guard for place in commands_of(facts) for guard in _marked_good(facts, place)]
    return findings, [guard for guard in guards if guard.step not in blamed or guard.checks]


def unreproduced(facts: Facts, story: Story) -> Iterator[str]:
    """What the report shows or says of commands and what is not so here."""
    for place in commands_of(facts):
        step, process = facts.scene.steps[place], facts.seen[place].process
        if step.command is None or process is None or step.shown is None:
            continue
        if not reproduced(step.command.line, process, step.shown):
            yield f"line {step.line}: `{step.command.text}` does not show here what the report shows"
    yield from belied(facts, told_statuses(facts, story))
    for output in facts.scene.outputs:
        if commands_of(facts) and output.role is not Role.EXPECTED and not _is_shown(facts, output.text):
            yield f"line {output.line}: the shown output is not what comes out here"


def _is_shown(facts: Facts, text: str) -> bool:
    """Whether a block is what one of the commands, or all of them in a row, show."""
    whole = ""
    for place in commands_of(facts):
        command, process = facts.scene.steps[place].command, facts.seen[place].process
        if command and process:
            if reproduced(command.line, process, text):
                return True
            whole += next(terminal_texts(command.line, process))
    return same_output(whole, text)


# --------------------------------------------------------------------------------------------- output
def _outputs(facts: Facts) -> Iterator[tuple[Finding, bool]]:
    """Stated outputs, each as a finding and whether it holds already."""
    for output in facts.scene.outputs:
        if output.role is Role.EXPECTED and not output.exception:
            place = _only(facts)
            expression = _whole(facts, place, output.text) if place is not None else None
            if place is not None and expression:
                yield _judged(
                    facts,
                    place,
                    expression,
                    output.text,
                    output.evidence,
                    same_text(facts, place, output.text),
                )
    for claim in facts.scene.claims:
        wanted = claim.role in (Role.EXPECTED, Role.UNWANTED) and not (claim.hedged and not claim.lasting)
        if wanted and not _is_status(claim):
            place = _target(facts, claim)
            if place is not None and _agrees(facts, place, claim):
                yield from _claimed(facts, place, claim)


def _only(facts: Facts) -> int | None:
    """The one command that a block of expected output can be about."""
    places = commands_of(facts)
    marked = [place for place in places if facts.scene.remarks[place].mark is Mark.BAD]
    places = marked if len(marked) == 1 else places
    if len(places) != 1:
        facts.doubts.append("which command should give the expected output is not clear")
        return None
    return places[0]


def _target(facts: Facts, claim: Claim) -> int | None:
    subject = subject_of(claim)
    named = named_places(facts, subject or "")
    if named:
        return named[-1]
    order = ordinal(claim)
    if order is None:
        return _only(facts)
    every = [place for place, step in enumerate(facts.scene.steps) if step.command]
    known = order < len(every) and every[order] in commands_of(facts)
    return every[order] if known else None


def _is_status(claim: Claim) -> bool:
    """Whether a claim is about an exit status, which is read elsewhere."""
    return bool(exits_in(claim.evidence)) and claim.value.strip("`-").isdigit()


def _process(facts: Facts, place: int) -> Process:
    process = facts.seen[place].process
    assert process is not None
    return process


def same_text(facts: Facts, place: int, text: str) -> bool:
    process = _process(facts, place)
    return same_output(process.out, text) or (not process.out and same_output(process.err, text))


def _whole(facts: Facts, place: int, text: str) -> str | None:
    """The check that the whole output is ``text``; None where the report does not say it exactly."""
    process = _process(facts, place)
    actual = [o for o in facts.scene.outputs if o.role is not Role.EXPECTED]
    known = facts.scene.steps[place].shown is not None or any(_is_shown(facts, o.text) for o in actual)
    if "..." in text or "…" in text or len(text) > _MAX:
        return None
    if not known and process.out.strip() and likeness(text, process.out) < 0.3:
        facts.doubts.append("the expected output has nothing in common with the real one")
        return None
    stream = (
        "stderr" if not process.out.strip() and process.err.strip() and alike(text, process.err) else "stdout"
    )
    if any(
        line != line.rstrip() for line in (process.err if stream == "stderr" else process.out).splitlines()
    ):
        return None
    return f"_.{stream}.strip() == {text.strip()!r}"


def _claimed(facts: Facts, place: int, claim: Claim) -> Iterator[tuple[Finding, bool]]:
    """What a sentence says that a command should, or should not, write."""
    for value in claim.listed if claim.how is How.IS else (claim.value,):
        literal = ast.literal_eval(value) if is_literal(value) else value
        text = str(literal).strip() if isinstance(literal, str | int | float) else value
        lacks = claim.how is How.LACKS or claim.role is Role.UNWANTED
        if not text or "..." in text or claim.how not in (How.IS, How.CONTAINS, How.LACKS):
            continue
        process = _process(facts, place)
        stream = _stream(claim, process)
        expression, met = _about_text(process, stream, text, claim)
        if lacks:
            expression, met = f"{text!r} not in {stream}", text not in process.out + process.err
        yield _judged(facts, place, expression, text if not lacks else f"no {text}", claim.evidence, met)


def _stream(claim: Claim, process: Process) -> str:
    """Where a text is to stand; both streams where nobody says."""
    said = claim.evidence.lower()
    if "stderr" in said or "standard error" in said:
        return "_.stderr"
    if "stdout" in said or "standard output" in said or (process.out and not process.err):
        return "_.stdout"
    return "_.stdout + _.stderr"


def _about_text(process: Process, stream: str, text: str, claim: Claim) -> tuple[str, bool]:
    """The check for one stated text: the whole output if that is one like it, else a part."""
    real = {"_.stdout": process.out, "_.stderr": process.err}.get(stream, process.out + process.err)
    single = len(real.strip().splitlines()) == 1 and claim.how is How.IS and stream != "_.stdout + _.stderr"
    number = text.replace(".", "", 1).isdigit() and real.strip().replace(".", "", 1).isdigit()
    if single and (number or (claim.code and alike(text, real))):
        return f"{stream}.strip() == {text!r}", real.strip() == text
    both = stream == "_.stdout + _.stderr"
    return f"{text!r} in {stream}", text in real and not (both and not real)


def _agrees(facts: Facts, place: int, claim: Claim) -> bool:
    """Whether what the same sentence says of the actual output is so."""
    told = [c for c in facts.scene.claims if c.role is Role.ACTUAL and c.evidence == claim.evidence]
    process = _process(facts, place)
    real = process.out + process.err
    texts = [
        str(ast.literal_eval(c.value)) if is_literal(c.value) else c.value for c in told if not _is_status(c)
    ]
    if all(text.strip() in real for text in texts):
        return True
    facts.doubts.append(f"line {claim.line}: the output that the report tells is not what comes out here")
    return False


def _judged(
    facts: Facts, place: int, expression: str, wanted: str, evidence: str, met: bool
) -> tuple[Finding, bool]:
    index = facts.scene.first + place
    process = _process(facts, place)
    observed = (process.out or process.err).strip()[:300] or "no output"
    check = Check(index, expression)
    return Finding(Kind.EQUAL, index, observed, wanted, (f"{evidence} {wanted}",), (check,)), met


# ------------------------------------------------------------------------------- what is only complained of
def _complaints(facts: Facts, story: Story, place: int) -> Iterator[Finding]:
    """The weakest findings: a traceback that must not come, or output that is said to be wrong."""
    process, step = _process(facts, place), facts.scene.steps[place]
    index = facts.scene.first + place
    if facts.scene.remarks[place].mark is Mark.GOOD:
        return
    came = traceback_in(process.err)
    if came is not None:
        if ABOUT_DOCUMENTS.search(facts.report_text) or not _is_told(facts, story, place, came.name):
            facts.doubts.append(
                f"line {step.line}: it ends in {came.name}, of which the report does not complain"
            )
            return
        expected, evidence = f"no {came.name}", f"{came.name}: {came.message}"
        check = Check(index, f"{came.name!r} not in _.stderr")
        yield Finding(Kind.NOT_VALUE, index, evidence, expected, (evidence,), (check,))
        return
    yield from _wrong_output(facts, story, place)


def _is_told(facts: Facts, story: Story, place: int, name: str) -> bool:
    """Whether the report shows or names the exception that a command ended in."""
    shown = traceback_in(facts.scene.steps[place].shown or "")
    blocks = [output.exception for output in facts.scene.outputs]
    named = any(c.role is Role.ACTUAL_RAISE and c.value.endswith(name) for c in facts.scene.claims)
    known = [one.name for one in (shown, *blocks) if one is not None]
    return name in known or named or name in story.report.title


def _wrong_output(facts: Facts, story: Story, place: int) -> Iterator[Finding]:
    """Output that the report shows and objects to where it is the only thing that it shows."""
    step, process = facts.scene.steps[place], _process(facts, place)
    command = step.command
    shown = (
        [step.shown] if step.shown else [o.text for o in facts.scene.outputs if o.role is not Role.EXPECTED]
    )
    alone = len([s for s in story.steps if s.command or s.block >= 0]) == 1 and COMPLAINT.search(facts.told)
    bad = facts.scene.remarks[place].mark is Mark.BAD
    if command is None or len(shown) != 1 or not (alone or bad) or _good_line(facts):
        return
    stream, text = ("stdout", process.out) if process.out.strip() else ("stderr", process.err)
    plain = same_output(text, shown[0]) and not command.line.tails
    if not plain or len(text) > _MAX or any(line != line.rstrip() for line in text.splitlines()):
        return
    index = facts.scene.first + place
    check = Check(index, f"_.{stream}.strip() != {text.strip()!r}")
    expected = f"something else than {text.strip()[:200]!r}"
    yield Finding(Kind.NOT_VALUE, index, text.strip(), expected, (f"{command.text} → {shown[0]}",), (check,))


def _good_line(facts: Facts) -> bool:
    """Whether the report states what should come: then a bare "not this" would be less than it says."""
    return any(output.role is Role.EXPECTED for output in facts.scene.outputs)


def _marked_good(facts: Facts, place: int) -> Iterator[Finding]:
    """A command that a comment calls fine must keep its status, and the output that is shown of it."""
    step, process = facts.scene.steps[place], _process(facts, place)
    if facts.scene.remarks[place].mark is not Mark.GOOD:
        return
    index = facts.scene.first + place
    checks = [Check(index, f"_.returncode == {process.code}")]
    if step.shown and same_output(process.out, step.shown) and len(process.out) < 300:
        checks.append(Check(index, f"_.stdout.strip() == {process.out.strip()!r}"))
    yield Finding(Kind.EQUAL, index, "as now", f"exit status {process.code}", (step.comment,), tuple(checks))


__all__ = ["decide_commands", "unreproduced"]
