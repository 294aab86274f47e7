# SPDX-License-Identifier: Apache-2.0
"""Reports with shell sessions about the teller: the findings and the guards that each must come to."""

# ruff: noqa: E501 - a report reads best on few lines

from __future__ import annotations

TYPO = "$ teller -s typo a\nno style named typo\n"
TRACE = '$ teller -\nTraceback (most recent call last):\n  File "/x/y.py", line 3, in main\n    return 1 / 0\nZeroDivisionError: division by zero\n'

#: name → report, findings, guards
SESSIONS: dict[str, tuple[str, list[str], list[str]]] = {
    "shown status, wanted in prose": (
        f"Styles\n\n```console\n{TYPO}$ echo $?\n0\n```\n\nThe exit status should be 1.\n",
        ["EQUAL | teller -s typo a | _.returncode == 1"],
        [],
    ),
    "status shown by echoes behind it": (
        "Styles\n\n```\n$ teller -s typo a >/dev/null 2>&1 && echo fine || echo bad\nfine\n```\n\nThis must fail.\n",
        ["EQUAL | teller -s typo a >/dev/null 2>&1 && echo fine || echo bad | _.returncode != 0"],
        [],
    ),
    "wanted and actual status in a comment": (
        "Styles\n\n```sh\nteller -s typo a  # exits with 0, should exit with 3\nteller -s loud a  # works\n```\n",
        ["EQUAL | teller -s typo a | _.returncode == 3"],
        ["EQUAL | teller -s loud a | _.returncode == 0"],
    ),
    "only in prose": (
        "`teller -s typo a` exits with status 0\n\nI would expect a non-zero status. `teller -s loud a` exits with 0, as it should.\n",
        ["EQUAL | teller -s typo a | _.returncode != 0"],
        ["EQUAL | teller -s loud a | _.returncode == 0"],
    ),
    "success is only complained of": (
        f"Unknown styles: exit status 0\n\n```console\n{TYPO}```\n",
        ["NOT_VALUE | teller -s typo a | _.returncode != 0"],
        [],
    ),
    "both must fail": (
        f"Styles\n\n```console\n{TYPO}$ teller -s none a\nno style named none\n```\n\nBoth should exit with status 1.\n",
        [
            "EQUAL | teller -s typo a | _.returncode == 1",
            "EQUAL | teller -s none a | _.returncode == 1",
        ],
        [],
    ),
    "the last one must fail": (
        f"Styles\n\n```console\n$ teller a\na\n{TYPO}```\n\nThe last command should exit with status 1.\n",
        ["EQUAL | teller -s typo a | _.returncode == 1"],
        [],
    ),
    "the one that does not do so yet must fail": (
        f"Styles\n\n```console\n$ teller --unknown >/dev/null 2>&1; echo $?\n2\n{TYPO}```\n\nIt should exit with status 2.\n",
        ["EQUAL | teller -s typo a | _.returncode == 2"],
        [],
    ),
    "another command's right status and the plain option say nothing of it": (
        "An unknown style is taken for success\n\n```console\n$ teller -s typo a\nno style named typo\n```\n\nCould it please report failure? The other wrong uses, e.g. `teller --unknown`, do exit non-zero. Plain `-s` must go on returning 0.\n",
        ["EQUAL | teller -s typo a | _.returncode != 0"],
        ["EQUAL | teller --unknown | _.returncode != 0"],
    ),
    "an option that the command lacks is not about it": (
        "Styles\n\n```console\n$ teller a\na\n$ teller b\nb\n```\n\nWith `-s typo` it should exit with 1.\n",
        [],
        [],
    ),
    "the second of two by its place": (
        f"Styles\n\n```console\n$ teller a\na\n{TYPO}```\n\nThe second one is a typo, yet the exit status says success.\n",
        ["NOT_VALUE | teller -s typo a | _.returncode != 0"],
        [],
    ),
    "outputs by the order of the commands": (
        "Styles\n\n```console\n$ teller -s loud a\na!\n$ teller a\na\n```\n\n1.2 printed `A!` for the first call and `A` for the second (it shouts).\n",
        ["EQUAL | teller -s loud a | 'A!' in _.stdout", "EQUAL | teller a | 'A' in _.stdout"],
        [],
    ),
    "which one is not clear": (
        f"Styles\n\n```console\n{TYPO}$ teller a\na\n```\n\nIt should exit with status 1.\n",
        [],
        [],
    ),
    "different statuses are wanted": (
        f"Styles\n\n```console\n{TYPO}```\n\nIt should exit with 1.\n\nThe exit status must be 2.\n",
        [],
        [],
    ),
    "the told status is not so": (
        f"Styles\n\n```console\n{TYPO}```\n\nIt exits with status 4 but should exit with 1.\n",
        [],
        [],
    ),
    "the shown output is not so": (
        "Styles\n\n```console\n$ teller -s typo a\nunknown style\n```\n\nIt should exit with status 1.\n",
        [],
        [],
    ),
    "another command shows something else": (
        f"Styles\n\n```console\n$ teller a\nb\n{TYPO}```\n\n`teller -s typo a` should exit with status 1.\n",
        [],
        [],
    ),
    "a command of ours cannot be read": (
        f"Styles\n\n```console\n$ teller $WORDS\na\n{TYPO}```\n\n`teller -s typo a` should exit with status 1.\n",
        [],
        [],
    ),
    "other programs do not matter": (
        f"Styles\n\n```console\n$ pip install teller\nCollecting teller\n$ cd work\n{TYPO}```\n\nIt should exit with status 1.\n",
        ["EQUAL | teller -s typo a | _.returncode == 1"],
        [],
    ),
    "a number on standard input": (
        "Count\n\n```\n$ printf 'a b\\nc\\n' | python -m teller -c\n2\n```\n\nIt should print 3.\n",
        ["EQUAL | printf 'a b\\nc\\n' | python -m teller -c | _.stdout.strip() == '3'"],
        [],
    ),
    "a here-document, expected in a block": (
        "Count\n\n```\n$ teller -c <<EOF\na b\nc\nEOF\n2\n```\n\nExpected:\n\n```\n3\n```\n",
        ["EQUAL | teller -c <<EOF | _.stdout.strip() == '3'"],
        [],
    ),
    "headings of a template": (
        "Count\n\n### Steps\n\n```sh\necho a b | teller -c\n```\n\n### Actual\n\n```\n2\n```\n\n### Expected\n\n```\n1\n```\n",
        ["EQUAL | echo a b | teller -c | _.stdout.strip() == '1'"],
        [],
    ),
    "text that should be in it": (
        f"Styles\n\n```console\n{TYPO}```\n\nThe message should contain `plain, loud` on stderr.\n",
        ["EQUAL | teller -s typo a | 'plain, loud' in _.stderr"],
        [],
    ),
    "text that should not be in it": (
        "Styles\n\n```console\n$ teller -s loud a\na!\n```\n\nThe output should not contain `!`.\n",
        ["EQUAL | teller -s loud a | '!' not in _.stdout"],
        [],
    ),
    "a traceback": (
        f"A dash crashes\n\n```console\n{TRACE}```\n",
        ["NOT_VALUE | teller - | 'ZeroDivisionError' not in _.stderr"],
        [],
    ),
    "a traceback and what should come": (
        f"A dash crashes\n\n```console\n{TRACE}```\n\nIt should exit with status 0.\n",
        ["EQUAL | teller - | _.returncode == 0"],
        [],
    ),
    "another traceback": (
        "A dash crashes\n\n```console\n" + TRACE.replace("division by zero", "float division") + "```\n",
        [],
        [],
    ),
    "wrong output, nothing stated": (
        "Wrong output\n\n```console\n$ teller -s loud a\na!\n```\n\nThat is wrong.\n",
        ["NOT_VALUE | teller -s loud a | _.stdout.strip() != 'a!'"],
        [],
    ),
    "a variable is set": (
        "Prefix\n\n```console\n$ export TELLER_PREFIX=x\n$ teller a\nxa\n```\n\nIt should print `x a`.\n",
        ["EQUAL | teller a | _.stdout.strip() == 'x a'"],
        [],
    ),
    "a question": (f"Styles\n\n```console\n{TYPO}```\n\nShould it exit with status 1?\n", [], []),
    "a file that the command finds": (
        "Settings\n\nWith this `teller.ini`:\n\n```ini\nprefix = x\n```\n\n```console\n$ teller a\n xa\n```\n\nIt should print `xa` at the start of the line, and it should exit with status 5.\n",
        ["EQUAL | teller a | _.returncode == 5"],
        ["EQUAL | teller a | _.stdout.strip() == 'xa'"],
    ),
    "a file that the session writes": (
        "Settings\n\n```console\n$ cat > teller.ini <<EOF\nprefix =x\nEOF\n$ teller a\nxa\n```\n\nIt should print `x a`.\n",
        ["EQUAL | teller a | _.stdout.strip() == 'x a'"],
        [],
    ),
    "a script with arguments": (
        "Status\n\n```python\nimport sys\nfrom teller.cli import main\nsys.exit(main(sys.argv[1:]))\n```\n\n```console\n$ python repro.py -s typo a; echo $?\nno style named typo\n0\n```\n\nThe exit status should be 3.\n",
        ["EQUAL | python repro.py -s typo a; echo $? | _.returncode == 3"],
        [],
    ),
    "a script that is its statements": (
        "Load\n\n`words.txt`:\n\n```\na b\nc\n```\n\n```python\n# run.py\nfrom teller.cli import load\nprint(load('words.txt'))\n```\n\n```console\n$ python run.py\n['a', 'b\\nc\\n']\n```\n\nIt should be `['a', 'b', 'c']`.\n",
        ["EQUAL | print(load('words.txt')) | _ == ['a', 'b', 'c']"],
        [],
    ),
    "a session of other programs is output as ever": (
        "Load\n\n```python\nfrom teller.cli import STYLES\nSTYLES['none']\n```\n\n```\n$ ./our-wrapper.sh\nTraceback (most recent call last):\n  File \"a.py\", line 1, in x\nKeyError: 'none'\n```\n",
        ["NOT_RAISES | STYLES['none'] | KeyError"],
        [],
    ),
}
