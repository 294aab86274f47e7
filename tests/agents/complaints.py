# SPDX-License-Identifier: Apache-2.0
"""Reports about textkit, each with the findings and the guards that it must come to."""

# ruff: noqa: E501 - a report reads best on few lines

from __future__ import annotations

ABOUT = {
    "the last two, in their order": (
        "Sizes\n\n```python\n>>> from textkit import size\n>>> size('10')\n10\n>>> size('10k')\n10000\n>>> size('2m')\n2000000\n```\n\n"
        "The last two should be 10240 and 2097152.\n",
        ["EQUAL | size('10k') | _ == 10240", "EQUAL | size('2m') | _ == 2097152"],
        ["EQUAL | size('10') | _ == 10"],
    ),
    "all of several, behind a block that is right": (
        "Sizes\n\n```python\n>>> import sys\n>>> from textkit import median, size\n>>> sys.version_info[0]\n3\n>>> size('10')\n10\n"
        ">>> words = 'k'\n>>> size('1k')\n1000\n```\n\nSo far so good. But\n\n"
        "```python\n>>> median([2, 2])\n2\n>>> median([1, 2])\n2\n>>> median([1, 3])\n3\n>>> median([1])\n1\n```\n\n"
        "All three of these should be 1.\n",
        [
            "EQUAL | median([2, 2]) | _ == 1",
            "EQUAL | median([1, 2]) | _ == 1",
            "EQUAL | median([1, 3]) | _ == 1",
        ],
        ["EQUAL | size('10') | _ == 10", "EQUAL | size('1k') | _ == 1000"],
    ),
    "more of them than there are": (
        "Sizes\n\n```python\n>>> from textkit import median\n>>> median([2, 2])\n2\n>>> median([1, 3])\n3\n```\n\n"
        "All three of these should be 1.\n",
        [],
        [],
    ),
    "both, said behind the value": (
        "Sizes\n\n```python\n>>> from textkit import median\n>>> median([2, 2])\n2\n>>> median([1, 3])\n3\n```\n\n"
        "I would expect 1 for both.\n",
        ["EQUAL | median([2, 2]) | _ == 1", "EQUAL | median([1, 3]) | _ == 1"],
        [],
    ),
    "a block of the wanted values, and one that must stay": (
        "median\n\n```python\nfrom textkit import median\n\nprint(median([1, 2]))\n# 2\n```\n\nThis is not what I want. And\n\n"
        "```python\nprint(median([2, 4]))   # 4\n```\n\nBoth should come out halved, as the mean of two (1.9 did so, if I remember well):\n\n"
        "```python\n1.5\n3.0\n```\n\nAn odd number of them works and we would like to keep it:\n\n"
        "```python\n>>> median([1, 2, 3])\n2\n```\n",
        ["EQUAL | print(median([1, 2])) | _ == 1.5", "EQUAL | print(median([2, 4])) | _ == 3.0"],
        ["EQUAL | median([1, 2, 3]) | _ == 2"],
    ),
    "a block of as many values as there are not": (
        "median\n\n```python\nfrom textkit import median\nprint(median([1, 2]))\n```\n\nIt should print:\n\n```python\n1.5\n3.0\n```\n",
        [],
        [],
    ),
    "a script's guarded part, and what should have been raised": (
        "size\n\n```python\nfrom textkit import size\n\nif __name__ == '__main__':\n    unit = 'k'\n    result = size('0' + unit)\n"
        "    print(result)\n    # -> 0\n    # should be: SizeError\n```\n",
        ["RAISES | result = size('0' + unit) | SizeError"],
        [],
    ),
    "prose on a call that fails like one that is shown": (
        "size\n\n```python\nfrom textkit import size\nsize('k')   # ValueError: invalid literal for int() with base 10: '', expected 1000\n```\n\n"
        "`size('m')` should be 1000000.\n",
        [
            "RETURNS | size('k') | _ == 1000",
            "RETURNS | size('m') | _ == 1000000",
            "NOT_RAISES | size('k') | ValueError",
            "NOT_RAISES | size('m') | ValueError",
        ],
        [],
    ),
    "one named by its place among others": (
        "Sizes\n\n```python\n>>> from textkit import size\n>>> size('10k')\n10000\n>>> size('2m')\n2000000\n```\n\n"
        "I'd expect 10240 for the first and 2097152 for the second.\n",
        ["EQUAL | size('10k') | _ == 10240", "EQUAL | size('2m') | _ == 2097152"],
        [],
    ),
    "marks in comments": (
        "Sizes\n\n```python\nfrom textkit import size\nsize('10')  # ok\nsize('10k')  # 10000, should be 10240\n```\n",
        ["EQUAL | size('10k') | _ == 10240"],
        ["EQUAL | size('10') | _ == 10"],
    ),
    "an older release was right": (
        "Sizes\n\n```python\nfrom textkit import size\nprint(size('10k'))\n```\n\nSince 2.0 I get 10000. 1.9.3 gave 10240.\n",
        ["EQUAL | print(size('10k')) | _ == 10240"],
        [],
    ),
    "this release is the one that is named": (
        "Sizes\n\n```python\nfrom textkit import size\nprint(size('10k'))\n```\n\n2.0 gave 10000 and that is plain wrong.\n",
        ["NOT_VALUE | print(size('10k')) | _ != 10000"],
        [],
    ),
    "two of three pieces": (
        "words\n\n```python\nfrom textkit import words\nfor word in words('a  b'):\n    print(repr(word))\n```\n\n"
        "I get three words:\n\n    'a'\n    ''\n    'b'\n\nShould be two.\n",
        ["EQUAL | for word in words('a  b'):\n    print(repr(word)) | len(list(words('a  b'))) == 2"],
        [],
    ),
    "a number of items": (
        "words\n\n```python\n>>> from textkit import words\n>>> words('a  b')\n['a', '', 'b']\n```\n\nIt should have two items.\n",
        ["EQUAL | words('a  b') | len(_) == 2"],
        [],
    ),
    "something that must not be in it": (
        "words\n\n```python\n>>> from textkit import words\n>>> words('a  b')\n['a', '', 'b']\n```\n\nThe list should not contain `''`.\n",
        ["EQUAL | words('a  b') | '' not in _"],
        [],
    ),
    "an attribute, and the same for another input": (
        "point\n\n```python\n>>> from textkit import point\n>>> point('3,0')\nPoint(x=3, y=3)\n```\n\nI'd expect `y == 0`.\n",
        ["EQUAL | point('3,0') | _.y == 0"],
        [],
    ),
    "a repr": (
        "point\n\n```python\n>>> from textkit import point\n>>> point('3,0')\nPoint(x=3, y=3)\n```\n\nI expected `Point(x=3, y=0)`.\n",
        ["EQUAL | point('3,0') | repr(_) == 'Point(x=3, y=0)'"],
        [],
    ),
    "a repr that never came, with a neighbour of its form": (
        "point\n\n```python\nfrom textkit import point\npoint('1,2')  # fine\npoint('1;2')  # boom\n```\n\n"
        "```\nValueError: not enough values to unpack (expected 2, got 1)\n```\n\n1.0 gave `Point(x=1, y=2)`.\n",
        [
            "RETURNS | point('1;2') | repr(_) == 'Point(x=1, y=2)'",
            "NOT_RAISES | point('1;2') | ValueError",
        ],
        ["NOT_RAISES | point('1,2') | ValueError"],
    ),
    "a truth value in words": (
        "matches\n\n```python\n>>> from textkit import matches\n>>> matches('a*', 'ba')\nTrue\n```\n\nThat should be false.\n",
        ["EQUAL | matches('a*', 'ba') | _ is False"],
        [],
    ),
    "what must not match and does not": (
        "matches\n\n```python\n>>> from textkit import matches\n>>> matches('a*', 'ba')\nTrue\n```\n\nThat should be False. "
        "Other letters are no problem: `'b*'` must not match `'xa'`, and that must stay.\n",
        ["EQUAL | matches('a*', 'ba') | _ is False"],
        ["EQUAL | matches('b*', 'xa') | _ is False"],
    ),
    "the same kind of error": (
        "size: KeyError\n\n```python\n>>> from textkit import size\n>>> size('10q')\nTraceback (most recent call last):\n  ...\nKeyError: 'q'\n```\n\n"
        "`size('-1')` is rejected properly with `SizeError: no size: -1`. I'd expect the same kind of error here.\n",
        ["RAISES | size('10q') | SizeError"],
        ["RAISES | size('-1') | SizeError"],
    ),
    "the same failure for another input": (
        "size fails\n\n```python\n>>> from textkit import size\n>>> size('10q')\nTraceback (most recent call last):\n  ...\nKeyError: 'q'\n```\n\n"
        "Also seen with `'20x'`. `'20k'` works.\n",
        ["NOT_RAISES | size('10q') | KeyError", "NOT_RAISES | size('20x') | KeyError"],
        ["EQUAL | size('20k') | _ == 20000"],
    ),
    "the same wrong result for another input": (
        "shout\n\n```python\n>>> from textkit import shout\n>>> shout('ss')\n'S'\n```\n\nIt should be 'SS'. The same holds inside of a word (`'mass'`). "
        "`'a'` is right.\n",
        ["EQUAL | shout('ss') | _ == 'SS'", "NOT_VALUE | shout('mass') | _ != 'MAS'"],
        ["EQUAL | shout('a') | _ == 'A'"],
    ),
    "another input that is only mentioned": (
        "shout\n\n```python\n>>> from textkit import shout\n>>> shout('ss')\n'S'\n```\n\nIt should be 'SS'. We also use `'a'`, and `'ab'` gives the same as ever.\n",
        ["EQUAL | shout('ss') | _ == 'SS'"],
        [],
    ),
    "a part of a text": (
        "title strips too much\n\n```python\nimport textkit\nprint(textkit.title('\\x0ba'))  # '<h1>a</h1>'\n```\n\nI'd expect `<h1>\\x0ba</h1>`.\n",
        [],
        [],
    ),
    "a key under another name": (
        "options\n\n```python\n>>> from textkit import options\n>>> options()\n{'Colour': 'red'}\n```\n\nI would expect `colour` there, in lower case.\n",
        ["EQUAL | options() | list(_) == ['colour']"],
        [],
    ),
    "two values for one thing": (
        "median\n\n```python\n>>> from textkit import median\n>>> median([1, 2])\n2\n```\n\nI expected 1.5. It should be 1.\n",
        [],
        [],
    ),
    "a shown result that did not come": (
        "Sizes\n\n```python\n>>> from textkit import size\n>>> size('10')\n11\n>>> size('10k')\n10000\n```\n\nThe second should be 10240.\n",
        [],
        [],
    ),
    "a traceback that nobody raises": (
        "Sizes\n\n```python\nfrom textkit import size\nprint(size('10k'))\n```\n\n```\nTraceback (most recent call last):\n  File \"a.py\", line 2, in <module>\n"
        "    print(size('10k'))\nRuntimeError: no units\n```\n\nIt should be 10240.\n",
        [],
        [],
    ),
    "an output that does not come": (
        "Sizes\n\n```python\nfrom textkit import size\nprint(size('10k'))\n```\n\nThis prints:\n\n```\n10001\n```\n\nIt should be 10240.\n",
        [],
        [],
    ),
    "a time and no ordinal": (
        "median\n\n```python\n>>> from textkit import median\n>>> median([1, 2])\n2\n>>> median([3, 3])\n3\n```\n\n"
        "It takes a second. I expected 1.5 for the first call.\n",
        ["EQUAL | median([1, 2]) | _ == 1.5"],
        [],
    ),
    "left as it is": (
        "shout eats letters\n\n```python\n>>> from textkit import shout\n>>> shout('ESSEN')\n'ESEN'\n```\n\nA text in capitals should be unchanged.\n",
        ["EQUAL | shout('ESSEN') | _ == 'ESSEN'"],
        [],
    ),
    "the same as another call": (
        "shout eats letters\n\n```python\n>>> from textkit import shout\n>>> shout('Ss')\n'S'\n```\n\n"
        "That should be the same as `shout('s') + shout('s')`, which is right.\n",
        ["EQUAL | shout('Ss') | _ == shout('s') + shout('s')"],
        [],
    ),
}
