# Each target first sets up .venv, when it is missing or out of date: envs/install.sh. `make PYTHON=python3.12` names the
# Python for it, and `make TORCH_INDEX=` takes PyTorch as the package index has it.

BIN := .venv/bin
# Not the scripts beside it: their first line holds the path, which need not be one that a shell can read.
PY := $(BIN)/python
CORES ?= all
# On a terminal a display of what runs; elsewhere a line for each job.
DISPLAY := $(if $(shell [ -t 2 ] && echo terminal),--logger rich)
SNAKEMAKE := $(PY) -m snakemake --cores $(CORES) $(DISPLAY) --quiet rules
# Such as PAPERS="lwda2019"; those of config.yaml without it.
PAPERS ?=
RUN := $(if $(PAPERS),--config "papers=$(PAPERS)")
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: help environment demo paper sensitivity test test-all lint ui report sources plan slurm-test gpu-test browser-test bench

help:
	@echo "make demo      the whole pipeline on the bundled sample, no data needed"
	@echo "make paper     every table and figure of the papers (config.yaml); PAPERS=\"lwda2019\" for one"
	@echo "make sensitivity  each open choice of a paper, varied alone"
	@echo "make test      the fast tests"
	@echo "make test-all  every test, at its full count, as root"
	@echo "make lint      ruff, snakefmt, snakemake --lint"
	@echo "make ui        MLflow UI on the results (CONFIG=sample/config.yaml for the demo)"
	@echo "make plan      what a run on Slurm would submit, and its expected cost (CONFIG=...)"
	@echo "make slurm-test  the tests of a real one-node Slurm, as root"
	@echo "make gpu-test  a CUDA device against the CPU, on the bundled sample"
	@echo "make browser-test  the pages and MLflow in Debian's Chromium"
	@echo "make bench     what is fast and against what: docs/performance.md"
	@echo "make report    one HTML page with all that a run came to so far: report.html (CONFIG=...)"
	@echo "make sources   which downloads are here, their size and licence"

CONFIG ?= config.yaml

demo: environment
	@$(SNAKEMAKE) --configfile sample/config.yaml
	@echo
	@cat results/demo/tables/diallo2019/table4.md
	@echo
	@echo "All of it on one page: results/demo/report.html. To browse the runs: make ui CONFIG=sample/config.yaml"

paper: environment
	@$(SNAKEMAKE) $(RUN)
	@echo "All of it on one page: results/paper/report.html. To browse the runs: make ui"

sensitivity: environment
	@$(SNAKEMAKE) --configfile $(CONFIG) $(RUN) -- sensitivity
	@$(PY) -m analogyqa.report --config $(CONFIG)
	@echo "sensitivity.{md,csv,png,svg} are beside the tables and figures of each paper"

test: environment
	@$(PY) -m pytest -n auto --dist loadfile

# A worker has a cluster of its own, and they wait more than they compute.
test-all: environment
	@$(PY) -m pytest -n auto --dist loadfile --hypothesis-profile full
	@$(PY) -m pytest -n auto --dist loadfile --hypothesis-profile full -m "workflow or slow or real_data"
	@$(PY) -m pytest -n 4 -m slurm
	@$(PY) -m pytest -m gpu -rs

lint: environment
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m snakefmt --check Snakefile rules
	$(PY) -m snakemake --lint --configfile sample/config.yaml

ui: environment
	@$(PY) -m analogyqa.tracking ui --config $(CONFIG) $(if $(PORT),--port $(PORT))

report: environment
	@$(PY) -m analogyqa.report --config $(CONFIG)

sources: environment
	@$(PY) -m analogyqa.sources --config $(CONFIG)

plan: environment
	@$(PY) -m snakemake --cores 8 --profile slurm --configfile $(CONFIG) --dry-run | $(PY) -m analogyqa.planning --config $(CONFIG)

slurm-test: environment
	@$(PY) -m pytest -m slurm -n 4

gpu-test: environment
	@$(PY) -m pytest -m gpu -rs

browser-test: environment
	@$(PY) -m pip install --quiet --disable-pip-version-check --requirement tests/browser/requirements.txt
	@$(PY) -m pytest -m browser -rs

bench: environment
	@$(PY) -m pip install --quiet --disable-pip-version-check --requirement benchmarks/requirements.txt
	@for name in training seeds scoring quadruples solving vectors trainer minilm growth overhead paper; do \
	  echo "== $$name"; $(PY) benchmarks/$$name.py || exit 1; done
	@$(PY) benchmarks/performance.py

# Make gives PYTHON and TORCH_INDEX on to it.
environment:
	@sh envs/install.sh
