# Each target first runs envs/install.sh, which sets up .venv if it is missing or out of date. Choose the Python with
# `make demo PYTHON=python3.12`. `make TORCH_INDEX=` installs PyTorch from the default package index.

BIN := .venv/bin
# Start modules with Python: the scripts in this folder fail if its path has spaces.
PY := $(BIN)/python
CORES ?= all
# A display of the running jobs on a terminal; elsewhere, a line for each job.
DISPLAY := $(if $(shell [ -t 2 ] && echo terminal),--logger analogyqa)
SNAKEMAKE := $(PY) -m snakemake --cores $(CORES) $(DISPLAY) --quiet rules
# The papers to run, such as PAPERS="lwda2019". The default is the list in config.yaml.
PAPERS ?=
RUN := $(if $(PAPERS),--config "papers=$(PAPERS)")
export PATH := $(CURDIR)/$(BIN):$(PATH)
# They are meant for other installations, and are read before any code of ours. See also analogyqa/surroundings.py.
unexport PYTHONPATH PYTHONHOME PIP_USER PIP_TARGET PIP_PREFIX

.PHONY: help environment demo paper sensitivity test test-all lint docs ui report sources plan slurm-test gpu-test browser-test bench

help:
	@echo "make demo      the whole pipeline on the bundled sample; needs no data"
	@echo "make paper     every table and figure of the papers (config.yaml); PAPERS=\"lwda2019\" for one"
	@echo "make sensitivity  each open choice of diallo2019 and hyperqa, varied alone"
	@echo "make test      the fast tests"
	@echo "make test-all  all tests but browser-test, with all examples, as root"
	@echo "make lint      ruff, snakefmt, snakemake --lint, mypy"
	@echo "make docs      the documentation as a site that works offline"
	@echo "make ui        the results in MLflow (CONFIG=sample/config.yaml for the demo)"
	@echo "make plan      the jobs that a run on Slurm would submit, and their expected cost (CONFIG=...)"
	@echo "make slurm-test  the tests on a real one-node Slurm, as root"
	@echo "make gpu-test  the tests that compare a CUDA device with the CPU"
	@echo "make browser-test  the tests of the report, the site and MLflow in Debian's Chromium"
	@echo "make bench     the benchmarks of docs/performance.md"
	@echo "make report    one HTML page with all results so far: report.html (CONFIG=...)"
	@echo "make sources   the downloads: which are here, their sizes and licences"

CONFIG ?= config.yaml

demo: environment
	@$(PY) -m analogyqa demo --cores $(CORES)

paper: environment
	@$(PY) -m analogyqa paper --cores $(CORES) $(if $(PAPERS),--papers "$(PAPERS)")

sensitivity: environment
	@$(SNAKEMAKE) --configfile $(CONFIG) $(RUN) -- sensitivity
	@$(PY) -m analogyqa report --config $(CONFIG)
	@echo "sensitivity.{md,csv,png,svg} are beside the tables and figures of each paper"

test: environment
	@$(PY) -m pytest -n auto --dist loadfile

# Slurm tests mostly wait, so there are more workers than cores; each worker has its own cluster.
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
	$(PY) -m mypy

docs: environment
	@$(PY) -m pip install --quiet --disable-pip-version-check --requirement docs/requirements.txt
	@rm -rf docs/reference  # it may have pages of modules that are gone
	@$(PY) -m sphinx --quiet --fail-on-warning --keep-going -c docs . docs/_build/html
	@echo "Open docs/_build/html/index.html"

ui: environment
	@$(PY) -m analogyqa ui --config $(CONFIG) $(if $(PORT),--port $(PORT))

report: environment
	@$(PY) -m analogyqa report --config $(CONFIG)

sources: environment
	@$(PY) -m analogyqa sources --config $(CONFIG)

plan: environment
	@$(PY) -m analogyqa plan --config $(CONFIG)

slurm-test: environment
	@$(PY) -m pytest -m slurm -n 4

gpu-test: environment
	@$(PY) -m pytest -m gpu -rs

browser-test: environment
	@$(PY) -m pip install --quiet --disable-pip-version-check --requirement tests/browser/requirements.txt
	@$(PY) -m pytest -m browser -rs

bench: environment
	@for name in training arithmetic quadruples overhead; do \
	  echo "== $$name"; $(PY) benchmarks/$$name.py || exit 1; done
	@$(PY) benchmarks/performance.py

# Make passes PYTHON and TORCH_INDEX to the script.
environment:
	@sh envs/install.sh
