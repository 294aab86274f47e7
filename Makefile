# SPDX-License-Identifier: Apache-2.0
# Everything a developer runs; each target works on a fresh clone.

SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
FIND_PYTHON := for exe in python3 python3.11 python3.12 python3.13 python3.14; do \
	command -v $$exe >/dev/null && $$exe -c 'import sys; sys.exit(sys.version_info < (3, 11))' && { echo $$exe; break; }; done

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow lint format docs bench conformance clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/:[^#]*## /\t/' | expand -t 16

$(BIN)/python:
	@python=$$($(FIND_PYTHON)); \
	[ -n "$$python" ] || { echo "redfirst needs Python 3.11 or newer: apt-get install python3 python3-venv"; exit 1; }; \
	$$python -m venv $(VENV) || { rm -rf $(VENV); echo "venv is missing: apt-get install python3-venv"; exit 1; }

$(VENV)/.runtime: $(BIN)/python pyproject.toml constraints.txt
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml constraints.txt
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@ $(VENV)/.runtime

demo: $(VENV)/.runtime  ## from a real bug report to a test that fails on the release and passes on the fix
	@$(BIN)/python examples/demo.py

test: lint  ## lint and the test suite
	$(BIN)/python -m pytest -q

test-slow: $(VENV)/.dev  ## the tests that take long
	$(BIN)/python -m pytest -q -m slow

lint: $(VENV)/.dev  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev  ## rewrite files in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev  ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict -q

bench: $(VENV)/.dev  ## measure start-up and the gate's overhead; prints JSON
	$(BIN)/python benchmarks/start.py
	$(BIN)/python benchmarks/gate_overhead.py

conformance: $(VENV)/.dev  ## CASES=folder: run conformance cases through the command
	$(BIN)/python tools/conformance.py $(CASES)

clean:  ## remove what the targets made
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
