# SPDX-License-Identifier: Apache-2.0
"""Reports about the ledger: what each must become, or that it must be refused."""

# ruff: noqa: E501 - a report reads best on few lines

from __future__ import annotations

CONFIRMED = {
    "session with a stated value": (
        "Split loses a cent\n\n```python\n>>> from ledger import split\n>>> sum(split(100, 3))\n99\n```\n\nI expected 100.\n",
        "sum(split(100, 3)) == 100",
    ),
    "comment with both values": (
        "show drops a nought\n\n```python\nfrom ledger import show\nshow(105)  # gives '1.5', should be '1.05'\n```\n",
        'show(105) == "1.05"',
    ),
    "printed text with a stated value": (
        "show drops a nought\n\n    from ledger import show\n    print(show(105))\n\nIt prints 1.5 but it should print `1.05`.\n",
        'show(105) == "1.05"',
    ),
    "traceback and a stated result": (
        "parse fails without cents\n\n```python\nfrom ledger.money import parse\nparse('7')\n```\n\n"
        "```\nTraceback (most recent call last):\n  File \"a.py\", line 2, in <module>\n    parse('7')\n"
        "ValueError: not enough values to unpack (expected 2, got 1)\n```\n\nExpected: `700`\n",
        'parse("7") == 700',
    ),
    "traceback alone": (
        "parse fails without cents\n\n```python\nfrom ledger.money import parse\namount = parse('7')\n```\n\n"
        "```\nValueError: not enough values to unpack (expected 2, got 1)\n```\n",
        'amount = money.parse("7")',
    ),
    "should raise": (
        "Negative sums pass\n\n```python\nimport ledger\nledger.check(-1)  # should raise LedgerError\n```\n",
        "raises(LedgerError):",
    ),
    "other exception instead": (
        "Wrong error for an empty sum\n\n```\n>>> from ledger import parse\n>>> parse('')\n"
        "Traceback (most recent call last):\n  ...\nValueError: not enough values to unpack (expected 2, got 1)\n```\n\n"
        "I would like the module's own error for such invalid texts.\n",
        'type(error).__name__ != "ValueError"',
    ),
    "wrong value seen, nothing stated": (
        "Wrong total\n\n```python\n>>> from ledger import Account\n>>> a = Account('x')\n>>> a.add(5)\n>>> a.add(6)\n"
        ">>> a.total()\n6\n```\n\nThat is wrong.\n",
        "a.total() != 6",
    ),
    "a value that is only like the one expected": (
        "Show\n\n```python\n>>> from ledger import show\n>>> show(105)\n'1.5'\n```\n\nI expected something like '1,05 EUR'.\n",
        'show(105) != "1.5"',
    ),
    "a test function": (
        "Split loses a cent\n\n```python\nfrom ledger import split\n\nTOTAL = 100\n\ndef test_split():\n"
        "    shares = split(TOTAL, 3)\n    assert sum(shares) == TOTAL\n```\n\nThis test fails.\n",
        "assert sum(shares) == TOTAL",
    ),
    "IPython": (
        "Split loses a cent\n\n```\nIn [1]: from ledger import split\n\nIn [2]: sum(split(100, 3))\nOut[2]: 99\n```\n\n"
        "This should be 100.\n",
        "sum(split(100, 3)) == 100",
    ),
    "template with headings": (
        "Split loses a cent\n\n### Steps\n\n```python\nfrom ledger import split\nprint(split(100, 3))\n```\n\n### Actual\n\n"
        "```\n[33, 33, 33]\n```\n\n### Expected\n\n```\n[34, 33, 33]\n```\n",
        "split(100, 3) == [34, 33, 33]",
    ),
    "the report's own assertion": (
        "Split loses a cent\n\n```python\nfrom ledger import split\nassert sum(split(100, 3)) == 100\n```\n\nThe assertion fails.\n",
        "assert sum(split(100, 3)) == 100",
    ),
    "a loop that prints": (
        "lines drops a nought\n\n```python\nfrom ledger import lines\nfor line in lines([105, 250]):\n    print(line)\n```\n\n"
        "Output:\n\n```\n1.5\n2.50\n```\n\nExpected:\n\n```\n1.05\n2.50\n```\n",
        'printed.strip() == "1.05\\n2.50"',
    ),
    "imports left out, several values": (
        "show and friends\n\n```python\n>>> show(250)\n'2.50'\n>>> show(105)\n'1.5'\n>>> show(9)\n'0.9'\n```\n\n"
        "The last two should be '1.05' and '0.09'.\n",
        'show(9) == "0.09"',
    ),
    "a call named in prose": (
        "show drops a nought\n\n`ledger.show(105)` gives `'1.5'` instead of `'1.05'`.\n",
        'show(105) == "1.05"',
    ),
}

CONFIRMED |= {
    "one of two, named by its place": (
        "Show\n\n```python\n>>> from ledger import show\n>>> show(105)\n'1.5'\n>>> show(250)\n'2.50'\n```\n\nI expected '1.05' for the first.\n",
        'show(105) == "1.05"',
    ),
    "one of two, nearer to what is stated": (
        "Split\n\n```python\nfrom ledger import split\nprint(split(100, 3))  # [33, 33, 33]\nprint(split(9, 3))  # [3, 3, 3]\n```\n\n"
        "Should be `[34, 33, 33]`.\n",
        "split(100, 3) == [34, 33, 33]",
    ),
}

CONFIRMED |= {
    "a loop over too many pieces": (
        "statement shows a day too often\n\n```python\nfrom ledger import statement\n"
        "for line in statement(['mon', 'tue']):\n    print(line)\n```\n\n"
        "I get three lines:\n\n    mon\n    tue\n    tue\n\nShould be two, one a day.\n",
        'len(list(statement(["mon", "tue"]))) == 2',
    ),
}

_TRACE = (
    "parse fails without cents\n\nThe import of last night died:\n\n```\nTraceback (most recent call last):\n"
    '  File "load.py", line 8, in amount_of\n    return parse(cell)\n'
    '  File ".../site-packages/ledger/money.py", line 31, in parse\n    whole, cents = text.split(".")\n'
    "ValueError: not enough values to unpack (expected 2, got 1)\n```\n\n"
)
CONFIRMED |= {
    "a traceback without a snippet, the value in prose": (
        f"{_TRACE}The cell was `7`. I'd expect `700`.\n",
        'assert parse("7") == 700',
    ),
    "a traceback without a snippet, another error is right": (
        f"{_TRACE}The cell was `''`. `check(None)` is rejected properly with `ledger.LedgerError`. I'd expect the same "
        "kind of error.\n",
        "raises(LedgerError)",
    ),
}

REFUSED = {
    "a traceback whose value nobody tells": f"{_TRACE}It should be 700.\n",
    "a traceback that the told value does not give": f"{_TRACE}The cell was `7.5`. It should be 705.\n",
    "one of two, and nobody can tell which": (
        "Split\n\n```python\n>>> from ledger import split\n>>> sum(split(9, 3))\n9\n>>> sum(split(6, 3))\n6\n```\n\nI expected 1.\n"
    ),
    "a question": (
        "Is it right?\n\n```python\n>>> from ledger import show\n>>> show(250)\n'2.50'\n```\n\nShould it be '2,50'?\n"
    ),
    "a wish for documentation": (
        "Parse\n\n```python\n>>> from ledger import parse\n>>> parse('x')\nTraceback (most recent call last):\n  ...\n"
        "ValueError: not enough values to unpack (expected 2, got 1)\n```\n\nThe docs do not mention ValueError. Please document it.\n"
    ),
    "no code": "Split loses a cent\n\nThe shares do not add up to the total.\n",
    "what is shown does not happen": (
        "Split\n\n```python\n>>> from ledger import split\n>>> sum(split(99, 3))\n98\n```\n\nI expected 100.\n"
    ),
    "all is as stated": (
        "Split\n\n```python\n>>> from ledger import split\n>>> sum(split(99, 3))\n99\n```\n\nIt should be 99. Fine.\n"
    ),
    "the code breaks for a reason of its own": (
        "Split\n\n```python\nfrom ledger import split\nimport shop_of_ours\nsplit(shop_of_ours.total(), 3)\n```\n\nIt should be 100.\n"
    ),
    "the stated value is about another call": (
        "Split\n\n```python\n>>> from ledger import split\n>>> split(9, 3)\n[3, 3, 3]\n```\n\nBut `split(100, 3, rest=True)` "
        "should give `[34, 33, 33]`.\n"
    ),
    "a requirement that must stay": (
        "Check\n\n```python\n>>> from ledger import check\n>>> check(5)\nTrue\n```\n\n"
        "Bad sums must of course still raise LedgerError.\n"
    ),
    "an object without a stable text": (
        "Object\n\n```python\n>>> object()\n<object object at 0x7f0000000000>\n```\n\nThis is wrong, I expected 3.\n"
    ),
    "a random result": "Random\n\n```python\n>>> import random\n>>> random.random()\n0.5\n```\n\nIt should be 0.1, this is a bug.\n",
    "the wording of a message": (
        "Misleading message for an empty sum\n\n```\n>>> from ledger import parse\n>>> parse('')\n"
        "ValueError: not enough values to unpack (expected 2, got 1)\n```\n\nPlease give a better error message.\n"
    ),
    "the version is all that is shown": (
        "Split loses a cent\n\n```python\n>>> import sys\n>>> sys.maxsize and 'version 1.0'\n'version 1.0'\n```\n\nIt is wrong.\n"
    ),
    "two stated results": (
        "Show\n\n```python\n>>> from ledger import show\n>>> show(250)\n'2.50'\n```\n\nI expected '2,50'. Or rather it "
        "should be '2.5'.\n"
    ),
    "the process ends": "Exit\n\n```python\nimport os\nos._exit(3)\n```\n\nIt should be 3.\n",
    "two shown results and a complaint": (
        "Show\n\n```python\n>>> from ledger import show\n>>> show(105)\n'1.5'\n>>> show(250)\n'2.50'\n```\n\nOne of them is wrong.\n"
    ),
}
