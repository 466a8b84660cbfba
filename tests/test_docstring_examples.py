"""The examples in the docstrings of the public names give the answers that they show.

An example that loads a trained model shows the answers of the demo's, so it is a long proof. It
runs in a folder with the files that the guides name; one that asks a server asks the demo's.
"""

import doctest
import inspect

import pytest

import kformer
from support.pretrained import marian

PUBLIC = {
    f"{package.__name__}.{name}": getattr(package, name)
    for package in (kformer, kformer.training, kformer.export, kformer.pocket)
    for name in package.__all__
} | {"kformer.serving.Client": kformer.serving.Client}
SERVER = "http://localhost:5000"
FILES = '"runs/', '"served/', '.tflite"', '"test.de"', SERVER


def example_of(name):
    """The example in the docstring of a public name, as `doctest` reads it."""
    text = inspect.getdoc(PUBLIC[name])
    return doctest.DocTestParser().get_doctest(text, {}, name, None, None)


EXAMPLES = {name: example for name in PUBLIC if (example := example_of(name)).examples}
TRAINED = {name for name, example in EXAMPLES.items() if any(map(example.docstring.count, FILES))}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.prove) if name in TRAINED else name for name in EXAMPLES],
)
def test_an_example_gives_the_answers_that_it_shows(name, request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = EXAMPLES[name]
    if name in TRAINED:
        request.getfixturevalue("demo_folder")
    if SERVER in example.docstring:
        for step in example.examples:
            step.source = step.source.replace(SERVER, request.getfixturevalue("demo_api").url)
    if "opus-mt-de-en" in example.docstring:
        words, folder = marian.vocabulary(), tmp_path / "opus-mt-de-en"
        network = marian.transformer(words.pieces)
        marian.write_folder(folder, words, network, max_position_embeddings=512)
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
    "load",
)


@pytest.mark.parametrize("name", NEWCOMERS)
def test_what_newcomers_call_has_an_example(name):
    assert f"kformer.{name}" in EXAMPLES
