# SPDX-License-Identifier: Apache-2.0
"""Finds results that a report shows and complains of where nothing says what is right: the weakest findings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from redfirst.agents.strategies.snippet.assertions import inequality
from redfirst.agents.strategies.snippet.claims import Claim, Mark, Role
from redfirst.agents.strategies.snippet.compare import same_output, same_step, states
from redfirst.agents.strategies.snippet.facts import Facts
from redfirst.agents.strategies.snippet.findings import Check, Finding, Kind
from redfirst.agents.strategies.snippet.probe import Seen
from redfirst.agents.strategies.snippet.results import printed, printed_text, words_of
from redfirst.agents.strategies.snippet.steps import Step
from redfirst.agents.strategies.snippet.story import fits, speaks_of, subject_of
from redfirst.agents.strategies.snippet.variants import model_of

COMPLAINT = re.compile(
    r"\b(?:wrong|incorrect|bug|but|should|unexpected|broken|instead|surpris|expect|lost|missing|ignored?|garbled|mangled|"
    r"disappear|different|differs?|fails?|regression|used to|no longer|not right|odd|strange|weird)",
    re.IGNORECASE,
)


def wrong_values(facts: Facts, single: bool) -> Iterator[Finding]:
    """The weakest finding: a result that the report shows and complains of, as it came out here."""
    speaking = facts.speaking()
    fine = [claim for claim in facts.scene.claims if claim.role is Role.EXPECTED and not claim.versioned]
    unwanted = [claim for claim in facts.scene.claims if claim.role is Role.UNWANTED and not claim.hedged]
    for place in speaking:
        seen, remark, step = facts.seen[place], facts.scene.remarks[place], facts.scene.steps[place]
        told = _told_value(facts, place)
        denied = next((c for c in unwanted if _is(seen, c) and fits(c, facts.scene.code, "")), None)
        if any(_is(seen, claim) for claim in (*fine, *remark.claims) if claim.role is Role.EXPECTED):
            continue
        alone = single and len(speaking) == 1 and bool(COMPLAINT.search(facts.told))
        if seen.value is None or not (denied or (told and (alone or remark.mark is Mark.BAD))):
            continue
        expression = inequality(seen.value)
        if expression:
            evidence = denied.evidence if denied else told or step.code
            yield _not_value(facts.scene.first + place, seen.value.repr, expression, evidence)
    blocks = [o for o in facts.scene.outputs if o.role is not Role.EXPECTED and not o.exception]
    complained = single and len(blocks) == 1 and COMPLAINT.search(facts.told)
    if complained and not _is_one_value(facts, speaking) and same_output(printed_text(facts), blocks[0].text):
        yield from printed(facts, blocks[0].text, words_of(blocks[0]), wanted=False)


def wrong_alike(facts: Facts, blamed: Sequence[Step]) -> Iterator[Finding]:
    """The result of an input that the report only names, and calls wrong in the way of a statement that is.

    ``blamed``: the statements of the report whose result is known to be wrong.
    """
    models = {model.pattern for step in blamed if (model := model_of(step))}
    for place, seen in enumerate(facts.seen):
        step, alike = facts.scene.steps[place], facts.scene.remarks[place].alike
        model = model_of(step) if alike else None
        expression = inequality(seen.value) if seen.value is not None and not seen.raised else None
        if model is not None and model.pattern in models and expression and seen.value is not None:
            yield _not_value(facts.scene.first + place, seen.value.repr, expression, alike)


def _not_value(step: int, observed: str, expression: str, evidence: str) -> Finding:
    wanted = f"something else than {observed[:200]}"
    return Finding(Kind.NOT_VALUE, step, observed, wanted, (evidence,), (Check(step, expression),))


def _is_one_value(facts: Facts, speaking: list[int]) -> bool:
    return len(speaking) == 1 and facts.seen[speaking[0]].value is not None


def _told_value(facts: Facts, place: int) -> str | None:
    """The words in which the report shows the result that this step gave, or None."""
    step, seen = facts.scene.steps[place], facts.seen[place]
    if step.shown is not None and same_step(seen, step.shown):
        return f"{step.code.strip()} → {step.shown}"
    claims = (*facts.scene.remarks[place].claims, *facts.scene.claims)
    for claim in claims:
        actual = claim.role in (Role.ACTUAL, Role.SHOWN) or claim.versioned
        if actual and same_step(seen, claim.value):
            about = subject_of(claim)
            if claim in facts.scene.remarks[place].claims or not about or speaks_of(claim, step):
                return claim.evidence
    for output in facts.scene.outputs:
        if output.role is not Role.EXPECTED and same_step(seen, output.text):
            return words_of(output)
    return None


def _is(seen: Seen, claim: Claim) -> bool:
    return seen.value is not None and states(claim, seen.value) is True
