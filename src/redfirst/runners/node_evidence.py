# SPDX-License-Identifier: Apache-2.0
"""Errors of Node as evidence: their frames, and the traits of their whole cause chain."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from redfirst.core.evidence import Failure, Frame, Place, Trait
from redfirst.runners.protocol import Project

_FRAME = re.compile(
    r"^\s+at (?:(?P<function>.*?) \()?(?P<file>(?:file://|node:|/)[^\n]*?):(?P<line>\d+):(?P<column>\d+)\)?$",
    re.MULTILINE,
)
_FIRST_FRAME = re.compile(r"^\s+at (?P<text>.*)$", re.MULTILINE)
_MISSING = re.compile(r"Cannot find (?:package|module) '([^']+)'")
_EVALUATORS = ("new Function", "new Script", "node:vm", "new AsyncFunction", "new GeneratorFunction")
_THROWN_HERE = re.compile(r"(?:\bthrow|\breject\()\s*$")
_CODES = {
    "ENETUNREACH": Trait.NETWORK_DENIED,
    "ENETDOWN": Trait.NETWORK_DENIED,
    "EAI_AGAIN": Trait.NETWORK_DENIED,
    "ENOTFOUND": Trait.NETWORK_DENIED,
    "ENOMEM": Trait.MEMORY,
    "ERR_MEMORY_ALLOCATION_FAILED": Trait.MEMORY,
    "ERR_WORKER_OUT_OF_MEMORY": Trait.MEMORY,
    "EFBIG": Trait.FILE_SIZE,
    "ENOSPC": Trait.DISK,
    "EDQUOT": Trait.DISK,
    "EXDEV": Trait.CROSS_DEVICE,
}
_MODULE_CODES = ("ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND")
_DETAIL_LIMIT = 4000

Error = Mapping[str, Any]


def failure_of(error: Error | None, kind: str, project: Project) -> Failure:
    """The failure behind a result's error. ``kind``: the runner's word for how it failed."""
    cause = (error or {}).get("cause")
    if not isinstance(cause, Mapping):
        cause = error or {}
    if "stack" not in cause:
        # A thrown value that is no Error, or the runner's own words: there is no frame to go by.
        traits = frozenset({Trait.ASSERTION}) if kind == "testTimeoutFailure" else frozenset()
        return Failure(kind or "failure", str((error or {}).get("message", "")), traits=traits)
    return raised(cause, project)


def raised(error: Error, project: Project) -> Failure:
    """An Error object with its frames and traits."""
    stack = _without_message(error)
    frames = _frames(stack, project)
    traits = {trait for one in _chain(error) for trait in _code_traits(one, project)}
    traits |= _own_traits(error, stack, frames, project)
    name, code = str(error.get("name") or "Error"), error.get("code")
    return Failure(
        type=f"{name} [{code}]" if code and code not in name else name,
        message=str(error.get("message", "")),
        frames=frames,
        traits=frozenset(traits),
        detail=str(error.get("stack", ""))[:_DETAIL_LIMIT],
    )


def _chain(error: Error) -> Iterator[Error]:
    """The error, what caused it, and what it gathers."""
    yield error
    others = [error.get("cause"), *(error.get("errors") or ())]
    for other in others:
        if isinstance(other, Mapping):
            yield from _chain(other)


def _without_message(error: Error) -> str:
    """The stack after the message, which may itself hold lines that look like frames."""
    stack, message = str(error.get("stack", "")), str(error.get("message", ""))
    place = stack.find(message) if message else -1
    return stack[place + len(message) :] if place >= 0 else stack


def _frames(stack: str, project: Project) -> tuple[Frame, ...]:
    """Outermost first; frames of Node itself are left out."""
    frames = []
    for match in _FRAME.finditer(stack):
        if match["file"].startswith("node:"):
            continue
        path, place = project.place(match["file"].removeprefix("file://"))
        frames.append(Frame(path, int(match["line"]), match["function"] or "", place))
    return tuple(reversed(frames))


def _code_traits(error: Error, project: Project) -> set[Trait]:
    code, syscall = str(error.get("code", "")), str(error.get("syscall", ""))
    if code in _MODULE_CODES:
        return _module_traits(str(error.get("message", "")), project)
    if code == "EAGAIN" and syscall.startswith("spawn"):
        return {Trait.PROCESSES}
    if error.get("name") == "RangeError" and error.get("message") == "Array buffer allocation failed":
        return {Trait.MEMORY}
    return {_CODES[code]} if code in _CODES else set()


def _module_traits(message: str, project: Project) -> set[Trait]:
    """A path, or a package that is the project's own, is the project's name; another one is missing."""
    match = _MISSING.search(message)
    name = match[1] if match else ""
    if not name or name.startswith(("/", ".", "file:", "#")) or _is_own_package(name, project):
        return {Trait.PROJECT_NAME_MISSING}
    return {Trait.MODULE_MISSING}


def _is_own_package(name: str, project: Project) -> bool:
    package = "/".join(name.split("/")[: 2 if name.startswith("@") else 1])
    for path in ("package.json", f"packages/{package.rpartition('/')[2]}/package.json"):
        try:
            manifest = json.loads(project.read(path) or b"{}")
        except ValueError:
            continue
        if isinstance(manifest, dict) and manifest.get("name") == package:
            return True
    return False


def _own_traits(error: Error, stack: str, frames: tuple[Frame, ...], project: Project) -> set[Trait]:
    """Traits of the outermost error alone: what it is, and whose statement made it."""
    name = str(error.get("name", ""))
    if error.get("code") == "ERR_ASSERTION" or name.endswith("AssertionError"):
        return {Trait.ASSERTION}
    if name == "ReferenceError":
        return {Trait.NAME}
    innermost = frames[-1] if frames else None
    line = _line(innermost, project)
    if name == "SyntaxError" and _is_evaluated(stack, line):
        return {Trait.EVALUATED_SYNTAX}
    if innermost is None or innermost.place is not Place.TEST:
        return set()
    traits = set()
    if name == "TypeError" and re.search(
        r" is not a (?:function|constructor)$", str(error.get("message", ""))
    ):
        traits.add(Trait.PROJECT_NAME_MISSING)
    column = _column(stack)
    if _THROWN_HERE.search(line[: column - 1]):
        traits.add(Trait.RAISED_BY_TEXT)
    return traits


def _line(frame: Frame | None, project: Project) -> str:
    if frame is None or frame.place is Place.OUTSIDE:
        return ""
    lines = (project.read(frame.path) or b"").decode("utf-8", "replace").split("\n")
    return lines[frame.line - 1] if 0 < frame.line <= len(lines) else ""


def _column(stack: str) -> int:
    own = (match for match in _FRAME.finditer(stack) if not match["file"].startswith("node:"))
    match = next(own, None)
    return int(match["column"]) if match else 1


def _is_evaluated(stack: str, line: str) -> bool:
    """Whether the text that does not parse was made while running (``eval``, ``new Function``, vm)."""
    first = _FIRST_FRAME.search(stack)
    return (first is not None and first["text"].startswith(_EVALUATORS)) or (
        re.search(r"\beval\s*\(", line) is not None and not (first and first["text"].startswith("JSON.parse"))
    )
