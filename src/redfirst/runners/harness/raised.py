# SPDX-License-Identifier: Apache-2.0
"""A raised exception as plain data: types, message, errno, frames, and the chain behind it."""

from __future__ import annotations

import os
import sys
import traceback
import types
from typing import Any

FIRST_FRAMES = 20
LAST_FRAMES = 40
CHAIN_LIMIT = 20
CHAIN_FRAMES = 6
MESSAGE_LIMIT = 2000

_format_only = traceback.format_exception_only
_join, _isabs = os.path.join, os.path.isabs
_modules = sys.modules
_start = os.getcwd()
# The outermost frames are the runner's own; they would push the interesting ones out.
_RUNNERS = ("/pluggy/", "/_pytest/")
_LAST_OF_RUNNER = 6


def _accessor(cls: type, name: str) -> Any:
    """The interpreter's own accessor: a class of the tested code may shadow the name."""
    found = cls.__dict__.get(name)
    return found.__get__ if found is not None else None


_args, _errno = _accessor(BaseException, "args"), _accessor(OSError, "errno")
_import_name, _syntax_file = _accessor(ImportError, "name"), _accessor(SyntaxError, "filename")
_attribute_target = _accessor(AttributeError, "obj")


def describe(error: BaseException, trace: types.TracebackType | None = None) -> dict[str, Any]:
    """Everything that a judgement may need of ``error``; no code of the exception's class is trusted."""
    record = _one(error, trace or error.__traceback__, FIRST_FRAMES, LAST_FRAMES, MESSAGE_LIMIT)
    record["chain"] = [_linked(link, other) for link, other in _chain(error)]
    return record


def _linked(link: str, error: BaseException) -> dict[str, Any]:
    record = _one(error, error.__traceback__, 0, CHAIN_FRAMES, 300)
    record["link"] = link
    return record


def _chain(error: BaseException) -> list[tuple[str, BaseException]]:
    """(link, exception) pairs behind ``error``, nearest first, each exception once."""
    found: list[tuple[str, BaseException]] = []
    seen, queue = {id(error)}, [error]
    while queue and len(found) < CHAIN_LIMIT:
        for link, other in _neighbours(queue.pop(0)):
            if id(other) not in seen:
                seen.add(id(other))
                found.append((link, other))
                queue.append(other)
    return found


def _neighbours(error: BaseException) -> list[tuple[str, BaseException]]:
    pairs: list[tuple[str, BaseException]] = []
    if error.__cause__ is not None:
        pairs.append(("cause", error.__cause__))
    if error.__context__ is not None and not error.__suppress_context__:
        pairs.append(("context", error.__context__))
    if "builtins.BaseExceptionGroup" in _mro(error) or _is_group_backport(error):
        members = getattr(error, "exceptions", ())
        if isinstance(members, (tuple, list)):
            pairs += [("member", member) for member in members if isinstance(member, BaseException)]
    return pairs


def _is_group_backport(error: BaseException) -> bool:
    return any(name.endswith(".BaseExceptionGroup") for name in _mro(error))


def _mro(error: BaseException) -> list[str]:
    return [_name(cls) for cls in type(error).__mro__]


def _name(cls: type) -> str:
    module = cls.__dict__.get("__module__")
    if not isinstance(module, str):
        module = "builtins"
    return (module + "." + str(type.__dict__["__qualname__"].__get__(cls)))[:300]


def _one(
    error: BaseException, trace: types.TracebackType | None, first: int, last: int, limit: int
) -> dict[str, Any]:
    mro = _mro(error)
    record: dict[str, Any] = {
        "type": mro[0],
        "mro": mro[:30],
        "message": _message(error, limit),
        "frames": _frames(trace, first, last),
    }
    _add_details(record, error, mro)
    return record


def _add_details(record: dict[str, Any], error: BaseException, mro: list[str]) -> None:
    if isinstance(error, OSError) and isinstance(_errno(error), int):
        record["errno"] = _errno(error)
    if isinstance(error, ImportError) and isinstance(_import_name(error), str):
        record["name"] = _import_name(error)[:300]
    if isinstance(error, SyntaxError) and isinstance(_syntax_file(error), str):
        record["file"] = _syntax_file(error)[:1000]
    if isinstance(error, AttributeError) and _attribute_target is not None:
        _add_owner(record, _attribute_target(error))
    if any(name.endswith(".FixtureLookupError") for name in mro):
        fixture = error.__dict__.get("argname")
        record["fixture"] = fixture if isinstance(fixture, str) else ""


def _add_owner(record: dict[str, Any], target: object) -> None:
    """Of which module the object is that lacks an attribute (the interpreter tells from 3.10 on)."""
    if target is None:
        return
    if isinstance(target, types.ModuleType):
        owner = target.__dict__.get("__name__")
    else:
        cls = target if isinstance(target, type) else type(target)
        owner = cls.__dict__.get("__module__")
    if not isinstance(owner, str):
        return
    record["owner"] = owner[:300]
    module = _modules.get(owner)
    file = module.__dict__.get("__file__") if isinstance(module, types.ModuleType) else None
    if isinstance(file, str):
        record["owner_file"] = file[:1000]


def _message(error: BaseException, limit: int) -> str:
    """The message without running a ``__str__`` of the tested code unguarded."""
    args = _args(error)
    if len(args) == 1 and type(args[0]) is str and not isinstance(error, KeyError):
        return str(args[0][:limit])
    lines = _format_only(type(error), error)
    text = "".join(lines[-1:] if isinstance(error, SyntaxError) else lines).strip()
    label, colon, rest = text.partition(": ")
    return (rest if colon and " " not in label else "" if text in _labels(error) else text)[:limit]


def _labels(error: BaseException) -> tuple[str, str]:
    cls = type(error)
    return (cls.__name__, _name(cls))


def _frames(trace: types.TracebackType | None, first: int, last: int) -> list[list[Any]]:
    """[file, line, function] from the outermost on; the middle of a deep stack is left out."""
    leading: list[list[Any]] = []
    head: list[list[Any]] = []
    tail: list[list[Any]] = []
    while trace is not None:
        code = trace.tb_frame.f_code
        file = _file(code.co_filename)
        frame = [file, trace.tb_lineno or 0, code.co_name[:200]]
        trace = trace.tb_next
        if not head and not tail and any(part in file for part in _RUNNERS):
            leading = [*leading[1 - _LAST_OF_RUNNER :], frame]
        elif len(head) < first:
            head.append(frame)
        else:
            tail = [*tail[1 - last :], frame] if len(tail) >= last else [*tail, frame]
    return head + tail or leading


def _file(name: str) -> str:
    return (name if name.startswith("<") or _isabs(name) else _join(_start, name))[:600]
