"""The examples in the docstrings of the public names give the answers that they show.

An example that loads a trained model shows the answers of the demo's, so it is a long proof. It
runs in a folder with the files that the guides name.
"""

import doctest
import inspect

import pytest

import kformer
import kformer.export
import kformer.training

PUBLIC = {
    f"{package.__name__}.{name}": getattr(package, name)
    for package in (kformer, kformer.training, kformer.export)
    for name in package.__all__
}
FILES = '"runs/', '"served/', '.tflite"', '"test.de"'


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
    if name in TRAINED:
        request.getfixturevalue("demo_folder")
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    result = runner.run(EXAMPLES[name], out=report.append)
    assert result.attempted and not result.failed, "".join(report)


@pytest.mark.parametrize("name", [name for name in PUBLIC if inspect.isclass(PUBLIC[name])])
def test_a_public_class_has_an_example_of_its_use(name):
    """Under the heading that generators of documentation know."""
    text = inspect.getdoc(PUBLIC[name])
    assert text.partition("\nExamples:\n")[2].startswith("    >>> ")
