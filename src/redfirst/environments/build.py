# SPDX-License-Identifier: Apache-2.0
"""Builds a project's environment once, in a sandbox with the network on, and keeps it by content."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from redfirst.core.digests import digest
from redfirst.core.environment import Bind, Environment
from redfirst.core.errors import EnvironmentFailed
from redfirst.core.limits import Limits
from redfirst.environments.base_python import base_interpreter
from redfirst.environments.django_scripts import OWN_SUITE
from redfirst.environments.installed import read_installed
from redfirst.environments.interpreter import Interpreter
from redfirst.environments.mounts import FIXED_MOUNT, Placement, environment_of, place, within
from redfirst.environments.pip_settings import pip_settings
from redfirst.environments.project import Project
from redfirst.environments.toolchains import toolchain_environment
from redfirst.patches.base import PreparedBase
from redfirst.sandbox.protocol import ChangeKind, Completed, End, Sandbox, Workspace

SCHEMA = 1
LIMITS = Limits(
    wall_s=1800, cpu_s=3600, memory_mb=8192, processes=1024, file_mb=2048, output_mb=64, disk_mb=8192
)
_METADATA = re.compile(
    r"pyproject\.toml|setup\.(py|cfg)|.*requirements.*\.(txt|in)|.*\.lock|pylock.*\.toml|Pipfile|MANIFEST\.in"
    r"|Cargo\.toml|meson\.build|CMakeLists\.txt|\.python-version"
)
_UNKEPT = re.compile(r"(^|/)(__pycache__|\.git|target|node_modules|\.pytest_cache)/|(^|/)build/(temp|bdist)")
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]+@")
_KEPT_FILE = 512 << 20
_TOLD_LINES = 12


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything one build depends on. ``folder``: where it lies, the same path inside and outside."""

    project: Project
    python: Interpreter
    version: str
    folder: Path

    @property
    def venv(self) -> Path:
        return self.folder / "venv"

    @property
    def layer(self) -> Path:
        return self.folder / "layer"

    @property
    def marker(self) -> Path:
        return self.folder / "complete.json"


def build_environment(
    base: PreparedBase,
    project: Project,
    *,
    cache: Path,
    sandbox: Sandbox,
    log: Callable[[str], None],
) -> Environment:
    """The built environment of this content, made now if it is not in ``cache`` yet.

    Processes that want the same one wait for each other. Raises EnvironmentFailed with the last lines of
    the installer's output, SandboxError when the sandbox cannot be had.
    """
    python = base_interpreter(project, base, cache)
    version = _pretended_version(project, base) if project.scm_version else ""
    key = _key(base, project, python, version)
    folder = Path(os.path.realpath(cache)) / "environments" / "built" / key[:32]
    recipe = Recipe(project, python, version, folder)
    if not recipe.marker.is_file():
        with locked(folder):
            if not recipe.marker.is_file():
                _build(recipe, base, sandbox, cache, log)
    return finished(recipe, base.root)


def _key(base: PreparedBase, project: Project, python: Interpreter, version: str) -> str:
    """The content address of a build: metadata, interpreter, and the whole tree where that is compiled."""
    parts = [str(SCHEMA), python.executable, python.version, python.implementation, python.platform, version]
    parts += [base.tree if project.generates else "", project.runner if project.runner != "unittest" else ""]
    data: list[bytes] = []
    below = [base.tree_dir / path.partition("[")[0] for path in project.members if path[:2] == "./"]
    for folder in (base.tree_dir, base.tree_dir / "requirements", *below):
        for path in sorted(folder.glob("*")):
            if (
                path.is_file()
                and not path.is_symlink()
                and (folder.name == "requirements" or _METADATA.fullmatch(path.name))
            ):
                data += [path.name.encode(), path.read_bytes()]
    for name in project.requirement_files:
        with suppress(OSError):
            data += [name.encode(), (base.tree_dir / name).read_bytes()]
    parts += [*project.group_dependencies, *project.extras, *project.members]
    # Without metadata of its own the layout of the tree decides what an installer finds.
    layout = sorted(path.name for path in base.tree_dir.iterdir() if path.is_dir())
    return digest(*(part.encode() for part in (*parts, *layout)), *data)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of one build; whoever else wants it waits. Raises EnvironmentFailed."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        file = open(folder.with_suffix(".building"), "w", encoding="utf-8")  # noqa: SIM115 - closed below
    except OSError as error:
        raise EnvironmentFailed(
            f"{folder.parent} cannot be written", "choose another cache folder"
        ) from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build(
    recipe: Recipe,
    base: PreparedBase,
    sandbox: Sandbox,
    cache: Path,
    log: Callable[[str], None],
) -> None:
    shutil.rmtree(recipe.folder, ignore_errors=True)
    recipe.venv.mkdir(parents=True)
    log(f"building an environment with Python {recipe.python.version}")
    variables, binds, path = surroundings(recipe, base, cache)
    env = {**variables, "PATH": ":".join(path)}
    workspace = sandbox.fresh(base.tree_dir, mount=FIXED_MOUNT, limits=LIMITS)
    try:
        run_step(workspace, [recipe.python.executable, "-m", "venv", str(recipe.venv)], env, binds)
        notes = _install(workspace, recipe, env, binds, log)
        kept = keep_products(workspace, recipe.layer)
    finally:
        workspace.close()
    text = json.dumps({"schema": SCHEMA, "layer": kept, "notes": notes})
    fresh = recipe.marker.with_suffix(".new")
    fresh.write_text(text, encoding="utf-8")
    os.replace(fresh, recipe.marker)
    log("the environment is built")


def surroundings(
    recipe: Recipe, base: PreparedBase, cache: Path
) -> tuple[dict[str, str], tuple[Bind, ...], tuple[str, ...]]:
    """Variables, binds and PATH of the build: the only step that sees the user's index settings."""
    settings = pip_settings(os.environ)
    placement = Placement(FIXED_MOUNT, None)
    python = environment_of(recipe.python, placement, base.root, "build")
    venv = Bind(str(recipe.venv), str(recipe.venv), writable=True)
    binds, path = (*python.binds, *settings.binds, venv), (str(recipe.venv / "bin"), *python.path)
    if "rust" in recipe.project.languages and shutil.which("rustc"):
        rust = toolchain_environment("rust", base, cache=cache)
        binds, path = (*binds, *rust.binds[:1]), (*path, *rust.path[:1])
    variables = {
        "LANG": "C.UTF-8",
        "PYTHONNOUSERSITE": "1",
        "PIP_NO_CACHE_DIR": "1",
        "PIP_NO_INPUT": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        **dict(settings.variables),
    }
    if recipe.version:
        variables |= {"SETUPTOOLS_SCM_PRETEND_VERSION": recipe.version, "PBR_VERSION": recipe.version}
    return variables, binds, path


def _install(
    workspace: Workspace,
    recipe: Recipe,
    env: Mapping[str, str],
    binds: Sequence[Bind],
    log: Callable[[str], None],
) -> list[str]:
    """Install the project with all that its tests declare, or with what of that can be had one by one."""
    pip = [str(recipe.venv / "bin" / "python"), "-m", "pip", "install", "--progress-bar", "off"]
    full, least = _requirements(recipe.project)
    log("installing " + " ".join(full))
    try:
        run_step(workspace, [*pip, *full], env, binds)
    except EnvironmentFailed:
        if full == least:
            raise
        log("the test requirements cannot be installed together; installing them one by one")
        run_step(workspace, [*pip, *least], env, binds)
        return _one_by_one(workspace, recipe, [*pip, "--prefer-binary"], env, binds)
    return []


def _one_by_one(
    workspace: Workspace,
    recipe: Recipe,
    pip: Sequence[str],
    env: Mapping[str, str],
    binds: Sequence[Bind],
) -> list[str]:
    """Install each declared test requirement that can be had; a note on those that cannot."""
    project, missing = recipe.project, []
    extras = [f"-e {path}" for path in project.members if "[" in path]
    extras += [f"-e .[{name}]" for name in project.extras if not project.members]
    lines = [line for name in project.requirement_files for line in _lines_of(workspace, name)]
    for text in dict.fromkeys((*extras, *project.group_dependencies, *lines)):
        words = text.split(" ", 1) if text.startswith("-e ") else [text]
        try:
            run_step(workspace, [*pip, *words], env, binds)
        except EnvironmentFailed:
            missing.append(text)
    return [f"these could not be installed: {', '.join(missing)[:500]}"] if missing else []


def _lines_of(workspace: Workspace, path: str) -> list[str]:
    """The plain requirements of a file; options and includes are left out."""
    text = (workspace.read(path, limit=1 << 20) or b"").decode("utf-8", "replace")
    lines = (re.split(r"\s#|\s--|\s*\\$", line)[0].strip() for line in text.splitlines())
    return [line for line in lines if re.match(r"[A-Za-z0-9]", line)]


def _requirements(project: Project) -> tuple[list[str], list[str]]:
    """pip's arguments: everything declared for tests, and the least that can work."""
    runner = _runner_needs(project)
    if not project.installable:
        files = [word for name in project.requirement_files for word in ("-r", name)]
        return [*files, *runner] or ["pip"], runner or ["pip"]
    extras = f"[{','.join(project.extras)}]" if project.extras else ""
    packages = [word for path in project.members or (f".{extras}",) for word in ("-e", path)]
    bare = [word.partition("[")[0] for word in packages]
    named = [name for name in project.requirement_files if name != "requirements.txt"]
    files = [word for name in named for word in ("-r", name)]
    return [*packages, *project.group_dependencies, *files, *runner], [*bare, *runner]


def _runner_needs(project: Project) -> list[str]:
    """What the runner itself is; a project's own requirements say in which version."""
    if project.runner == "django" and project.django_script != OWN_SUITE:
        return ["django"]
    return ["pytest"] if project.uses_pytest else []


def run_step(
    workspace: Workspace,
    argv: Sequence[str],
    env: Mapping[str, str],
    binds: Sequence[Bind],
    *,
    network: bool = True,
    todo: str = "make one by hand and name it with --python EXE",
) -> None:
    """One command of a build; raises EnvironmentFailed with the end of its output."""
    done = workspace.run(argv, env=env, limits=LIMITS, binds=binds, network=network)
    if done.end is End.EXITED and done.exit == 0:
        return
    raise EnvironmentFailed(
        f"the environment cannot be built: {_told(argv)} {_ending(done)}",
        f"{todo}\n{_last_lines(done)}",
    )


def _told(argv: Sequence[str]) -> str:
    return " ".join([os.path.basename(argv[0]), *argv[1:4]])


def _ending(done: Completed) -> str:
    if done.end is End.EXITED:
        return f"exits with {done.exit}"
    return f"ends by {done.end.value}" + (f" ({done.problem})" if done.problem else "")


def _last_lines(done: Completed) -> str:
    text = (done.out + b"\n" + done.err).decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if line.strip()]
    return _CREDENTIALS.sub("", "\n".join(line[:300] for line in lines[-_TOLD_LINES:]))


def keep_products(workspace: Workspace, layer: Path) -> bool:
    """Copy what the installation added to the tree into ``layer``; whether there was anything."""
    kept = False
    for change in workspace.changes():
        if change.kind is not ChangeKind.ADDED or _UNKEPT.search(change.path + "/"):
            continue
        data = workspace.read(change.path, limit=_KEPT_FILE)
        if data is not None:
            target = layer / change.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            kept = True
    return kept


def finished(recipe: Recipe, repo: Path) -> Environment:
    """The value for a complete build. Nothing in it is started outside a sandbox: its files are read."""
    marker = json.loads(recipe.marker.read_bytes())
    sites = tuple(str(path) for path in sorted(recipe.venv.glob("lib/*/site-packages")))
    found = read_installed(sites, inside=FIXED_MOUNT)
    # What foreign build code wrote must not choose which folders of this machine are shown to tests.
    ours = tuple(item for item in found.editables if all(within(path, FIXED_MOUNT) for path in item.paths))
    interpreter = replace(
        recipe.python,
        executable=str(recipe.venv / "bin" / "python"),
        prefix=str(recipe.venv),
        virtual=True,
        sites=sites,
        installed=replace(found, editables=ours),
    )
    placement = replace(place(interpreter, recipe.project, repo), mount=FIXED_MOUNT, problem="")
    environment = environment_of(interpreter, placement, repo, "built")
    layer = str(recipe.layer) if marker["layer"] else None
    return replace(environment, layer=layer, notes=tuple(marker["notes"]))


def _pretended_version(project: Project, base: PreparedBase) -> str:
    """A version for tools that ask Git's tags, which a workspace does not have."""
    if project.version:
        return project.version
    try:
        head = (base.tree_dir / "PKG-INFO").read_text(encoding="utf-8")[:4096]
        if match := re.search(r"^Version:\s*(\S+)", head, re.MULTILINE):
            return match[1]
    except (OSError, ValueError):
        pass  # most trees are no source distribution
    tag = _nearest_tag(base.root, base.commit)
    match = re.search(r"\d+(\.\d+)+\S*", tag)
    return match[0] if match else "0.0.0+redfirst"


def _nearest_tag(repo: Path, commit: str | None) -> str:
    argv = ["git", "-C", str(repo), "describe", "--tags", "--abbrev=0", commit or "HEAD"]
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""
