# SPDX-License-Identifier: Apache-2.0
"""Ties what a report states to the statements of its code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from redfirst.agents.strategies.snippet.claims import (
    Claim,
    Mark,
    Remark,
    Role,
    claims_in,
    is_literal,
    read_remark,
)
from redfirst.agents.strategies.snippet.quantified import all_right, announces_right, calls_block_right
from redfirst.agents.strategies.snippet.report import Block, Report, Section, Sentence
from redfirst.agents.strategies.snippet.shell import Shell, shell_of
from redfirst.agents.strategies.snippet.steps import Step, steps_of
from redfirst.agents.strategies.snippet.tools import NO_TOOLS, Tools
from redfirst.agents.strategies.snippet.tracebacks import ShownException, find_exception

MAX_STEPS = 400
_MAX_SENTENCES = 1_000
_WANTS = re.compile(
    r"\b(?:expect|should|ought|correct|want|desired|used to|before|previously|instead of)", re.IGNORECASE
)
_GETS = re.compile(
    r"\b(?:actual|get|got|gives?|prints?|outputs?|returns?|shows?|result|see|instead|yields?|is)\b",
    re.IGNORECASE,
)
_UNCHANGED = re.compile(
    r"\b(?:still|stay|remain|keep|continue|of course|as before|already|go on|unaffected|also)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Output:
    """A block that is not code. ``role``: EXPECTED, ACTUAL, or SHOWN where nobody says."""

    text: str
    role: Role
    line: int
    exception: ShownException | None
    evidence: str


@dataclass(frozen=True, slots=True)
class Scene:
    """One block of code with all that the report says about it. ``first``: index of its first step."""

    first: int
    steps: tuple[Step, ...]
    remarks: tuple[Remark, ...]
    claims: tuple[Claim, ...] = ()
    outputs: tuple[Output, ...] = ()

    @property
    def code(self) -> str:
        return "\n".join(step.code for step in self.steps)


@dataclass(frozen=True, slots=True)
class Story:
    """The report's code as one session, cut into scenes. ``loose``: claims about no scene in particular.

    ``unread``: what the report shows of commands that cannot be run here.
    """

    report: Report
    scenes: tuple[Scene, ...]
    loose: tuple[Claim, ...]
    unread: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(step for scene in self.scenes for step in scene.steps)


def tell(report: Report, tools: Tools = NO_TOOLS) -> Story:
    """Read the story that a report tells; a report without code has scenes only for calls named in its prose.

    ``tools``: what the project can be called by on a command line.
    """
    shell = shell_of(report, tools)
    scenes: list[Scene] = []
    loose: list[Claim] = []
    count = 0
    intro: Sentence | None = None
    heard = 0
    behind = False
    for number, part in enumerate(report.parts):
        if isinstance(part, Sentence):
            heard += 1
            if heard <= _MAX_SENTENCES:
                scenes, loose = _heard(part, scenes, loose)
            if behind and scenes and calls_block_right(part.text):
                scenes[-1] = replace(scenes[-1], remarks=all_right(scenes[-1].steps, scenes[-1].remarks))
            intro, behind = part, False
            continue
        scenes, known = _with_session(shell, number, scenes, intro), shell.steps.get(number)
        steps = (steps_of(part, number) if known is None else known)[: max(0, MAX_STEPS - count)]
        if scenes and intro and known is None and is_values(steps):
            scenes = with_values(scenes, steps, part, intro)
        elif steps:
            remarks = tuple(read_remark(step.comment, step.line) for step in steps)
            if intro and announces_right(intro.text):
                remarks = all_right(steps, remarks)
            scenes.append(Scene(count, steps, remarks))
            count += len(steps)
        elif scenes and known is None:
            output = _output(part, intro)
            scenes[-1] = replace(scenes[-1], outputs=(*scenes[-1].outputs, output))
        intro, behind = None, bool(steps)
    if len(scenes) == 1 and loose:
        scenes = [replace(scenes[0], claims=(*loose, *scenes[0].claims))]
    scenes += _called_in_prose(scenes, loose, count)
    scenes += _named_commands(shell, sum(len(scene.steps) for scene in scenes))
    return Story(report, _set_up(shell, scenes), tuple(loose), tuple(shell.unread))


def _with_session(shell: Shell, number: int, scenes: list[Scene], intro: Sentence | None) -> list[Scene]:
    """The scenes, the last of them with what a session shows of its script."""
    if number not in shell.outputs or not scenes:
        return scenes
    output = replace(_output(shell.outputs[number], intro), role=Role.ACTUAL)
    return [*scenes[:-1], replace(scenes[-1], outputs=(*scenes[-1].outputs, output))]


def _named_commands(shell: Shell, count: int) -> Iterator[Scene]:
    """A scene for each command that the prose alone names."""
    for place, step in enumerate(shell.named):
        yield Scene(count + place, (step,), (Remark(()),))


def _set_up(shell: Shell, scenes: list[Scene]) -> tuple[Scene, ...]:
    """The scenes behind one that writes the files that they need."""
    if not shell.setup or not any(scene.steps for scene in scenes):
        return tuple(scenes)
    count = len(shell.setup)
    first = Scene(0, shell.setup, (Remark(()),) * count)
    return (first, *(replace(scene, first=scene.first + count) for scene in scenes))


def _heard(sentence: Sentence, scenes: list[Scene], loose: list[Claim]) -> tuple[list[Scene], list[Claim]]:
    claims = list(_stated(sentence))
    if not scenes:
        return scenes, [*loose, *claims]
    return [*scenes[:-1], replace(scenes[-1], claims=(*scenes[-1].claims, *claims))], loose


def _stated(sentence: Sentence) -> Iterator[Claim]:
    """The claims of a sentence, read in the light of the heading above it."""
    turned = {Role.ACTUAL: Role.EXPECTED, Role.ACTUAL_RAISE: Role.EXPECTED_RAISE}
    found = claims_in(sentence.text, sentence.line)
    for claim in found:
        if _UNCHANGED.search(claim.before) and claim.role in (Role.EXPECTED, Role.EXPECTED_RAISE):
            claim = replace(claim, hedged=True)
        if sentence.section is Section.EXPECTED and not re.search(r"\binstead of\b|\bbut\b", claim.before):
            claim = replace(claim, role=turned.get(claim.role, claim.role))
        yield claim
    bare = sentence.text.strip().rstrip(".")
    if not found and sentence.section is not Section.OTHER:
        role = Role.EXPECTED if sentence.section is Section.EXPECTED else Role.ACTUAL
        code = len(sentence.spans) == 1 and bare.startswith("`") and bare.endswith("`")
        value = sentence.spans[0] if code else bare
        if code or is_literal(bare):
            yield Claim(role, value, sentence.line, sentence.text, code)


def _output(block: Block, intro: Sentence | None) -> Output:
    """What a block of output is, by its heading, else by the sentence that leads to it."""
    exception = find_exception(block.text)
    told = intro.text if intro and (intro.text.rstrip().endswith(":") or len(intro.text) < 80) else ""
    pieces = re.split(r"[,;]|\bbut\b", _main_clause(told))
    tail = next((piece for piece in reversed(pieces) if _WANTS.search(piece) or _GETS.search(piece)), "")
    role = Role.SHOWN
    if block.section is Section.EXPECTED or (block.section is Section.OTHER and _WANTS.search(tail)):
        role = Role.EXPECTED
    elif block.section is Section.ACTUAL or _GETS.search(told):
        role = Role.ACTUAL
    if _WANTS.search(tail) and re.search(r"\binstead\b(?! of)|\bbut\b", told):
        role = Role.ACTUAL
    return Output(block.text, role, block.line, exception, told or block.text.splitlines()[0])


def _main_clause(sentence: str) -> str:
    """A sentence without its brackets and without the clauses at its end that give a reason."""
    bare = re.sub(r"\s*\([^()]*\)", "", sentence)
    return re.sub(r",?\s*\b(?:since|because|although|even though)\b.*$", "", bare) or sentence


def is_values(steps: Sequence[Step]) -> bool:
    """Whether a block that parses as code is a list of plain values: results, not something to run."""
    return bool(steps) and all(
        step.shown is None and isinstance(step.tree, ast.Expr) and is_literal(step.code) for step in steps
    )


def with_values(
    scenes: Sequence[Scene], values: Sequence[Step], block: Block, intro: Sentence
) -> list[Scene]:
    """The scenes with a block of plain values as output: one wanted value for each of as many results."""
    output = _output(block, intro)
    if len(values) == 1 or output.role is not Role.EXPECTED:
        return [*scenes[:-1], replace(scenes[-1], outputs=(*scenes[-1].outputs, output))]
    showing = [
        (n, place)
        for n, scene in enumerate(scenes)
        for place, step in enumerate(scene.steps)
        if isinstance(step.tree, ast.Expr) and not is_literal(step.code)
    ]
    if len(showing) != len(values):
        return list(scenes)
    result = list(scenes)
    for (n, place), value in zip(showing, values, strict=True):
        claim = Claim(Role.EXPECTED, value.code, value.line, f"{intro.text} {value.code}", True)
        remarks = list(result[n].remarks)
        remarks[place] = replace(remarks[place], claims=(*remarks[place].claims, claim))
        result[n] = replace(result[n], remarks=tuple(remarks))
    return result


def _called_in_prose(scenes: list[Scene], loose: list[Claim], count: int) -> Iterator[Scene]:
    """A scene for each call with literal arguments that a sentence names right before it states a result."""
    known = {_canonical(step.code) for scene in scenes for step in scene.steps}
    stated = [*loose, *(claim for scene in scenes for claim in scene.claims)]
    subjects: dict[str, list[Claim]] = {}
    for claim in stated:
        call = subject_of(claim)
        named = (
            call is not None
            and call.endswith("()")
            and claim.role in (Role.ACTUAL_RAISE, Role.EXPECTED_RAISE)
        )
        if call and not named and _canonical(call) not in known and is_self_contained(call):
            subjects.setdefault(call, []).append(claim)
    for call, claims in subjects.items():
        step = Step(call, claims[0].line, -1)
        yield Scene(count, (step,), (Remark(()),), tuple(claims))
        count += 1


def subject_of(claim: Claim) -> str | None:
    """The code in backticks that the claim is about: the last one before its verb, few words between."""
    match = re.search(r"`([^`]+)`[^`.;:]{0,24}$", claim.before)
    return match.group(1).strip() if match else None


def is_self_contained(code: str) -> bool:
    """Whether ``code`` is a call whose arguments are literals, so that it can run by itself."""
    try:
        tree = ast.parse(code, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    if not isinstance(tree, ast.Call):
        return False
    arguments = [*tree.args, *(keyword.value for keyword in tree.keywords)]
    return all(is_literal(ast.unparse(argument)) for argument in arguments)


def _canonical(code: str) -> str:
    try:
        return ast.unparse(ast.parse(code))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return code


def speaks_of(claim: Claim, step: Step) -> bool:
    """Whether the sentence names this statement's own expression as its subject."""
    subject = subject_of(claim)
    if not subject:
        return False
    canonical = _canonical(subject)
    tree = step.tree
    inner = [canonical_of(node) for node in expressions_of(tree)] if tree else []
    return canonical in inner


def expressions_of(tree: ast.stmt) -> list[ast.expr]:
    """The expression a statement is about: its value, and what it prints."""
    value = getattr(tree, "value", None)
    if not isinstance(value, ast.expr):
        return []
    printed = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "print"
    if printed and isinstance(value, ast.Call) and len(value.args) == 1:
        return [value, value.args[0]]
    return [value]


def canonical_of(node: ast.AST) -> str:
    """One spelling for one syntax tree."""
    return ast.unparse(node)


def fits(claim: Claim, code: str, outputs: str) -> bool:
    """Whether all code that a sentence names before its value occurs in the scene: else it is about something else."""
    scene = re.sub(r"['\"\s]", "", code + outputs)
    named = re.findall(r"`([^`]+)`", claim.before)
    condition = re.match(r"\W*(?:for|with|if|when|on|in|after)\b(.*)", claim.after, re.DOTALL)
    if condition:
        named += re.findall(r"`([^`]+)`", condition.group(1))
    return all(_bare(name) in scene for name in named)


def _bare(name: str) -> str:
    text = re.sub(r"['\"\s]", "", name)
    return text.removesuffix("()") if text.endswith("()") else text


__all__ = ["Mark", "Output", "Scene", "Story", "tell"]
