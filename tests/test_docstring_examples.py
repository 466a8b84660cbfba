"""The examples in the docstrings of the public names give the answers that they show.

An example that loads a trained model shows the answers of the demo's, so it is a long proof. It
runs in a folder with the files that the guides name; one that asks a server asks the demo's.
"""

import doctest
import inspect
import os
from pathlib import Path

import pytest

import kformer
from kformer.imports.published.model_names import published_name
from support.pretrained import bergamot, fairseq, marian, opennmt, opennmt_tf
from support.pretrained.marian_npz import spm_vocabulary
from support.pretrained.sentences import sentences

PACKAGES = (
    kformer,
    kformer.training,
    kformer.export,
    kformer.pocket,
    kformer.server,
    kformer.serving,
)
PUBLIC = {
    f"{package.__name__}.{name}": getattr(package, name)
    for package in PACKAGES
    for name in package.__all__
}
SERVER = "http://localhost:5000"
FILES = '"runs/', '"served/', '.tflite"', '"test.de"', SERVER


def example_of(name):
    """The example in the docstring of a public name, as `doctest` reads it."""
    text = inspect.getdoc(PUBLIC[name])
    return doctest.DocTestParser().get_doctest(text, {}, name, None, None)


EXAMPLES = {name: example for name in PUBLIC if (example := example_of(name)).examples}
TRAINED = {name for name, example in EXAMPLES.items() if any(map(example.docstring.count, FILES))}


def write_marian(folder):
    words = marian.vocabulary()
    network = marian.transformer(words.pieces)
    marian.write_folder(folder, words, network, max_position_embeddings=512)


def write_bergamot(folder):
    words = spm_vocabulary(sentences(300), vocab_size=100)
    network = marian.transformer(words.pieces, decoder_cell="ssru")
    bergamot.write_bergamot_folder(folder, words, network)


def write_fairseq(folder):
    pieces = fairseq.pieces()
    fairseq.write_folder(folder, fairseq.transformer(pieces), pieces)


def write_opennmt(folder):
    pieces = opennmt.pieces(marian.vocabulary().pieces)
    opennmt.write_checkpoint(folder / "model.pt", opennmt.transformer(pieces), (pieces, pieces))


def write_published(place):
    """Fills the cache as if the model had been downloaded."""
    name = published_name("firefox://de-en")
    folder = Path(os.environ["KFORMER_HOME"]) / "models" / name.folder
    folder.mkdir(parents=True)
    write_bergamot(place)
    kformer.from_bergamot(place).save(folder / "model.keras")
    (folder / "facts.json").write_text("{}")


PRETRAINED = {  # Folder that an example names -> what writes it, of random weights.
    "opus-mt-de-en": write_marian,
    "firefox-deen": write_bergamot,
    "fairseq-de-en": write_fairseq,
    "opennmt-de-en": write_opennmt,
    "opennmt-tf-de-en": opennmt_tf.write_run,
    "firefox://de-en": write_published,
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.prove) if name in TRAINED else name for name in EXAMPLES],
)
def test_an_example_gives_the_answers_that_it_shows(name, request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KFORMER_HOME", str(tmp_path / "home"))
    example = EXAMPLES[name]
    if name in TRAINED:
        request.getfixturevalue("demo_folder")
    if SERVER in example.docstring:
        for step in example.examples:
            step.source = step.source.replace(SERVER, request.getfixturevalue("demo_api").url)
    for folder, write in PRETRAINED.items():
        if f'"{folder}' in example.docstring:
            write(tmp_path / folder)
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    result = runner.run(example, out=report.append)
    assert result.attempted and not result.failed, "".join(report)


@pytest.mark.parametrize("name", [name for name in PUBLIC if inspect.isclass(PUBLIC[name])])
def test_a_public_class_has_an_example_of_its_use(name):
    """Under the heading that generators of documentation know."""
    text = inspect.getdoc(PUBLIC[name])
    assert text.partition("\nExamples:\n")[2].startswith("    >>> ")


NEWCOMERS = (  # Functions that a first program calls.
    "training.train",
    "training.train_classifier",
    "training.train_language_model",
    "training.train_tagger",
    "export.export_tflite",
    "export.export_saved_model",
    "from_marian",
    "from_bergamot",
    "from_ctranslate2",
    "from_fairseq",
    "from_opennmt",
    "from_opennmt_tf",
    "server.create_app",
    "server.host",
    "load",
)


@pytest.mark.parametrize("name", NEWCOMERS)
def test_what_newcomers_call_has_an_example(name):
    assert f"kformer.{name}" in EXAMPLES
