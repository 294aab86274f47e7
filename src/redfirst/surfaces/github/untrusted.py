# SPDX-License-Identifier: Apache-2.0
"""Text that a test or a path brought, made harmless for whatever reads it next."""

from __future__ import annotations

import re

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
#: Letters that turn the direction of text or are not seen: they can make text look like other text.
_UNSEEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|~<>&@:$=-])")


def plain(text: str, limit: int = 400) -> str:
    """One bounded line without terminal controls or invisible letters."""
    text = _UNSEEN.sub("\ufffd", _ESCAPES.sub("", text))
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= limit else text[: limit - 1] + "…"


def in_markdown(text: str, limit: int = 400) -> str:
    """As ``plain``, with every character that Markdown, HTML or GitHub would read escaped."""
    return _MARKDOWN.sub(lambda match: f"&#{ord(match[1])};", plain(text, limit))


def in_command(text: str, limit: int = 1000) -> str:
    """The message of a GitHub workflow command: it cannot begin a command of its own."""
    return plain(text, limit).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def in_property(text: str, limit: int = 400) -> str:
    """A property of a GitHub workflow command, where a colon or comma would end it."""
    return in_command(text, limit).replace(":", "%3A").replace(",", "%2C")


def in_xml(text: str, limit: int = 2000) -> str:
    """Text without the characters that XML 1.0 cannot hold; the writer escapes the rest."""
    return "".join(c for c in plain(text, limit) if c not in "\ufffe\uffff")
