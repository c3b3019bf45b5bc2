# What people type. `make serve` and `make test` work in a fresh clone with nothing set up:
# `.venv` is made and filled from the locked, hashed requirements, once, by uv where there is
# one and by pip where there is not. Tests need so much that uv is fetched for them: it takes a tenth of the time.

PYTHON ?= python3
VENV ?= .venv
export PYTHONDONTWRITEBYTECODE := 1
unexport VIRTUAL_ENV

IN := $(VENV)/bin/
RUN := $(VENV)/.run
DEV := $(VENV)/.dev
DOCS := .cache/docs
COMMAND := $(VENV)/.command
PROCESSORS := $(shell nproc 2>/dev/null || echo 2)
# Twice as many as there are processors: some tests wait for something else than a processor. With more, all processors
# are no busier, each test takes longer, and every worker reads all of the tests first.
WORKERS ?= $(shell expr $(PROCESSORS) '*' 2)
# Bytecode is kept, not beside the sources: no start is to compile everything, and tests start hundreds of processes.
KEEPING := env -u PYTHONDONTWRITEBYTECODE PYTHONPYCACHEPREFIX="$(CURDIR)/.cache/bytecode"
CACHED := $(KEEPING) $(IN)python
PYTEST := $(CACHED) -m pytest

.PHONY: help serve demo test quick fast busy planted campaign bench lint every axe docs matrix lock sbom audit clean

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' Makefile | expand -t 12

serve: $(COMMAND)  ## the host, on its defaults; `make serve ARGS="--http 0"` passes arguments on
	@$(KEEPING) $(IN)quintain serve $(ARGS)

demo: $(COMMAND)  ## a tournament of house bots in every game; `make demo ARGS="--seconds 60"` makes it longer
	@$(KEEPING) $(IN)quintain demo $(ARGS)

# Debian's packages come while Python's are installed, two kinds of which cannot be at once in one environment. Then
# lint and the documentation are done beside the tests, which leave a fifth of two processors idle: types alone take
# half a minute of one. Whatever fails, the others go on to their end.
test:  ## lint, types, the documentation and every test; ends with the slowest twenty
	@tests/prepare.sh packages & $(MAKE) --no-print-directory $(DEV) $(COMMAND) $(VENV)/.docs; installed=$$?; wait; exit $$installed
	@$(MAKE) --no-print-directory --jobs=3 --keep-going lint docs every

quick: $(DEV) $(COMMAND)  ## lint, types and the fast tests: for the daily loop
	@$(MAKE) --no-print-directory --jobs=2 lint fast

every: axe $(COMMAND)
	$(PYTEST) -n $(WORKERS) --durations=20 $(ARGS)

fast: $(DEV) $(COMMAND)
	HYPOTHESIS_PROFILE=quick $(PYTEST) -n $(PROCESSORS) -m "not slow" $(ARGS)

planted: $(DEV) $(COMMAND)  ## the fast tests with a sixth game and a sixth dialect, which are in tests/planted
	PYTHONPATH="$(abspath tests/planted)" $(PYTEST) -n $(WORKERS) -m "not slow" $(ARGS)

busy: $(DEV)  ## `make test` beside four busy loops: no test takes a busy machine for a fault
	$(IN)python -m tests.busy $(MAKE) test

campaign: $(DEV)  ## all that can be tried at length, for hours; `make campaign ARGS="-k laws"` narrows the tests
	HYPOTHESIS_PROFILE=campaign $(PYTEST) -n $(WORKERS) $(ARGS)
	$(IN)python -m tests.fuzz --sessions 100000
	$(IN)python -m tests.simulation --seeds 1-20000 --jobs $(PROCESSORS)
	$(IN)python -m tests.simulation --doors --seeds 1-2000 --jobs $(PROCESSORS)
	$(IN)python -m tests.simulation.cluster --seeds 1-20000 --jobs $(PROCESSORS)
	$(IN)python -m tests.crashes --crashes 1000
	$(IN)python -m tests.powercuts --cuts 1000
	$(IN)python -m tests.chaos --kills 1000
	$(IN)python -m tests.chaos --kills 100 --how term
	$(IN)python -m tests.chaos --kills 50 --how restart-postgres
	$(IN)python -m tests.cluster --faults 200
	$(IN)python -m tests.storm --seeds 1-50
	$(IN)python -m tests.soak --minutes 30
	$(IN)python -m tests.adversaries --seconds 20
	$(IN)python -m tests.calibration --jobs $(PROCESSORS)
	$(IN)python -m tests.calibration decide --jobs $(PROCESSORS)

bench: $(VENV)/.bench  ## speed, as ratios in one run
	$(IN)python -m tests.bench $(ARGS)

lint: $(DEV) $(COMMAND)  ## ruff and pyright
	$(IN)ruff check
	$(IN)ruff format --check
	$(IN)pyright --pythonpath $(IN)python

axe: $(DEV)
	@tests/prepare.sh axe "$(abspath $(IN))/python"

docs: $(DOCS)/built  ## the documentation as a site in .cache/docs: a link that leads nowhere is an error

matrix:  ## the tests on every Python from 3.11 on that is there
	tests/matrix.sh

lock:  ## compile requirements/ anew from pyproject.toml (needs uv)
	uv pip compile $(LOCK) pyproject.toml -o requirements/run.txt
	uv pip compile $(LOCK) --group uv -o requirements/uv.txt
	uv pip compile $(LOCK) -c requirements/run.txt pyproject.toml --all-extras -o requirements/extras.txt
	for group in build dev bench docs audit; do \
	    uv pip compile $(LOCK) -c requirements/run.txt pyproject.toml --group $$group -o requirements/$$group.txt || exit 1; \
	done

sbom: | $(IN)python  ## what a host runs on, as CycloneDX, in .cache/sbom.json; ARGS=requirements/extras.txt adds the extras
	@mkdir -p .cache
	$(IN)python requirements/sbom.py $(ARGS) > .cache/sbom.json

# What a database of advisories answers, and whether it does, is not up to a commit: a test must not need it.
audit: $(VENV)/.audit  ## known flaws of all that is locked; asks a public database of advisories, so `make test` leaves it out
	$(IN)pip-audit --vulnerability-service osv --disable-pip --progress-spinner off \
	    $(addprefix --requirement ,$(sort $(wildcard requirements/*.txt))) $(ARGS)

clean:
	rm -rf $(VENV) .cache .hypothesis .pytest_cache .ruff_cache

LOCK := --quiet --universal --python-version 3.11 --generate-hashes \
        --no-header --no-annotate --no-emit-index-url --no-emit-find-links

$(IN)python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "Quintain needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version 2>&1)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Nothing is compiled before it is imported: most of what only the project's own people need never is. See KEEPING.
PIP := $(IN)python -m pip install --quiet --disable-pip-version-check --no-compile
UV := PATH="$$PATH:$(abspath $(IN))" uv
# $(call install,WHAT): by uv where there is one, here or on the system
install = if $(UV) --version >/dev/null 2>&1; then $(UV) pip install --quiet --python $(IN)python $(1); else $(PIP) $(1); fi

$(VENV)/.%: requirements/%.txt | $(IN)python
	$(call install,--require-hashes -r $<)
	touch $@

# Where there can be no uv, it takes longer and that is all.
$(VENV)/.uv: requirements/uv.txt | $(IN)python
	command -v uv >/dev/null 2>&1 || $(PIP) --require-hashes -r $< || echo "uv could not be fetched: pip is used" >&2
	touch $@

$(DEV): $(VENV)/.uv $(RUN)

$(VENV)/.bench $(VENV)/.docs: $(DEV)

# All of it or nothing: Sphinx is silent on a page that it has read before, and so on a link into another page. What
# pages link to outside of docs/ is there, too; a folder is newer when something in it is gone.
$(DOCS)/built: $(VENV)/.docs Makefile $(shell find docs/. clients/. -not -name __pycache__ -not -name '*.pyc')
	rm -rf $(DOCS)
	$(CACHED) -m sphinx --quiet --fail-on-warning --keep-going --builder html docs $(DOCS)
	touch $@

# The command `quintain`, run from this folder: what it needs, and then itself, built by what is locked too.
$(COMMAND): $(RUN) $(VENV)/.build pyproject.toml
	$(call install,--no-deps --no-build-isolation --editable .)
	touch $@
