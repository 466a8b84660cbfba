"""A `.tflite` file with a shortlist says what Python says with it."""

import json
import zipfile

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

import kformer
from kformer import Shortlist
from kformer.export import export_tflite
from kformer.pocket import PocketTranslator
from support import toy

pytestmark = pytest.mark.prove  # An export for each search.


@pytest.fixture(scope="module")
def shortlisted(toy_translator, toy_shortlist):
    """The toy translator with so few candidates that it says something else."""
    odd = len(toy_shortlist.entries) - 1 | 1  # A number of entries that needs padding in a file.
    ends, entries = np.minimum(toy_shortlist.ends, odd), toy_shortlist.entries[:odd]
    few = [ends, entries, toy_shortlist.order, toy_shortlist.always, 19]
    toy_translator.shortlist = Shortlist(*few, vocabularies=toy_shortlist.vocabularies)
    yield toy_translator
    toy_translator.shortlist = None


@pytest.fixture(
    scope="module",
    params=[(3, "float32"), (1, "int8")],
    ids=["three beams", "int8"],
)
def exported(request, shortlisted, tmp_path_factory):
    """A search's number of beams, the precision and the file."""
    beam_size, precision = request.param
    path = tmp_path_factory.mktemp("shortlisted") / "toy.tflite"
    settings = {"max_source_length": toy.SHORT, "batch_size": 3}
    return (
        beam_size,
        precision,
        export_tflite(shortlisted, path, beam_size, precision=precision, **settings),
    )


def test_it_says_what_python_says_alone_and_in_batches(exported, shortlisted):
    beam_size, precision, path = exported
    pocket, texts = PocketTranslator(path, workers=1), toy.SOURCES[:20]
    expected = shortlisted.translate(texts, beam_size=beam_size)
    together = pocket.translate(texts)
    alone = [pocket.translate([text])[0] for text in texts[:5]]
    learnt, shortlisted.shortlist = shortlisted.shortlist, None
    among_all = shortlisted.translate(texts, beam_size=beam_size)
    shortlisted.shortlist = learnt
    assert together != among_all
    assert alone == together[:5]
    same = sum(one == other for one, other in zip(together, expected, strict=True))
    assert same == len(texts) if precision == "float32" else same > len(texts) / 2


def test_it_has_built_in_ops_alone_and_names_the_candidates(exported):
    _, _, path = exported
    model = schema.ModelT.InitFromPackedBuf(path.read_bytes(), 0)
    assert all(code.customCode is None for code in model.operatorCodes)
    with zipfile.ZipFile(path) as archive:
        assert json.loads(archive.read("kformer.json"))["candidates"] == 19
    assert isinstance(kformer.load(path), PocketTranslator)
