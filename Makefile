# `make demo` and `make test` do everything that a fresh machine needs: Python 3.11 or newer with venv and pip, and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types install clean

demo: install
	$(BIN)/python hpo_main.py --benchmark demo

test: install
	$(BIN)/python -m pytest

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
