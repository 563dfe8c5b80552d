# The front door. `make solve` and `make test` set everything up on a fresh machine; a second run does not repeat it.

PYTHON ?= python3
VENV   := .venv
STAMPS := .stamps
BUILD  := build

export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

PIP     := $(VENV)/bin/python -m pip install --quiet
CORE    := src/infimum/core
SOURCES := $(shell find src -name '*.py' -o -name '*.h' -o -name '*.cpp' -o -name '*.def' -o -name '*.inc' -o -name '*.cu' \
  -o -name '*.csv')
NATIVE  := CMakeLists.txt $(filter-out %.py %.csv,$(SOURCES))
MUTANTS := $(BUILD)/mutants/libinfimum_mutants.so
# A file of tests stays in one process, which measures each operation once for all of them.
WORKERS ?= auto
PYTEST  := $(VENV)/bin/python -m pytest -n $(WORKERS) --dist loadfile
# What `make check` runs: the files of tests that take the processor some five seconds or less, two in five of all tests.
QUICK   := $(patsubst %,tests/test_%.py,api architecture bad_input blocks compare conformance domain facts  \
  facts_of_functions frontier function_box generality indexmap interval interval_text jacobian linear no_doubles  \
  nonfinite oracle problems program readme reproduction result reverse_functions robustness search spikes torture  \
  trace trace_control trace_exact trace_numpy)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help solve check test lint tools install mutants coverage bench paper proofs torture table compilers cross clean

help: ## show this list
	@echo "infimum: the global minimum of a function, and the proof of it"
	@echo
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' Makefile

solve: install ## set up and enclose the minimum of a function of 1,000 variables
	@$(VENV)/bin/infimum solve levy --dim 1000

check: install lint ## in a minute: linters, types, and the files of tests that take seconds
	$(PYTEST) $(QUICK)

test: install lint $(STAMPS)/nvrtc mutants ## set up and run the test suite, linters and types included: 8 minutes on 2 cores
	$(PYTEST)

coverage: install $(STAMPS)/nvrtc mutants ## the tests of make test, and which lines they run, into build/coverage
	@$(PIP) "pytest-cov>=5.0"
	$(PYTEST) --cov=infimum --cov-report=xml:$(BUILD)/coverage.xml --cov-report=html:$(BUILD)/coverage --cov-report=term

lint: $(STAMPS)/tests
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

bench: install ## measure nanoseconds per interval of every operation and variant
	$(VENV)/bin/python bench/core.py
	$(VENV)/bin/python bench/vm.py --write
	$(VENV)/bin/python bench/function.py

paper: install ## repeat the paper's experiments and write docs/reproduction.md's tables (long)
	@$(PIP) "scipy>=1.10"
	$(VENV)/bin/infimum bench paper --dim 50 100 500 1000 --csv bench/results/paper.csv --json bench/results/paper.json
	$(VENV)/bin/infimum bench paper --functions levy --dim 2000 5000 10000 1000000 \
	  --csv bench/results/paper_large.csv --json bench/results/paper_large.json
	$(VENV)/bin/infimum bench compare --csv bench/results/compare.csv
	$(VENV)/bin/python docs/make_reproduction_tables.py

proofs: install $(STAMPS)/tests ## check the error bounds again with Sollya and Gappa
	$(call need,sollya,Sollya is missing: install the package sollya and run make proofs again.)
	$(call need,gappa,Gappa is missing: install the package gappa and run make proofs again.)
	$(VENV)/bin/python proofs/check.py

torture: install $(STAMPS)/tests $(STAMPS)/nvrtc mutants ## every test, with 200,000 arguments; records what it measures (long)
	$(PYTEST) -m "" --arguments 200000 --record \
	  --deselect tests/test_readme.py::test_the_table_is_what_the_headers_and_the_measurements_say  # written below
	$(MAKE) table

table: install ## write the tables of docs/ again from the results in bench/results
	$(VENV)/bin/python docs/make_guarantee_table.py
	$(VENV)/bin/python docs/make_reproduction_tables.py

compilers: install $(STAMPS)/tests ## build the core with g++ and clang++ and compare their bits
	@PYTHON=$(VENV)/bin/python sh tests/compilers.sh $(BUILD)

cross: install $(STAMPS)/tests ## build the core for aarch64 and Windows and compare their bits under QEMU and Wine
	@$(VENV)/bin/python tests/cross.py $(BUILD)

clean: ## remove everything that make has made
	rm -rf $(BUILD) $(STAMPS) $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- set-up ---------------------------------------------------------------------------------------------------------
# The package is installed as a user gets it, never from the source tree: a forgotten file shows at once. CMake's folder
# is kept, so that a changed .py file costs seconds and a changed header only what depends on it.

install: $(STAMPS)/package ## build the package and install it into .venv
tools: $(STAMPS)/tests
mutants: $(MUTANTS)

# $(call need,PROGRAM,SENTENCE): stop with the sentence where the program is missing.
need = @command -v $(1) >/dev/null 2>&1 || { echo "$(2)" >&2; exit 1; }

$(STAMPS)/venv:
	$(call need,$(PYTHON),$(PYTHON) is missing: install Python 3.10 or newer (or name one as in make PYTHON=python3.12).)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "infimum needs Python 3.10 or newer, and\
	 $(PYTHON) is $$($(PYTHON) -V 2>&1): name another one as in make PYTHON=python3.12." >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "Python's venv module is missing: install it (on Debian\
	 and Ubuntu the package python3-venv)." >&2; exit 1; }
	@for cxx in "$$CXX" c++ g++ clang++; do \
	  [ -n "$$cxx" ] && echo 'static_assert(__cplusplus >= 201703L, "");' \
	    | $$cxx -std=c++17 -fsyntax-only -x c++ - 2>/dev/null && exit 0; \
	done; echo "A C++17 compiler is missing: install g++ 8 or clang++ 7 or newer, or name one as in make CXX=g++-12." >&2; \
	exit 1
	@test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

# CMake and Ninja are taken from the machine where it has them, else as wheels.
$(STAMPS)/tools: pyproject.toml | $(STAMPS)/venv
	@echo "installing the build tools"
	@$(PIP) "scikit-build-core>=0.11" "rich>=13.0"
	@command -v cmake >/dev/null 2>&1 || $(PIP) "cmake>=3.18"
	@command -v ninja >/dev/null 2>&1 || $(PIP) ninja
	@touch $@

$(STAMPS)/package: pyproject.toml CMakeLists.txt README.md LICENSE $(SOURCES) $(STAMPS)/tools
	@echo "building infimum"
	@$(PIP) --no-build-isolation .
	@touch $@

$(STAMPS)/tests: pyproject.toml | $(STAMPS)/package
	@echo "installing what the tests need"
	@$(PIP) --no-build-isolation ".[test]"
	@touch $@

# The CUDA text is compiled without a GPU; where there is no wheel of NVRTC, those tests are skipped.
$(STAMPS)/nvrtc: | $(STAMPS)/tests
	@$(PIP) nvidia-cuda-nvrtc || echo "NVRTC has no wheel for this platform: tests that need it will be skipped."
	@touch $@

$(MUTANTS): $(NATIVE) | $(STAMPS)/tools
	@echo "building the library that the mutation tests break"
	@mkdir -p $(BUILD)
	@cmake -S . -B $(BUILD)/mutants -G Ninja -DINFIMUM_MUTANTS=ON >$(BUILD)/mutants.log 2>&1 \
	  && cmake --build $(BUILD)/mutants --target infimum_mutants >>$(BUILD)/mutants.log 2>&1 \
	  || { cat $(BUILD)/mutants.log >&2; exit 1; }
	@touch $@
