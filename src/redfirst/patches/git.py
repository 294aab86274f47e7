# SPDX-License-Identifier: Apache-2.0
"""The git binary by argv, deaf to every configuration, hook and prompt of user and repository."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from redfirst.core.errors import RedfirstError, SandboxError

_CONFIG = (
    ("safe.directory", "*"),
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.autocrlf", "false"),
    ("core.eol", "lf"),
    ("core.safecrlf", "false"),
    ("core.quotePath", "true"),
    ("core.attributesFile", "/dev/null"),
    ("core.excludesFile", "/dev/null"),
    ("core.untrackedCache", "false"),
    ("core.splitIndex", "false"),
    ("index.version", "2"),
    ("core.fsync", "none"),
    ("protocol.allow", "never"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("diff.noprefix", "false"),
    ("diff.mnemonicPrefix", "false"),
    ("diff.algorithm", "myers"),
    ("diff.renames", "false"),
    ("apply.whitespace", "nowarn"),
    ("init.defaultBranch", "base"),
    ("init.templateDir", ""),
    ("user.name", "redfirst"),
    ("user.email", "redfirst@localhost"),
)
_WHEN = "1970-01-01T00:00:00Z"


class GitFailed(RedfirstError):
    """Git ended with an error; ``what`` holds the first line it said."""

    slug = "git"


def git(
    arguments: Sequence[str | Path],
    *,
    folder: Path,
    stdin: bytes = b"",
    variables: Mapping[str, str] | None = None,
) -> bytes:
    """Standard output of one git command. Raises GitFailed, SandboxError where git is missing."""
    program = shutil.which("git")
    if program is None:
        raise SandboxError("git is not on PATH", "apt install git")
    try:
        done = subprocess.run(
            [program, "--no-pager", "--literal-pathspecs", *map(str, arguments)],
            cwd=folder,
            input=stdin,
            capture_output=True,
            env={**_environment(), **(variables or {})},
            check=False,
        )
    except OSError as error:
        raise SandboxError(f"git cannot be started in {folder} ({error.strerror})", "check both") from None
    if done.returncode != 0:
        told = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitFailed(told[0] if told else f"git {arguments[0]} ended with {done.returncode}")
    return done.stdout


def _environment() -> dict[str, str]:
    env = {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C",
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_AUTHOR_DATE": _WHEN,
        "GIT_COMMITTER_DATE": _WHEN,
        "GIT_CONFIG_COUNT": str(len(_CONFIG)),
    }
    for number, (name, value) in enumerate(_CONFIG):
        env[f"GIT_CONFIG_KEY_{number}"] = name
        env[f"GIT_CONFIG_VALUE_{number}"] = value
    return env
