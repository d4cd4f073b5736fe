# `make demo` and `make test` do everything that a fresh machine needs: Python 3.11 or newer with venv and pip, and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test fast lint types install clean

demo: install
	$(BIN)/python hpo_main.py --benchmark demo

# Two processes side by side: most tests wait for a process of their own. A single test: .venv/bin/python -m pytest PATH
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal

test: install
	$(PYTEST)

# The tests that start nothing and wait for nothing.
fast: install
	$(PYTEST) -m "not slow"

lint: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: install
	$(BIN)/mypy

install: $(VENV)/installed

# The lock is complete, so pip resolves nothing; the mark is newer than the lock only after an install that went through.
$(VENV)/installed: requirements.lock setup.cfg pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Outrider needs Python 3.11 or newer, this is " + sys.version)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

clean:
	rm -rf $(VENV) build *.egg-info
