"""Models of one target language of several, fixed at import, as a piece before each source."""

import keras
import numpy as np
import pytest

import kformer
from kformer.export import export_saved_model, export_tflite
from support.pretrained import marian

TEXTS = ["der hund schläft .", "", "☃ haus", "  "]
WORDS = marian.vocabulary((">>deu<<", ">>fra<<"))
FRENCH = WORDS.pieces.index(">>fra<<")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    keras.utils.set_random_seed(1)
    network = marian.transformer(WORDS.pieces)
    path = tmp_path_factory.mktemp("pretrained") / "marian"
    return marian.write_folder(path, WORDS, network, max_position_embeddings=16)


@pytest.fixture(scope="module")
def translator(folder):
    return kformer.from_marian(folder, "fra")


def test_the_piece_of_the_language_stands_before_every_source(translator, folder):
    german = kformer.from_marian(folder, "deu")
    rows, others = translator.source_rows(TEXTS), german.source_rows(TEXTS)
    for text, row, other in zip(TEXTS, rows, others, strict=True):
        if text.strip():
            assert row[0] == FRENCH and row[1:] == other[1:] and row != other
        else:
            assert row == other == [0]
    assert translator.translate(TEXTS)[1] == ""
    assert translator.translate(TEXTS) != german.translate(TEXTS)
    assert ">>" not in translator.tokenizer.detokenize([rows[0]]).numpy()[0].decode()


@pytest.mark.prove
def test_words_are_counted_without_it(translator):
    [[best]] = translator.translations(TEXTS[:1])
    assert best.source_tokens[0] == "▁" and best.attention.shape[1] == len(best.source_tokens)
    [alignment] = translator.align(TEXTS[:1], ["the dog"])
    assert alignment.source[:2] == ("der", "hund")


@pytest.mark.prove
def test_it_is_in_every_saved_form(translator, tmp_path):
    translator.save(tmp_path / "a.keras")
    loaded = kformer.load(tmp_path / "a.keras")
    served = kformer.load(export_saved_model(translator, tmp_path / "served"))
    expected = translator.translate(TEXTS)
    assert loaded.translate(TEXTS) == served.translate(TEXTS) == expected
    assert loaded.source_rows(TEXTS) == translator.source_rows(TEXTS)
    encoder = kformer.TransformerEncoder.from_transformer(translator.transformer)
    kformer.TextEncoder(translator.tokenizer, encoder).save(tmp_path / "encoder.keras")
    vectors = kformer.load(tmp_path / "encoder.keras").encode(TEXTS)
    np.testing.assert_allclose(vectors, translator.encode(TEXTS), atol=1e-5)


@pytest.mark.prove
def test_the_tflite_file_puts_it_there_too(translator, tmp_path):
    pocket = kformer.load(export_tflite(translator, tmp_path / "a.tflite"))
    rows = translator.source_rows(TEXTS)
    assert [pocket.tokenize(text) for text in TEXTS] == [(row, True) for row in rows]
    assert pocket.translate(TEXTS) == translator.translate(TEXTS)


@pytest.mark.parametrize("code", ["", "eng"])
def test_unknown_languages_are_refused_with_the_known_ones(code, folder):
    with pytest.raises(ValueError, match=r"languages: deu, fra. Received: target_language="):
        kformer.from_marian(folder, code)


def test_its_vocabulary_is_not_for_training(translator, tmp_path):
    from kformer.tasks.keras_file import tokenizer_models

    translator.save(tmp_path / "a.keras")
    with pytest.raises(ValueError, match=r"without a prefix\. Received: .*a.keras', with prefix="):
        tokenizer_models(tmp_path / "a.keras")


def test_a_prefix_must_be_a_piece(translator):
    with pytest.raises(
        ValueError, match=r"must be a piece of the model\. Received: prefix='>>x<<'"
    ):
        kformer.Tokenizer(translator.tokenizer.model, prefix=">>x<<")
