# SPDX-License-Identifier: Apache-2.0
"""Holds the whole report against what happened: what did not happen as it is told makes the rest doubtful."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

from redfirst.agents.strategies.snippet.claims import Mark, Role, is_literal
from redfirst.agents.strategies.snippet.commands import unreproduced
from redfirst.agents.strategies.snippet.compare import same_exception, same_step, shows_part
from redfirst.agents.strategies.snippet.facts import Facts
from redfirst.agents.strategies.snippet.findings import Finding
from redfirst.agents.strategies.snippet.story import Scene, Story

_COMMON = frozenset(dir(builtins))


def untrue(facts: Facts) -> list[int]:
    """Places of steps under or beside which the report shows something else than what came."""
    return [place for place in range(len(facts.seen)) if facts.contradicted(place) or _belied(facts, place)]


def _belied(facts: Facts, place: int) -> bool:
    """Whether a comment beside a step tells a plain result, or an exception, that did not come."""
    seen, remark = facts.seen[place], facts.scene.remarks[place]
    if facts.scene.steps[place].command:
        return False
    told = [c for c in remark.claims if c.role in (Role.SHOWN, Role.ACTUAL) and is_literal(c.value)]
    raises = [c for c in remark.claims if c.role is Role.ACTUAL_RAISE]
    wishes = [c for c in remark.claims if c.role in (Role.EXPECTED, Role.EXPECTED_RAISE)]
    if told and not wishes and seen.raised is None and seen.value is not None:
        return not any(same_step(seen, c.value) for c in told)
    return bool(raises and not wishes and seen.raised is None)


def touched(facts: Facts, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Findings that share a function or a variable with a step whose told result did not come."""
    wrong = untrue(facts)
    reach = [_own_names(facts, place) for place in wrong]
    for finding in findings:
        place = finding.step - facts.scene.first
        if place in wrong or any(_own_names(facts, place) & names for names in reach):
            yield finding


def _own_names(facts: Facts, place: int) -> set[str]:
    """Names that a step reads and calls, without the built-in ones."""
    tree = facts.scene.steps[place].tree
    if tree is None:
        return set()
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return (names | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}) - _COMMON


def denied(scenes: Sequence[Facts], story: Story) -> list[str]:
    """Why nothing of the report counts: its complaint itself did not come true. Empty if it did."""
    reasons = list(story.unread)
    for facts in scenes:
        reasons += unreproduced(facts, story)
        wrong = untrue(facts)
        for place in wrong:
            if facts.scene.remarks[place].mark is Mark.BAD or [place] == facts.results():
                line = facts.scene.steps[place].line
                reasons.append(f"line {line}: what the report complains of is not what happens")
    return [*reasons, *_unseen_exceptions(scenes, story), *_unseen_outputs(scenes)]


def _is_session(scene: Scene) -> bool:
    """Whether a scene is of commands, which are held against the report elsewhere."""
    return any(step.command for step in scene.steps)


def _unseen_exceptions(scenes: Sequence[Facts], story: Story) -> Iterator[str]:
    """Tracebacks that the report shows and no statement ends in, where statements ran at all."""
    raised = [seen.raised for facts in scenes for seen in facts.seen if seen.raised]
    for scene in story.scenes:
        for output in () if _is_session(scene) else scene.outputs:
            shown = output.exception
            if shown is None or output.role is Role.EXPECTED:
                continue
            if not any(same_exception(one, shown.type, shown.message) for one in raised):
                yield f"line {output.line}: the report shows {shown.name}, which nothing raises here"


def _unseen_outputs(scenes: Sequence[Facts]) -> Iterator[str]:
    """Blocks that the report calls the result, where the code ran to its end and gave something else."""
    for facts in scenes:
        if _is_session(facts.scene):
            continue
        complete = len(facts.seen) == len(facts.scene.steps) and not any(s.raised for s in facts.seen)
        for output in facts.scene.outputs:
            if not complete or output.role is not Role.ACTUAL or output.exception:
                continue
            whole = "".join(seen.out for seen in facts.seen)
            one = any(
                same_step(seen, output.text)
                or shows_part(output.text, seen.value.text or seen.value.repr if seen.value else "")
                for seen in facts.seen
            )
            if not one and not shows_part(output.text, whole):
                yield f"line {output.line}: the shown output is not what comes out here"
