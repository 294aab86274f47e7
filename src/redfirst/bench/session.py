# SPDX-License-Identifier: Apache-2.0
"""A gate over one tree of a bug, in the bug's own environment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from redfirst.bench.dataset import Workshop
from redfirst.bench.instance import Instance
from redfirst.core.limits import Limits
from redfirst.environments.pinned import Pins, build_pinned
from redfirst.gate.session import GateSession, GateSettings
from redfirst.patches.base import prepare_base
from redfirst.sandbox.select import open_sandbox

#: Runners that start the instance's interpreter; a strategy may choose any of them.
PYTHON_RUNNERS = ("pytest", "unittest", "django")


@dataclass(frozen=True, slots=True)
class Means:
    """How a bug's steps run, the same for all of them."""

    cache: Path
    store: Path
    sandbox: str
    limits: Limits
    log: Callable[[str], None]

    def workshop(self) -> Workshop:
        """What making checkouts and environments needs."""
        return Workshop(self.cache, open_sandbox(self.sandbox), self.log)


def gate_over(tree: Path, base: Path, instance: Instance, means: Means) -> GateSession:
    """A session whose Base is ``tree``, with the environment that was built for ``base``.

    The environment is built if the cache does not have it. Raises EnvironmentFailed, SandboxError.
    """
    settings = GateSettings(
        repo=tree,
        cache=means.cache,
        store=means.store,
        sandbox=means.sandbox,
        limits=means.limits,
        log=means.log,
    )
    session = GateSession(settings)
    pins = Pins(instance.requirements, instance.pip_install, instance.install_env)
    prepared = session.base if tree == base else prepare_base(base, None, means.cache / "bases")
    environment = build_pinned(prepared, pins, cache=means.cache, sandbox=session.sandbox, log=means.log)
    session.environments.update(dict.fromkeys(PYTHON_RUNNERS, environment))
    return session
