# SPDX-License-Identifier: Apache-2.0
"""Makes steps of a report's shell sessions and of the files that it quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from redfirst.agents.strategies.snippet.claims import claims_in
from redfirst.agents.strategies.snippet.exits import exits_in
from redfirst.agents.strategies.snippet.quoted import Quoted, quoted_files
from redfirst.agents.strategies.snippet.report import Block, Report
from redfirst.agents.strategies.snippet.session import Exchange, exchanges_of
from redfirst.agents.strategies.snippet.shell_line import Line, printed_by, read_line
from redfirst.agents.strategies.snippet.spawn import chdir_step, command_step, own, write_step
from redfirst.agents.strategies.snippet.steps import Step, parse_quietly
from redfirst.agents.strategies.snippet.tools import Tools

_MAX_COMMANDS = 30
_MAX_NAMED = 6
_ELSEWHERE_TEXT = """
pip pip3 pipx uv conda mamba apt apt-get brew git cd ls pwd which whereis uname mkdir tree clear source
virtualenv tox nox date hostname rm touch rehash deactivate . true
"""
_ELSEWHERE = frozenset(_ELSEWHERE_TEXT.split())
_VERSIONS = frozenset({"--version", "-V", "-version", "version", "-VV"})
_BY_NAME = re.compile(r"\b(?:__name__|__file__|argv|exit|argparse|stdin|input)\b")


class _Sort(Enum):
    """What a command of a session is to us."""

    OWN = auto()
    NOTHING = auto()  # done elsewhere: nothing of it is needed
    UNKNOWN = auto()


@dataclass(slots=True)
class Shell:
    """What the sessions and files of a report come to.

    ``steps``: place of a block → its steps, none for one that is a file. ``outputs``: place of a session → what it
    shows of a script whose block runs by itself. ``setup``: steps that write the files. ``named``: commands that only
    the prose names. ``unread``: why something that the report shows cannot be run.
    """

    steps: dict[int, tuple[Step, ...]] = field(default_factory=dict)
    outputs: dict[int, Block] = field(default_factory=dict)
    setup: tuple[Step, ...] = ()
    named: tuple[Step, ...] = ()
    unread: list[str] = field(default_factory=list)


def shell_of(report: Report, tools: Tools) -> Shell:
    """Read all sessions and files of a report."""
    return _Reading(report, tools).read()


@dataclass(slots=True)
class _Reading:
    report: Report
    tools: Tools
    shell: Shell = field(default_factory=Shell)
    files: dict[str, Quoted] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    made: list[Quoted] = field(default_factory=list)
    found: list[Step] = field(default_factory=list)

    def read(self) -> Shell:
        sessions = self._sessions()
        if not sessions and not self.tools.scripts and not self.tools.modules:
            return self.shell
        lines = [e.line for exchanges in sessions.values() for e in exchanges if e.line]
        self._choose_files(sessions, lines)
        for number, exchanges in sessions.items():
            self._session(number, exchanges)
        self._named()
        self._set_up()
        return self.shell

    def _sessions(self) -> dict[int, tuple[Exchange, ...]]:
        found: dict[int, tuple[Exchange, ...]] = {}
        for number, part in enumerate(self.report.parts):
            exchanges = exchanges_of(part, self._known) if isinstance(part, Block) else None
            if exchanges:
                found[number] = exchanges
        return found

    def _known(self, line: Line) -> bool:
        return own(line, self.tools, {}) is not None

    # ---------------------------------------------------------------------------------------------- files
    def _choose_files(self, sessions: dict[int, tuple[Exchange, ...]], lines: Sequence[Line]) -> None:
        """Of the blocks with a name those that the report's commands or its code can need."""
        quoted = [q for q in quoted_files(self.report) if q.part not in sessions]
        script = self._unnamed_script(lines, quoted, sessions)
        runs = any(self._known(line) or _runs_a_script(line) for line in lines)
        for one in [*quoted, *script]:
            if not self._is_used(one, lines, runs=runs):
                continue
            if one.name in self.files:
                self.shell.unread.append(f"line {one.line}: {one.name} is quoted twice")
                continue
            self.files[one.name] = one

    def _unnamed_script(
        self, lines: Sequence[Line], quoted: Sequence[Quoted], sessions: dict[int, tuple[Exchange, ...]]
    ) -> list[Quoted]:
        """The one block of Python where one script is run that nobody introduces."""
        names = {name for line in lines if (name := _script_of(line))} - {one.name for one in quoted}
        held = {one.part for one in quoted} | set(sessions)
        blocks = [
            (number, part)
            for number, part in enumerate(self.report.parts)
            if isinstance(part, Block) and number not in held and _is_script(part)
        ]
        if len(names) != 1 or len(blocks) != 1:
            return []
        number, block = blocks[0]
        return [Quoted(names.pop(), block.text + "\n", block.line, number)]

    def _is_used(self, one: Quoted, lines: Sequence[Line], *, runs: bool) -> bool:
        words = " ".join(" ".join((*line.words, line.source)) for line in lines)
        stem = re.sub(r"\.pyi?$", "", one.name.rpartition("/")[2])
        if one.name.endswith(".py"):
            return bool(re.search(rf"(?<![\w.-]){re.escape(stem)}\b", words))
        texts = [
            part.text
            for number, part in enumerate(self.report.parts)
            if isinstance(part, Block) and number != one.part
        ]
        named = any(re.search(rf"['\"](?:\./)?{re.escape(one.name)}['\"]", text) for text in texts)
        return runs or named

    # ------------------------------------------------------------------------------------------- commands
    def _session(self, number: int, exchanges: Sequence[Exchange]) -> None:
        steps: list[Step] = []
        made = len(self.files) + len(self.settings)
        refused = len(self.shell.unread)
        for exchange in exchanges[:_MAX_COMMANDS]:
            line = exchange.line
            if line is None:
                self._cannot(exchange)
            elif self._is_plain_script(line):
                self._plain_script(number, exchange, line)
            elif self._makes(exchange, line):
                continue
            else:
                steps += self._step(exchange, line, number)
        foreign = (
            not steps and number not in self.shell.outputs and made == len(self.files) + len(self.settings)
        )
        if foreign and not any(self._is_mine(exchange) for exchange in exchanges):
            del self.shell.unread[refused:]  # a session of other programs is read as output, as any block is
            return
        self.shell.steps[number] = tuple(steps)
        self.found += steps

    def _step(self, exchange: Exchange, line: Line, number: int) -> Iterator[Step]:
        settings = {**self.settings, **dict(line.settings)}
        found = own(line, self.tools, self.files, exchange.shown or "")
        if found is not None and not line.target and not self._reads_unknown(line):
            yield command_step(
                exchange, replace(found, settings=settings), number, self.tools, self._in_folder()
            )
        elif found is not None or (self._sort(line) is _Sort.UNKNOWN and (exchange.shown or line.tails)):
            self._cannot(exchange)

    def _reads_unknown(self, line: Line) -> bool:
        return bool(line.source) and line.source.removeprefix("./") not in self.files

    def _cannot(self, exchange: Exchange) -> None:
        if exchange.shown or self._is_mine(exchange):
            self.shell.unread.append(f"line {exchange.number}: `{exchange.text}` cannot be run here")

    def _is_mine(self, exchange: Exchange) -> bool:
        """Whether a command calls the project by name, be it understood or not."""
        words = exchange.text.split()
        module = words[2] if words[1:2] == ["-m"] and len(words) > 2 else ""
        return words[0] in self.tools.scripts or module in self.tools.modules

    def _sort(self, line: Line) -> _Sort:
        words = line.words
        if not words or words[0] in _ELSEWHERE or (len(words) == 2 and words[1] in _VERSIONS):
            return _Sort.NOTHING
        module = words[2] if len(words) > 2 and words[1] == "-m" else ""
        return _Sort.NOTHING if module in ("pip", "venv", "build") else _Sort.UNKNOWN

    def _makes(self, exchange: Exchange, line: Line) -> bool:
        """Whether a command only sets a variable, shows a file or writes one."""
        words = line.words
        if words[:1] == ("export",) or (not words and line.settings):
            pairs = [word.partition("=") for word in words[1:]] or [(k, "=", v) for k, v in line.settings]
            self.settings |= {name: value for name, sign, value in pairs if sign and name.isidentifier()}
            return True
        if words[:1] == ("unset",):
            self.settings = {name: v for name, v in self.settings.items() if name not in words[1:]}
            return True
        if words[:1] == ("cat",) and len(words) == 2 and exchange.shown and not line.tails and line.out:
            self._make(Quoted(words[1], exchange.shown + "\n", exchange.number))
            return True
        text = line.text if words == ("cat",) else printed_by(words) if words else None
        if line.target and text is not None:
            self._make(Quoted(line.target, text, exchange.number))
            return True
        return False

    def _make(self, one: Quoted) -> None:
        name = one.name.removeprefix("./")
        known = self.files.get(name)
        if name.startswith("/") or ".." in name or (known and known.text.strip() != one.text.strip()):
            self.shell.unread.append(f"line {one.line}: {name} cannot be written here")
        elif known is None:
            self.files[name] = replace(one, name=name)

    def _is_plain_script(self, line: Line) -> bool:
        """Whether a command runs a quoted script as its statements alone would run."""
        name = _script_of(line)
        script = self.files.get(name or "")
        plain = len(line.words) == 2 and not (
            line.settings or self.settings or line.tails or line.text or line.source
        )
        return bool(script and script.part >= 0 and plain and not _BY_NAME.search(script.text))

    def _plain_script(self, number: int, exchange: Exchange, line: Line) -> None:
        name = _script_of(line)
        self.files.pop(name or "", None)
        if exchange.shown:
            self.shell.outputs[number] = Block(exchange.shown, "text", exchange.number + 1)

    def _in_folder(self) -> bool:
        return bool(self.files)

    def _named(self) -> None:
        """Commands that only sentences name, where they say what comes of them."""
        known = [step.command.arguments for step in self.found if step.command]
        named: list[Step] = []
        for sentence in self.report.sentences:
            says = exits_in(sentence.text) or claims_in(sentence.text, sentence.line)
            for span in sentence.spans if says else ():
                line = read_line(span.removeprefix("$ "))
                found = own(line, self.tools, self.files) if line else None
                if line is None or found is None or not found.arguments or found.arguments in known:
                    continue
                if line.target or self._reads_unknown(line) or len(named) >= _MAX_NAMED:
                    continue
                known.append(found.arguments)
                exchange = Exchange(span, line, sentence.line)
                settings = {**self.settings, **dict(line.settings)}
                own_line = replace(found, settings=settings)
                named.append(command_step(exchange, own_line, -1, self.tools, self._in_folder()))
        self.shell.named = tuple(named)

    def _set_up(self) -> None:
        """The folder for the files, and the steps that write them."""
        self.shell.steps |= {one.part: () for one in self.files.values() if one.part >= 0}
        if self.files:
            writes = [step for one in self.files.values() for step in write_step(one)]
            self.shell.setup = (chdir_step(), *writes)


def _script_of(line: Line) -> str | None:
    """The script that a command gives to the interpreter, or None."""
    words = line.words
    python = bool(words) and re.fullmatch(r"python(?:3(?:\.\d+)?)?|py", words[0]) is not None
    name = words[1].removeprefix("./") if python and len(words) > 1 else ""
    return name if name.endswith(".py") and not name.startswith(("/", "-")) and ".." not in name else None


def _runs_a_script(line: Line) -> bool:
    return _script_of(line) is not None


def _is_script(block: Block) -> bool:
    prompted = re.search(r"^(?:>>> |In \[\d+\]:)", block.text, re.MULTILINE)
    python = block.language in ("python", "py", "python3", "py3", "")
    return python and not prompted and bool(parse_quietly(block.text))
