# Two commands for everybody: `make demo` and `make test`. Each installs what it needs into .venv and target/.
#
#   make build   the crosswind command with its agent and load generator, in .venv/bin
#   make demo    the ten shaping set-ups of the ICPE '23 study against a replicated PostgreSQL, and a report
#   make test    every test that this machine can run; what it cannot run says SKIPPED and why
#   make bench   speed and size, one JSON line per figure
#   make lint    formatters, linters, types
#   make docs    the documentation, with the reference generated from the code

SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
SOURCES := $(shell find crates python -type f -not -name '*.pyc' -not -path '*/target/*') Cargo.toml Cargo.lock pyproject.toml

.PHONY: build demo test bench lint docs clean

build: .venv/.built

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "crosswind needs Python 3.11 or newer; $(PYTHON) is older. Set PYTHON=..." >&2; exit 3; }
	@command -v cargo >/dev/null || { echo "crosswind needs Rust (cargo); see rustup in your distribution" >&2; exit 3; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { [ "$$(id -u)" = 0 ] && apt-get install -y python3-venv; } || { echo "Python's venv module is missing: apt-get install python3-venv" >&2; exit 3; }
	$(PYTHON) -m venv .venv

.venv/.tools: $(BIN)/python requirements.txt requirements-dev.txt
	$(BIN)/pip install -q --disable-pip-version-check -r requirements-dev.txt
	@touch $@

.venv/.built: .venv/.tools $(SOURCES)
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation .
	@rm -rf build
	@touch $@

demo: build
	$(BIN)/crosswind demo

test: build
	@bash tests/prepare.sh
	cargo test --workspace
	$(BIN)/pytest --numprocesses auto --ignore tests/live
	$(BIN)/pytest tests/live

bench: build
	$(BIN)/python -m bench

lint: .venv/.tools
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy python

docs: build
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
	$(BIN)/python docs/generate.py

clean:
	rm -rf .venv target build results
