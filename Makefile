# Each target does its own set-up: in .venv, the benchmarks against others in .venv-bench.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test prove bench-train bench-decode bench-translate bench-input lint venv clean

demo: venv  ## Train, evaluate, export and translate, on the built-in corpus.
	$(BIN)/kformer demo --output demo --overwrite

test: venv lint  ## The tests, with a sample of the long proofs.
	$(BIN)/pytest -n 2 -m "not prove"

prove: venv lint .venv/arm/downloaded  ## All of the tests, however long.
	$(BIN)/pytest -n 2 --hypothesis-profile=prove

bench-train: .venv-bench/installed  ## Training speed against others; SOURCE=, TARGET=, ARGS=.
	PYTHONPATH=tests .venv-bench/bin/python -m benchmarks.training \
		$(if $(SOURCE),--source $(SOURCE)) $(if $(TARGET),--target $(TARGET)) $(ARGS)

bench-decode: .venv-bench/installed  ## Decoding speed against CTranslate2; MODEL=, SOURCE=, ARGS=.
	PYTHONPATH=tests .venv-bench/bin/python -m benchmarks.decoding \
		$(if $(MODEL),--model $(MODEL)) $(if $(SOURCE),--source $(SOURCE)) $(ARGS)

bench-translate: .venv-bench/installed  ## A file, set-up included; MODEL=, SOURCE=, ARGS=.
	PYTHONPATH=tests .venv-bench/bin/python -m benchmarks.commands \
		--model $(MODEL) --source $(SOURCE) $(ARGS)

bench-input: venv  ## Speed and memory of the input pipeline, on 1 GB of random words; ARGS=.
	$(BIN)/python tests/benchmarks/input_pipeline.py $(ARGS)

lint: venv
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .

venv: .venv/installed

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

# LiteRT for Arm, which one of the proofs runs in an emulator; without it that proof is skipped.
.venv/arm/downloaded: .venv/installed
	mkdir -p $(@D)
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --dest $(@D) --no-deps \
		--only-binary :all: --platform manylinux_2_17_aarch64 --platform manylinux_2_27_aarch64 \
		"$$($(BIN)/python -m pip freeze | grep ^ai-edge-litert=)" && touch $@ || \
		echo "LiteRT for Arm cannot be downloaded."

.venv-bench/installed: pyproject.toml tests/benchmarks/requirements.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check \
		--editable . --requirement tests/benchmarks/requirements.txt
	touch $@

clean:  ## Removes everything that was made.
	rm -rf .venv .venv-bench build dist demo runs .pytest_cache .ruff_cache .hypothesis kformer.egg-info
	find kformer tests -name __pycache__ -type d -prune -exec rm -rf {} +
