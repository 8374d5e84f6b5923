# Everything runs in .venv, which is made on demand with the versions of constraints.txt. Needs python3 (3.11 or newer).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Processes that run tests: one more than cores, since some tests wait for servers and browsers. Each takes about a GB.
WORKERS ?= 3
# What docs/libraries.md shows and `dev` does not have: each has its packages in a folder of its own.
LIBRARIES := agilerl rllib tianshou torchrl

# Frameworks for language models, whose requirements contradict each other: each has an environment of its own.
ADAPTERS := inspect mcp openenv trl verifiers

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start Python hundreds of times; without its compiled files each start takes half a second longer.
unexport PYTHONDONTWRITEBYTECODE
INSTALL := $(BIN)/python -m pip install $(PIP_FLAGS) -c constraints.txt

.PHONY: help demo demo-evergreen test test-browser test-slow test-libraries test-adapters test-ray test-oldest release-check machine-code test-machine-code fuzz lint format bench notebooks docs site site-serve clean

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 18

demo: $(VENV)/train  ## train an agent for three minutes, then measure every solo difficulty; leaves a folder in runs/
	@$(BIN)/petrichor demo

demo-evergreen: $(VENV)/train  ## train an agent for Evergreen by self-play for three minutes, then measure it
	@$(BIN)/evergreen demo

test: $(VENV)/dev $(VENV)/compiled  ## the test suite and the first notebook, in some minutes
	PETRICHOR_QUICK=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --ignore tests/browser \
		--nbmake notebooks/01_quickstart.ipynb tests

test-browser: $(VENV)/dev $(VENV)/compiled  ## the pages in Chromium, by mouse, finger and keyboard; skipped without chromium and chromedriver
	PETRICHOR_QUICK=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal tests/browser

test-slow: $(VENV)/dev $(VENV)/compiled  ## all tests and notebooks, with many more random games; takes much longer
	PETRICHOR_QUICK=1 PETRICHOR_THOROUGH=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal \
		-m 'not libraries and not machine_code and not adapters' --nbmake notebooks tests

test-libraries: $(VENV)/dev $(VENV)/compiled $(LIBRARIES:%=$(VENV)/libraries/%/installed)  ## the snippets of docs/libraries.md for RLlib, TorchRL, Tianshou and AgileRL, 1.5 GB of packages
	$(BIN)/python -m pytest -m libraries tests/test_libraries.py

test-adapters: $(VENV)/dev $(VENV)/compiled $(ADAPTERS:%=$(VENV)/adapters/%/installed)  ## whole games by text in the frameworks of docs/language-models.md, each in its own environment
	$(BIN)/python -m pytest -m adapters tests/adapters

test-ray: $(VENV)/dev $(VENV)/compiled $(VENV)/libraries/rllib/installed  ## games and training on clusters of two nodes, one of which is killed
	PYTHONPATH=$(CURDIR)/$(VENV)/libraries/rllib $(BIN)/python -m pytest tests/test_cluster.py tests/test_ray_training.py

test-oldest: $(VENV)/dev $(VENV)/oldest  ## the environments' tests on the oldest Gymnasium and PettingZoo that are supported
	@PYTHONPATH=$(VENV)/oldest $(BIN)/python -c 'import gymnasium as g; assert g.__version__.startswith("1.2."), g.__version__'
	PYTHONPATH=$(VENV)/oldest $(BIN)/python -m pytest tests/contract/test_one_seat.py tests/contract/test_many_games.py tests/contract/test_all_seats.py tests/test_environments.py tests/evergreen/test_environments.py

release-check: $(VENV)/release  ## build sdist and wheel, check them, and play with the wheel on every Python of PYTHONS; QUICK=1: less
	$(BIN)/python -m tests.release $(if $(QUICK),--quick)

machine-code: $(VENV)/dev $(VENV)/release  ## build a wheel that starts without compiling, for this kind of machine; takes minutes and a C compiler
	$(BIN)/python -m machine_code.build tabletop_engine/compiling/machine_code
	$(BIN)/python -m machine_code.wheel dist

test-machine-code: machine-code  ## that wheel without Numba, its bytes beside Numba's, and the whole suite on machine code
	$(BIN)/python -m pytest -m machine_code tests/test_machine_code.py
	PETRICHOR_QUICK=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --no-misfits tests

fuzz: $(VENV)/dev $(VENV)/compiled  ## random games with both implementations of the rules, until Ctrl-C
	@$(BIN)/python -m tests.fuzz

lint: $(VENV)/dev  ## Ruff's lint and format check, and mypy
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: $(VENV)/dev  ## let Ruff rewrite the code
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(VENV)/bench  ## the benchmarks of docs/performance.md, beside EnvPool, Gymnasium's and PettingZoo's own games
	@$(BIN)/petrichor bench

notebooks: $(VENV)/dev $(VENV)/compiled  ## run the notebooks in full and store what they show, a few minutes
	$(BIN)/jupyter execute --inplace notebooks/*.ipynb

docs: $(VENV)/dev  ## write the pages and tables anew that are made from the code
	$(BIN)/python -m docs.generate

site: $(VENV)/docs  ## the documentation as a site, in site/; a broken link or an undocumented public name is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build

site-serve: $(VENV)/docs  ## the site at http://127.0.0.1:8000, built anew when a page changes
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs serve

clean:  ## remove the virtual environment and the tools' caches, but not runs/
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "petrichor-env needs Python 3.11 or newer: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)

# One stamp an extra: `make demo` needs fewer packages than `make test`, and only `make bench` EnvPool's 700 MB.
$(VENV)/train $(VENV)/dev $(VENV)/docs $(VENV)/bench $(VENV)/release: $(VENV)/%: pyproject.toml constraints.txt | $(BIN)/python
	@echo 'Installing into $(VENV), a few minutes the first time.'
	$(INSTALL) -e '.[$*]'
	@touch $@

$(VENV)/oldest: pyproject.toml | $(VENV)/dev
	$(BIN)/python -m pip install $(PIP_FLAGS) --no-deps --upgrade --target $@ gymnasium==1.2.0 pettingzoo==1.25.0
	@touch $@

# Without what they require: that is in the files, or in `dev`.
$(VENV)/libraries/%/installed: docs/libraries/requirements/%.txt | $(VENV)/dev
	rm -rf $(@D)
	$(BIN)/python -m pip install $(PIP_FLAGS) --no-deps --target $(@D) -r $<
	@touch $@

$(VENV)/adapters/%/installed: tests/adapters/requirements/%.txt | $(BIN)/python
	rm -rf $(@D)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install $(PIP_FLAGS) -r $<
	@touch $@

# Before the tests start, so that not every process that they run on compiles the rules for itself.
.PHONY: $(VENV)/compiled
$(VENV)/compiled: $(VENV)/dev
	@$(BIN)/petrichor compile && $(BIN)/evergreen compile
