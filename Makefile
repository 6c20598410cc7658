# `make demo` shows the compiler at work, `make test` checks everything; `make smith` tries random models.
# All make .venv first.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= 2

.PHONY: demo test types mutations smith fuzz conformance every-om bench clean

demo: $(VENV)/ready
	$(BIN)/python test/digits/run.py build

test: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lit -s -j $(JOBS) test
	$(MAKE) --no-print-directory --output-sync=target -j $(JOBS) types mutations
	$(BIN)/pytest -q -n $(JOBS)

# Parts of `make test` that take one core each.
types: $(VENV)/ready
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

mutations: $(VENV)/ready
	$(BIN)/python -m test.mutate

smith: $(VENV)/ready
	$(BIN)/python -m gecc.debug.smith --count 2000 --jobs $(JOBS)

# Hostile om files: mutations of every field, then half an hour of a coverage-guided fuzzer.
fuzz: $(VENV)/ready
	$(BIN)/python -m test.fuzz --count 200000 --cuts --jobs $(JOBS)
	$(BIN)/python -m test.fuzz --portable --count 4000 --jobs $(JOBS)
	$(BIN)/python -m pip install -q atheris
	$(BIN)/python -m test.fuzz.coverage_guided -max_total_time=1800

# The cases that onnx ships for backends: counts, and why what is refused is refused.
conformance: $(VENV)/ready
	$(BIN)/python -m test.conformance --jobs $(JOBS)

# Every om that the tests make: run between poison, through text and back, and opened by Netron (needs node). Not the mutants:
# what their kernels read may be dead.
every-om: $(VENV)/ready
	$(BIN)/python -m pip install -q netron
	rm -rf build/oms
	$(BIN)/python -m pytest -q -n $(JOBS) -p test.every_om --poison --keep-oms build/oms --deselect test/unit/om/test_fuzz.py
	$(BIN)/python -m test.every_om build/oms --netron --jobs $(JOBS)

bench: $(VENV)/ready
	$(BIN)/python -m pip install -q -e ".[test,bench]"
	$(BIN)/python -m test.models.measure --markdown

$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -e ".[test]"
	touch $@

clean:
	rm -rf $(VENV) build
