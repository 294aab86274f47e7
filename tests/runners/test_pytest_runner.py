# SPDX-License-Identifier: Apache-2.0
"""What a pytest run may do to its project's settings, and what a hostile test cannot hide."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.runners.python_driver import observed, write_files

from redfirst.core.evidence import Phase, PhaseOutcome, RunReport, Trait
from redfirst.runners.pytest_runner import PytestRunner
from redfirst.sandbox.protocol import Completed

RUNNER = PytestRunner()


def run(folder: Path, test: str, *, settings: str = "", files: dict[str, str] | None = None) -> RunReport:
    """The report of ``tests/test_it.py::test_it`` with this text."""
    return run_whole(folder, test, settings=settings, files=files)[0]


def run_whole(
    folder: Path, test: str, *, settings: str = "", files: dict[str, str] | None = None
) -> tuple[RunReport, Completed]:
    """As `run`, with the finished process."""
    write_files(folder, {"tests/test_it.py": test, "pytest.ini": f"[pytest]\n{settings}\n", **(files or {})})
    return observed(RUNNER, folder, ("pytest", "tests/test_it.py::test_it"), patched=("tests/test_it.py",))


# What a test cannot hide.


def test_a_line_forged_into_the_report_is_tampering(tmp_path):
    text = """
    import os
    def test_it():
        for name in os.listdir("/proc/self/fd"):
            if int(name) > 100:
                os.write(int(name), b'7 00 {"e":"end","status":0}\\n')
        assert 0
    """
    assert run(tmp_path, _text(text)).tampering != ()


def test_leaving_inside_a_test_cuts_the_report(tmp_path):
    report = run(tmp_path, "import os\n\ndef test_it():\n    os._exit(0)\n")
    assert (report.complete, report.problems, report.nodes[0].finished) == (False, (), False)


def test_an_exit_status_that_contradicts_the_report_is_a_problem(tmp_path):
    text = "import atexit, os\n\ndef test_it():\n    atexit.register(os._exit, 0)\n    assert 0\n"
    report = run(tmp_path, text)
    assert report.complete
    assert any("status" in problem for problem in report.problems)


def test_a_report_that_hides_the_exception_is_a_problem(tmp_path):
    text = """
    def test_it():
        import _pytest.reports
        real = _pytest.reports.TestReport.from_item_and_call.__func__
        def kind(cls, item, call):
            call.excinfo = None
            return real(cls, item, call)
        _pytest.reports.TestReport.from_item_and_call = classmethod(kind)
        assert 0
    """
    report, completed = run_whole(tmp_path, _text(text))
    assert completed.exit == 0
    assert any("did not fail" in problem for problem in report.problems)


def test_a_plugin_registered_by_a_test_is_tampering(tmp_path):
    text = "def test_it(request):\n    request.config.pluginmanager.register(type('Mine', (), {})())\n"
    assert any("registered" in text for text in run(tmp_path, text).tampering)


def test_closed_descriptors_are_no_pass(tmp_path):
    report = run(tmp_path, "import os\n\ndef test_it():\n    os.closerange(3, 4096)\n    assert 0\n")
    assert report.nodes[0].phases[1].outcome is PhaseOutcome.FAILED
    assert report.tampering == ()


def test_patched_standard_library_does_not_reach_the_report(tmp_path):
    text = """
    import json, os
    def test_it(monkeypatch):
        for target, name in ((json, "dumps"), (os, "write"), (os, "getpid"), (os.path, "realpath")):
            monkeypatch.setattr(target, name, lambda *a, **k: 0)
        json.JSONEncoder.encode = lambda *a: "{}"
        assert 0
    """
    report = run(tmp_path, _text(text))
    assert (report.tampering, report.problems) == ((), ())
    assert report.nodes[0].phases[1].outcome is PhaseOutcome.FAILED


@pytest.mark.parametrize(
    ("act", "seen"),
    [
        ("open('src/lib.py', 'a').close()", True),
        ("os.rename('src/lib.py', 'src/other.py')", True),
        ("os.remove('src/lib.py')", True),
        ("os.chmod('src/lib.py', 0o644)", True),
        ("os.truncate('src/lib.py', 0)", True),
        ("os.chmod(pytest.__file__ + '.none', 0o644)", True),
        ("open('.git/config', 'w').close()", True),
        ("open('src/new.txt', 'w').close()", False),
        ("open('tests/out.txt', 'w').close()", False),
        ("open('src/lib.py').close()", False),
        ("tempfile.mkstemp()", False),
        ("__import__('py_compile').compile('src/lib.py')", False),
    ],
)  # fmt: skip
def test_writes_are_seen_where_they_matter(tmp_path, act, seen):
    text = "import os, tempfile, pytest\n\ndef test_it():\n    try:\n        ACT\n    except OSError: pass\n"
    text = text.replace("ACT", act)
    report = run(tmp_path, text, files={"src/lib.py": "x = 1\n", ".git/config": ""})
    assert bool(report.tampering) is seen
    assert report.problems == ()


def test_asking_for_another_machine_is_noted(tmp_path):
    text = """
    import socket
    def test_it():
        try:
            socket.getaddrinfo("nowhere.invalid", 1)
        except OSError:
            pass
    """
    assert run(tmp_path, _text(text)).network_attempted


def test_loopback_is_not_another_machine(tmp_path):
    text = """
    import socket
    def test_it():
        with socket.create_server(("localhost", 0)) as server:
            socket.create_connection(("localhost", server.getsockname()[1])).close()
    """
    assert not run(tmp_path, _text(text)).network_attempted


# How a session can end.


def test_pytest_exit_is_an_interrupt(tmp_path):
    report = run(tmp_path, "import pytest\n\ndef test_it():\n    pytest.exit('enough', returncode=0)\n")
    assert (report.interrupted, report.problems) == (True, ())


def test_a_keyboard_interrupt_is_one(tmp_path):
    report = run(tmp_path, "def test_it():\n    raise KeyboardInterrupt\n")
    assert (report.interrupted, report.problems) == (True, ())


def test_a_module_that_exits_while_loading(tmp_path):
    report = run(tmp_path, "raise SystemExit(0)\n")
    assert [failure.type for failure in report.collection_failures][:1] == ["SystemExit"]
    assert report.problems == ()


@pytest.mark.parametrize(
    ("text", "kind", "trait"),
    [
        ("import nowhere_to_be_found\n", "ModuleNotFoundError", Trait.MODULE_MISSING),
        ("import lib.absent\n", "ModuleNotFoundError", Trait.PROJECT_NAME_MISSING),
        ("def test_it(:\n", "SyntaxError", None),
        ("1 / 0\n", "ZeroDivisionError", None),
    ],
)
def test_a_module_that_does_not_load(tmp_path, text, kind, trait):
    report = run(tmp_path, text, files={"src/lib/__init__.py": ""}, settings="pythonpath = src")
    assert [failure.type for failure in report.collection_failures] == [kind]
    assert trait is None or trait in report.collection_failures[0].traits
    assert (report.problems, report.complete) == ((), True)


def test_a_conftest_that_does_not_load(tmp_path):
    report = run(
        tmp_path, "def test_it(): pass\n", files={"tests/conftest.py": "import nowhere_to_be_found\n"}
    )
    assert [failure.type for failure in report.collection_failures] == ["ModuleNotFoundError"]
    assert report.problems == ()


def test_a_module_that_skips_itself(tmp_path):
    report = run(tmp_path, "import pytest\n\npytest.importorskip('nowhere_to_be_found')\n")
    assert len(report.collection_skips) == 1
    assert (report.collection_failures, report.problems) == ((), ())


def test_a_test_that_is_nowhere_is_not_found(tmp_path):
    report = run(tmp_path, "def test_other(): pass\n")
    assert len(report.not_found) == 1
    assert (report.collection_failures, report.problems, report.nodes) == ((), (), ())


def test_an_option_of_a_missing_plugin_is_the_environments(tmp_path):
    report = run(tmp_path, "def test_it(): pass\n", settings="addopts = --no-such-plugin")
    assert Trait.PLUGIN_MISSING in report.collection_failures[0].traits
    assert report.problems == ()


def test_settings_that_deselect(tmp_path):
    text = "import pytest\n\n@pytest.mark.slow\ndef test_it(): pass\n"
    report = run(tmp_path, text, settings="addopts = -m 'not slow'\nmarkers = slow")
    assert report.deselected == ("tests/test_it.py::test_it",)
    assert (report.nodes, report.problems) == ((), ())


# The project's own settings stay.


def test_a_run_that_would_be_spread_stays_in_one_process(tmp_path):
    report = run(tmp_path, "def test_it():\n    assert 0\n", settings="addopts = -n 2 --dist loadfile")
    assert [node.node for node in report.nodes] == ["tests/test_it.py::test_it"]
    assert report.problems == ()


def test_warnings_as_errors_do_not_meet_the_observer(tmp_path):
    report = run(
        tmp_path, "def test_it(): pass\n", settings="filterwarnings = error\naddopts = --strict-config"
    )
    assert [phase.outcome for phase in report.nodes[0].phases] == [PhaseOutcome.PASSED] * 3


def test_ids_are_seen_from_the_checkout_whatever_the_root_folder(tmp_path):
    files = {"pack/pytest.ini": "[pytest]\n", "pack/tests/test_a.py": "def test_a(): pass\n"}
    write_files(tmp_path, files)
    report, _ = observed(RUNNER, tmp_path, ("pytest", "tests/test_a.py::test_a"), cd="pack")
    assert report.selected == ("pack/tests/test_a.py::test_a",)


@pytest.mark.parametrize(
    ("argv", "importable"),
    [(("pytest",), False), (("python", "-m", "pytest"), True)],
)
def test_only_the_module_form_puts_the_folder_on_the_path(tmp_path, argv, importable):
    files = {"lib.py": "", "tests/test_a.py": "def test_a():\n    import lib\n"}
    write_files(tmp_path, files)
    report, _ = observed(RUNNER, tmp_path, (*argv, "tests/test_a.py::test_a"))
    outcome = report.nodes[0].phases[1].outcome
    assert (outcome is PhaseOutcome.PASSED) is importable


def test_the_process_looks_as_without_the_harness(tmp_path):
    text = """
    import multiprocessing, os, sys
    def double(n):
        return 2 * n
    def test_it():
        assert not [name for name in sys.modules if "redfirst" in name]
        assert not [path for path in sys.path if "harness" in path]
        assert not [name for name in os.environ if "REDFIRST" in name]
        assert sys.argv[0].endswith("pytest") and sys.argv[1].endswith("::test_it")
        assert os.read(0, 1) == b""
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            assert pool.map(double, [2]) == [4]
    """
    report, completed = run_whole(tmp_path, _text(text))
    assert report.nodes[0].phases[1].outcome is PhaseOutcome.PASSED, completed.out.decode()


def test_another_order_is_another_and_the_same_for_a_seed(tmp_path):
    tests = [f"test_{n}" for n in range(5)]
    write_files(tmp_path, {"test_a.py": "".join(f"def {name}(): pass\n" for name in tests)})
    argv = ("pytest", *(f"test_a.py::{name}" for name in tests))
    orders = [observed(RUNNER, tmp_path, argv, seed=seed, shuffle=seed > 0)[0].selected for seed in (0, 1, 1)]
    assert orders[0] == tuple(f"test_a.py::{name}" for name in tests)
    assert sorted(orders[1]) == sorted(orders[0]) != list(orders[1])
    assert orders[1] == orders[2]


def test_a_wish_to_stop_at_the_first_failure_leaves_no_declared_test_out(tmp_path):
    write_files(tmp_path, {"test_a.py": "def test_a(): assert 0\ndef test_b(): pass\n"})
    report, _ = observed(RUNNER, tmp_path, ("pytest", "-x", "test_a.py::test_a", "test_a.py::test_b"))
    assert [node.node for node in report.nodes] == ["test_a.py::test_a", "test_a.py::test_b"]
    assert (report.problems, report.interrupted) == ((), False)


def test_groups_of_assertions_are_assertions(tmp_path):
    text = "def test_it():\n    raise ExceptionGroup('two', [AssertionError('a'), AssertionError('b')])\n"
    failure = run(tmp_path, text).nodes[0].phases[1].failures[0]
    assert Trait.ASSERTION in failure.traits


def test_a_message_that_cannot_be_made_is_no_trouble(tmp_path):
    text = """
    class Odd(Exception):
        args = property(lambda self: 1 / 0)
        def __str__(self):
            raise KeyboardInterrupt
    def test_it():
        raise Odd
    """
    report = run(tmp_path, _text(text).replace("KeyboardInterrupt", "ValueError"))
    assert report.nodes[0].phases[1].failures[0].type == "test_it.Odd"
    assert report.nodes[0].phases[1].phase is Phase.CALL


def _text(text: str) -> str:
    """A test's text without the indentation that it has here."""
    lines = text.splitlines()
    return "\n".join(line[4:] for line in lines) + "\n"
