"""The encoder's vectors of texts: against NumPy, and whatever else is in the batch."""

import random
import warnings

import numpy as np
import pytest
import tensorflow as tf

from kformer import Transformer, Translator
from support.reference import perturbed

D = 16
TEXTS = ["der hund ruft uns .", "", "ein bier", " ", "wir", "eine katze malt das haus und den baum"]


@pytest.fixture(scope="module")
def translator(tokenizer):
    return Translator(tokenizer, perturbed(Transformer(400, 2, D, 2, 24)))


def expected_vectors(translator, text):
    """float (S, D): the encoder's output for one text, without padding."""
    ids = translator.source_rows([text])
    return tf.cast(translator.transformer.encode(np.array(ids, "int32"))[0], "float32").numpy()


def test_a_vector_is_the_mean_of_the_encoders_output(translator):
    vectors = translator.encode(TEXTS)
    assert (vectors.dtype, vectors.shape) == (np.float32, (len(TEXTS), D))
    for text, vector in zip(TEXTS, vectors, strict=True):
        expected = expected_vectors(translator, text).mean(axis=0)
        np.testing.assert_allclose(vector, expected, atol=1e-5)


def test_every_id_has_its_vector(translator):
    found = translator.token_vectors(TEXTS, batch_size=4)
    for text, vectors in zip(TEXTS, found, strict=True):
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(vectors, expected_vectors(translator, text), atol=1e-5)
    means = [vectors.mean(axis=0) for vectors in found]
    np.testing.assert_allclose(means, translator.encode(TEXTS), atol=1e-5)


@pytest.mark.parametrize("batch_size", [1, 2, 32])
def test_a_vector_does_not_depend_on_its_neighbours(translator, batch_size):
    alone = {text: translator.encode([text])[0] for text in TEXTS}
    assert np.ptp([vector[0] for vector in alone.values()]) > 0.1  # They differ.
    texts = random.Random(batch_size).sample(TEXTS * 3, 17)
    vectors = translator.encode(texts, batch_size=batch_size)
    np.testing.assert_allclose(vectors, [alone[text] for text in texts], atol=1e-5)


def test_a_blank_text_has_the_vector_of_its_end_id(translator):
    end = translator.transformer.encode(np.array([[translator.tokenizer.end_id]]))[0]
    for vectors in (translator.encode(["", " \t"]), np.concatenate(translator.token_vectors([""]))):
        np.testing.assert_allclose(vectors, np.repeat(end, len(vectors), axis=0), atol=1e-5)


def test_no_texts_have_no_vectors(translator):
    assert translator.encode([]).shape == (0, D)
    assert translator.token_vectors([]) == []


@pytest.mark.parametrize(
    "form",
    [
        "bfloat16",
        "float64",
        pytest.param("float16", marks=pytest.mark.prove),
        pytest.param("int8", marks=pytest.mark.prove),
    ],
)
def test_vectors_are_float32_whatever_the_model_computes_in(tokenizer, form):
    quantized = form == "int8"
    transformer = Transformer(400, 1, D, 2, 24, dtype="float32" if quantized else form)
    translator = Translator(tokenizer, transformer)
    before = translator.encode(TEXTS)
    if quantized:
        with warnings.catch_warnings(action="ignore"):  # Keras names the layers it leaves alone.
            transformer.quantize("int8")  # A new graph is traced.
        assert np.abs(translator.encode(TEXTS) - before).max() > 0
    vectors, of_tokens = translator.encode(TEXTS), translator.token_vectors(TEXTS)
    assert {vectors.dtype, *(one.dtype for one in of_tokens)} == {np.dtype("float32")}
    means = [expected_vectors(translator, text).mean(axis=0) for text in TEXTS]
    tolerance = 0.05 if form in ("bfloat16", "float16", "int8") else 1e-6
    np.testing.assert_allclose(vectors, means, atol=tolerance)


@pytest.mark.prove
@pytest.mark.parametrize("method", ["encode", "token_vectors"])
def test_a_text_over_the_limit_is_encoded_in_part_with_a_warning(translator, tokenizer, method):
    limited = Translator(tokenizer, translator.transformer, max_source_length=5)
    number = len(tokenizer.encode(TEXTS[:1])[0])
    message = f"Sentence 2 has {number} ids, over the limit of 5: only its first 4 were encoded"
    with pytest.warns(UserWarning, match=message) as warned:
        _, vectors = getattr(limited, method)(["wir", TEXTS[0]])
    assert [w.filename for w in warned] == [__file__]
    ids = [*tokenizer.encode(TEXTS[:1])[0, :4].numpy(), tokenizer.end_id]
    expected = translator.transformer.encode(np.array([ids]))[0]
    expected = np.mean(expected, axis=0) if method == "encode" else expected
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


@pytest.mark.parametrize("method", ["encode", "token_vectors"])
def test_what_it_takes_and_reports_is_as_for_translations(translator, method):
    encode, done = getattr(translator, method), []
    encode(iter(TEXTS), batch_size=4, progress=done.append)
    assert done == [4, 2]
    with pytest.raises(TypeError, match="Received: texts=7"):
        encode(7)
    with pytest.raises(ValueError, match="Received: batch_size=0"):
        encode(TEXTS, batch_size=0)


def test_the_encoder_is_traced_once(tokenizer):
    calls = []

    class Counting(Transformer):
        def encode(self, *arguments):
            calls.append(arguments)
            return super().encode(*arguments)

    translator = Translator(tokenizer, Counting(400, 1, D, 2, 24))
    for texts in (TEXTS[:1], TEXTS, []):
        translator.encode(texts, batch_size=4)
    assert len(calls) == 1
