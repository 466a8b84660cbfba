# Each target does its own set-up: in .venv, the benchmarks against others in .venv-bench.
PYTHON ?= python3
BIN := .venv/bin
ON_JAX := KERAS_BACKEND=jax $(BIN)/pytest -n 2 --dist worksteal tests/model \
	tests/training/objective tests/training/callbacks tests/decoding/search
SLOW_ON_JAX := dense.py from_torch.py sequence_classifier.py torch_file.py transformer.py transformer_decoder.py
SAMPLE_ON_JAX := $(ON_JAX) -m "not prove" $(addprefix --ignore tests/model/test_,$(SLOW_ON_JAX))

# The parts of `make prove`, each of about ten minutes on two cores, and their folders and files.
PARTS := text serving pocket model decoding imports tasks data runs resuming kinds parallel tflite \
	saved_model export cli demos browser guides fuzzing package jax
PROOFS_text := tests/text tests/inference tests/documents tests/support
PROOFS_serving := tests/server tests/serving tests/scale
PROOFS_pocket := tests/pocket tests/identification
PROOFS_model := tests/model
PROOFS_decoding := tests/decoding
PROOFS_imports := tests/imports
PROOFS_tasks := tests/tasks
PROOFS_data := tests/training/data tests/training/shards tests/training/objective \
	tests/training/callbacks
PROOFS_runs := tests/training/test_*.py tests/training/run/test_cost.py \
	tests/training/run/test_fine_tuning.py tests/training/run/test_folder_copy.py \
	tests/training/run/test_outcome.py tests/training/run/test_pace.py \
	tests/training/run/test_recipe.py tests/training/run/test_replicas.py \
	tests/training/run/test_run_preparation.py tests/training/run/test_run_refusals.py \
	tests/training/run/test_start_of_runs.py tests/training/run/test_text_size.py \
	tests/training/run/test_trainers.py tests/training/run/test_validation.py
PROOFS_resuming := tests/training/run/test_backends.py tests/training/run/test_checkpoint.py \
	tests/training/run/test_continuation.py tests/training/run/test_killed_runs.py \
	tests/training/run/test_resume.py
PROOFS_kinds := tests/training/kinds
PROOFS_parallel := tests/training/parallel
PROOFS_tflite := tests/export/tflite
PROOFS_saved_model := tests/export/saved_model
PROOFS_export := tests/export/verify tests/export/test_*.py
PROOFS_cli := tests/cli/test_[!d]*.py
PROOFS_demos := tests/cli/test_d*.py
PROOFS_browser := tests/browser
PROOFS_guides := tests/test_guides.py tests/test_docs_site.py tests/test_docstring_examples.py
PROOFS_fuzzing := tests/test_fuzzing.py
PROOFS_package := tests/benchmarks tests/test_archives.py tests/test_arguments.py \
	tests/test_backend.py tests/test_files.py tests/test_keras_classes.py tests/test_kinds.py \
	tests/test_layout.py tests/test_near_names.py tests/test_packaging.py tests/test_phrasebook.py \
	tests/test_plot.py tests/test_programs.py tests/test_release.py tests/test_runtime_wheel.py \
	tests/test_signatures.py tests/test_word_list.py
PROOFS_ARGS = $(ARGS)
ifneq ($(filter-out $(PARTS),$(PART)),)
$(error PART must be one of $(PARTS). Received: PART=$(PART))
endif
PROVE := $(BIN)/pytest -n 2 --dist worksteal --durations=10 --hypothesis-profile=prove -m "prove or hypothesis"

.PHONY: help demo demo-model identifier test test-jax prove runtime-wheel release docs notebook bench-train bench-decode bench-translate bench-serve bench-page bench-firefox bench-input bench-pairs bench-shards bench-scaling lint older-runtimes venv clean

help:  ## List the targets.
	@awk -F ':.*  ## ' '/^[a-z-]+:.*  ## / { printf "%-17s%s\n", $$1, $$2 }' Makefile

demo: venv  ## Run `kformer demo` in the environment of contributors; it needs none of their tools.
	$(BIN)/kformer demo --output demo --overwrite

demo-model: venv  ## Train the model of `kformer translate demo` again: kformer/pocket/demo.tflite.
	$(BIN)/kformer demo --output build/demo-model --overwrite
	PYTHONPATH=tests $(BIN)/python -m support.demo_model build/demo-model/run kformer/pocket/demo.tflite

identifier: venv  ## Train the classifier of `kformer identify` again; CLONES=, a folder of public text.
	PYTHONPATH=tests $(BIN)/python -m support.identifier_text $(CLONES) build/identifier
	PYTHONPATH=tests $(BIN)/python -m support.identifier_model build/identifier \
		build/identifier/first.tflite
	PYTHONPATH=tests $(BIN)/python -m support.identifier_model build/identifier \
		kformer/identification/languages.tflite --start build/identifier/identifier.keras --steps 2500

test: venv lint  ## Run the tests but for the long proofs; ARGS="tests/model" runs one package.
	$(BIN)/pytest $(if $(ARGS),,-n 2 --dist worksteal) -m "not prove" $(ARGS)
	$(if $(ARGS),,$(SAMPLE_ON_JAX))

test-jax: venv  ## Run only that sample of the tests that `make test` runs on Keras's JAX backend.
	$(SAMPLE_ON_JAX)

prove: $(addprefix prove-,$(if $(ARGS),ARGS,$(or $(PART),$(PARTS))))  ## Run the long proofs, part by part; PART=text runs one, ARGS= as above.

prove-%: venv lint .venv/arm/downloaded older-runtimes
	$(PROVE) $(PROOFS_$*)

prove-jax: venv
	$(ON_JAX)

runtime-wheel: venv  ## Build the wheel kformer-runtime, which needs no TensorFlow, in dist.
	$(BIN)/python tests/support/runtime_wheel.py dist

release: .venv-release/installed  ## Build and check archive and wheels of the last commit, with checksums and an SBOM, in dist.
	.venv-release/bin/python tests/support/release.py dist

docs: venv  ## Build the site of guides and reference, in build/docs; index.html is the first page.
	PYTHONPATH=tests TF_CPP_MIN_LOG_LEVEL=3 $(BIN)/python -m support.docs_site build/docs

notebook: venv  ## Run the teaching notebook and store its outputs: about ten minutes on 2 cores.
	PYTHONPATH=tests $(BIN)/python -m support.notebook

bench-train: .venv-bench/installed  ## Measure training against others; SOURCE=, TARGET=, ARGS=.
	PYTHONPATH=tests .venv-bench/bin/python -m benchmarks.training \
		$(if $(SOURCE),--source $(SOURCE)) $(if $(TARGET),--target $(TARGET)) $(ARGS)

bench-decode: .venv-bench/installed  ## Measure decoding against CTranslate2 and Marian; MODEL=, SOURCE=, ARGS=.
	PYTHONPATH=tests .venv-bench/bin/python -m benchmarks.decoding \
		$(if $(MODEL),--model $(MODEL)) $(if $(SOURCE),--source $(SOURCE)) $(ARGS)

bench-translate: .venv-bench/installed  ## Measure the translation of a file, start-up included; MODEL=, SOURCE=, ARGS=.
	PYTHONPATH=tests .venv-bench/bin/python -m benchmarks.commands \
		--model $(MODEL) --source $(SOURCE) $(ARGS)

bench-serve: .venv-bench/installed  ## Measure kformer serve under load, beside CTranslate2 or LibreTranslate; MODEL=, SOURCE=, ARGS=.
	PYTHONPATH=tests .venv-bench/bin/python -m benchmarks.server \
		--model $(MODEL) --source $(SOURCE) $(ARGS)

bench-page: venv  ## Measure the web page against Firefox's engine in Chromium; MODEL=, SOURCE=, ARGS=.
	PYTHONPATH=tests $(BIN)/python -m benchmarks.page \
		$(if $(MODEL),--model $(MODEL)) $(if $(SOURCE),--source $(SOURCE)) $(ARGS)

bench-firefox: .venv-bench/installed  ## Race Firefox's models against the engines that run them; SOURCE=, TARGET=, ARGS=.
	PYTHONPATH=tests .venv-bench/bin/python -m benchmarks.firefox \
		--source $(SOURCE) --target $(TARGET) $(ARGS)

bench-input: venv  ## Measure the input pipeline on 1 GB of random words; ARGS=.
	$(BIN)/python tests/benchmarks/input_pipeline.py $(ARGS)

bench-pairs: venv  ## Measure each kind of source of pairs beside two text files; ARGS=.
	$(BIN)/python tests/benchmarks/pair_sources.py $(ARGS)

bench-shards: venv  ## Measure text to shards to batches, and other forms of records; ARGS=.
	PYTHONPATH=tests $(BIN)/python -m benchmarks.shards $(ARGS)

bench-scaling: venv  ## Measure what more devices and processes cost, beside a model; ARGS=.
	PYTHONPATH=tests $(BIN)/python -m benchmarks.scaling $(ARGS)

lint: venv  ## Check the code with ruff, its names, its types and its imports.
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy --no-error-summary
	$(BIN)/python tests/support/word_list.py
	@report=$$($(BIN)/lint-imports --no-logo --no-cache) || { echo "$$report"; false; }

venv: .venv/installed  ## Install kformer and its tools in .venv.

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

# Each is installed once; the proofs of those that this Python has no wheel of are skipped.
older-runtimes: venv
	PYTHONPATH=tests $(BIN)/python -m support.native.older_runtimes

.venv-bench/installed: pyproject.toml tests/benchmarks/requirements.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check \
		--editable . --requirement tests/benchmarks/requirements.txt
	touch $@

.venv-release/installed: tests/support/release_requirements.txt
	$(PYTHON) -m venv .venv-release
	.venv-release/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

clean:  ## Remove everything that was made.
	rm -rf .venv .venv-bench .venv-release build dist demo runs .pytest_cache .ruff_cache .mypy_cache .hypothesis kformer.egg-info
	find kformer tests -name __pycache__ -type d -prune -exec rm -rf {} +
