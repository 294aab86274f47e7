# SPDX-License-Identifier: Apache-2.0
"""Keeps imports where the authors of a file would put them: in the line of their module, section and order."""

from __future__ import annotations

import ast
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redfirst.agents.strategies.snippet.edits import edited
from redfirst.agents.strategies.snippet.import_lines import exploded, joined_to, regrouped, sectioned


def owned(module: str) -> bool:
    return module.partition(".")[0] == "shop"


def with_imports(head: str, *lines: str, width: int = 55) -> str:
    """The text of a file with more imports."""
    text = textwrap.dedent(head)
    return edited(text, joined_to(text, lines, owned, width))


CASES = {
    "a name joins the line of its module": (
        "from shop import buy, sell\n\nx = 1\n",
        ["from shop import pay"],
        "from shop import buy, pay, sell\n\nx = 1\n",
    ),
    "a line that gets too long is broken": (
        "from shop.warehouse import count_everything, empty\n",
        ["from shop.warehouse import fill_up"],
        "from shop.warehouse import (\n    count_everything,\n    empty,\n    fill_up,\n)\n",
    ),
    "a name joins a list in its order": (
        "from shop import (\n    buy,\n    sell,\n)\n",
        ["from shop import pay"],
        "from shop import (\n    buy,\n    pay,\n    sell,\n)\n",
    ),
    "constants and classes stand first": (
        "from shop import LIMIT, Shop, buy\n",
        ["from shop import Cart"],
        "from shop import LIMIT, Cart, Shop, buy\n",
    ),
    "names without an order are followed": (
        "from shop import sell, buy\n",
        ["from shop import pay"],
        "from shop import sell, buy, pay\n",
    ),
    "letters decide where that is the habit": (
        "from shop import buy, Cart, sell\n",
        ["from shop import Pay"],
        "from shop import buy, Cart, Pay, sell\n",
    ),
    "a line with a remark is left alone": (
        "from shop import buy  # noqa\n",
        ["from shop import sell"],
        "from shop import buy  # noqa\nfrom shop import sell\n",
    ),
    "names side by side in brackets are left alone": (
        "from shop import (buy,\n                  pay)\n",
        ["from shop import sell"],
        "from shop import (buy,\n                  pay)\nfrom shop import sell\n",
    ),
    "plain imports stand before others": (
        "import os\n\nimport pytest\n\nfrom shop.cart import Cart\nfrom shop.till import Till\n",
        ["import shop"],
        "import os\n\nimport pytest\n\nimport shop\nfrom shop.cart import Cart\nfrom shop.till import Till\n",
    ),
    "plain imports apart stay apart": (
        "import pytest\n\nimport shop.a\n\nfrom shop import buy\n",
        ["import shop.b"],
        "import pytest\n\nimport shop.a\nimport shop.b\n\nfrom shop import buy\n",
    ),
    "the module decides where that is the habit": (
        "from shop import buy\nimport shop.cart\nfrom shop.till import Till\n",
        ["import shop.date"],
        "from shop import buy\nimport shop.cart\nimport shop.date\nfrom shop.till import Till\n",
    ),
    "a section that is not there": (
        "import os\n\nfrom shop import buy\n",
        ["import pytest"],
        "import os\n\nimport pytest\n\nfrom shop import buy\n",
    ),
    "two sections that are not there": (
        "import os\n\n\ndef test_a():\n    pass\n",
        ["import pytest", "from shop import buy"],
        "import os\n\nimport pytest\n\nfrom shop import buy\n\n\ndef test_a():\n    pass\n",
    ),
    "a first section": (
        "import pytest\n\nfrom shop import buy\n",
        ["import io", "import contextlib"],
        "import contextlib\nimport io\n\nimport pytest\n\nfrom shop import buy\n",
    ),
    "no sections at all": (
        "import os\nfrom shop import buy\n",
        ["import pytest"],
        "import os\nimport pytest\nfrom shop import buy\n",
    ),
    "behind what makes the project importable": (
        "import sys\n\nsys.path.insert(0, '.')\n\nfrom shop import buy\n",
        ["from shop.cart import Cart"],
        "import sys\n\nsys.path.insert(0, '.')\n\nfrom shop import buy\nfrom shop.cart import Cart\n",
    ),
    "relative imports stand last": (
        "from shop import buy\n\nfrom .tools import check\n",
        ["from shop.cart import Cart"],
        "from shop import buy\nfrom shop.cart import Cart\n\nfrom .tools import check\n",
    ),
    "a future import stays first": (
        "from __future__ import annotations\n\nimport pytest\n",
        ["import os"],
        "from __future__ import annotations\n\nimport os\n\nimport pytest\n",
    ),
    "behind a docstring": (
        '"""Tests."""\n\n\ndef test_a():\n    pass\n',
        ["import os", "from shop import buy"],
        '"""Tests."""\n\nimport os\n\nfrom shop import buy\n\n\ndef test_a():\n    pass\n',
    ),
    "behind a licence": (
        "# Licence\n\ndef test_a():\n    pass\n",
        ["import os"],
        "# Licence\n\nimport os\n\n\ndef test_a():\n    pass\n",
    ),
    "Windows line ends": (
        "from shop import buy\r\nx = 1\r\n",
        ["from shop import sell", "import os"],
        "import os\r\n\r\nfrom shop import buy, sell\r\nx = 1\r\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_import_goes_to_its_like(name: str) -> None:
    head, lines, after = CASES[name]
    assert with_imports(head, *lines) == after


def test_a_new_file_has_sections() -> None:
    lines = ["from shop import b", "import pytest", "import io", "from shop import a", "import contextlib"]
    assert (
        sectioned(lines, owned, 60)
        == "import contextlib\nimport io\n\nimport pytest\n\nfrom shop import a, b\n"
    )
    assert sectioned([], owned, 60) == ""


def test_names_of_one_module_share_a_line() -> None:
    lines = [
        "from b import y",
        "import c",
        "from b import X",
        "from b import y",
        "import os",
        "from b import z as a",
    ]
    assert regrouped(lines) == ("import os", "import c", "from b import X, y, z as a")


NAMES = st.sampled_from(["buy", "Cart", "LIMIT", "sell", "a_b", "Z"])
LINES = st.one_of(
    st.builds("from {} import {}".format, st.sampled_from(["shop", "shop.till", "os", "pytest"]), NAMES),
    st.sampled_from(["import os", "import shop", "import shop.till", "import pytest", "import io as i"]),
)


def imported(text: str) -> set[str]:
    return set(
        exploded([ast.unparse(t) for t in ast.parse(text).body if isinstance(t, ast.Import | ast.ImportFrom)])
    )


@given(st.lists(LINES, max_size=6), st.lists(LINES, min_size=1, max_size=5))
def test_a_file_imports_all_that_it_did_and_all_that_is_added(held: list[str], more: list[str]) -> None:
    text = "".join(f"{line}\n" for line in held) + "\n\ndef test_a():\n    pass\n"
    after = edited(text, joined_to(text, more, owned, 40))
    assert imported(after) == set(exploded([*held, *more]))
    assert ast.unparse(ast.parse(after).body[-1]) == ast.unparse(ast.parse(text).body[-1])
