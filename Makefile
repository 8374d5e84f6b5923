# Everything runs in .venv, which is made on demand with the versions of constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready

.PHONY: help demo test test-slow lint format bench docs clean

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

demo: $(READY)  ## train an agent for five minutes and measure every solo variant; the results are in runs/demo
	@$(BIN)/petrichor demo

test: $(READY)  ## the whole test suite
	$(BIN)/python -m pytest

test-slow: $(READY)  ## the tests that take minutes
	$(BIN)/python -m pytest -m slow

lint: $(READY)  ## Ruff's lint and format check, and mypy
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: $(READY)  ## let Ruff rewrite the code
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(READY)  ## the benchmarks of docs/performance.md (installs EnvPool, for comparison only)
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[bench]'
	$(BIN)/petrichor bench

docs: $(READY)  ## write the generated pages anew
	$(BIN)/python -m docs.generate

clean:  ## remove the virtual environment and caches (not runs/)
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache build *.egg-info

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(READY)
