"""The byte codec's NumPy reference and its tables; the reference for both is SentencePiece."""

import functools
import random

import numpy as np
import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from kformer.export.byte_codec import charsmap, double_array
from kformer.export.byte_codec.codec_tables import UTF8, as_integers, tables_of
from kformer.export.byte_codec.piece_model import read_piece_model
from kformer.imports.id_table import IdTable, with_ids_of
from kformer.imports.plain_vocabularies import plain_model
from support import codec_models, odd_text
from support import codec_reference as reference
from support.codec_models import SETTINGS

SPECIAL = ["<blank>", "<unk>", "<s>", "</s>"]
WORDS = " ".join(codec_models.sentences()[:50]).split()


@functools.cache
def codec(name):
    """Tables and the library for one of the settings."""
    model = codec_models.trained(**SETTINGS[name])
    return tables_of(model), sentencepiece.SentencePieceProcessor(model_proto=model)


def assert_ids_are_those_of_the_library(name, texts):
    tables, library = codec(name)
    for text in texts:
        assert reference.tokenize(tables, text) == library.encode(text), text


@pytest.mark.parametrize("name", SETTINGS)
def test_the_ids_are_those_of_the_library(name):
    assert_ids_are_those_of_the_library(name, odd_text.texts(700, WORDS))


@pytest.mark.prove
def test_the_ids_of_20000_texts_are_those_of_the_library():
    texts = odd_text.texts(20_000, WORDS, seed=1)
    assert_ids_are_those_of_the_library("as kformer trains", texts)


def test_symbols_come_before_all_that_begins_where_they_do():
    symbols = ["haus", "<x>", "ｆ<", "é", "ﬁ", "▁der", "ｋａ", "ｋａ\u3099", "__a"]
    near = ["e\u0301", "カ\u3099", "\u0301", *" \u3000hausxeéfi<▁_.", *(s[:-1] for s in symbols)]
    model = codec_models.trained(user_defined_symbols=symbols)
    tables, library = tables_of(model), sentencepiece.SentencePieceProcessor(model_proto=model)
    draw = random.Random(0)
    met = 0
    for _ in range(1000):
        text = "".join(draw.choices([*symbols, *near], k=draw.randint(1, 12)))
        ids = library.encode(text)
        assert reference.tokenize(tables, text.encode()) == ids, text
        met += any(library.id_to_piece(i) in symbols for i in ids)
    assert met > 500


@given(st.text(max_size=30), st.sampled_from(sorted(SETTINGS)))
def test_the_ids_of_any_text_are_those_of_the_library(text, name):
    text = text.rstrip("\0").encode("utf-8", "replace")
    assert_ids_are_those_of_the_library(name, [text])


@pytest.mark.parametrize("name", SETTINGS)
def test_the_text_of_any_ids_is_that_of_the_library(name):
    tables, library = codec(name)
    for ids in odd_text.rows(700, library.get_piece_size()):
        expected = library.decode(ids).replace("\0", "").encode()
        assert reference.detokenize(tables.spellings, ids) == expected, ids


@pytest.mark.parametrize("pieces", [[*"abcdeعر"], ["HH", "H", "AH0", "L", "ein", "bier"]])
def test_a_space_needs_no_piece_of_its_own(pieces):
    """Characters, or words, of models that were not split by SentencePiece."""
    proto, named = plain_model([*SPECIAL, *pieces], SPECIAL, "here")
    padding, unknown, start, end = SPECIAL
    table = IdTable(named, padding=padding, unknown=unknown, start=start, end=end)
    model = with_ids_of(proto, table)
    tables, library = tables_of(model), sentencepiece.SentencePieceProcessor(model_proto=model)
    words = [*pieces, "x", "HHx", "", " "]
    for text in [*odd_text.texts(200, WORDS), *odd_text.texts(200, words)]:
        assert reference.tokenize(tables, text) == library.encode(text), text


def test_zeros_at_the_end_do_not_count_and_others_are_characters():
    tables, library = codec("as kformer trains")
    assert reference.tokenize(tables, b"ein bier\0\0") == library.encode("ein bier")
    assert reference.tokenize(tables, b"ein\0 bier") == library.encode("ein\0 bier")
    assert reference.tokenize(tables, b"\0") == []


def test_the_texts_are_as_odd_as_they_should_be():
    """The tests above must not pass because nothing was asked."""
    texts = list(odd_text.texts(3000, WORDS))
    broken = [text for text in texts if "\ufffd" in text.decode("utf-8", "replace")]
    assert len({*texts}) > 2500 and len(broken) > 300
    tables, _ = codec("as kformer trains")
    longer = [text for text in texts if len(reference.normalize(tables.normalizer, text)) > 50]
    assert len(longer) > 300
    assert sum(b"\0" in text for text in texts) > 100
    ties = [text for text in texts if len(text) > 20 and len({*text}) < 4]
    assert len(ties) > 50


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model_type": "bpe"}, "unigram models. Received: model_type=2"),
        ({"treat_whitespace_as_suffix": True}, "before the words. Received: treat_white"),
        ({"escape_whitespaces": False}, r"spaces as U\+2581. Received: none"),
    ],
)
def test_unsupported_models_are_refused(settings, message):
    if "escape_whitespaces" in settings:
        model = without_escapes(codec_models.trained())
    else:
        model = codec_models.trained(**settings)
    with pytest.raises(ValueError, match=message):
        read_piece_model(model)


def without_escapes(model):
    from sentencepiece import sentencepiece_model_pb2

    proto = sentencepiece_model_pb2.ModelProto.FromString(model)
    proto.normalizer_spec.escape_whitespaces = False
    return proto.SerializeToString()


def test_a_malformed_model_is_refused():
    with pytest.raises(ValueError, match="Received: 3 bytes that are none"):
        read_piece_model(b"\xff\xff\xff")


def replacing_with(length, folder):
    """A model that replaces "ä" by a text of so many bytes."""
    rules = folder / "rules.tsv"
    rules.write_text(f"E4\t{' '.join(['78'] * length)}\n")
    return codec_models.trained(normalization_rule_tsv=str(rules))


def test_a_replacement_may_have_255_bytes(tmp_path):
    model = replacing_with(255, tmp_path)
    library = sentencepiece.SentencePieceProcessor(model_proto=model)
    assert reference.tokenize(tables_of(model), "ein ä".encode()) == library.encode("ein ä")


def test_a_longer_replacement_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must have under 256 bytes\. Received: 'xxx"):
        tables_of(replacing_with(256, tmp_path))


@pytest.mark.parametrize("blob", [b"abc", b"\xff\xff\0\0abcd", b"\x05\0\0\0abcdefgh"])
def test_a_broken_charsmap_is_refused(blob):
    with pytest.raises(ValueError, match=f"Received: {len(blob)} bytes"):
        charsmap.read(blob)


keys = st.dictionaries(
    st.binary(min_size=1, max_size=5).filter(lambda key: 0 not in key and 255 not in key),
    st.integers(0, 2**31 - 1),
    max_size=40,
)


@given(keys, st.binary(max_size=5).map(lambda key: key.replace(b"\0", b"\1")))
def test_an_automaton_knows_its_keys_and_no_others(values, other):
    automaton = double_array.automaton_of_keys(values)
    for key in {*values, other}:
        state = automaton.start
        for byte in key:
            state = automaton.step(state, byte)
        assert automaton.value(state) == values.get(key)
    assert automaton.depth == max(map(len, values), default=0)


@given(st.binary(min_size=1, max_size=6))
def test_a_character_is_what_python_says_it_is(text):
    length = reference.character_length(text)
    whole = [size for size in range(1, 5) if is_character(text[:size])]
    assert length == (whole[0] if whole else 0)


def is_character(text):
    try:
        return len(text.decode("utf-8")) == 1
    except UnicodeDecodeError:
        return False


def test_every_first_byte_has_its_length():
    firsts = {chr(code).encode("utf-8", "ignore")[:1] for code in range(0x110000)} - {b""}
    assert {bytes([byte]) for byte in np.flatnonzero(UTF8.length)} == firsts


def test_scores_become_integers_and_back():
    scores = np.random.default_rng(0).uniform(-15, -1, 1000).astype(np.float32)
    integers, scale = as_integers(scores)
    assert integers.dtype == np.int32
    np.testing.assert_array_equal(integers.astype(np.float32) * np.float32(scale), scores)


def test_scores_too_far_apart_are_refused():
    with pytest.raises(ValueError, match=r"powers of two. Received: 0.125\d* and 99"):
        as_integers(np.array([0, -0.125, -99], np.float32) * np.float32(1 + 2**-22))


def test_with_byte_fallback_a_space_needs_a_piece():
    from sentencepiece import sentencepiece_model_pb2

    proto = sentencepiece_model_pb2.ModelProto.FromString(codec_models.trained())
    assert proto.trainer_spec.byte_fallback
    [space] = [one for one in proto.pieces if one.piece == "\u2581"]
    space.piece = "<none>"
    with pytest.raises(ValueError, match=r"or no byte fallback\. Received: none"):
        read_piece_model(proto.SerializeToString())
