# Perfledger's standing commands; `make` alone lists them. They need make and a Python, and put everything into .venv.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PACKAGES := ingest parsers runners schema

# The oldest supported Python, and all that are tested, without their patch releases: pyproject.toml has them.
OLDEST  := $(shell awk -F'[^0-9.]+' '/^requires-python/ { print $$2 }' pyproject.toml)
PYTHONS := $(shell sed -n 's/.*"Programming Language :: Python :: \(3[.0-9]*\)".*/\1/p' pyproject.toml)

# Material prints a notice about its own future on every build; it is no warning about this site.
export NO_MKDOCS_2_WARNING := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help site serve properdocs test test-all test-rest test-parsers test-ingest test-site test-runners faults corpus reference check plans fresh format bench fuzz audit lock clean pythons
.NOTPARALLEL:
.DELETE_ON_ERROR:

help: ## list these commands
	@sed -n 's/^\([a-z-]*\)[a-z -]*:[^#]*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-19s %s\n", $$1, $$2 }'
	@echo "Python is one of $(PYTHONS), from $(OLDEST) on. To name it: make site PYTHON=/path/to/python"

# Exit 1 of ingest: the pages are right, and some inputs were not understood. That stops nothing.
define INGEST
status=0; $(BIN)/python -m ingest $(or $(1),build) raw_logs/ || status=$$?; if [ $$status -ne 1 ]; then exit $$status; fi; \
  echo "make: some inputs were not understood (listed above, and on the site's page of problems); going on without them." >&2
endef

site: $(VENV)/site.stamp ## read raw_logs/, write the pages, build the site into site/
	@$(call INGEST)
	@$(BIN)/mkdocs build --strict # --quiet would keep its warnings from --strict too
	@echo "site/: $$(find site -name '*.html' | wc -l | tr -d ' ') pages. To read them: make serve, then http://127.0.0.1:8000/"

serve: $(VENV)/site.stamp ## show the pages at http://127.0.0.1:8000/ and follow changes
	@$(BIN)/mkdocs serve

# ARGS="-m browser" chooses further. Bytecode is kept: tests start hundreds of processes, each of which would compile what it imports.
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --durations=15 --no-loadscope-reorder $(ARGS)
# A worker of the quick tier takes whole files, so that what a file's tests share is made once. In the others files are
# long, and a worker that is done takes tests from one that is not.
test: $(VENV)/test.stamp ## run the quick tests, after each change
	@$(PYTEST) --dist loadfile --tier quick

test-all: $(VENV)/test.stamp ## run every test
	@$(PYTEST) --dist worksteal

# The tests that `make test` leaves out.
test-rest: $(VENV)/test.stamp
	@$(PYTEST) --dist worksteal --tier rest

test-parsers test-ingest test-site test-runners: test-%: $(VENV)/test.stamp ## run every test of a folder; also test-ingest, test-site, test-runners
	@$(PYTEST) --dist worksteal tests/$*

# TIMES=20 is shorter.
faults: $(VENV)/test.stamp ## kill builds, fill disks and more, hundreds of times
	@$(BIN)/python -m pytest -n 0 -s -p no:faulthandler --times $(or $(TIMES),100) tests/ingest/test_kills.py tests/ingest/test_system_faults.py

corpus: $(VENV)/test.stamp ## fetch the public logs that some tests read into .corpus/
	@$(BIN)/python -m tests.corpus

# ACCEPT=1 writes what was computed to tests/reference/figures.csv.
reference: $(VENV)/test.stamp ## recompute the figures of all real logs, and print what moved
	@$(BIN)/python -m tests.reference $(if $(ACCEPT),--accept)

# The packages as they are imported, for mypy, which does not know that perfledger/__init__.py adds them to its path.
TYPES := .perfledger/types/perfledger
check: $(VENV)/test.stamp ## lint, formatting, words, types, and whether docs/data/ is fresh
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/python -m tests.wording
	@mkdir -p $(TYPES) && ln -sfn $(foreach each,$(wildcard perfledger/*.py*) $(PACKAGES),$(CURDIR)/$(each)) $(TYPES)/
	@$(BIN)/mypy $(TYPES) bench report_templates/hooks & types=$$!; ( $(call INGEST,check) ); fresh=$$?; wait $$types && exit $$fresh

plans: $(VENV)/site.stamp ## write the cases of all recipes to raw_logs/plans/
	@$(BIN)/python -m runners export

fresh: $(VENV)/site.stamp ## whether the committed data (docs/data/) is what the logs say
	@$(call INGEST,check)

format: $(VENV)/test.stamp ## let ruff mend what it can
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

bench: $(VENV)/site.stamp ## measure the speed of reading and of page writing
	@$(BIN)/python -m bench

# The locks name every version, those that this machine does not install too, so nothing is resolved or installed.
# The way out of the end of MkDocs: the same configuration and plugins, and the same bytes.
BOTH = .perfledger/mkdocs .perfledger/properdocs
properdocs: $(VENV)/generator.stamp ## build the site with MkDocs and with ProperDocs, and compare the bytes
	@rm -rf $(BOTH)
	@$(BIN)/mkdocs build --strict --site-dir .perfledger/mkdocs
	@$(BIN)/properdocs build --strict --site-dir .perfledger/properdocs
	@diff --recursive --brief $(BOTH) && echo "MkDocs and ProperDocs build the same site."

audit: $(VENV)/audit.stamp ## look up known vulnerabilities of every locked dependency
	@$(BIN)/pip-audit --strict --require-hashes --disable-pip --progress-spinner off $(foreach lock,$(LOCKED),-r requirements/$(lock).txt)

# FUZZ="--kind short --seed 2 --seconds 600" reads other mutations of one kind, and for ten minutes.
fuzz: $(VENV)/test.stamp ## read mutated logs: 100,000 short ones, 200 long ones, and 10 folders of 1,000 with a native crash
	@$(BIN)/python -m tests.fuzz $(FUZZ)

# Locks are universal: one file for all supported Pythons, x86-64 and arm64. UPGRADE=--upgrade takes newer releases.
LOCK = $(BIN)/uv pip compile --quiet --universal --fork-strategy fewest --python-version $(OLDEST) \
  --generate-hashes --no-annotate --no-header --no-emit-index-url --no-emit-find-links $(UPGRADE) pyproject.toml
LOCK_GROUP = $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header --no-emit-index-url \
  --no-emit-find-links --python-version $(OLDEST) $(UPGRADE)
LOCKED = audit build generator site test
lock: $(VENV)/python.stamp ## write requirements/*.txt anew from pyproject.toml
	@$(BIN)/python -m pip install --quiet uv
	@$(LOCK) --extra site --output-file requirements/site.txt
	@$(LOCK) --extra site --extra dask --extra objects --extra zst --group test --constraint requirements/site.txt --output-file requirements/test.txt
	@$(LOCK_GROUP) --group build --output-file requirements/build.txt
	@$(LOCK_GROUP) --group generator --constraint requirements/site.txt --output-file requirements/generator.txt
	@$(LOCK_GROUP) --group audit --constraint requirements/test.txt --output-file requirements/audit.txt

clean: ## remove what the commands above made, save docs/data/
	rm -rf $(VENV) site .perfledger docs/en docs/zh docs/charts docs/logs docs/share docs/assets/css docs/data/badges docs/data/explorer docs/data/comparisons.json docs/data/*.parquet .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

pythons: # the supported Pythons as JSON, for the workflows
	@echo '$(PYTHONS)' | sed 's/ /","/g; s/.*/["&"]/'

# A stamp stands for what is installed; it is older than a lock that changed.
INSTALL = $(BIN)/python -m pip install --quiet --require-hashes
NEEDS = Perfledger needs one of Python $(PYTHONS), and none before $(OLDEST), for those misread logs (CPython issue 106052): \
  install it, or say where it is: make PYTHON=/path/to/python
# Exits 0 for a supported Python; any Python understands it.
SUPPORTED = import sys; sys.exit("%d.%d" % sys.version_info[:2] not in "$(PYTHONS)".split() \
  or sys.version_info[:3] < tuple(map(int, "$(OLDEST)".split("."))))
define FAILED
{ echo "make: could not install $(1). pip's own message is above. Without a way to the package index, set" >&2; \
  echo "PIP_INDEX_URL to one that you can reach, or PIP_FIND_LINKS to a folder of wheels, and call make again." >&2; exit 1; }
endef

$(VENV)/python.stamp: requirements/build.txt
	@command -v $(PYTHON) >/dev/null || { echo "make: there is no $(PYTHON). $(NEEDS)" >&2; exit 1; }
	@$(PYTHON) -c '$(SUPPORTED)' || { \
	  echo "make: $(PYTHON) is $$($(PYTHON) --version 2>&1). $(NEEDS)" >&2; exit 1; }
	@echo "Making $(VENV) with $$($(PYTHON) --version 2>&1) ..."
	@$(PYTHON) -m venv --clear $(VENV) || { \
	  echo "make: $(PYTHON) cannot make a virtual environment; on Debian and Ubuntu, install python3-venv." >&2; exit 1; }
	@$(INSTALL) -r $< || $(call FAILED,$<)
	@touch $@

$(VENV)/generator.stamp: $(VENV)/site.stamp

$(VENV)/site.stamp $(VENV)/test.stamp $(VENV)/audit.stamp $(VENV)/generator.stamp: $(VENV)/%.stamp: requirements/%.txt $(VENV)/python.stamp
	@echo "Installing $< ..."
	@$(INSTALL) -r $< || $(call FAILED,$<)
	@touch $@
