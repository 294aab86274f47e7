# SPDX-License-Identifier: Apache-2.0
"""One scene of a report beside what its statements did on Base."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from redfirst.agents.strategies.snippet.claims import Mark
from redfirst.agents.strategies.snippet.compare import same_step
from redfirst.agents.strategies.snippet.probe import Seen
from redfirst.agents.strategies.snippet.story import Scene

VARIANT = -2  # the block of a step that stands in no block: its input is only named in prose
_VERSION = re.compile(r"\b(?:__version__|version|version_info|platform|__file__)\b")


@dataclass(slots=True)
class Facts:
    """A scene beside what its steps did. ``told``: what the report says, questions left out.

    ``doubts`` collects why something was not used."""

    scene: Scene
    seen: tuple[Seen, ...]
    names: frozenset[str]
    report_text: str
    told: str
    doubts: list[str] = field(default_factory=list)

    def contradicted(self, place: int) -> bool:
        """Whether the report shows a result under this step that is not what happened."""
        step, seen = self.scene.steps[place], self.seen[place]
        told = step.shown is not None and step.command is None
        return bool(told and step.shown and seen.raised is None and not same_step(seen, step.shown))

    def of_release(self, place: int) -> bool:
        """Whether a step shows which release runs, or where: another one would show something else."""
        return bool(_VERSION.search(self.scene.steps[place].code))

    def speaking(self) -> list[int]:
        """Places of steps that give or print something and are not marked as good."""
        places = [place for place in self.results() if not self._dismissed(place)]
        loud = [place for place in places if not self._silent(place)]
        return loud or places

    def results(self) -> list[int]:
        """Places of all steps that give or print something: what "the second one" counts."""
        places = [place for place in range(len(self.seen)) if self._speaks(place)]
        return [place for place in places if not self._silent(place)] or places

    def _dismissed(self, place: int) -> bool:
        return self.scene.remarks[place].mark is Mark.GOOD or self.contradicted(place)

    def _silent(self, place: int) -> bool:
        """Whether a step gave None and printed nothing: a call made for its effect."""
        seen = self.seen[place]
        none = seen.value is not None and seen.value.type == "builtins.NoneType"
        return none and not seen.out.strip() and not seen.raised

    def _speaks(self, place: int) -> bool:
        seen = self.seen[place]
        step = self.scene.steps[place]
        if step.command or step.file or self.of_release(place):
            return False
        tree = self.scene.steps[place].tree
        value = seen.value is not None and seen.value.type != "builtins.NoneType"
        shown = isinstance(tree, ast.Expr) and (value or (seen.value is not None and seen.out == ""))
        return bool(shown or seen.out.strip() or (seen.raised and not isinstance(tree, ast.Import)))
