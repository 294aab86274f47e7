# SPDX-License-Identifier: Apache-2.0
"""Runs the statements of a report one by one inside the sandbox, and tells what each of them did.

It runs in the project's own interpreter (any Python 3.7 or newer), so it needs the standard library alone.
Input: one JSON object on stdin, ``steps`` (sources), ``checks`` (expressions to evaluate after a step, where
``_`` is the step's value), ``paths`` (folders for the import path), ``names`` (packages that may bring names),
``homes`` (name → import line for names that the packages do not bring themselves).
Output: one JSON object a line on the descriptor REDFIRST_REPORT_FD; a line is written as soon as it is known.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib
import io
import json
import linecache
import os
import subprocess
import sys
import tempfile
import traceback
import types
from typing import Any

MAX_TEXT = 20000
FILE = "<report>"
FOLDER = "monkeypatch.chdir(tmp_path)"  # in a test these are fixtures; here it is done as it stands
UNDEFINED = object()
#: Modules of the standard library whose names people use without their module.
FAMILIAR = (
    "typing",
    "collections",
    "collections.abc",
    "dataclasses",
    "datetime",
    "decimal",
    "enum",
    "fractions",
    "functools",
    "io",
    "itertools",
    "pathlib",
    "contextlib",
    "abc",
    "types",
    "uuid",
    "textwrap",
)


def bounded(text: str) -> tuple[str, bool]:
    """A text and whether it was cut."""
    return (text[:MAX_TEXT], True) if len(text) > MAX_TEXT else (text, False)


def describe(value: Any) -> dict[str, Any]:
    """Type, repr and whether the repr is a literal equal to the value."""
    kind = type(value)
    record: dict[str, Any] = {"type": kind.__module__ + "." + kind.__qualname__}
    if kind is subprocess.CompletedProcess and type(value.stdout) is type(value.stderr) is str:
        (out, cut), (err, more) = bounded(value.stdout), bounded(value.stderr)
        record["process"] = None if cut or more else {"code": value.returncode, "out": out, "err": err}
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - any repr may raise anything
        record["unprintable"] = type(error).__name__
        return record
    text, cut = bounded(text if isinstance(text, str) else "")
    record["repr"] = text
    record["cut"] = cut
    record["text"] = value if kind is str and not cut else None
    try:
        record["literal"] = not cut and bool(ast.literal_eval(text) == value)
    except Exception:  # noqa: BLE001 - the value's own comparison may raise anything
        record["literal"] = False
    return record


def failure(error: BaseException) -> dict[str, Any]:
    """An exception with its types, message and frames outside this file, outermost first."""
    kind = type(error)
    frames = []
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename != "<string>":
            frames.append([frame.filename, frame.lineno or 0, frame.name])
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - the error's own text may raise anything
        message = ""
    mro = [base.__module__ + "." + base.__qualname__ for base in kind.__mro__]
    return {"types": mro, "message": bounded(message)[0], "frames": frames[-50:]}


class Session:
    """A namespace that looks like ``__main__``, and the statements run in it."""

    def __init__(self, steps: list[str], names: list[str], homes: dict[str, str]) -> None:
        self.steps = steps
        self.names = names
        self.homes = homes
        self.module = types.ModuleType("__main__")
        self.space = self.module.__dict__
        self.space["__builtins__"] = builtins
        sys.modules["__main__"] = self.module

    def compiled(self, index: int, source: str) -> tuple[Any, Any, str | None, bool]:
        """The statement's code objects: what to execute, then what to evaluate (or None), and the name bound."""
        name = FILE + str(index)
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        tree = ast.parse(source, name)
        bound: str | None = None
        value: ast.expr | None = None
        printed = False
        last = tree.body[-1]
        if isinstance(last, ast.Expr):
            tree.body.pop()
            value = last.value
            printed = is_plain_print(value)
            if printed and isinstance(value, ast.Call):
                value = value.args[0]
        elif (
            isinstance(last, ast.Assign) and len(last.targets) == 1 and isinstance(last.targets[0], ast.Name)
        ):
            bound = last.targets[0].id
        run = compile(tree, name, "exec")
        evaluate = None if value is None else compile(ast.Expression(value), name, "eval")
        return run, evaluate, bound, printed

    def run(self, index: int) -> tuple[dict[str, Any], Any]:
        """Run one statement; what it did, and its value."""
        source = self.steps[index]
        out = io.StringIO()
        record: dict[str, Any] = {"step": index}
        value: Any = UNDEFINED
        if source == FOLDER:
            os.chdir(tempfile.mkdtemp())
            return dict(record, value=describe(None), out="", out_cut=False), None
        try:
            run, evaluate, bound, printed = self.compiled(index, source)
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
                exec(run, self.space)
                if evaluate is not None:
                    value = eval(evaluate, self.space)
                    if printed:
                        print(value)
                elif bound is not None:
                    value = self.space.get(bound, UNDEFINED)
        except BaseException as error:  # noqa: BLE001 - whatever the report's code ends in is recorded
            record["error"] = failure(error)
            value = UNDEFINED
        if value is not UNDEFINED:
            record["value"] = describe(value)
        record["out"], record["out_cut"] = bounded(out.getvalue())
        return record, value

    def supply(self, source: str) -> list[str]:
        """Import what the statement uses, nobody defined and a package of the project offers."""
        added: dict[str, str] = {}
        if source == FOLDER:
            return []
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                name = node.id
                if name not in self.space and not hasattr(builtins, name) and name not in added:
                    line = self.offer(name) or self.homes.get(name) or self.standard(name, source)
                    if line and self.brings(line):
                        added[name] = line
        return sorted(added.values())

    def brings(self, line: str) -> bool:
        """Run an import line; whether it could be had."""
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                exec(line, self.space)
        except BaseException:  # noqa: BLE001 - a module that cannot be imported brings nothing
            return False
        return True

    def offer(self, name: str) -> str | None:
        """An import statement that brings ``name``, or None."""
        for package in self.names:
            try:
                module = __import__(package)
            except BaseException:  # noqa: BLE001 - a package that cannot be imported offers nothing
                continue
            if name == package:
                return "import " + package
            if hasattr(module, name) and not name.startswith("_"):
                return "from " + package + " import " + name
        return self.exception(name)

    def exception(self, name: str) -> str | None:
        """An import of an exception class that a loaded module of the project defines under ``name``."""
        for place in sorted(sys.modules):
            kind = getattr(sys.modules[place], "__dict__", {}).get(name)
            if (
                place.partition(".")[0] in self.names
                and isinstance(kind, type)
                and issubclass(kind, BaseException)
            ):
                return "from " + kind.__module__ + " import " + name
        return None

    def standard(self, name: str, source: str) -> str | None:
        """An import of a module of the standard library that the statement uses as ``name.attribute``, or of a
        name that one familiar module alone has."""
        if name in getattr(sys, "stdlib_module_names", ()) and not name.startswith("_"):
            module = __import__(name)
            used = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Attribute)]
            mine = [n.attr for n in used if isinstance(n.value, ast.Name) and n.value.id == name]
            if mine and all(hasattr(module, attribute) for attribute in mine):
                return "import " + name
        return self.familiar(name)

    def familiar(self, name: str) -> str | None:
        """An import of a name that is public in one familiar module of the standard library, and in no other."""
        found: dict[int, str] = {}
        for place in FAMILIAR:
            module = importlib.import_module(place)
            public = getattr(module, "__all__", None)
            value = module.__dict__.get(name, UNDEFINED)
            if value is UNDEFINED or name.startswith("_") or isinstance(value, types.ModuleType):
                continue
            if name in public if public is not None else getattr(value, "__module__", "") == place:
                found.setdefault(id(value), "from " + place + " import " + name)
        return next(iter(found.values())) if len(found) == 1 else None

    def check(self, expression: str, value: Any) -> dict[str, Any]:
        """Evaluate an expression with ``_`` as the value of the step before."""
        had = self.space.get("_", UNDEFINED)
        if value is not UNDEFINED:
            self.space["_"] = value
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                result = eval(compile(expression, FILE, "eval"), self.space)
                return {"value": describe(result), "truth": bool(result)}
        except BaseException as error:  # noqa: BLE001 - whatever the report's code ends in is recorded
            return {"error": failure(error)}
        finally:
            self.space.pop("_", None)
            if had is not UNDEFINED:
                self.space["_"] = had


def is_plain_print(node: ast.AST) -> bool:
    """``print(x)`` with one argument and no options."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "print":
        return False
    return len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred)


def main() -> None:
    """Read what to run, run it, write a line for each step and each check."""
    order = json.loads(sys.stdin.buffer.read().decode("utf-8"))
    descriptor = int(os.environ["REDFIRST_REPORT_FD"])
    os.set_inheritable(descriptor, False)

    def report(record: dict[str, Any]) -> None:
        os.write(descriptor, (json.dumps(record) + "\n").encode("utf-8"))

    sys.stdin = io.StringIO("")
    sys.argv = ["report.py"]
    folders = [os.path.abspath(path) for path in [*order["paths"], *sys.path]]  # a step may change the folder
    sys.path[:] = sorted(set(folders), key=folders.index)
    session = Session(order["steps"], order["names"], order.get("homes", {}))
    for index, source in enumerate(order["steps"]):
        imports = session.supply(source)
        record, value = session.run(index)
        record["imports"] = imports
        report(record)
        for number, (step, expression) in enumerate(order["checks"]):
            if step == index:
                report(dict(session.check(expression, value), check=number))
    report({"end": True})


main()
