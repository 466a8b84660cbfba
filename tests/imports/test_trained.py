"""A translator that kformer trained, written as a folder of MarianMTModel, and read again."""

import random
from itertools import islice

import pytest

import kformer
from kformer.export import export_saved_model, export_tflite
from support import phrasebook
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


def read_again(translator, folder):
    """The translator of a folder of MarianMTModel that holds `translator`."""
    tokenizer = translator.tokenizer
    pieces = tokenizer.pieces(range(tokenizer.vocab_size))
    words = marian.Vocabulary((tokenizer.model,) * 2, pieces)
    config = {
        "decoder_start_token_id": tokenizer.start_id,
        "max_position_embeddings": translator.max_source_length,
    }
    marian.write_folder(folder / "marian", words, translator.transformer, **config)
    # A kformer model has the positions of transformers, not of Marian.
    return kformer.from_marian(folder / "marian", as_transformers=True)


def sentences(count):
    return [source for (source, _), _ in islice(phrasebook.sample(random.Random(23)), count)]


@pytest.fixture(scope="module")
def trained(again, tmp_path_factory):
    """A translator that has learned, with its norms after each sub-layer, as Marian has them."""
    folder = tmp_path_factory.mktemp("trained")
    return again(folder, d_model=64, d_ff=128, epochs=30, norm_first=False)


def test_a_sample_of_translations_is_the_same(again, tmp_path):
    translator = again(tmp_path / "run", norm_first=False)
    texts = sentences(30)
    assert read_again(translator, tmp_path).translate(texts) == translator.translate(texts)


@pytest.mark.prove
@pytest.mark.parametrize("form", FORMS)
def test_all_translations_are_the_same(form, trained, tmp_path):
    texts = sentences(1000)
    expected = trained.translate(texts)
    found = FORMS[form](read_again(trained, tmp_path), tmp_path).translate(texts)
    same = sum(map(str.__eq__, found, expected))
    assert same == 1000
    assert len({*expected}) > 100
