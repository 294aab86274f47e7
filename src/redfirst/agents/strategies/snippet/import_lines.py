# SPDX-License-Identifier: Apache-2.0
"""Puts import lines where a file has its imports: into a line that is there, else beside its like."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from redfirst.agents.strategies.snippet.edits import Edit, split_lines
from redfirst.agents.strategies.snippet.steps import parse_quietly

Import = ast.Import | ast.ImportFrom
Owned = Callable[[str], bool]
_Key = Callable[[Import], tuple[object, ...]]
_FUTURE, _STANDARD, _OTHERS, _OWN, _RELATIVE = range(5)


def parsed(line: str) -> Import:
    """The tree of an import line. Raises ValueError for any other code."""
    tree = ast.parse(line).body[0]
    if not isinstance(tree, Import):
        raise ValueError(f"no import: {line!r}")
    return tree


def exploded(lines: Sequence[str]) -> list[str]:
    """One line for each name, in the same order."""
    found: list[str] = []
    for line in lines:
        tree = parsed(line)
        if isinstance(tree, ast.ImportFrom):
            found += [ast.unparse(ast.ImportFrom(tree.module, [alias], tree.level)) for alias in tree.names]
        else:
            found.append(line)
    return list(dict.fromkeys(found))


def regrouped(lines: Iterable[str]) -> tuple[str, ...]:
    """Lines that import from one module made one, names sorted; the standard library's first."""
    names: dict[tuple[str | None, int], list[ast.alias]] = {}
    plain: list[str] = []
    for line in dict.fromkeys(lines):
        tree = parsed(line)
        if isinstance(tree, ast.ImportFrom):
            names.setdefault((tree.module, tree.level), []).extend(tree.names)
        else:
            plain.append(line)
    joined = [_from(module, level, [ast.unparse(a) for a in held]) for (module, level), held in names.items()]
    return tuple(sorted([*plain, *joined], key=lambda line: _by_section(parsed(line))))


def _from(module: str | None, level: int, names: Iterable[str]) -> str:
    return f"from {'.' * level}{module or ''} import {', '.join(sorted(dict.fromkeys(names), key=_by_type))}"


def sectioned(lines: Iterable[str], owned: Owned, width: int) -> str:
    """The import lines as the head of a new file, a blank line between sections; '' for none."""
    sections: dict[int, list[str]] = {}
    for line in regrouped(lines):
        sections.setdefault(_section(parsed(line), owned), []).append(_wrapped(line, width))
    return "\n".join("".join(sections[section]) for section in sorted(sections))


def _wrapped(line: str, width: int) -> str:
    """One line, or one name a line in brackets where it is too long."""
    head, word, names = line.partition(" import ")
    if len(line) <= width or not word or not line.startswith("from ") or names == "*":
        return f"{line}\n"
    return f"{head} import (\n" + "".join(f"    {name},\n" for name in names.split(", ")) + ")\n"


def joined_to(text: str, lines: Iterable[str], owned: Owned, width: int) -> list[Edit]:
    """The edits that give a file with ``text`` the imports ``lines``."""
    head = _Head.of(text, owned)
    grown: dict[int, list[str]] = {}
    fresh: dict[int, list[str]] = {}
    edits: list[Edit] = []
    for line in regrouped(lines):
        tree = parsed(line)
        place = head.same_module(tree)
        if place is not None:
            grown.setdefault(place, []).extend(ast.unparse(alias) for alias in tree.names)
        elif head.like(tree):
            edits.append(Edit.behind(head.beside(tree), _wrapped(line, width)))
        else:
            fresh.setdefault(_section(tree, owned), []).append(_wrapped(line, width))
    edits += [head.grown(place, names, width) for place, names in grown.items()]
    if fresh and not head.trees:
        return [*edits, _first(text, "\n".join("".join(fresh[section]) for section in sorted(fresh)))]
    return [*edits, *(head.section(section, "".join(fresh[section])) for section in sorted(fresh))]


@dataclass(frozen=True, slots=True)
class _Head:
    """The imports at the level of a file's module that stand before its first function or class."""

    lines: tuple[str, ...]
    trees: tuple[Import, ...]
    owned: Owned

    @classmethod
    def of(cls, text: str, owned: Owned) -> _Head:
        trees: list[Import] = []
        for tree in parse_quietly(text):
            if isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                break
            if isinstance(tree, Import):
                trees.append(tree)
        return cls(tuple(split_lines(text)), tuple(trees), owned)

    # ------------------------------------------------------------------------------------ a line that is there
    def same_module(self, tree: Import) -> int | None:
        """The number of the statement that imports from the same module and can take one more name."""
        if not isinstance(tree, ast.ImportFrom):
            return None
        for number, one in enumerate(self.trees):
            same = isinstance(one, ast.ImportFrom) and (one.module, one.level) == (tree.module, tree.level)
            if same and (self._is_plain(one) or self._is_list(one)):
                return number
        return None

    def _written(self, tree: Import) -> tuple[str, ...]:
        return self.lines[tree.lineno - 1 : tree.end_lineno]

    def _is_plain(self, tree: Import) -> bool:
        """Whether it is one line with nothing beside the names."""
        return [line.rstrip() for line in self._written(tree)] == [ast.unparse(tree)]

    def _is_list(self, tree: Import) -> bool:
        """Whether it has one name a line, in brackets, without comments."""
        written = [line.strip() for line in self._written(tree)]
        names = [f"{ast.unparse(alias)}," for alias in tree.names]
        return written[0].endswith("import (") and written[1:] == [*names, ")"]

    def grown(self, number: int, names: Sequence[str], width: int) -> Edit:
        """The statement with more names, each where the order of those that are there puts it."""
        tree = self.trees[number]
        held = [ast.unparse(alias) for alias in tree.names]
        key = next((key for key in (_by_type, str.casefold, str) if held == sorted(held, key=key)), None)
        every = [*held, *(name for name in dict.fromkeys(names) if name not in held)]
        every = sorted(every, key=key) if key else every
        if self._is_plain(tree) and isinstance(tree, ast.ImportFrom):
            line = f"from {'.' * tree.level}{tree.module or ''} import {', '.join(every)}"
            return Edit(tree.lineno - 1, tree.lineno, _wrapped(line, width))
        first = self._written(tree)[1]
        margin = first[: len(first) - len(first.lstrip())]
        text = "".join(f"{margin}{name},\n" for name in every)
        return Edit(tree.lineno, (tree.end_lineno or 0) - 1, text)

    # ------------------------------------------------------------------------------------------ beside its like
    def like(self, tree: Import) -> list[Import]:
        """The statements of the same section, those of the same form alone where these are apart."""
        section = _section(tree, self.owned)
        found = [one for one in self.trees if _section(one, self.owned) == section]
        same = [one for one in found if type(one) is type(tree)]
        apart = same and not any(
            self._touch(one, other) for one in same for other in found if other not in same
        )
        return same if apart else found

    def _touch(self, one: Import, other: Import) -> bool:
        """Whether there is nothing but imports between two statements."""
        first, last = sorted((one, other), key=lambda tree: tree.lineno)
        between = self.lines[first.lineno - 1 : last.lineno]
        return all(line.strip() for line in between)

    def beside(self, tree: Import) -> int:
        """Behind how many lines a new statement goes: in the order that the others have, else behind them."""
        like = self.like(tree)
        key = self._order()
        before = [one for one in like if key is None or key(one) <= key(tree)]
        if before:
            return before[-1].end_lineno or 0
        return like[0].lineno - 1

    def _order(self) -> _Key | None:
        """How the statements of each section are sorted: by form first, by module alone, or not at all."""
        sections: dict[int, list[Import]] = {}
        for tree in self.trees:
            sections.setdefault(_section(tree, self.owned), []).append(tree)
        keys: tuple[_Key, ...] = (_by_form, _by_module)
        for key in keys:
            if all(trees == sorted(trees, key=key) for trees in sections.values()):
                return key
        return None

    def section(self, section: int, text: str) -> Edit:
        """A section that the file does not have yet, a blank line between it and its neighbour."""
        lower = [tree for tree in self.trees if _section(tree, self.owned) < section]
        if lower:
            end = lower[-1].end_lineno or 0
            follows = any(tree.lineno == end + 1 for tree in self.trees)  # the file has no sections
            return Edit.behind(end, text if follows else f"\n{text}")
        return Edit.behind(self.trees[0].lineno - 1, f"{text}\n")


def _first(text: str, imports: str) -> Edit:
    """The imports of a file that has none: behind its docstring, else before its first statement."""
    body, lines = parse_quietly(text), split_lines(text)
    first = body[0] if body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        end = first.end_lineno or 0
        more = end < len(lines) and lines[end].strip()
        return Edit.behind(end, f"\n{imports}" + ("\n" if more else ""))
    if first is None:
        return Edit.behind(len(lines), imports)
    decorators = [d.lineno for d in getattr(first, "decorator_list", [])]
    block = isinstance(first, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    return Edit.behind(min([first.lineno, *decorators]) - 1, imports + ("\n\n" if block else "\n"))


def _section(tree: Import, owned: Owned) -> int:
    """Which part of a file's head an import belongs to."""
    if isinstance(tree, ast.ImportFrom) and tree.level:
        return _RELATIVE
    module = _module(tree)
    if module == "__future__":
        return _FUTURE
    if module.partition(".")[0] in sys.stdlib_module_names:
        return _STANDARD
    return _OWN if owned(module) else _OTHERS


def _module(tree: Import) -> str:
    return (tree.module or "") if isinstance(tree, ast.ImportFrom) else tree.names[0].name


def _by_form(tree: Import) -> tuple[bool, bool, int, str, str]:
    """Plain imports first, as most projects have them."""
    future = _module(tree) != "__future__"
    return future, isinstance(tree, ast.ImportFrom), *_by_module(tree)[1:], ast.unparse(tree)


def _by_section(tree: Import) -> tuple[object, ...]:
    """As a file's head is sorted, as far as that can be told without knowing the project."""
    return _section(tree, lambda _: False), *_by_form(tree)


def _by_module(tree: Import) -> tuple[bool, int, str]:
    """By module alone; relative ones with more dots come first."""
    level = tree.level if isinstance(tree, ast.ImportFrom) else 0
    return _module(tree) != "__future__", -level, _module(tree).casefold()


def _by_type(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name.casefold()
