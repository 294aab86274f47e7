# SPDX-License-Identifier: Apache-2.0
"""Whether an interpreter can run a project's tests: a decision over what both state, nothing is started."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType

from redfirst.environments.django_scripts import OWN_SUITE
from redfirst.environments.interpreter import Interpreter
from redfirst.environments.project import Project, normalise

#: Runners that are distributions of the same name.
_INSTALLED = ("pytest", "django")


@dataclass(frozen=True, slots=True)
class Fit:
    """``against``: reasons that rule the interpreter out. ``doubts``: reasons to prefer another one."""

    against: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def fit(interpreter: Interpreter, project: Project, *, own: bool, runner: str) -> Fit:
    """How well the interpreter fits. ``own``: it has an editable installation of this very project.

    ``runner``: what the tests run with, and so what must be there. Declared test extras, requirements files
    and a flat project that is not installed are doubts only.
    """
    installed = dict(interpreter.installed.distributions)
    markers = dict(interpreter.markers)
    against, doubts = [], []
    if not satisfies(interpreter.version, project.requires_python):
        against.append(f"Python {interpreter.version} is not {project.requires_python}")
    if runner in _INSTALLED and runner not in installed:
        against.append(f"{runner} is not installed in it")
    against.extend(_missing(project.dependencies, installed, markers))
    # Extras may name the project itself, whose own presence is judged apart.
    itself = {normalise(project.name): ""} if project.name else {}
    wanted = (*project.test_dependencies, *project.hints)
    doubts.extend(_missing(wanted, {**itself, **installed}, markers))
    if not own:
        wrong, doubt = _import_path(project, installed, runner)
        against.extend(wrong)
        doubts.extend(doubt)
    return Fit(tuple(against), tuple(doubts))


def _import_path(
    project: Project, installed: Mapping[str, str], runner: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What follows from the project not being installed editable: (against, doubts)."""
    copied = bool(project.name) and normalise(project.name) in installed
    what = f"a copy of {project.name} is installed in it" if copied else "the project is not installed in it"
    if project.importable or not project.installable:
        return (), ((what,) if copied else ())
    if runner == "django" and project.django_script == OWN_SUITE:
        return (f"{what}, so its tests could not import it",), ()
    if project.source_folder:
        return (f"{what}, so tests would not see the checkout's src folder",), ()
    return (), ((what,) if copied or runner == "pytest" else ())


def _missing(requirements: Iterable[str], installed: Mapping[str, str], markers: dict[str, str]) -> list[str]:
    """One reason for each requirement that applies here and is not met; unreadable texts are left out."""
    library = _packaging("requirements")
    found = []
    for text in dict.fromkeys(requirements):
        if library is None:
            name = normalise(_leading_name(text))
            applies, specifier = ";" not in text, None
        else:
            try:
                requirement = library.Requirement(text)
                applies = requirement.marker is None or requirement.marker.evaluate({**markers, "extra": ""})
            except ValueError:
                continue
            name, specifier = normalise(requirement.name), requirement.specifier
        if not applies or not name:
            continue
        if name not in installed:
            found.append(f"{name} is missing")
        elif specifier is not None and not _within(specifier, installed[name]):
            found.append(f"{name} {installed[name]} is not {specifier}")
    return found


def _leading_name(text: str) -> str:
    kept = ""
    for letter in text.strip():
        if not (letter.isalnum() or letter in "-_."):
            break
        kept += letter
    return kept


def _within(specifier: object, version: str) -> bool:
    library = _packaging("version")
    contains = getattr(specifier, "contains", None)
    if library is None or contains is None:
        return True
    if not version:
        return True
    try:
        return bool(contains(library.Version(version), prereleases=True))
    except ValueError:
        return True


def satisfies(version: str, specifier: str) -> bool:
    """Whether a Python version is within ``requires-python``; what cannot be read does not exclude."""
    library = _packaging("specifiers")
    if not specifier or library is None:
        return True
    try:
        wanted = library.SpecifierSet(specifier)
    except ValueError:
        return True
    return _within(wanted, version)


def _packaging(part: str) -> ModuleType | None:
    """A module of ``packaging``, or of the copy that pip carries; None where neither is installed."""
    for name in (f"packaging.{part}", f"pip._vendor.packaging.{part}"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None
