"""A vocabulary reads characters that it lacks as the nearest that it can spell."""

import io
import random
import unicodedata

import pytest
import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from kformer.text.near_characters import spell_near
from kformer.text.tokenizer import Tokenizer
from support import phrasebook

CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,!?'\"-:;/()[]=>+é "


def learned(characters=CHARACTERS, **settings):
    """Returns a model whose vocabulary has some characters, and words of them."""
    written, generator = io.BytesIO(), random.Random(0)
    texts = ["".join(generator.choices(characters, k=30)) for _ in range(400)]
    texts += [line for (line, _), _ in zip(phrasebook.sample(generator), range(99), strict=False)]
    texts = ["".join(c for c in text if c in characters) for text in texts]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=written,
        character_coverage=1.0,
        pad_id=3,
        minloglevel=2,
        **{"vocab_size": 300, **settings},
    )
    return sentencepiece_model_pb2.ModelProto.FromString(written.getvalue())


@pytest.fixture(scope="module")
def plain():
    return learned()


@pytest.fixture(scope="module")
def near(plain):
    model = sentencepiece_model_pb2.ModelProto()
    model.CopyFrom(plain)
    spell_near(model)
    return model


def read(model, text):
    normalizer = sentencepiece.SentencePieceNormalizer(model_proto=model.SerializeToString())
    return normalizer.normalize(text).replace("▁", " ").strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("“Hello” – it’s ‘fine’ …", "\"Hello\" - it's 'fine' ..."),
        ("Müller, Ångström, Łódź, Straße, ÉÊ", "Muller, Angstrom, Lodz, Strasse, EE"),
        ("u\u0308 e\u0301", "u é"),
        ("C:\\Users\\{x}", "C:/Users/[x]"),
        ("£2.8bn, 5€ and 3 ₽", "GBP 2.8bn, 5 EUR and 3 RUB"),
        ("٣٤ × 2 ≥ 1", "34 x 2 >= 1"),
        ("ﬁne ½", "fine 1/2"),
        ("中文 Привет 😀 <", "中文 Привет 😀 <"),
    ],
)
def test_the_nearest_characters_are_read(near, text, expected):
    assert read(near, text) == expected


def test_what_the_vocabulary_spells_stays(plain, near):
    generator = random.Random(1)
    for _ in range(500):
        text = "".join(generator.choices(CHARACTERS, k=20))
        assert read(near, text) == read(plain, text)


def test_each_letter_with_an_accent_becomes_its_letter(near):
    for code in range(0xC0, 0x250):
        letter = unicodedata.normalize("NFD", chr(code))[0]
        if letter in CHARACTERS and chr(code) != "é":
            assert read(near, chr(code)) == letter


def test_a_vocabulary_of_bytes_stays_as_it_is():
    model = learned(byte_fallback=True, vocab_size=500)
    before = model.SerializeToString()
    spell_near(model)
    assert model.SerializeToString() == before


def test_tensorflow_text_splits_as_the_library(near):
    model, texts = near.SerializeToString(), ["“Müller’s” – £5", "中文 ü"]
    library = sentencepiece.SentencePieceProcessor(model_proto=model)
    rows = Tokenizer(model).tokenize(texts).to_list()
    assert rows == library.encode(texts)
    assert library.unk_id() not in rows[0]
