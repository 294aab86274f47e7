# SPDX-License-Identifier: Apache-2.0
"""Tries guesses on Base and takes those into the story that do there what the report shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from redfirst.agents.strategies.snippet.claims import Remark, Role
from redfirst.agents.strategies.snippet.compare import same_value
from redfirst.agents.strategies.snippet.guesses import Guess
from redfirst.agents.strategies.snippet.probe import Prober, Raised, Seen
from redfirst.agents.strategies.snippet.steps import Step
from redfirst.agents.strategies.snippet.story import Output, Scene, Story
from redfirst.agents.strategies.snippet.tracebacks import ShownException


def confirmed(prober: Prober, guesses: Sequence[Guess]) -> list[Guess]:
    """The first guess for each thing shown that comes true. Raises SandboxError, EnvironmentFailed."""
    if not guesses:
        return []
    codes = [code for guess in guesses for code in (guess.code, *guess.twins)]
    seen = iter(prober.observe(codes).steps)
    kept: dict[tuple[int, str], Guess] = {}
    for guess in guesses:
        done = [one for _, one in zip((guess.code, *guess.twins), seen, strict=False)]
        if len(done) == 1 + len(guess.twins) and all(comes_true(guess, one) for one in done):
            kept.setdefault((guess.number, guess.shown), guess)
    return list(kept.values())


def comes_true(guess: Guess, seen: Seen) -> bool:
    """Whether a statement did what is shown: the very exception with its message, or the very result."""
    if guess.exception is not None:
        return seen.raised is not None and is_the_very(seen.raised, guess.exception)
    return seen.raised is None and seen.value is not None and same_value(seen.value, guess.shown)


def is_the_very(raised: Raised, shown: ShownException) -> bool:
    """Whether an exception is the one shown: its class, its whole message, and the function it came out of."""
    last = shown.frames[-1].function if shown.frames else ""
    through = not last or last.startswith("<") or last in raised.functions
    return raised.name == shown.name and _squeezed(raised.message) == _squeezed(shown.message) and through


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def with_confirmed(story: Story, guesses: Sequence[Guess]) -> Story:
    """The story with a scene for each confirmed traceback: in a report without code all is said of the one call."""
    scenes = list(story.scenes)
    count = len(story.steps)
    told = story.loose if not any(scene.steps[0].block >= 0 for scene in story.scenes) else ()
    for guess in guesses:
        if guess.exception is None:
            continue
        step = Step(guess.code, guess.line, guess.number)
        output = Output(guess.evidence, Role.ACTUAL, guess.line, guess.exception, guess.evidence)
        single = told if len(guesses) == 1 else ()
        scenes.append(Scene(count, (step,), (Remark(()),), single, (output,)))
        count += 1
    return replace(story, scenes=tuple(scenes))
