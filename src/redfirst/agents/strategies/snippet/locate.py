# SPDX-License-Identifier: Apache-2.0
"""Finds out from where a child process imports the project: what its tests need to be told."""

from __future__ import annotations

from redfirst.agents.strategies.snippet.probe import Prober
from redfirst.agents.strategies.snippet.tools import Found

_LOOK = """
def _redfirst_look(names):
    import os, subprocess, sys, tempfile

    root = os.path.realpath(os.getcwd())
    code = (
        "import importlib.util, sys\\n"
        "for name in sys.argv[1:]:\\n"
        "    spec = importlib.util.find_spec(name)\\n"
        "    places = list(spec.submodule_search_locations or []) if spec else []\\n"
        "    print(spec.origin if spec and spec.origin else (places or [''])[0])\\n"
    )
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as away:
        for word, folder in (("anywhere", away), ("at root", root)):
            command = [sys.executable, "-c", code, *names]
            done = subprocess.run(command, cwd=folder, env=env, stdout=subprocess.PIPE, universal_newlines=True)
            lines = [os.path.realpath(line) if line else "" for line in done.stdout.splitlines()]
            if len(lines) == len(names) and all(line.startswith(root + os.sep) for line in lines):
                return word
    return "nowhere"
"""
_ANSWERS = {"anywhere": Found.ANYWHERE, "at root": Found.AT_ROOT}


def found_from(prober: Prober) -> Found:
    """One run; NOWHERE if it does not tell. Raises SandboxError, EnvironmentFailed."""
    names = prober.names[:1]
    steps = prober.observe([_LOOK, f"_redfirst_look({list(names)!r})"]).steps
    value = steps[-1].value if len(steps) == 2 else None
    return _ANSWERS.get(value.text or "", Found.NOWHERE) if value is not None and names else Found.NOWHERE
