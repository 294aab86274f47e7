# SPDX-License-Identifier: Apache-2.0
"""Keeps the finding of quoted files right: a block is a file only where the report gives it a name."""

from __future__ import annotations

import pytest

from redfirst.agents.strategies.snippet.quoted import named_in, quoted_files
from redfirst.agents.strategies.snippet.report import read_report


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("`config.toml`:", "config.toml"),
        ("config.toml:", "config.toml"),
        ("**conf/app.ini**", "conf/app.ini"),
        ("The file `deploy.py`:", "deploy.py"),
        ("Contents of data/a.csv", "data/a.csv"),
        ("Save this as `x.py`:", "x.py"),
        ("Put the following into `./setup.cfg`", "setup.cfg"),
        ("With this `teller.ini`:", "teller.ini"),
        ("Create a file named notes.txt with", "notes.txt"),
        ("Given a file `a.json` with the following content:", "a.json"),
        ("`conf.py` contains:", "conf.py"),
        ("My `.flake8`:", ".flake8"),
        ("I get this when reading `a.toml`", None),
        ("The bug is in line 3 of `utils.py`, see above", None),
        ("With `a.py` and `b.py`:", None),
        ("See example.com:", None),
        ("With version 1.2:", None),
        ("`os.path`: it is broken", None),
        ("Save it as `../x.py`:", None),
        ("Save it as /etc/x.conf:", None),
    ],
)
def test_a_sentence_names_the_file_under_it(sentence: str, name: str | None) -> None:
    assert named_in(sentence) == name


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("T\n\n`a.ini`:\n\n```ini\nx = 1\n```\n", [("a.ini", "x = 1\n")]),
        ('T\n\n```toml title="a.toml"\nx = 1\n```\n', [("a.toml", "x = 1\n")]),
        ("T\n\n```python:run.py\nprint(1)\n```\n", [("run.py", "print(1)\n")]),
        ("T\n\n```json a.json\n{}\n```\n", [("a.json", "{}\n")]),
        ("T\n\n```python\n# run.py\nprint(1)\n```\n", [("run.py", "# run.py\nprint(1)\n")]),
        ("T\n\n```json\n// a.json\n{}\n```\n", [("a.json", "{}\n")]),
        ("T\n\n## a.txt\n\n    one\n    two\n", [("a.txt", "one\ntwo\n")]),
        ("T\n\n`a.ini`:\n\nwords between\n\n```ini\nx = 1\n```\n", []),
        ("T\n\n`a.ini`:\n\n```python\nf('a.ini')\n```\n", []),
        ("T\n\n`a.py`:\n\n```\n>>> f()\n```\n", []),
        ("T\n\n```ini\nx = 1\n```\n", []),
    ],
)
def test_blocks_with_a_name_are_files(text: str, files: list[tuple[str, str]]) -> None:
    assert [(one.name, one.text) for one in quoted_files(read_report(text.encode()))] == files
