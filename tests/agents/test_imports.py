# SPDX-License-Identifier: Apache-2.0
"""Keeps a test from importing what its file has, from taking a name of the file, and from changing what it says."""

from __future__ import annotations

import pytest

from redfirst.agents.strategies.snippet.imports import Known, clashes, fit_imports
from redfirst.agents.strategies.snippet.rename import rename
from redfirst.agents.strategies.snippet.write import Part, TestText

ALONE = Known()
SAME = Known(same=frozenset({frozenset({"shop.buy", "shop.till.buy"})}))
INSIDE = Known(package="shop.tests")


def written(code: str, *imports: str) -> TestText:
    """A test of one statement."""
    return TestText(imports, (), (Part(0, tuple(code.split("\n"))),))


# the file, what is known of it, the test's import and code; then imports for the head, those inside, and the code
FITS = {
    "known under its name": (
        "from shop import buy",
        ALONE,
        "from shop import buy",
        "buy(1)",
        [],
        [],
        "buy(1)",
    ),
    "known under another": (
        "from shop import buy as b",
        ALONE,
        "from shop import buy",
        "buy(buy)",
        [],
        [],
        "b(b)",
    ),
    "known through its module": (
        "from shop import till",
        ALONE,
        "from shop.till import buy",
        "buy(1)",
        [],
        [],
        "till.buy(1)",
    ),
    "known through its package": (
        "import shop",
        ALONE,
        "from shop import buy",
        "buy('buy')",
        [],
        [],
        "shop.buy('buy')",
    ),
    "known through a dotted module": (
        "import shop.till",
        ALONE,
        "from shop.till import buy",
        "buy(1)",
        [],
        [],
        "shop.till.buy(1)",
    ),
    "not known": (
        "import os",
        ALONE,
        "from shop import buy",
        "buy(1)",
        ["from shop import buy"],
        [],
        "buy(1)",
    ),
    "a name that the file uses": (
        "buy = 3",
        ALONE,
        "from shop import buy",
        "buy(1)",
        [],
        ["from shop import buy"],
        "buy(1)",
    ),
    "a name that a block of the file binds": (
        "try:\n    from fast import buy\nexcept ImportError:\n    buy = None",
        ALONE,
        "from shop import buy",
        "buy(1)",
        [],
        ["from shop import buy"],
        "buy(1)",
    ),
    "a name of a helper": (
        "class A:\n    def buy(self):\n        pass",
        ALONE,
        "from shop import buy",
        "buy(1)",
        [],
        ["from shop import buy"],
        "buy(1)",
    ),
    "another object of that name": (
        "from shop.till import buy",
        ALONE,
        "from shop import buy",
        "buy(1)",
        [],
        ["from shop import buy"],
        "buy(1)",
    ),
    "the same object under two names": (
        "from shop.till import buy",
        SAME,
        "from shop import buy",
        "buy(1)",
        [],
        [],
        "buy(1)",
    ),
    "a relative import": (
        "from ..till import buy",
        INSIDE,
        "from shop.till import buy",
        "buy(1)",
        [],
        [],
        "buy(1)",
    ),
    "a relative import of a module": (
        "from .. import till",
        INSIDE,
        "from shop.till import buy",
        "buy(1)",
        [],
        [],
        "till.buy(1)",
    ),
    "a module whose names the file takes": (
        "from shop import sell",
        ALONE,
        "import shop",
        "shop.buy(shop.Cart('shop.x'))",
        ["from shop import Cart, buy"],
        [],
        "buy(Cart('shop.x'))",
    ),
    "a module that is used as such": (
        "from shop import sell",
        ALONE,
        "import shop",
        "shop.buy(shop)",
        ["import shop"],
        [],
        "shop.buy(shop)",
    ),
    "a module with a name that is taken": (
        "from shop import sell\nbuy = 1",
        ALONE,
        "import shop",
        "shop.buy(1)",
        ["import shop"],
        [],
        "shop.buy(1)",
    ),
    "a module with the name of a builtin": (
        "from shop import sell",
        ALONE,
        "import shop",
        "shop.open(1)",
        ["import shop"],
        [],
        "shop.open(1)",
    ),
    "a dotted module": (
        "import os",
        ALONE,
        "import shop.till",
        "shop.till.buy(1)",
        ["import shop.till"],
        [],
        "shop.till.buy(1)",
    ),
    "a dotted module beside its package": (
        "import shop",
        ALONE,
        "import shop.till",
        "shop.till.buy(1)",
        ["import shop.till"],
        [],
        "shop.till.buy(1)",
    ),
    "two dotted modules of one package": (
        "import shop.a\nimport shop.b",
        ALONE,
        "import shop.b",
        "shop.b.buy(1)",
        [],
        [],
        "shop.b.buy(1)",
    ),
    "a name that the test binds itself": (
        "from shop import buy as b",
        ALONE,
        "from shop import buy",
        "b = 1; buy(b)",
        ["from shop import buy"],
        [],
        "b = 1; buy(b)",
    ),
    "a name in a formatted string": (
        "from shop import buy as b",
        ALONE,
        "from shop import buy",
        'f"{buy(1)}"',
        ["from shop import buy"],
        [],
        'f"{buy(1)}"',
    ),
    "a star": ("import os", ALONE, "from shop import *", "buy(1)", [], ["from shop import *"], "buy(1)"),
}


@pytest.mark.parametrize("name", FITS)
def test_imports_fit_their_file(name: str) -> None:
    text, known, line, code, top, local, after = FITS[name]
    fitted = fit_imports(written(code, line), text + "\n", known)
    assert [list(fitted.top), list(fitted.test.imports), fitted.test.parts[0].code] == [top, local, after]


def test_names_that_may_be_one_object_are_asked_for() -> None:
    test = written("buy(sell)", "from shop import buy, sell", "import os")
    text = "import os\nfrom shop.till import buy\nfrom shop import sell\n"
    assert clashes(test, text, ALONE) == [("shop.buy", "shop.till.buy")]
    assert clashes(test, "from ..till import buy\n", INSIDE) == [("shop.buy", "shop.till.buy")]
    assert clashes(test, "buy = 1\n", ALONE) == []


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("a(a.a, 'a', b=a)", "x.y(x.y.a, 'a', b=x.y)"),
        ("ü = 'ü', a  # a", "ü = 'ü', x.y  # a"),
        ("def f(b):\n    return a\n", "def f(b):\n    return x.y\n"),
        ("b.a", "b.a"),
        ("not python (a", "not python (a"),
    ],
)
def test_only_names_are_renamed(code: str, after: str) -> None:
    assert rename(code, {"a": "x.y"}) == after
