"""A translator that kformer trained, written as a folder of MarianMTModel, and read again."""

import random
from itertools import islice

import pytest

import kformer
from kformer import phrasebook
from kformer.export import export_saved_model, export_tflite
from support.pretrained import marian

FORMS = {
    "keras": lambda translator, folder: translator,
    "SavedModel": lambda translator, folder: kformer.load(
        export_saved_model(translator, folder / "served")
    ),
    "tflite": lambda translator, folder: kformer.load(
        export_tflite(translator, folder / "translator.tflite")
    ),
}


@pytest.fixture(scope="module")
def read_again(toy_translator, tmp_path_factory):
    tokenizer, network = toy_translator.tokenizer, toy_translator.transformer
    pieces = tokenizer.pieces(range(tokenizer.vocab_size))
    words = marian.Vocabulary((tokenizer.model,) * 2, pieces)
    config = {
        "decoder_start_token_id": tokenizer.start_id,
        "max_position_embeddings": toy_translator.max_source_length,
    }
    folder = tmp_path_factory.mktemp("pretrained") / "marian"
    return kformer.from_marian(marian.write_folder(folder, words, network, **config))


@pytest.mark.parametrize(
    ("form", "count"),
    [
        ("keras", 100),
        *(pytest.param(form, 1000, marks=pytest.mark.prove) for form in FORMS),
    ],
)
def test_every_translation_is_the_same(form, count, read_again, toy_translator, tmp_path):
    sample = phrasebook.sample(random.Random(23))
    texts = [source for (source, _), _ in islice(sample, count)]
    expected = toy_translator.translate(texts)
    found = FORMS[form](read_again, tmp_path).translate(texts)
    same = sum(map(str.__eq__, found, expected))
    assert (same, len({*expected}) > count / 2) == (count, True)


def test_scores_are_the_same(read_again, toy_translator):
    sample = phrasebook.sample(random.Random(24))
    sources, targets = zip(*(pair for pair, _ in islice(sample, 20)), strict=True)
    expected = [one.log_probability for one in toy_translator.score(sources, targets)]
    found = [one.log_probability for one in read_again.score(sources, targets)]
    assert found == pytest.approx(expected, abs=1e-3)
