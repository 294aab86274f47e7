# SPDX-License-Identifier: Apache-2.0
"""Runs the statements of a report one by one inside the sandbox, and tells what each of them did.

It runs in the project's own interpreter (any Python 3.7 or newer), so it needs the standard library alone.
Input: one JSON object on stdin, ``steps`` (sources), ``checks`` (expressions to evaluate after a step, where
``_`` is the step's value), ``paths`` (folders for the import path), ``names`` (packages that may bring names).
Output: one JSON object a line on the descriptor REDFIRST_REPORT_FD; a line is written as soon as it is known.
"""

import ast
import builtins
import contextlib
import io
import json
import linecache
import os
import sys
import traceback
import types

MAX_TEXT = 20000
FILE = "<report>"
UNDEFINED = object()


def bounded(text):
    """A text and whether it was cut."""
    return (text[:MAX_TEXT], True) if len(text) > MAX_TEXT else (text, False)


def describe(value):
    """Type, repr and whether the repr is a literal equal to the value."""
    kind = type(value)
    record = {"type": kind.__module__ + "." + kind.__qualname__}
    try:
        text = repr(value)
    except Exception as error:
        record["unprintable"] = type(error).__name__
        return record
    text, cut = bounded(text if isinstance(text, str) else "")
    record["repr"] = text
    record["cut"] = cut
    record["text"] = value if kind is str and not cut else None
    try:
        record["literal"] = not cut and bool(ast.literal_eval(text) == value)
    except Exception:
        record["literal"] = False
    return record


def failure(error):
    """An exception with its types, message and frames outside this file, outermost first."""
    kind = type(error)
    frames = []
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename != "<string>":
            frames.append([frame.filename, frame.lineno or 0, frame.name])
    try:
        message = str(error)
    except Exception:
        message = ""
    mro = [base.__module__ + "." + base.__qualname__ for base in kind.__mro__]
    return {"types": mro, "message": bounded(message)[0], "frames": frames[-50:]}


class Session:
    """A namespace that looks like ``__main__``, and the statements run in it."""

    def __init__(self, steps, names, report):
        self.steps = steps
        self.names = names
        self.report = report
        self.module = types.ModuleType("__main__")
        self.space = self.module.__dict__
        self.space["__builtins__"] = builtins
        sys.modules["__main__"] = self.module

    def compiled(self, index, source):
        """The statement's code objects: what to execute, then what to evaluate (or None), and the name bound."""
        name = FILE + str(index)
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        tree = ast.parse(source, name)
        bound = None
        value = None
        printed = False
        last = tree.body[-1]
        if isinstance(last, ast.Expr):
            tree.body.pop()
            value = last.value
            printed = is_plain_print(value)
            if printed:
                value = value.args[0]
        elif (
            isinstance(last, ast.Assign) and len(last.targets) == 1 and isinstance(last.targets[0], ast.Name)
        ):
            bound = last.targets[0].id
        run = compile(tree, name, "exec")
        evaluate = None if value is None else compile(ast.Expression(value), name, "eval")
        return run, evaluate, bound, printed

    def run(self, index):
        """Run one statement; what it did, and its value."""
        source = self.steps[index]
        out = io.StringIO()
        record = {"step": index}
        value = UNDEFINED
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
        except BaseException as error:
            record["error"] = failure(error)
            value = UNDEFINED
        if value is not UNDEFINED:
            record["value"] = describe(value)
        record["out"], record["out_cut"] = bounded(out.getvalue())
        return record, value

    def supply(self, source):
        """Import what the statement uses, nobody defined and a package of the project offers."""
        added = {}
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                name = node.id
                if name not in self.space and not hasattr(builtins, name) and name not in added:
                    line = self.offer(name)
                    if line:
                        added[name] = line
        for line in added.values():
            exec(line, self.space)
        return sorted(added.values())

    def offer(self, name):
        """An import statement that brings ``name``, or None."""
        for package in self.names:
            try:
                module = __import__(package)
            except BaseException:
                continue
            if name == package:
                return "import " + package
            if hasattr(module, name) and not name.startswith("_"):
                return "from " + package + " import " + name
        return None

    def check(self, expression, value):
        """Evaluate an expression with ``_`` as the value of the step before."""
        had = self.space.get("_", UNDEFINED)
        if value is not UNDEFINED:
            self.space["_"] = value
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                result = eval(compile(expression, FILE, "eval"), self.space)
                return {"value": describe(result), "truth": bool(result)}
        except BaseException as error:
            return {"error": failure(error)}
        finally:
            self.space.pop("_", None)
            if had is not UNDEFINED:
                self.space["_"] = had


def is_plain_print(node):
    """``print(x)`` with one argument and no options."""
    plain = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    return plain and len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred)


def main():
    """Read what to run, run it, write a line for each step and each check."""
    order = json.loads(sys.stdin.buffer.read().decode("utf-8"))
    descriptor = int(os.environ["REDFIRST_REPORT_FD"])
    os.set_inheritable(descriptor, False)

    def report(record):
        os.write(descriptor, (json.dumps(record) + "\n").encode("utf-8"))

    sys.stdin = io.StringIO("")
    sys.argv = ["report.py"]
    sys.path[:0] = [path for path in order["paths"] if path not in sys.path]
    session = Session(order["steps"], order["names"], report)
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
