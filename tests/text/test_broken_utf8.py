"""Bytes that are no UTF-8: all forms read them as the SentencePiece library does."""

import re

import numpy as np
import pytest
import sentencepiece
import tensorflow as tf

from kformer.export import ServedTranslator
from kformer.pocket import PocketTranslator
from kformer.pocket.workers import InterpreterWorker
from support.native.native_program import answers, compiled_program

BROKEN = [
    b"\xff wir ruft",
    b"wir \xc3 ruft",
    b"wir \xc3",
    b"\xe6\x97",  # The beginning of a character of three bytes,
    b"wir \xf0\x9f\x90.",  # of one of four,
    b"\x80\xbfwir",  # and the ends of others.
    b"wir\xed\xa0\x80ruft",  # Half of a surrogate pair.
    b"\xc0\x80",  # A zero in two bytes, and what is above U+10FFFF:
    b"wir \xf4\x90\x80\x80",
    b"\xc3\0\xa4",
]


@pytest.fixture(scope="module")
def library(toy_translator):
    return sentencepiece.SentencePieceProcessor(model_proto=toy_translator.tokenizer.model)


@pytest.fixture(scope="module")
def expected(library):
    """Rows of ids, the end id last."""
    return [[*library.encode(text), library.eos_id()] for text in BROKEN]


def trimmed(rows, end_id):
    return [row[: row.index(end_id) + 1] for row in rows]


def test_each_byte_of_no_character_is_one_replacement_character(library):
    """Python's error handler escapes the same bytes, one by one."""
    for text in BROKEN:
        escaped = text.decode("utf-8", "surrogateescape")
        replaced, count = re.subn("[\udc80-\udcff]", "\ufffd", escaped)
        assert count > 0
        assert library.decode(library.encode(text)) == replaced


def test_a_replacement_character_of_the_text_itself_is_normalised(library):
    assert library.encode("wir\ufffdruft") == library.encode("wir ruft")
    assert library.encode(b"wir\xffruft") != library.encode("wir ruft")


def test_a_saved_model_reads_the_ids_of_the_library_and_flags_the_text(toy_saved_model, expected):
    found = ServedTranslator(toy_saved_model).signatures["tokenize"](text=tf.constant(BROKEN))
    assert trimmed(found["ids"].numpy().tolist(), expected[0][-1]) == expected
    assert {*found["flags"].numpy()} == {b"source not UTF-8"}


def test_a_tflite_file_reads_the_ids_of_the_library(short_tflite, expected):
    worker = InterpreterWorker(short_tflite(), "translate")
    room = PocketTranslator(short_tflite()).manifest["max_source_bytes"]
    rows = []
    for text in BROKEN:
        source = np.zeros(room, np.uint8)
        source[: len(text)] = np.frombuffer(text, np.uint8)
        found = worker("tokenize", source=source)
        assert not found["truncated"][0]
        rows.append(found["ids"][0].tolist())
    assert trimmed(rows, expected[0][-1]) == expected


def test_a_program_in_c_reads_the_ids_of_the_library(short_tflite, expected, tmp_path):
    found = answers(compiled_program(tmp_path), short_tflite(), BROKEN)
    assert trimmed([one.source_ids for one in found], expected[0][-1]) == expected


@pytest.mark.prove
def test_half_of_a_surrogate_pair_is_a_replacement_character_of_the_text(
    toy_translator, toy_saved_model, short_tflite
):
    halves, whole = ["wir\ud800ruft uns .", "\udfff"], ["wir\ufffdruft uns .", "\ufffd"]
    said = toy_translator.translate(whole)
    for form in (
        toy_translator,
        ServedTranslator(toy_saved_model),
        PocketTranslator(short_tflite()),
    ):
        assert form.translate(halves) == said


@pytest.mark.prove
def test_what_is_served_takes_lists_of_strings_alone(toy_saved_model):
    served = ServedTranslator(toy_saved_model)
    for texts in ([b"wir"], ["wir", None]):
        with pytest.raises(TypeError, match=r"must be a list of strings.*\. Received: texts"):
            served.translate(texts)
