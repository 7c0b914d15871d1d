# One entry for everything. `make` alone lists the targets. Needs Python 3.11 or newer and nothing else: uv is found or brought into .venv.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
PYTEST := -p no:langsmith_plugin -p no:schemathesis -o tmp_path_retention_policy=failed
SUITES := tests/unit tests/contracts tests/api tests/golden
BIN := $(VENV)/bin
# The environment is made anew when a lock changes; the stamps say which lock is installed.
RUNTIME := $(VENV)/.runtime
DEV := $(VENV)/.dev
CACHE := $(abspath .cache)
export EXHIBIT_CACHE ?= $(CACHE)
# Commands start in half the time with bytecode; whoever has switched it off elsewhere does not mean this environment.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help docs demo demo-ollama test again slowest prepare test-services compose-env check fix serve lock policy web web-check figures sbom audit clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Exhibit needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" >&2; exit 1; }
	@if command -v uv >/dev/null; then uv venv --quiet --python $(PYTHON) $(VENV); else $(PYTHON) -m venv $(VENV); fi

$(BIN)/uv: | $(VENV)/bin/python
	@if command -v uv >/dev/null; then ln -sf "$$(command -v uv)" $(BIN)/uv; else $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.lock; fi

$(RUNTIME): requirements.lock pyproject.toml | $(BIN)/uv
	@echo "installing the pinned dependencies into $(VENV)"
	@$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --editable .
	@touch $@

$(DEV): requirements-dev.lock $(RUNTIME)
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements-dev.lock
	@touch $@

demo: $(RUNTIME)  ## ingest the sample corpus, ask, show cited answers, verify the receipts
	@$(BIN)/exhibit demo

demo-ollama: $(DEV)  ## the same with a trained model that picks the sentences, on an Ollama of its own
	@$(BIN)/python -m tests.services.demo_ollama

serve: $(RUNTIME)  ## serve the HTTP API on loopback
	@$(BIN)/exhibit serve

# What tests write goes into memory where there is room for it (else to the disk): they wait for `fsync` thousands of times.
# A module stays in one process, so that what it sets up is set up once. The documents' examples and the import contracts run in `make check`.
test: $(DEV)  ## unit, contract, API and golden tests; no server
	@room=$$(mktemp -d "$$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4000000 {print $$6}' | grep . || echo "$${TMPDIR:-/tmp}")/exhibit-tests.XXXXXX"); \
	trap 'rm -rf "$$room"' EXIT; \
	$(BIN)/pytest -q -n 3 --dist loadfile $(PYTEST) --basetemp="$$room/tests" -m "not services" --ignore tests/unit/test_import_contracts.py $(SUITES)

again: $(DEV)  ## run once more what failed in the last run of the tests
	@grep -qs '"' .pytest_cache/v/cache/lastfailed || { echo "no test is known to have failed: what stopped the run is no test" >&2; exit 1; }
	@$(BIN)/pytest -q $(PYTEST) --last-failed --last-failed-no-failures none

slowest: $(DEV)  ## search for inputs whose time grows faster than they do (SECONDS=60)
	@$(BIN)/python -m tests.slowest --seconds $(or $(SECONDS),60)

prepare: $(DEV)  ## fetch or build the real servers and tools
	@tests/services/prepare.sh

test-services: prepare  ## prepare and start the real servers and tools, run the tests on them
	@$(BIN)/pytest -q -n 3 --dist loadfile --no-loadscope-reorder $(PYTEST) -m services tests/services tests/browser  # much of it is waiting

compose-env: $(RUNTIME)  ## write the secrets and the policy bundle that compose.yaml needs
	@PYTHON=$(BIN)/python deploy/compose-env.sh

check: $(DEV)  ## format, lint, types, import contracts, generated pages, the documents' examples
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --verbose | tail -n 30
	@$(BIN)/python docs/generate.py --check
	@$(BIN)/pytest -q $(PYTEST) -m "not services" tests/docs tests/unit/test_import_contracts.py

fix: $(DEV)  ## format and mend what lint can mend
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

docs: $(DEV)  ## write the reference and the diagram of the rooms from the code
	@$(BIN)/python docs/generate.py

web: $(DEV)  ## copy what the pages take from npm into the repository (needs node)
	@npm ci --silent --prefix deploy/web
	@$(BIN)/python deploy/web/vendor.py

web-check: $(DEV)  ## the same, comparing every byte instead of writing
	@npm ci --silent --prefix deploy/web
	@$(BIN)/python deploy/web/vendor.py --check

figures: $(DEV)  ## screenshots of the pages for the documentation (needs chromium)
	@$(BIN)/python -m tests.browser.figures

policy: $(DEV)  ## compile policy/rego to WebAssembly and write its manifest (needs the opa binary)
	@$(BIN)/python -m policy.authoring.build

sbom: | $(VENV)/bin/python  ## sbom.json: the pinned dependencies with their digests (CycloneDX), from the locks, offline
	@$(BIN)/python deploy/sbom.py > sbom.json

audit: $(RUNTIME)  ## audit the pinned dependencies against an export of advisories (ADVISORIES=all.zip)
	@$(BIN)/python deploy/audit.py $(or $(ADVISORIES),$(error ADVISORIES names an export of OSV records of PyPI, such as all.zip))

lock: | $(BIN)/uv  ## resolve the locks again from pyproject.toml
	@$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url pyproject.toml -o requirements.lock
	@$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --all-extras --group dev pyproject.toml -c requirements.lock -o requirements-dev.lock
	@$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --all-extras pyproject.toml -c requirements.lock -o requirements-extras.lock
	@echo uv | $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url - -o requirements-uv.lock

clean:  ## remove the environment and the caches
	@rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
