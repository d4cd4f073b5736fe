# `make demo` and `make test` do everything that a fresh machine needs: Python 3.11 or newer with venv and pip, and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo help test fast scripts readers clients serving ray lint types install clean

demo: install ## install, then run the built-in benchmark `demo` (about a minute)
	$(BIN)/outrider run --benchmark demo

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  %-10s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Tests start hundreds of interpreters, which would compile our modules anew where the environment keeps them from writing bytecode.
export PYTHONDONTWRITEBYTECODE :=

# Most slow tests wait for processes of their own, so that four go side by side on two cores. What fails there runs once more, alone
# (tests/tools/second_chance.py). A single test: .venv/bin/python -m pytest PATH
SECOND_CHANCE := tests/tools/second_chance.py
PYTEST := $(BIN)/python $(SECOND_CHANCE) --dist worksteal

SERVING := .venv-serving

test: install ## install, then run all tests
	@$(MAKE) --no-print-directory $(SERVING)/installed || echo "tests of the servers triton and mms are skipped: their packages cannot be had"
	$(PYTEST) -n 4

fast: install ## run the tests that start nothing and wait for nothing
	$(BIN)/python -m pytest --dist worksteal -n 2 -m "not slow"

# Their packages are large and nothing else needs them; the definitions name the interpreter by its path.
SCRIPTS := .venv-scripts

scripts: install $(SCRIPTS)/installed ## run the scripts in tests/scripts that need packages of their own, in .venv-scripts
	$(PYTEST) -n 2 -m packages -- tests/scripts

$(SCRIPTS)/installed: tests/scripts/requirements.lock
	test -x $(SCRIPTS)/bin/python || $(PYTHON) -m venv $(SCRIPTS)
	$(SCRIPTS)/bin/python -m pip install --quiet --disable-pip-version-check --requirement tests/scripts/requirements.lock
	touch $@

# s3fs takes an older botocore than the lock has, and litdata asks for a torchvision that nothing here uses: an environment of their own, which
# has the rest from .venv.
READERS := .venv-readers

readers: install $(READERS)/installed ## run the contract of ingestions with the packages that do not go together with the lock, in .venv-readers
	$(READERS)/bin/python $(SECOND_CHANCE) -- tests/benchmarking/workloads/ingestion tests/benchmarking/datasets/test_chunks.py

$(READERS)/installed: tests/benchmarking/workloads/ingestion/requirements.lock $(VENV)/installed
	test -x $(READERS)/bin/python || $(PYTHON) -m venv $(READERS)
	$(READERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement tests/benchmarking/workloads/ingestion/requirements.lock
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > $$($(READERS)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/zz-rest.pth
	touch $@

# Servers that are programs of their own (330 MB): Triton out of its wheel, multi-model-server where Java is.
serving: install $(SERVING)/installed ## install the servers triton and mms into .venv-serving and run their tests
	$(PYTEST) -n 2 -- tests/backends/serving

$(SERVING)/installed: serving.lock
	test -x $(SERVING)/bin/python || $(PYTHON) -m venv $(SERVING)
	$(SERVING)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement serving.lock
	touch $@

# Ray is large (80 MB) and one back-end's alone: an environment of its own, which has the rest from .venv.
RAY := .venv-ray

ray: install $(RAY)/installed ## run the tests of the back-end of Ray clusters, in .venv-ray
	$(RAY)/bin/python $(SECOND_CHANCE) -- tests/backends/ray

$(RAY)/installed: ray.lock $(VENV)/installed
	test -x $(RAY)/bin/python || $(PYTHON) -m venv $(RAY)
	$(RAY)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement ray.lock
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > $$($(RAY)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/zz-rest.pth
	touch $@

# Their environments are kept in the user's cache, by what is in their locks.
clients: install ## run clients that others wrote against the emulator; at most ten minutes, what cannot be had is skipped by name
	$(BIN)/python tests/clients/run.py

lint: install ## check format and lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: install ## check types (mypy --strict)
	$(BIN)/mypy

install: $(VENV)/installed ## install into .venv from the pinned lock

# The lock is complete, so pip resolves nothing. All cores compile, which pip does on one; templates, which are no Python, may fail. The mark is
# newer than the lock only after an install that went through.
$(VENV)/installed: requirements.lock setup.cfg pyproject.toml
	@$(PYTHON) -c 'import sys; from launch.python_version import too_old; sys.exit(too_old(sys.version_info[:3]))'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --requirement requirements.lock
	$(BIN)/python -m compileall -qq -j 0 $$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') || true
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

clean: ## remove the environments and what builds left
	rm -rf $(VENV) $(SCRIPTS) $(READERS) $(SERVING) $(RAY) build *.egg-info
