"""The byte codec in LiteRT, in built-in ops; the reference is the SentencePiece library."""

import functools
import tempfile

import numpy as np
import pytest
import sentencepiece
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter

from kformer import Tokenizer
from kformer.export.byte_codec.codec import ByteCodec
from support import codec_models, odd_text
from support.codec_models import SETTINGS

N, S, T, M = 300, 64, 30, 120  # Bytes and ids of a source, ids and bytes of a translation.
END = 3
WORDS = " ".join(codec_models.sentences()[:50]).split()
TRIED = [
    "as kformer trains",
    "bare",
    "all spaces kept",
    "symbols",
    "single characters",
    "no bytes, a third of the pieces unused",
]


class File:
    """A `.tflite` file with nothing but a codec, of rounded weights, and the library beside it."""

    def __init__(self, model):
        self.library = sentencepiece.SentencePieceProcessor(model_proto=model)
        codec = ByteCodec(Tokenizer(model))

        @tf.function(input_signature=[tf.TensorSpec([N], tf.uint8, name="source")])
        def tokenize(source):
            return codec.tokenize(source, S)._asdict()

        @tf.function(input_signature=[tf.TensorSpec([T], tf.int32, name="ids")])
        def detokenize(ids):
            return dict(zip(("text", "cut"), codec.detokenize(ids, M), strict=True))

        module = tf.Module()
        module.functions = {"tokenize": tokenize, "detokenize": detokenize}
        with tempfile.TemporaryDirectory() as folder:
            tf.saved_model.save(module, folder, module.functions)
            converter = tf.lite.TFLiteConverter.from_saved_model(
                folder, signature_keys=["tokenize", "detokenize"]
            )
            converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
            self.interpreter = Interpreter(model_content=converter.convert())
        self._tokenize = self.interpreter.get_signature_runner("tokenize")
        self._detokenize = self.interpreter.get_signature_runner("detokenize")

    def tokenize(self, text):
        """Returns the ids, how many there would be, and whether the text was cut."""
        source = np.zeros(N, np.uint8)
        source[: len(text)] = np.frombuffer(text, np.uint8)
        found = self._tokenize(source=source)
        return found["ids"].tolist(), int(found["count"]), bool(found["cut"])

    def detokenize(self, ids):
        """Returns the text, and whether it was cut."""
        filled = np.zeros(T, np.int32)
        filled[: len(ids)] = ids
        found = self._detokenize(ids=filled)
        text, _, padding = found["text"].tobytes().partition(b"\0")
        assert not padding.strip(b"\0"), "A zero within a translation ends it for its readers."
        return text, bool(found["cut"])


@functools.cache
def file_of(name):
    return File(codec_models.trained(**SETTINGS[name]))


def assert_as_the_library(file, text):
    """The text must be whole, and have room in `N` bytes however it is normalised."""
    expected = file.library.encode(text)
    ids, count, cut = file.tokenize(text)
    kept = [*expected[: S - 1], END]
    assert ids == kept + [0] * (S - len(kept)), text
    assert cut == (len(expected) >= S), text
    assert count == len(expected) + 1 or S < count < len(expected), text  # Some grow very much.


def assert_ids_are_those_of_the_library(name, texts):
    file = file_of(name)
    asked = 0
    for text in texts:
        if len(text) <= 80 or (len(text) <= N and text.isascii()):
            assert_as_the_library(file, text)
            asked += 1
    assert asked > 100


@pytest.mark.sample(7)
@pytest.mark.parametrize("name", TRIED)
def test_the_ids_are_those_of_the_library(name):
    assert_ids_are_those_of_the_library(name, odd_text.texts(1000, WORDS))


@pytest.mark.parametrize("size", [191, 192, 193, 194, N])
def test_the_ids_of_a_long_text_are_those_of_a_short_one(size):
    file = file_of("as kformer trains")
    for character in "aä日":
        whole, rest = divmod(size, len(character.encode()))
        assert_as_the_library(file, (character * whole + "a" * rest).encode())
    words = " ".join(WORDS[size:]).encode()[:size].decode("utf-8", "ignore")
    assert_as_the_library(file, words.encode())


def test_a_short_text_that_grows_very_much_is_read_to_its_end():
    file = file_of("as kformer trains")
    grown = "\ufdfa".encode() * 9 + b" end"  # Each becomes 18 letters, 33 bytes, in 4 words.
    expected = file.library.encode(grown)
    ids, count, _ = file.tokenize(grown)
    assert ids[: S - 1] == expected[: S - 1]
    assert count == len(expected) + 1


@pytest.mark.prove
def test_the_ids_of_20000_texts_are_those_of_the_library():
    texts = odd_text.texts(25_000, WORDS, seed=1)
    assert_ids_are_those_of_the_library("as kformer trains", texts)


@pytest.mark.sample(7)
@pytest.mark.parametrize("name", TRIED)
def test_the_text_of_any_ids_is_that_of_the_library(name):
    file = file_of(name)
    for ids in odd_text.rows(1000, file.library.get_piece_size(), longest=T // 2):
        text, cut = file.detokenize(ids)
        assert text.decode() == file.library.decode(ids).replace("\0", "")
        assert not cut


@pytest.mark.prove
@pytest.mark.parametrize("name", TRIED[:-2])  # The pieces of the others are too short.
def test_a_text_over_the_limit_is_cut_at_a_character(name):
    file = file_of(name)
    every = sorted(range(file.library.get_piece_size()), key=lambda i: len(spelt(file, i)))
    chosen = [*every[-60:], *(i for i in every if not spelt(file, i).isascii())]
    cuts = 0
    for ids in odd_text.rows(300, file.library.get_piece_size(), longest=T, seed=3):
        ids = [chosen[i % len(chosen)] for i in ids]
        whole = file.library.decode(ids).replace("\0", "").encode()
        text, cut = file.detokenize(ids)
        cuts += cut
        assert cut == (len(whole) > M)
        text.decode()  # No error: it is UTF-8.
        assert whole.startswith(text) and len(text) >= min(len(whole), M) - 3
    assert 0 < cuts < 300


def spelt(file, i):
    return file.library.decode([i]).encode()


@pytest.mark.parametrize("character", ["ä", "日", "👍"])
@pytest.mark.parametrize("missing", [1, 2, 3])
def test_half_of_a_character_at_the_end_is_left_out(character, missing):
    file = file_of("as kformer trains")
    half = character.encode()[:-missing]
    if not half:
        pytest.skip("Nothing is left of it.")
    text = b"a" * (N - len(half))
    ids, _, cut = file.tokenize(text + half)
    assert cut
    assert ids[: S - 1] == file.library.encode(text)[: S - 1]
    ids, _, cut = file.tokenize(b"a b " + half)  # With a zero behind it, it is broken.
    assert ids[: ids.index(END)] == file.library.encode(b"a b " + half)
    assert not cut


def test_a_zero_within_a_text_is_a_character():
    file = file_of("as kformer trains")
    for text in (b"\0ein", b"ein\0\0bier", b"ein bier \0" * 20 + b".", b"\0" * (N - 1) + b"a"):
        assert_as_the_library(file, text)
    assert file.tokenize(b"ein\0\0") == file.tokenize(b"ein")


def test_what_grows_too_much_is_cut_at_a_character():
    file = file_of("as kformer trains")
    ids, _, cut = file.tokenize(("\ufdfa" * 80).encode())
    assert cut
    assert ids[: S - 1] == file.library.encode("\ufdfa" * 80)[: S - 1]


def test_a_full_source_without_a_zero_is_read_whole():
    file = file_of("as kformer trains")
    text = ("ein bier und " * 40).encode()[: N - 2] + "ä".encode()
    assert_as_the_library(file, text)


@pytest.mark.prove
def test_every_op_is_built_in_and_every_shape_static():
    details = file_of("bare").interpreter._get_ops_details()
    assert len(details) > 50
    assert not any(op["op_name"] in ("CUSTOM", "DELEGATE_") for op in details)
    tensors = file_of("bare").interpreter.get_tensor_details()
    assert all(min(tensor["shape_signature"], default=1) > 0 for tensor in tensors)
