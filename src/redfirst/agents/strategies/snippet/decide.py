# SPDX-License-Identifier: Apache-2.0
"""Compares what happened with what the report says, and keeps only what both agree on."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from redfirst.agents.strategies.snippet.claims import Mark
from redfirst.agents.strategies.snippet.commands import decide_commands
from redfirst.agents.strategies.snippet.exceptions import decide_exceptions, reported
from redfirst.agents.strategies.snippet.facts import Facts
from redfirst.agents.strategies.snippet.findings import Decision, Finding, Kind
from redfirst.agents.strategies.snippet.guards import guards_in
from redfirst.agents.strategies.snippet.probe import Observed
from redfirst.agents.strategies.snippet.results import stated_results
from redfirst.agents.strategies.snippet.steps import bound_names, is_example
from redfirst.agents.strategies.snippet.story import Story
from redfirst.agents.strategies.snippet.whole import denied, touched
from redfirst.agents.strategies.snippet.wrong import wrong_alike, wrong_values


def decide(story: Story, observed: Observed) -> Decision:
    """Every property that the report asks for and that did not hold on Base, strongest first, and the guards."""
    findings: list[Finding] = []
    guards: list[Finding] = []
    doubts: list[str] = []
    told = list(_scenes(story, observed))
    for facts in told:
        found, held = _of_scene(facts, story)
        findings += found
        guards += held
        doubts += facts.doubts
    values = [f.step for f in findings if f.kind in (Kind.EQUAL, Kind.NOT_VALUE) and not f.exception]
    blamed = [story.steps[step] for step in values]
    findings += [f for facts in told for f in wrong_alike(facts, blamed)]
    against = denied(told, story) if findings else []
    if against:
        return Decision((), tuple(dict.fromkeys([*against, *doubts])))
    kept = _without_weaker(_merged(findings))
    return Decision(tuple(kept), tuple(dict.fromkeys(doubts)), tuple(_merged(guards)) if kept else ())


def _scenes(story: Story, observed: Observed) -> Iterator[Facts]:
    """The scenes of which something ran."""
    names = frozenset(bound_names(step.tree for step in story.steps))
    text = " ".join(sentence.text for sentence in story.report.sentences)
    told = " ".join(s.text for s in story.report.sentences if not s.text.rstrip().endswith("?"))
    for scene in story.scenes:
        seen = observed.steps[scene.first : scene.first + len(scene.steps)]
        if seen:
            yield Facts(scene, seen, names, text, told)


def _of_scene(facts: Facts, story: Story) -> tuple[list[Finding], list[Finding]]:
    """Findings and guards of one scene."""
    if any(step.command for step in facts.scene.steps):
        return _of_commands(facts, story)
    single = sum(scene.steps[0].block >= 0 or bool(scene.claims) for scene in story.scenes) == 1
    stated = stated_results(facts)
    results = [one.finding for one in stated if one.finding]
    disputed = _disputed(results)
    if disputed:
        facts.doubts.append(
            "the report states different results for one statement: which counts is not clear"
        )
    findings = list(_asserting(facts))
    findings += [f for f in results if not disputed & {check.step for check in f.checks}]
    findings += decide_exceptions(facts, story)
    findings += [f for f in wrong_values(facts, single) if f.step not in disputed]
    derailed = _derailed(facts, story)
    findings = [f for f in findings if f.step < derailed]
    doubtful = list(touched(facts, findings))
    if doubtful:
        facts.doubts.append("a result that the report shows beside it is not what happens here")
    findings = [f for f in findings if f not in doubtful]
    guards = [f for f in guards_in(facts, story, stated, findings) if f.step < derailed]
    return findings, guards


def _of_commands(facts: Facts, story: Story) -> tuple[list[Finding], list[Finding]]:
    """Findings and guards of a scene that is a shell session."""
    findings, guards = decide_commands(facts, story)
    disputed = _disputed(findings)
    if disputed:
        facts.doubts.append("the report states different results for one command: which counts is not clear")
    return [f for f in findings if f.step not in disputed], guards


def _derailed(facts: Facts, story: Story) -> int:
    """The first step after which the code is no longer where the report has it: one raised what nobody reports."""
    for place, seen in enumerate(facts.seen):
        own = isinstance(facts.scene.steps[place].tree, ast.Assert)
        if seen.raised and not own and not reported(facts, story, place):
            return facts.scene.first + place + 1
    return len(story.steps) + 1


def _disputed(findings: Sequence[Finding]) -> set[int]:
    """Steps for which the report states different results: two values for one and the same thing."""
    wanted: dict[tuple[int, str], set[str]] = {}
    for check in (check for finding in findings for check in finding.checks):
        wanted.setdefault((check.step, _subject(check.expression)), set()).add(check.expression)
    return {step for (step, _), expressions in wanted.items() if len(expressions) > 1}


def _subject(expression: str) -> str:
    """What an expression compares with something; the expression itself where it holds no equation."""
    if expression.startswith("abs(_ - "):
        return "_"
    tree = ast.parse(expression, mode="eval").body
    equation = isinstance(tree, ast.Compare) and isinstance(tree.ops[0], ast.Eq | ast.Is)
    return ast.unparse(tree.left) if isinstance(tree, ast.Compare) and equation else expression


def _merged(findings: Sequence[Finding]) -> list[Finding]:
    """One finding for each step and kind, strongest first: the checks of several are made together."""
    found: dict[tuple[int, int, str], Finding] = {}
    for finding in findings:
        key = (finding.kind, finding.step, finding.exception)
        known = found.get(key)
        if known is None:
            found[key] = finding
        elif not (known.printed or finding.printed) and set(finding.checks) - set(known.checks):
            found[key] = replace(
                known,
                expected=f"{known.expected}; {finding.expected}",
                evidence=tuple(dict.fromkeys((*known.evidence, *finding.evidence))),
                checks=tuple(dict.fromkeys((*known.checks, *finding.checks))),
            )
    return sorted(found.values(), key=lambda f: (f.kind, f.step))


def _without_weaker(findings: Sequence[Finding]) -> list[Finding]:
    """Drop "not this value" for steps of which something better is known."""
    better = {check.step for f in findings if f.kind is not Kind.NOT_VALUE for check in f.checks}
    better |= {f.step for f in findings if f.kind is not Kind.NOT_VALUE}
    return [f for f in findings if f.kind is not Kind.NOT_VALUE or f.step not in better]


# ------------------------------------------------------------------------------------ the report's asserts
def _asserting(facts: Facts) -> Iterator[Finding]:
    """Assertions of the report itself that fail on Base."""
    for place, seen in enumerate(facts.seen):
        step = facts.scene.steps[place]
        if is_example(step.tree) and seen.raised is None:
            index = facts.scene.first + place
            evidence = step.code.strip()[:600]
            yield Finding(
                Kind.ASSERTS,
                index,
                "a failing assertion",
                "the report's own test passes",
                (evidence,),
                example=True,
            )
        own = seen.raised and seen.raised.name == "AssertionError" and len(seen.raised.files) <= 1
        if own and isinstance(step.tree, ast.Assert) and facts.scene.remarks[place].mark is not Mark.GOOD:
            index = facts.scene.first + place
            condition = ast.unparse(step.tree.test)
            yield Finding(Kind.ASSERTS, index, "AssertionError", condition, (step.code.strip(),))
