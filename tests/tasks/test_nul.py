"""U+0000: a character within a text, dropped at its end, and never in a translation."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter

from kformer import SearchOptions, Transformer, Translator
from kformer.export import export_tflite
from kformer.export.saved_model.saved_translator import SavedTranslatorSignatures
from kformer.export.saved_model.warmup import batch_limits
from kformer.pocket import PocketTranslator
from support.native.answer_in_a_runtime import outputs_of
from support.native.native_program import answers, compiled_program
from support.reference import perturbed

WITHIN = ["ein\0bier", "\0 ein bier", "ein \0\0 bier", "\0\u0301ein"]
AT_THE_END = {"ein bier": "ein bier\0", "": "\0\0", "ein\0 bier ": "ein\0 bier \0\0\0"}
TEXTS = ["ein bier", *WITHIN, *AT_THE_END, *AT_THE_END.values()]


@pytest.fixture(scope="module")
def translator(tokenizer):
    """A random one that often writes the zero byte, among others."""
    keras.utils.set_random_seed(7)
    transformer = perturbed(Transformer(400, 1, 16, 2, 24))
    often = np.ones(400)
    often[tokenizer.pieces(range(400)).index("<0x00>")] = 9
    table = transformer.target_embedding.table
    table.assign(table * often[:, np.newaxis])
    return Translator(tokenizer, transformer)


@pytest.fixture(scope="module")
def tflite(translator, tmp_path_factory):
    path = tmp_path_factory.mktemp("nul") / "nul.tflite"
    return export_tflite(translator, path, max_source_length=16)


@pytest.fixture(scope="module")
def translations(translator):
    """What Python says of `TEXTS`."""
    return [best for best, *_ in translator.translations(TEXTS, details=False)]


@pytest.fixture(scope="module")
def expected(translations):
    return [best.text for best in translations]


def test_the_model_writes_zeros(translations):
    """The tests below must not pass because there was none."""
    assert sum("<0x00>" in best.tokens for best in translations) > len(TEXTS) / 2


def test_no_translation_holds_a_zero(expected):
    assert not any("\0" in text for text in expected)
    assert any(expected)


def test_within_a_text_it_is_a_character_and_at_its_end_nothing(translator, expected):
    read = translator.source_rows(TEXTS)
    places = {text: place for place, text in enumerate(TEXTS)}
    for text, same in AT_THE_END.items():
        assert read[places[text]] == read[places[same]]
        assert expected[places[text]] == expected[places[same]]
    assert len({tuple(read[places[text]]) for text in ("ein bier", *WITHIN)}) == 1 + len(WITHIN)


def test_scores_of_targets_do_not_count_zeros_at_the_end(translator):
    one, other = translator.score(["ein", "ein\0"], ["bier", "bier\0"])
    assert one.tokens == other.tokens and one.flags == other.flags
    np.testing.assert_allclose(
        one.token_log_probabilities, other.token_log_probabilities, atol=1e-4
    )


@pytest.mark.prove
def test_prefixes_do_not_count_zeros_at_the_end(translator):
    options = SearchOptions(beam_size=2)
    one, other = translator.translations(["ein", "ein"], options, prefixes=["bier", "bier\0"])
    assert one[0].text == other[0].text


@pytest.mark.prove
def test_the_graph_of_a_server_says_the_same(translator, translations):
    """The files that tests share have texts with zeros, too, but write none."""
    limits = batch_limits(translator.max_source_length)
    signatures = SavedTranslatorSignatures(
        translator, translator.transformer, SearchOptions(), limits
    )
    found = signatures.translate(tf.constant(TEXTS))
    assert [text.decode() for text in found["translation"].numpy()] == [
        best.text for best in translations
    ]
    assert [flags.decode() for flags in found["flags"].numpy()] == [
        ", ".join(best.flags) for best in translations
    ]


@pytest.mark.prove
def test_a_pocket_translator_says_the_same(tflite, translations):
    from_file = [best for best, *_ in PocketTranslator(tflite).translations(TEXTS)]
    of_file, expected = (
        [(one.text, one.flags) for one in each] for each in (from_file, translations)
    )
    assert of_file == expected
    scores = [[best.score for best in each] for each in (from_file, translations)]
    np.testing.assert_allclose(*scores, rtol=1e-4)


@pytest.mark.prove
def test_bytes_given_to_the_file_say_the_same(tflite, expected):
    translate = Interpreter(str(tflite)).get_signature_runner("translate")
    found = [outputs_of(translate, text.encode()) for text in TEXTS]
    texts = [outputs["translation"].tobytes().rstrip(b"\0").decode() for outputs in found]
    assert texts == expected
    assert {int(outputs["truncated"][0]) for outputs in found} == {0}


@pytest.mark.prove
def test_a_program_in_c_says_the_same(tflite, expected, tmp_path):
    found = answers(compiled_program(tmp_path), tflite, [text.encode() for text in TEXTS])
    assert [one.text for one in found] == expected


@pytest.mark.prove
def test_zeros_at_the_end_never_make_a_text_too_long(translator, tflite):
    """Warnings are errors."""
    texts = ["ein bier", "ein bier" + "\0" * 200_000]
    one, other = translator.translate(texts)
    assert one == other
    assert PocketTranslator(tflite).translate(texts) == [one, one]
