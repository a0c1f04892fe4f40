# Two commands for everybody: `make demo` and `make test`. Each installs what it needs into .venv and target/.
#
#   make build   the crosswind command with its agent and load generator, in .venv/bin
#   make tools   beside it what tests, linters and the documentation need; the targets below install it, too
#   make demo    the ten shaping set-ups of the ICPE '23 study against a replicated PostgreSQL, and a report
#   make test    every claim once, in some fourteen minutes on two cores; what this machine cannot run says SKIPPED and why
#   make test-all  what make test leaves out: every store and server, long runs, 50 kills, and make floors
#   make floors  the tests of statistics, experiments, plans, tables and loaded results with the oldest versions that pyproject.toml declares
#   make agents  the agent as a static program for each kind of CPU, which crosswind copies to other machines; the wheel has them
#   make wheel   a wheel for release in dist/, for glibc 2.28 and newer; make test-wheel installs it and runs it as an ordinary user
#   make bench   speed and size, one JSON line per figure
#   make lint    formatters, linters, types, layers, words
#   make docs    elements.json and the reference from the code; the documentation as a site in site/index.html

SHELL := /bin/bash
# Python keeps what it has compiled, whatever the caller's environment says: else each start in a test compiles all libraries again.
unexport PYTHONDONTWRITEBYTECODE
PYTHON ?= python3
BIN := .venv/bin
SOURCES := $(shell find crates python -type f -not -name '*.pyc' -not -path '*/target/*') Cargo.toml Cargo.lock pyproject.toml setup.py requirements-page.txt

.PHONY: build tools programs agents demo test prepare test-programs test-rust test-pure test-all floors wheel test-wheel bench lint lint-cargo-fmt lint-clippy lint-agents lint-ruff lint-ruff-format lint-mypy lint-layers lint-words docs docs-rust docs-site clean

build: .venv/.built

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "crosswind needs Python 3.11 or newer; $(PYTHON) is older. Set PYTHON=..." >&2; exit 3; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { [ "$$(id -u)" = 0 ] && apt-get install -y python3-venv; } || { echo "Python's venv module is missing: apt-get install python3-venv" >&2; exit 3; }
	$(PYTHON) -m venv .venv

# What the package needs to be built and to run.
.venv/.libraries: $(BIN)/python requirements.txt requirements-build.txt
	$(BIN)/pip install -q --no-compile --disable-pip-version-check -r requirements-build.txt
	@touch $@

# What tests, linters, benchmarks and the documentation need beside it.
.venv/.tools: .venv/.libraries requirements-dev.txt
	$(BIN)/pip install -q --no-compile --disable-pip-version-check -r requirements-dev.txt
	@touch $@

tools: .venv/.tools

# Libraries are fetched while the programs compile; pip then finds the programs compiled.
.venv/.built: requirements.txt requirements-build.txt $(SOURCES)
	@$(MAKE) --no-print-directory --jobs 2 programs .venv/.libraries
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation .
	@rm -rf build
	@touch $@

programs:
	@command -v cargo >/dev/null || { echo "crosswind needs Rust (cargo); see rustup in your distribution" >&2; exit 3; }
	cargo build --release --quiet $(foreach program,agent load simulator,-p crosswind-$(program))

# Linked by Rust's own linker, so that each is built on any machine; rustup brings the two targets. They are data of the wheel and not
# executable, because auditwheel refuses one with programs for two kinds of CPU.
AGENTS := python/crosswind/testbed/ssh/agents
PROCESSORS := x86_64 aarch64

agents: $(PROCESSORS:%=$(AGENTS)/%/crosswind-agent)

$(AGENTS)/%/crosswind-agent: $(shell find crates -name '*.rs' -not -path '*/target/*') Cargo.toml Cargo.lock
	rustup --quiet target add $*-unknown-linux-musl
	CARGO_TARGET_$(shell echo $* | tr a-z A-Z)_UNKNOWN_LINUX_MUSL_LINKER=rust-lld \
		cargo build --profile dist --quiet --target $*-unknown-linux-musl -p crosswind-agent
	install -D -m 644 target/$*-unknown-linux-musl/dist/crosswind-agent $@

demo: build
	$(BIN)/crosswind demo

test: build .venv/.tools
	@$(MAKE) --no-print-directory --jobs 2 prepare test-programs
	$(call once_more,cargo test --workspace --test slow table::)
	@$(MAKE) --no-print-directory --jobs 2 test-rust test-pure
	$(LIVE) --numprocesses 4 -m "not long"

# As with live tests below: a hypervisor may have taken the core away.
once_more = $(1) || { echo "a Rust test failed; once more"; $(1); }

# Most of them wait, and pure tests compute beside them. Those of slowed time's calls (`table::`) measure each, and have run before.
test-rust:
	@unset MAKEFLAGS MFLAGS; mkdir -p target; { $(call once_more,cargo test --workspace --no-fail-fast -- --skip table::); } >target/tests.log 2>&1; \
		status=$$?; cat target/tests.log; exit $$status

test-pure:
	nice -n 19 $(PURE) -m "not long"

PURE := $(BIN)/pytest --numprocesses auto --ignore tests/live

# Several files of live tests at a time, because they wait for much. One that fails is run once more, and named in the summary.
LIVE := $(BIN)/pytest --dist loadfile --no-loadscope-reorder --reruns 1 -r aR tests/live

# What the tests can use: most of it waits for downloads, so it is fetched while the tests of Rust compile.
prepare: build
	@bash tests/prepare.sh

test-programs:
	cargo test --workspace --no-run --quiet

test-all: build .venv/.tools prepare
	$(MAKE) --no-print-directory floors
	$(PURE) -m long
	$(LIVE) -m "long and alone"
	$(LIVE) --numprocesses 4 -m "long and not alone"

# The oldest versions have wheels for the oldest Python alone, 3.11; they are installed once.
FLOORS := .venv/floors/bin
FLOOR_TESTS := tests/spec tests/plan tests/stats/test_comparisons.py tests/stats/test_ratio.py tests/stats/test_ranks.py \
	tests/stats/test_independence.py tests/report/test_paper_table.py tests/report/test_measures.py tests/api/test_load.py

floors: $(BIN)/python
	@if $(BIN)/python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'; then $(MAKE) --no-print-directory .venv/.floors && \
		PYTHONPATH=python $(FLOORS)/pytest --numprocesses auto --durations 0 --quiet $(FLOOR_TESTS); \
	else echo "SKIPPED make floors: the oldest versions need Python 3.11"; fi

.venv/.floors: pyproject.toml requirements-build.txt requirements-dev.txt tests/floors.py
	$(BIN)/python -m venv .venv/floors
	$(FLOORS)/pip install -q --no-compile --disable-pip-version-check $$($(BIN)/python tests/floors.py) $$(grep -hE '^(hypothesis|jsonschema|pytest|pytest-timeout|pytest-xdist|setuptools|setuptools-rust)==' requirements-build.txt requirements-dev.txt)
	$(FLOORS)/python tests/floors.py "$$($(FLOORS)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
	@touch $@

# For release: links against an older glibc than this machine's, so that the wheel runs on machines that are older.
WHEEL_TARGET := $(shell uname -m)-unknown-linux-gnu
LINKER_VARIABLE := CARGO_TARGET_$(shell echo $(WHEEL_TARGET) | tr a-z- A-Z_)_LINKER

wheel: .venv/.release agents
	rm -rf dist
	PATH="$(CURDIR)/$(BIN):$$PATH" $(LINKER_VARIABLE)="$(CURDIR)/release/zig-cc" CARGO_TARGET_DIR="$(CURDIR)/target/wheel" SETUPTOOLS_RUST_CARGO_PROFILE=dist \
		$(BIN)/pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .
	@rm -rf build
	$(BIN)/auditwheel show dist/crosswind-*.whl

.venv/.release: .venv/.tools requirements-release.txt
	$(BIN)/pip install -q --disable-pip-version-check -r requirements-release.txt
	@touch $@

test-wheel: wheel
	$(BIN)/python release/try_wheel.py dist/crosswind-*.whl

bench: build .venv/.tools
	$(BIN)/python -m bench

# Each linter by itself is what a hook of .pre-commit-config.yaml calls.
lint: lint-cargo-fmt lint-clippy lint-agents lint-ruff lint-ruff-format lint-mypy lint-layers lint-words

lint-cargo-fmt:
	cargo fmt --all --check

lint-clippy:
	cargo clippy --workspace --all-targets --quiet -- -D warnings

# What `make agents` would compile: musl and another kind of CPU declare other types. Without rustup nothing brings them.
lint-agents:
	@if command -v rustup >/dev/null; then \
		rustup --quiet target add $(PROCESSORS:%=%-unknown-linux-musl) && \
		cargo check --quiet $(PROCESSORS:%=--target %-unknown-linux-musl) -p crosswind-agent; \
	else echo "SKIPPED lint-agents: no rustup, which brings the targets of the static agents"; fi

lint-ruff: .venv/.tools
	$(BIN)/ruff check .

lint-ruff-format: .venv/.tools
	$(BIN)/ruff format --check .

lint-mypy: .venv/.tools
	$(BIN)/mypy python bench docs fuzz release

lint-layers: .venv/.tools
	PYTHONPATH=python $(BIN)/lint-imports --no-cache

lint-words: .venv/.tools
	$(BIN)/python docs/words.py

docs: docs-rust docs-site

docs-rust:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

docs-site: build .venv/.tools
	$(BIN)/python docs/generate.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

clean:
	rm -rf .venv target build dist results site $(AGENTS)
