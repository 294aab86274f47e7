# SPDX-License-Identifier: Apache-2.0
"""Which files configure Git, CI, the build, packaging or a test runner, by their names."""

from __future__ import annotations

import re

_NAMES = frozenset(
    {
        "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "tox.toml", "setup.cfg", "setup.py",
        "pyproject.toml", "redfirst.toml", "noxfile.py", "MANIFEST.in", "nose.cfg", ".noserc", "unittest.cfg",
        "Pipfile", "Pipfile.lock", "poetry.lock", "uv.lock", "uv.toml", "pdm.lock", "environment.yml", "pixi.toml",
        "pixi.lock", ".coveragerc", "hatch.toml", "package.json", "package-lock.json", "npm-shrinkwrap.json",
        "yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml", "bun.lockb", "bunfig.toml", "deno.json", "deno.lock",
        ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".babelrc", ".swcrc", ".nycrc", "nx.json", "lerna.json",
        "mocha.opts", "runtests.py",
        "Cargo.toml", "Cargo.lock", "build.rs", "rust-toolchain", "rust-toolchain.toml", "nextest.toml",
        "go.mod", "go.sum", "go.work", "pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle",
        "settings.gradle.kts", "gradle.properties", "junit-platform.properties", "testng.xml", "build.sbt",
        "CMakeLists.txt", "CTestConfig.cmake", "Makefile", "makefile", "GNUmakefile", "meson.build", "BUILD.bazel",
        "WORKSPACE", "Gemfile", "Gemfile.lock", "Rakefile", ".rspec", "composer.json", "composer.lock", "mix.exs",
        "phpunit.xml", "phpunit.xml.dist", "Dockerfile", "Jenkinsfile", ".gitattributes", ".gitmodules",
        ".gitlab-ci.yml", ".travis.yml", "appveyor.yml", ".appveyor.yml", ".cirrus.yml", ".drone.yml", "wercker.yml",
        "bitbucket-pipelines.yml", "cloudbuild.yaml", ".pre-commit-config.yaml", "codecov.yml",
    }
)  # fmt: skip
_LOWERED = frozenset(name.lower() for name in _NAMES)
_PATTERNS = tuple(
    re.compile(rf"(?:.*/)?(?:{pattern})")
    for pattern in (
        r".*\.pth",
        r"(?:.*[-_])?requirements.*\.(?:txt|in)",
        r"requirements/.*\.(?:txt|in)",
        r"azure-pipelines.*\.ya?ml",
        r"tsconfig(?:\..*)?\.json",
        r"\.mocharc(?:\..*)?",
        r"(?:jest|vitest|vite|karma|babel|webpack|rollup|playwright|cypress|ava|mocha|nyc|wdio)\.(?:config|workspace|conf)"
        r"\.(?:[cm]?[jt]s|json)",
    )
)
_FOLDERS = frozenset(
    {".github", ".gitlab", ".circleci", ".buildkite", ".cargo", ".husky", ".woodpecker", ".git"}
)
_STARTED_BY_PYTHON = frozenset({"sitecustomize", "usercustomize"})


def is_configuration(path: str) -> bool:
    """Whether a path configures Git, CI, the build, packaging or a test runner; root ``conftest.py`` included."""
    parts = path.split("/")
    if any(part.lower() in _FOLDERS for part in parts):
        return True
    if any(part.split(".")[0] in _STARTED_BY_PYTHON for part in parts):
        return True
    # names are compared without case: a file system that ignores it would take one for the other
    name = parts[-1].lower()
    return (
        path.lower() == "conftest.py"
        or name in _LOWERED
        or any(pattern.fullmatch("/".join([*parts[-2:-1], name]).lower()) for pattern in _PATTERNS)
    )


def is_compiled(path: str) -> bool:
    """Whether Python would load it in place of the source it was made from."""
    return "__pycache__" in path.split("/") or path.endswith((".pyc", ".pyo"))
