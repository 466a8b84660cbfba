"""A `.tflite` file on Arm: the C++ program with LiteRT's kernels for aarch64, in an emulator.

Sums are rounded otherwise there than on x86. So the ids of a text, which take integers alone, are
the same, and so are translations in float32 and float16; where activations are rounded to 8 bits,
a few may differ.
"""

import pytest
import sentencepiece

from kformer.export.tflite.tflite_writer import PRECISIONS
from kformer.pocket import PocketTranslator
from support import odd_text, toy
from support.native.arm_emulator import arm_program
from support.native.native_program import answers

S = toy.LONGER  # Ids of a source; texts have room for 240 bytes: long ones have their own branch.
TEXTS = [*toy.SOURCES, "", "ein haus 🐕 ruft", "wir\0ruft uns .\0", "\xff\0".join(toy.WORDS)[:99]]
MAY_DIFFER = {"float32": 0, "float16": 0, "int8": 0.05, "int4": 0.05, "int4-all": 0.05}

pytestmark = pytest.mark.prove


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return arm_program(tmp_path_factory.mktemp("arm"))


@pytest.mark.filterwarnings("ignore:Sentence .* over the limit")
@pytest.mark.parametrize("beam_size", [1, 4], ids=["greedy", "beam"])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_it_translates_on_arm_as_on_x86(program, longer_tflite, precision, beam_size):
    file = longer_tflite(precision, beam_size)
    expected = PocketTranslator(file).translate(TEXTS)
    found = [one.text for one in answers(program, file, [text.encode() for text in TEXTS])]
    different = [i for i in range(len(TEXTS)) if found[i] != expected[i]]
    print(
        "DIFFERENT",
        precision,
        beam_size,
        len(different),
        "of",
        len(TEXTS),
        [(TEXTS[i], expected[i], found[i]) for i in different],
    )
    assert len(different) <= MAY_DIFFER[precision] * len(TEXTS), [
        (TEXTS[i], expected[i], found[i]) for i in different
    ]


def test_in_float32_it_translates_as_python_does(program, longer_tflite, toy_translator):
    for beam_size in (1, 4):
        found = answers(
            program, longer_tflite("float32", beam_size), [s.encode() for s in toy.SOURCES]
        )
        assert [one.text for one in found] == toy_translator.translate(
            toy.SOURCES, beam_size=beam_size
        )


@pytest.mark.parametrize("precision", PRECISIONS)
def test_its_ids_of_odd_text_are_those_of_the_library(
    program, longer_tflite, toy_translator, precision
):
    library = sentencepiece.SentencePieceProcessor(model_proto=toy_translator.tokenizer.model)
    texts = list(odd_text.texts(550 if precision == "float32" else 50, [*toy.WORDS]))
    texts += [("ein haus " * 30)[:size].encode() for size in (191, 192, 193, 240)]
    texts = [text for text in texts if len(text) <= 80 or (len(text) <= 6 * S and text.isascii())]
    found = answers(program, longer_tflite(precision, 1), texts)
    cuts = 0
    for text, one in zip(texts, found, strict=True):
        ids = library.encode(text)
        expected = [*ids[: S - 1], library.eos_id()]
        assert one.source_ids == expected + [0] * (S - len(expected)), text
        assert one.truncated & 1 == (len(ids) >= S), text
        cuts += one.truncated & 1
    assert 0 < cuts < len(texts) / 2
