# SPDX-License-Identifier: Apache-2.0
"""Where the user's own pip looks for packages, as variables and folders for one build step."""

from __future__ import annotations

import configparser
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from redfirst.core.environment import Bind

_OPTIONS = (
    "index-url",
    "extra-index-url",
    "find-links",
    "no-index",
    "trusted-host",
    "cert",
    "client-cert",
    "proxy",
    "timeout",
    "default-timeout",
    "retries",
    "constraint",
    "pre",
    "prefer-binary",
    "only-binary",
    "no-binary",
    "no-build-isolation",
    "uploaded-prior-to",
)
_VARIABLES = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "UV_INDEX",
    "UV_DEFAULT_INDEX",
    "UV_INDEX_URL",
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
)
#: Needed to resolve names and to trust certificates; shown to build steps only.
_NETWORK_FILES = (
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
    "/etc/ssl",
    "/etc/pki",
    "/etc/ca-certificates",
)


@dataclass(frozen=True, slots=True)
class PipSettings:
    """``variables`` may hold credentials: they are for the build step and for nothing else."""

    variables: tuple[tuple[str, str], ...]
    binds: tuple[Bind, ...]


def pip_settings(environ: Mapping[str, str]) -> PipSettings:
    """The effective settings of pip's files and variables, in pip's own order of precedence.

    Local folders and files that they name are bound read-only at their own paths.
    """
    settings = _from_files(environ)
    for option in _OPTIONS:
        value = environ.get(_variable(option))
        if value is not None:
            settings[option] = value
    variables = {_variable(option): " ".join(value.split()) for option, value in settings.items()}
    return _shown(environ, variables | {"PIP_CONFIG_FILE": os.devnull})


def network_settings(environ: Mapping[str, str]) -> PipSettings:
    """Proxies and certificates alone, for installers other than pip."""
    return _shown(environ, {})


def _shown(environ: Mapping[str, str], variables: dict[str, str]) -> PipSettings:
    variables |= {name: environ[name] for name in _VARIABLES if environ.get(name)}
    paths = {path for value in variables.values() for word in value.split() if (path := _local(word))}
    paths.discard(os.devnull)
    shown = (*_NETWORK_FILES, *sorted(paths))
    binds = (Bind(os.path.realpath(path), path) for path in shown if os.path.exists(path))
    return PipSettings(tuple(sorted(variables.items())), tuple(binds))


def _variable(option: str) -> str:
    return "PIP_" + option.upper().replace("-", "_")


def _from_files(environ: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in _files(environ):
        config = configparser.RawConfigParser(strict=False)
        try:
            config.read_string(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, configparser.Error):
            continue
        for section in ("global", "install"):
            if config.has_section(section):
                found.update({name: value for name, value in config.items(section) if name in _OPTIONS})
    return found


def _files(environ: Mapping[str, str]) -> list[Path]:
    """pip's configuration files, weakest first."""
    named = environ.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return []
    home = Path(environ.get("HOME") or os.path.expanduser("~"))
    folders = [item for item in (environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":") if item]
    files = [Path(folder, "pip", "pip.conf") for folder in reversed(folders)]
    files.append(Path("/etc/pip.conf"))
    files.append(home / ".pip" / "pip.conf")
    files.append(Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "pip" / "pip.conf")
    if named:
        files.append(Path(named))
    return files


def _local(word: str) -> str:
    """The absolute path that one word of a setting names, or ''."""
    if word.startswith("file://"):
        path = os.path.normpath(unquote(urlsplit(word).path))
        # An index's pages link to files that lie beside its folder.
        return os.path.dirname(path) if os.path.basename(path) == "simple" and path.count("/") > 2 else path
    return os.path.normpath(word) if word.startswith("/") else ""
