# SPDX-License-Identifier: Apache-2.0
"""Keeps the imports that a report leaves out right: a name has one home in the project, or none."""

from __future__ import annotations

import pytest
from tests.agents.ledger import PYTEST_FILE, Ledger, files, make_ledger

from redfirst.agents.strategies.snippet.homes import attributes, fixture_homes, homes_of, undefined
from redfirst.agents.strategies.snippet.steps import Step

OTHERS = {
    "src/ledger/dates.py": "import datetime\n\n\ndef due(day):\n    return day\n\n\nclass Term:\n    pass\n",
    "src/ledger/rates.py": "class Term:\n    pass\n\n\ndef rate():\n    def inner():\n        pass\n",
    "src/ledger/tools/__init__.py": "",
    "src/ledger/tools/hooks.py": "import pytest\n\n\n@pytest.fixture\ndef till():\n    return 1\n",
}


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    return make_ledger(tmp_path_factory.mktemp("homes"), {**files(PYTEST_FILE), **OTHERS})


@pytest.mark.parametrize(
    ("name", "read", "hints", "line"),
    [
        ("due", (), (), "from ledger.dates import due"),
        ("Account", (), (), "from ledger.money import Account"),
        ("Term", (), (), None),  # two modules have it
        ("Term", (), (".../site-packages/ledger/rates.py",), "from ledger.rates import Term"),
        ("Term", (), ("rates.py",), None),  # a bare file name may be the reporter's own
        ("inner", (), (), None),
        ("datetime", (), (), None),
        ("test_check", (), (), None),
        ("dates", ("due",), (), "from ledger import dates"),
        ("dates", ("paid",), (), None),
        ("dates", (), (), None),  # used as a value: it is somebody's variable
        ("hooks", ("till",), (), "from ledger.tools import hooks"),
    ],
)
def test_a_name_comes_from_the_one_module_that_defines_it(
    ledger: Ledger, name: str, read: tuple[str, ...], hints: tuple[str, ...], line: str | None
) -> None:
    assert homes_of(ledger.gate, {name}, {name: read}, hints).get(name) == line


def test_a_fixture_has_its_module(ledger: Ledger) -> None:
    assert fixture_homes(ledger.gate, {"till", "tmp_path"}) == {"ledger.tools.hooks"}
    assert fixture_homes(ledger.gate, {"tmp_path"}) == frozenset()


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("parse(cell)", {"parse", "cell"}),
        ("for line in read(f):\n    print(line)", {"read", "f"}),
        ("def shown(x):\n    return fmt(x)", {"fmt"}),
        ("class A(Base):\n    size = field(key=lambda one: one.size)", {"Base", "field"}),
        ("try:\n    go()\nexcept KeyError as error:\n    print(error)", {"go"}),
        ("x = 1\nprint(len(str(x)))", set()),
        ("[a.b for a in items if a]", {"items"}),
    ],
)
def test_what_code_leaves_undefined(code: str, names: set[str]) -> None:
    assert undefined([Step(code, 1, 0)]) == names


def test_what_is_read_of_a_module() -> None:
    steps = [Step("dates.due(dates.today)", 1, 0), Step("rates.rate(f)", 2, 0), Step("f.close()", 3, 0)]
    assert attributes(steps) == {"dates": {"due", "today"}, "rates": {"rate"}}
