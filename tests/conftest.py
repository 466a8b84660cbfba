"""What all tests share: a quiet TensorFlow, fixed seeds, and examples that never vary."""

import collections
import contextlib
import ctypes
import dataclasses
import gc
import io
import os

from support import TESTS

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # Before TensorFlow is imported.
# Scripts in processes of their own find `support`, too.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
)

import random
import subprocess
import sys
import warnings
from itertools import islice

import hypothesis
import keras
import numpy as np
import pytest
import sentencepiece

import kformer
from browser.chromium import NotHere, installed_packages
from kformer import (
    LanguageModel,
    TextClassifier,
    Tokenizer,
    Transformer,
    TransformerDecoder,
    TransformerEncoder,
    Translator,
    phrasebook,
)
from kformer.backend import is_tensorflow
from kformer.cli import main
from kformer.export import ServedClassifier, Verifier, export_saved_model, export_tflite
from kformer.training import (
    MaskedCrossEntropy,
    Recipe,
    language_dataset,
    learn_shortlist,
    train,
)
from support import toy
from support.backend import prepare_jax, reason_to_skip
from support.made_once import MadeOnce
from support.reference import perturbed
from support.serving.server_process import batching_of, stand_in

# The garbage collector would walk TensorFlow's modules, which stay, again and again.
gc.collect()
gc.freeze()
gc.set_threshold(5_000, 10, 10)

if not is_tensorflow():
    prepare_jax()

same_for_all = {"deadline": None, "derandomize": True, "database": None}
# On JAX, an example may take a second: its shapes are compiled.
examples, every = (10, 1) if is_tensorflow() else (2, 5)
hypothesis.settings.register_profile("kformer", max_examples=examples, **same_for_all)
hypothesis.settings.register_profile("prove", max_examples=1000, **same_for_all)  # `make prove`
hypothesis.settings.load_profile("kformer")


@pytest.hookimpl(tryfirst=True)  # Before `-m` chooses.
def pytest_collection_modifyitems(items):
    """Marks all but every n-th case of a test with `sample(n)` as a long proof.

    On JAX, so are all but every fifth case of the other tests, because compiling takes long; and
    the tests of TensorFlow itself are skipped, see `reason_to_skip`.

    The tests that need the toy translator come first, so that the process of another half of the
    tests does not wait until it is trained.
    """
    toys = {item.path for item in items if "toy_run" in item.fixturenames}
    items.sort(key=lambda item: item.path not in toys)
    cases = collections.Counter()
    for item in items:
        if reason := reason_to_skip(item):
            item.add_marker(pytest.mark.skip(reason=reason))
        sample = item.get_closest_marker("sample")
        name = item.path, item.originalname
        if cases[name] % max(sample.args[0] if sample else 1, every):
            item.add_marker("prove")
        cases[name] += 1


@pytest.fixture(autouse=True)
def seed():
    keras.utils.set_random_seed(1)


@pytest.fixture(scope="module", autouse=True)
def memory():
    """Frees the graphs and arrays of a test file after its tests; one process runs many files.

    The garbage collector finds graphs, which are cycles, late, and glibc keeps what was freed.
    """
    yield
    gc.collect()
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError):  # Another C library than glibc.
            ctypes.CDLL(None).malloc_trim(0)


@pytest.fixture(scope="session")
def made_once(tmp_path_factory, worker_id):
    """See `MadeOnce`. What is in its folders belongs to all tests: none may change it."""
    base = tmp_path_factory.getbasetemp()
    return MadeOnce(base if worker_id == "master" else base.parent)


@pytest.fixture(scope="session")
def parallel_text(made_once):
    """Paths by name, "train.de" and so on: 300 sentences to train on, 40 to validate."""

    def write(folder):
        pairs = dict.fromkeys(pair for pair, _ in islice(phrasebook.sample(random.Random(0)), 400))
        pairs = list(pairs)[:340]
        paths = {}
        for part, of_part in {"train": pairs[:300], "valid": pairs[300:]}.items():
            for language, sentences in zip(("de", "en"), zip(*of_part, strict=True), strict=True):
                path = paths[f"{part}.{language}"] = folder / f"{part}.{language}"
                path.write_text("".join(f"{line}\n" for line in sentences), encoding="utf-8")
        return paths

    return made_once("parallel_text", write)


@pytest.fixture(scope="session")
def tokenizer(parallel_text):
    return Tokenizer.train([parallel_text["train.de"], parallel_text["train.en"]], vocab_size=400)


@pytest.fixture(scope="session")
def toy_run(made_once):
    """A `toy.Run`, whose translator is right about most sentences of the toy language."""
    run = made_once("toy", toy.train)
    assert run.result.returncode == 0, run.result.stderr
    return run


@pytest.fixture(scope="session")
def toy_exports(toy_run, made_once):
    """What `kformer export` did, which wrote `served` and `toy.tflite` beside the run."""

    def export(_):
        folder = toy_run.folder.parent
        return toy.run_command(
            *("export", toy_run.folder / "translator.keras"),
            *("--saved-model", folder / "served", "--tflite", folder / "toy.tflite"),
            *("--source-language", "de", "--target-language", "en"),
            *("--licence", "CC0", "--citation", "Nobody (2026)"),
        )

    return made_once("toy_exports", export)


@pytest.fixture(scope="session", params=["keras", "SavedModel", "tflite"])
def toy_model(request, toy_run, toy_exports):
    """The path of each saved form in turn."""
    names = {"keras": "run/translator.keras", "SavedModel": "served", "tflite": "toy.tflite"}
    return toy_run.folder.parent / names[request.param]


@pytest.fixture
def command(monkeypatch, capfdbinary):
    """A function that runs `kformer` in this process, and returns what a process would."""

    def run(*arguments, stdin=b""):
        arguments = ["kformer", *map(str, arguments)]
        monkeypatch.setattr("sys.argv", arguments)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        monkeypatch.setattr("warnings.showwarning", warnings.showwarning)  # To have it back.
        with pytest.raises(SystemExit) as ended:
            main()
        output, errors = (written.decode() for written in capfdbinary.readouterr())
        return subprocess.CompletedProcess(arguments, ended.value.code or 0, output, errors)

    return run


@pytest.fixture
def refused(command, tmp_path):
    """A function that runs a command, which must fail as it should, and returns its one line."""

    def run(*arguments, stdin=b""):
        before = sorted(tmp_path.rglob("*"))
        result = command(*arguments, stdin=stdin)
        assert result.returncode == 2
        assert result.stdout == ""
        assert result.stderr.startswith("kformer: ")
        assert result.stderr.count("\n") == 1 and result.stderr.endswith("\n")
        assert sorted(tmp_path.rglob("*")) == before
        return result.stderr.removesuffix("\n")

    return run


@pytest.fixture
def written(tmp_path):
    """A function that writes a file and returns its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def training(toy_run, tmp_path):
    """The arguments of a run that would be in order."""
    files = toy_run.files
    return [
        *("train", "--source", files["train.de"], "--target", files["train.en"]),
        *("--output", tmp_path / "run", "--recipe", "quick", "--vocab-size", 300),
    ]


@pytest.fixture(scope="session")
def toy_keras(toy_run):
    return toy_run.folder / "translator.keras"


@pytest.fixture(scope="session")
def toy_served(toy_run, toy_exports):
    """The folder of versions that TensorFlow Serving mounts."""
    assert toy_exports.returncode == 0, toy_exports.stderr
    return toy_run.folder.parent / "served"


@pytest.fixture(scope="session")
def toy_tflite(toy_served):
    return toy_served.with_name("toy.tflite")


@pytest.fixture(scope="session")
def toy_server(toy_served):
    """A server of it, with the batching that an export recommends."""
    with stand_in(toy_served, batching=batching_of(toy_served)) as server:
        yield server


@pytest.fixture(scope="session")
def packages(request, made_once):
    """The npm packages that the web page and its tests need."""
    cache = request.config.cache.mkdir("browser")
    try:
        return made_once("browser_packages", lambda _: installed_packages(cache))
    except NotHere as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def toy_translator(toy_run):
    return kformer.load(toy_run.folder / "translator.keras")


@pytest.fixture(scope="session")
def toy_shortlist(toy_translator, toy_run, made_once):
    """A `kformer.Shortlist` of 61 candidates, of some 300 ids."""
    files = toy_run.files["train.de"], toy_run.files["train.en"]
    return made_once("toy_shortlist", lambda _: learn_shortlist(toy_translator, *files, size=61))


@pytest.fixture(scope="session")
def toy_saved_model(toy_served):
    """The folder of its version 1; by greedy search."""
    return toy_served / "1"


@pytest.fixture(scope="session")
def toy_beam_saved_model(toy_translator, made_once):
    """As `toy_saved_model`; by a beam of 3 with a length penalty of 1, and without sentences."""
    return made_once(
        "toy_beam_saved_model",
        lambda folder: export_saved_model(toy_translator, folder / "toy", 3, 1.0),
    )


@pytest.fixture(scope="session")
def tiny_classifier(tokenizer, made_once):
    """An untrained classifier, whose labels differ from text to text."""

    def save(folder):
        keras.utils.set_random_seed(5)
        encoder = perturbed(TransformerEncoder(400, 1, 16, 2, 24))
        classifier = perturbed(TextClassifier(tokenizer, encoder, ["bad", "sehr gut", "so là là"]))
        found = classifier.predict(toy.SOURCES)
        classifier.network.head.bias.assign_sub(np.log(found.probabilities).mean(axis=0))
        classifier.save(folder / "classifier.keras")
        return folder / "classifier.keras"

    return kformer.load(made_once("tiny_classifier", save))


@pytest.fixture(scope="session")
def classifier_saved_model(tiny_classifier, made_once):
    """The folder of version 1 of its SavedModel."""

    def export(folder):
        return export_saved_model(
            tiny_classifier, folder / "served", check=check, examples=toy.SOURCES
        )

    def check(path):
        verifier = Verifier(tiny_classifier, toy.SOURCES, ["bad"] * len(toy.SOURCES))
        return verifier.verify_served(ServedClassifier(path), path)

    return made_once("classifier_saved_model", export)


@pytest.fixture(scope="session")
def classifier_server(classifier_saved_model):
    """A server of it, as `toy_server`."""
    folder = classifier_saved_model.parent
    with stand_in(folder, model="classifier", batching=batching_of(folder)) as server:
        yield server


@pytest.fixture(scope="session")
def tiny_language_model(tokenizer, parallel_text, made_once):
    """A language model of at most 24 positions, trained so far that some of its texts end."""

    def save(folder):
        keras.utils.set_random_seed(6)
        decoder = TransformerDecoder(400, 2, 16, 2, 24, dropout=0.0)
        rows = {"max_length": 24, "tokens_per_batch": 240}
        decoder.compile(keras.optimizers.Adam(0.01), MaskedCrossEntropy())
        text = language_dataset(parallel_text["train.en"], tokenizer, **rows)
        decoder.fit(text, epochs=10, shuffle=False, verbose=0)
        LanguageModel(tokenizer, decoder, max_length=24).save(folder / "language_model.keras")
        return folder / "language_model.keras"

    return kformer.load(made_once("tiny_language_model", save))


@pytest.fixture(scope="session")
def language_model_saved_model(tiny_language_model, made_once):
    """The folder of version 1 of its SavedModel."""

    def export(folder):
        return export_saved_model(
            tiny_language_model, folder / "served", check=check, examples=toy.SOURCES
        )

    def check(path):
        verifier = Verifier(tiny_language_model, [text[:12] for text in toy.SOURCES])
        return verifier.verify_served(kformer.load(path), path)

    return made_once("language_model_saved_model", export)


@pytest.fixture(scope="session")
def language_model_server(language_model_saved_model):
    """A server of it, as `toy_server`."""
    folder = language_model_saved_model.parent
    with stand_in(folder, model="language_model", batching=batching_of(folder)) as server:
        yield server


@pytest.fixture(scope="session")
def language_model_tflite(tiny_language_model, made_once):
    """A function that returns the path of a `.tflite` file for prompts below 16 ids."""

    def path(beam_size=1, precision="float32", batch_size=1):
        def export(folder):
            return export_tflite(
                tiny_language_model,
                folder / "language_model.tflite",
                beam_size=beam_size,
                max_source_length=16,
                precision=precision,
                batch_size=batch_size,
                examples=["wir", "der hund"],
            )

        return made_once(f"language_model_{precision}_beam{beam_size}_batch{batch_size}", export)

    return path


@pytest.fixture(scope="session")
def short_tflite(toy_translator, made_once):
    """A function that returns the path of a `.tflite` file for sources of `toy.SHORT` ids."""

    def path(beam_size=1, precision="float32", batch_size=1):
        def export(folder):
            return export_tflite(
                toy_translator,
                folder / "toy.tflite",
                beam_size=beam_size,
                max_source_length=toy.SHORT,
                precision=precision,
                batch_size=batch_size,
                examples=[" ".join(toy.SOURCES[:20]), *toy.SOURCES],
                about={"licence": "CC0"},
            )

        return made_once(f"tflite_{precision}_beam{beam_size}_batch{batch_size}", export)

    return path


@pytest.fixture(scope="session")
def classifier_tflite(tiny_classifier, made_once):
    """A function that returns the path of a `.tflite` file for texts of `toy.SHORT` ids."""

    def path(precision="float32", batch_size=1):
        def export(folder):
            return export_tflite(
                tiny_classifier,
                folder / "classifier.tflite",
                max_source_length=toy.SHORT,
                precision=precision,
                batch_size=batch_size,
                examples=[" ".join(toy.SOURCES[:20]), *toy.SOURCES],
                about={"licence": "CC0"},
            )

        return made_once(f"classifier_{precision}_batch{batch_size}", export)

    return path


@pytest.fixture(scope="session")
def tiny_recipe():
    """Numbers of a run of seconds, which learns little."""
    return Recipe.named(
        "quick",
        vocab_size=400,
        d_model=16,
        d_ff=24,
        dropout=0.1,
        epochs=2,
        tokens_per_batch=512,
        max_length=48,
        warmup_steps=40,
    )


@pytest.fixture(scope="session")
def tiny_run(again, made_once):
    """The folder of a run, and its translator."""

    def run(folder):
        again(folder / "run")
        return folder / "run"

    folder = made_once("tiny_run", run)
    return folder, kformer.load(folder / "translator.keras")


@pytest.fixture(scope="session")
def again(parallel_text, tiny_recipe):
    """Trains with `tiny_recipe` and some changes."""

    options = "overwrite", "restart", "tensorboard", "callbacks"

    def again(output, valid=True, **numbers):
        given = {name: numbers.pop(name) for name in options if name in numbers}
        source, target, *valid_files = parallel_text.values()
        recipe = dataclasses.replace(tiny_recipe, **numbers)
        files = [source, target, output, *(valid_files if valid else ())]
        return train(recipe, *files, **given)

    return again


@pytest.fixture(scope="session")
def two_vocabularies(toy_run):
    """An untrained translator; the target's tokenizer is larger, and has an end id of its own."""
    source = Tokenizer.train(toy_run.files["train.de"], 285)
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(toy.TARGETS),
        model_writer=written,
        vocab_size=290,
        byte_fallback=True,
        **{"pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3, "minloglevel": 2},
    )
    keras.utils.set_random_seed(8)  # Of which many different pieces come, that id among them.
    transformer = perturbed(Transformer(285, 1, 32, 2, 64, target_vocab_size=290))
    table = transformer.target_embedding.table
    often = np.where(np.arange(290) == 3, 9, 1)  # What would be the end of a source.
    table.assign(table * often[:, None])
    return Translator(source, transformer, Tokenizer(written.getvalue()))
