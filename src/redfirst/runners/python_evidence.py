# SPDX-License-Identifier: Apache-2.0
"""From the plain data of a Python exception to a `Failure` with its traits; pure."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable
from dataclasses import dataclass

from redfirst.core.evidence import Failure, Frame, Place, Trait
from redfirst.runners.protocol import Project
from redfirst.runners.python_channel import Event
from redfirst.runners.python_places import calls_fork, raises_at

#: Fixtures that well-known plugins bring, with the plugin.
PLUGIN_FIXTURES = {
    "mocker": "pytest-mock",
    "class_mocker": "pytest-mock",
    "module_mocker": "pytest-mock",
    "package_mocker": "pytest-mock",
    "session_mocker": "pytest-mock",
    "event_loop": "pytest-asyncio",
    "event_loop_policy": "pytest-asyncio",
    "unused_tcp_port": "pytest-asyncio",
    "unused_tcp_port_factory": "pytest-asyncio",
    "unused_udp_port": "pytest-asyncio",
    "unused_udp_port_factory": "pytest-asyncio",
    "anyio_backend": "anyio",
    "anyio_backend_name": "anyio",
    "anyio_backend_options": "anyio",
    "free_tcp_port": "anyio",
    "free_udp_port": "anyio",
    "db": "pytest-django",
    "transactional_db": "pytest-django",
    "django_db_reset_sequences": "pytest-django",
    "django_db_serialized_rollback": "pytest-django",
    "django_db_setup": "pytest-django",
    "django_db_blocker": "pytest-django",
    "django_user_model": "pytest-django",
    "django_username_field": "pytest-django",
    "django_assert_num_queries": "pytest-django",
    "django_assert_max_num_queries": "pytest-django",
    "django_capture_on_commit_callbacks": "pytest-django",
    "admin_client": "pytest-django",
    "admin_user": "pytest-django",
    "async_client": "pytest-django",
    "async_rf": "pytest-django",
    "client": "pytest-django",
    "rf": "pytest-django",
    "settings": "pytest-django",
    "live_server": "pytest-django",
    "mailoutbox": "pytest-django",
    "requests_mock": "requests-mock",
    "httpx_mock": "pytest-httpx",
    "benchmark": "pytest-benchmark",
    "benchmark_weave": "pytest-benchmark",
    "httpserver": "pytest-httpserver",
    "freezer": "pytest-freezer",
    "subtests": "pytest-subtests",
    "respx_mock": "respx",
    "aiohttp_client": "pytest-aiohttp",
    "aiohttp_server": "pytest-aiohttp",
    "aiohttp_raw_server": "pytest-aiohttp",
    "aioresponses": "aioresponses",
    "faker": "Faker",
    "snapshot": "syrupy",
    "data_regression": "pytest-regressions",
    "file_regression": "pytest-regressions",
    "num_regression": "pytest-regressions",
    "datadir": "pytest-datadir",
    "shared_datadir": "pytest-datadir",
    "qtbot": "pytest-qt",
    "fs": "pyfakefs",
    "tornado": "pytest-tornasync",
    "nursery": "pytest-trio",
    "cov": "pytest-cov",
    "fp": "pytest-subprocess",
    "fake_process": "pytest-subprocess",
}
PLUGIN_MARKS = frozenset(("asyncio", "anyio", "trio", "django_db", "benchmark", "timeout", "httpx_mock"))

_NETWORK = frozenset((errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN))
_ERRNO_TRAITS = {
    errno.EFBIG: Trait.FILE_SIZE,
    errno.ENOSPC: Trait.DISK,
    errno.EDQUOT: Trait.DISK,
    errno.EXDEV: Trait.CROSS_DEVICE,
}
_STARTERS = ("subprocess.py", "popen_fork.py", "popen_spawn_posix.py", "popen_forkserver.py", "pty.py")
_NO_THREAD = "can't start new thread"
_UNKNOWN_MARK = re.compile(r"'(\w+)' not found in `markers` configuration option")
_UNKNOWN_KEYWORD = re.compile(r"[\w.<>]+\(\) got an unexpected keyword argument '")
_MODULE_LACKS = re.compile(r"module '([\w.]+)' has no attribute '")
_EXCEPTION_FRAMES = 60


@dataclass(frozen=True, slots=True)
class _Raised:
    """One exception of a chain, read."""

    data: Event
    types: frozenset[str]
    frames: tuple[Frame, ...]

    def is_a(self, name: str) -> bool:
        return f"builtins.{name}" in self.types

    @property
    def message(self) -> str:
        return self.data.text("message")


def failure_of(data: Event, project: Project, extra: Iterable[Trait] = ()) -> Failure:
    """The failure that one recorded exception is, with the traits of its whole chain."""
    first = _read(data, project)
    chain = [(link.text("link"), _read(link, project)) for link in data.records("chain")]
    traits = {*extra, *_own_traits(first, chain, project)}
    for one in (first, *(other for _, other in chain)):
        traits |= _chain_traits(one, project)
    return Failure(
        type=_shown(data.text("type")),
        message=_message(data),
        frames=first.frames,
        traits=frozenset(traits),
        detail="; ".join(f"{link}: {_brief(other)}" for link, other in chain)[:2000],
    )


def _message(data: Event) -> str:
    fixture = data.text("fixture")
    return f"fixture {fixture!r} not found" if fixture else data.text("message")[:2000]


def is_skip(data: Event) -> bool:
    """Whether the exception only says that a test is to be skipped (or is expected to fail)."""
    names = data.texts("mro")
    if "unittest.case.SkipTest" in names:
        return True
    outcome = any(name.endswith(".OutcomeException") for name in names)
    return (outcome and names[0].rpartition(".")[2] in ("Skipped", "XFailed")) or _is_xfail(names)


def is_unexpected_success(data: Event) -> bool:
    """Whether pytest made the failure itself because a unittest case was expected to fail."""
    rows = data.rows("frames")
    return any(row[2:] == ("addUnexpectedSuccess",) and _in_pytest(row) for row in rows)


def part_of_case(data: Event) -> str | None:
    """``setup`` or ``teardown`` if the exception came from that part of a unittest case, else None."""
    parts = {
        "_callSetUp": "setup",
        "_pre_setup": "setup",
        "_callTearDown": "teardown",
        "_callCleanup": "teardown",
        "doCleanups": "teardown",
        "_post_teardown": "teardown",
    }
    for row in data.rows("frames"):
        if len(row) == 3 and isinstance(row[0], str) and row[2] in parts:
            own = row[0].endswith(("unittest/case.py", "unittest/async_case.py"))
            if own or str(row[2]).startswith("_p"):
                return parts[str(row[2])]
        if len(row) == 3 and row[2] == "_callTestMethod":
            return None
    return None


def unhandled_coroutine(data: Event) -> bool:
    """Whether pytest itself refused to run an async test because no plugin does."""
    rows = data.rows("frames")
    return any(
        _in_pytest(row) and row[2] in ("async_fail", "async_warn_and_skip") for row in rows if len(row) == 3
    )


def _in_pytest(row: tuple[object, ...]) -> bool:
    return bool(row) and isinstance(row[0], str) and "/_pytest/" in row[0]


def _is_xfail(names: tuple[str, ...]) -> bool:
    return any(name.startswith("_pytest.outcomes.XFailed") for name in names)


def _read(data: Event, project: Project) -> _Raised:
    frames = []
    for row in data.rows("frames")[:_EXCEPTION_FRAMES]:
        if len(row) == 3 and isinstance(row[0], str) and isinstance(row[1], int):
            path, place = project.place(row[0])
            frames.append(Frame(path, row[1], str(row[2]), place))
    return _Raised(data, frozenset(data.texts("mro")), tuple(frames))


def _shown(name: str) -> str:
    return name.removeprefix("builtins.")


def _brief(one: _Raised) -> str:
    return f"{_shown(one.data.text('type'))}: {' '.join(one.message.split())[:200]}"


def _chain_traits(one: _Raised, project: Project) -> set[Trait]:
    """Traits that count wherever in the chain they are."""
    traits: set[Trait] = set()
    if one.is_a("MemoryError"):
        traits.add(Trait.MEMORY)
    if one.is_a("OSError"):
        traits |= _errno_traits(one, project)
    if one.is_a("RuntimeError") and one.message == _NO_THREAD:
        traits.add(Trait.PROCESSES)
    if one.is_a("ImportError") and _is_foreign_import(one, project):
        traits.add(Trait.MODULE_MISSING)
    return traits


def _errno_traits(one: _Raised, project: Project) -> set[Trait]:
    number = one.data.number("errno")
    if "socket.gaierror" in one.types or number in _NETWORK:
        return {Trait.NETWORK_DENIED}
    if number == errno.EAGAIN and _starts_process(one, project):
        return {Trait.PROCESSES}
    if number in _ERRNO_TRAITS:
        return {_ERRNO_TRAITS[number]}
    return set()


def _starts_process(one: _Raised, project: Project) -> bool:
    """EAGAIN of a socket is behaviour; that of fork, exec or a thread is a limit."""
    if not one.frames:
        return False
    last = one.frames[-1]
    if last.path.endswith(_STARTERS):
        return True
    text = project.read(last.path) if last.place is not Place.OUTSIDE else None
    return text is not None and calls_fork(text, last.line)


def _is_foreign_import(one: _Raised, project: Project) -> bool:
    top = one.data.text("name").partition(".")[0]
    return bool(top) and not project.owns_module(top)


def _own_traits(one: _Raised, chain: list[tuple[str, _Raised]], project: Project) -> set[Trait]:
    """Traits of the surfaced exception itself."""
    traits: set[Trait] = set()
    if _is_assertion(one) or _is_group_of_assertions(one, chain):
        traits.add(Trait.ASSERTION)
    if one.is_a("NameError"):
        traits.add(Trait.NAME)
    if one.is_a("SystemExit"):
        traits.add(Trait.SYSTEM_EXIT)
    if one.is_a("KeyboardInterrupt") or "_pytest.outcomes.Exit" in one.types:
        traits.add(Trait.INTERRUPT)
    if one.is_a("SyntaxError") and _is_evaluated(one, project):
        traits.add(Trait.EVALUATED_SYNTAX)
    if _lacks_project_name(one, project):
        traits.add(Trait.PROJECT_NAME_MISSING)
    traits |= _fixture_traits(one)
    if _lacks_database(one):
        traits = traits - {Trait.ASSERTION} | {Trait.UNKNOWN_FIXTURE}
    if Trait.ASSERTION not in traits and _raised_by_text(one, project):
        traits.add(Trait.RAISED_BY_TEXT)
    return traits


def _is_assertion(one: _Raised) -> bool:
    if one.is_a("AssertionError") or "doctest.DocTestFailure" in one.types:
        return True
    named = one.data.text("type").rpartition(".")[2] == "Failed"
    return named and "_pytest.outcomes.OutcomeException" in one.types


def _is_group_of_assertions(one: _Raised, chain: list[tuple[str, _Raised]]) -> bool:
    """Whether every leaf of an exception group is an assertion."""
    if not _is_group(one):
        return False
    leaves = [other for link, other in chain if link == "member" and not _is_group(other)]
    return bool(leaves) and all(_is_assertion(leaf) for leaf in leaves)


def _is_group(one: _Raised) -> bool:
    return any(name.endswith(".BaseExceptionGroup") for name in one.types)


def _is_evaluated(one: _Raised, project: Project) -> bool:
    """Text compiled while running: not a file of the project, and no third-party code asked for it."""
    file = one.data.text("file")
    if file and not file.startswith("<") and project.place(file)[1] is not Place.OUTSIDE:
        return False
    for frame in reversed(one.frames):
        if frame.place is not Place.OUTSIDE:
            return frame.place is Place.TEST
        if "site-packages" in frame.path or "dist-packages" in frame.path:
            return False
    return False


def _lacks_project_name(one: _Raised, project: Project) -> bool:
    if one.is_a("ImportError"):
        top = one.data.text("name").partition(".")[0]
        return bool(top) and project.owns_module(top)
    if one.is_a("AttributeError"):
        return _is_projects_object(one, project)
    if one.is_a("TypeError") and _UNKNOWN_KEYWORD.match(one.message):
        return bool(one.frames) and one.frames[-1].place is Place.TEST
    return False


def _is_projects_object(one: _Raised, project: Project) -> bool:
    file = one.data.text("owner_file")
    if file:
        return project.place(file)[1] is Place.SOURCE
    owner = one.data.text("owner")
    if not owner:
        found = _MODULE_LACKS.match(one.message)
        owner = found.group(1) if found else ""
    return bool(owner) and project.owns_module(owner.partition(".")[0])


def _fixture_traits(one: _Raised) -> set[Trait]:
    if any(name.endswith(".FixtureLookupError") for name in one.types):
        missing = one.data.text("fixture") in PLUGIN_FIXTURES
        return {Trait.UNKNOWN_FIXTURE, Trait.PLUGIN_MISSING} if missing else {Trait.UNKNOWN_FIXTURE}
    mark = _UNKNOWN_MARK.search(one.message) if "_pytest.outcomes.OutcomeException" in one.types else None
    if mark is not None and mark.group(1) in PLUGIN_MARKS:
        return {Trait.PLUGIN_MISSING}
    return {Trait.PLUGIN_MISSING} if unhandled_coroutine(one.data) else set()


def _lacks_database(one: _Raised) -> bool:
    """Whether the test uses a database that its class or marks do not ask for."""
    if any(name.endswith(".DatabaseOperationForbidden") for name in one.types):
        return True
    last = one.frames[-1] if one.frames else None
    return last is not None and last.function == "_blocking_wrapper" and "/pytest_django/" in last.path


def _raised_by_text(one: _Raised, project: Project) -> bool:
    """Whether the innermost frame is workspace text whose line belongs to a ``raise`` statement."""
    if not one.frames or one.frames[-1].place is Place.OUTSIDE:
        return False
    last = one.frames[-1]
    text = project.read(last.path)
    return text is not None and raises_at(text, last.line)
