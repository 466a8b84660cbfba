"""What becomes of characters; the references are `unicodedata` and the forms of one model."""

import sys
import unicodedata

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from kformer import Tokenizer
from kformer.export.byte_codec.codec_tables import tables_of
from kformer.text import normalization, vocabulary
from support import charsmaps
from support import codec_reference as reference

VISIBLE_FORMATS = (  # Of category Cf, but signs that are seen.
    range(0x600, 0x606),
    (0x6DD, 0x70F, 0x8E2, 0x110BD, 0x110CD),
    range(0x890, 0x892),
    range(0x13430, 0x13456),
)
OTHER_INVISIBLE = (
    "VARIATION SELECTOR",
    "VOWEL INHERENT",
    "COMBINING GRAPHEME JOINER",
    "HANGUL CHOSEONG FILLER",
    "HANGUL JUNGSEONG FILLER",
    "HANGUL FILLER",
)
JOINED = [
    "می‌خواهم",  # Persian, "I want".
    "کتاب‌ها",
    "సాఫ్ట్‌వేర్",  # Telugu, "software".
    "ಸಾಫ್ಟ್‌ವೇರ್",  # Kannada.
    "ರ‍್ಯಾಂಕ್",
    "র‍্যাব র‌্যাম",  # Bengali.
    "ശ്രീലങ്ക ന്‍ ക്‌ഷ",  # Malayalam.
    "ශ්‍රී ලංකා",  # Sinhala.
    "क्‍ष क्‌ष",  # Devanagari.
    "க்‌ஷ",  # Tamil.
    "ᠮᠣᠩᠭᠣᠯ᠎ᠠ ᠨ᠋",  # Mongolian.
    "👩‍👩‍👧‍👦 👩🏽‍🚀 🧑‍🤝‍🧑 ❤‍🔥",
]


def is_invisible(character):
    """Whether nothing is seen, going by `unicodedata`, which lacks the property of Unicode."""
    code, name = ord(character), unicodedata.name(character, "")
    if unicodedata.category(character) == "Cf":
        return not any(code in several for several in VISIBLE_FORMATS)
    return any(one in name for one in OTHER_INVISIBLE)


ASSIGNED = [
    chr(code)
    for code in range(1, sys.maxunicode + 1)  # A zero stays: it is a character in all forms.
    if unicodedata.category(chr(code)) not in ("Cn", "Cs", "Co")
    and not 0x3400 <= code <= 0x9FFF
    and not 0xAC00 <= code <= 0xD7A3
    and not 0x17000 <= code < 0x1B000
    and not 0x20000 <= code < 0x2F800
    and not 0x30000 <= code < 0xE0000
]
INVISIBLE = [character for character in ASSIGNED if is_invisible(character)]


@pytest.fixture(scope="module")
def text(tmp_path_factory, parallel_text):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    lines = [*parallel_text["train.de"].read_text("utf-8").splitlines()[:100], *JOINED * 5]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


@pytest.fixture(scope="module")
def tokenizer(text):
    return Tokenizer.train(text, 420, character_coverage=1.0)


@pytest.mark.parametrize("rule", ["nfkc", "nmt_nfkc"])
def test_a_character_is_normalized_as_unicode_says_or_deleted(rule):
    normalize = normalization.normalizer(rule).normalize

    def expected(character):
        if is_invisible(character):
            return ""
        if rule == "nmt_nfkc" and unicodedata.category(character) == "Cc":
            return " " if character in "\t\n\v\f\r\x85" else ""
        if rule == "nmt_nfkc" and character in "\u2028\u2029\u1680▁\ufffd":
            return " "
        if rule == "nmt_nfkc" and character == "\uff5e":  # As SentencePiece has it.
            return character
        return unicodedata.normalize("NFKC", character)

    found = {character: normalize(f"({character})")[1:-1] for character in ASSIGNED}
    wrong = {one: text for one, text in found.items() if text != expected(one)}
    # Python's Unicode is older than SentencePiece's: it lacks some letters and their forms.
    newer = {one for one, text in wrong.items() if expected(one) == one and text.isalnum()}
    assert len(INVISIBLE) > 350 and {ascii(one) for one in wrong.keys() - newer} == set()
    assert len(newer) < 200


@pytest.mark.parametrize("rule", ["nfkc", "nmt_nfkc"])
@given(st.text(st.characters(codec="utf-8") | st.sampled_from("".join(JOINED)), max_size=20))
def test_normalized_text_stays_as_it_is(rule, text):
    normalize = normalization.normalizer(rule).normalize
    once = normalize(text.replace("\0", ""))
    assert normalize(once) == once or not unicodedata.is_normalized("NFKC", once)


def test_identity_changes_spaces_alone():
    normalize = normalization.normalizer("identity").normalize
    assert normalize(" ﬁ\xad  Ａ\u200b\U0010ffff ") == "ﬁ\xad Ａ\u200b\U0010ffff"


words = st.sampled_from(["hund", "der", " ", ",", "ein bier", "日本", "Straße", "\u3000"])
inserted = st.text(st.sampled_from(INVISIBLE), max_size=4)


@given(st.lists(st.tuples(words, inserted), max_size=8), inserted)
def test_invisible_characters_change_no_ids(tokenizer, parts, first):
    plain = "".join(word for word, _ in parts)
    text = first + "".join(f"{word}{invisible}" for word, invisible in parts)
    expected, found = tokenizer.tokenize([plain, text]).to_list()
    assert found == expected
    assert reference.tokenize(tables_of(tokenizer.model), text.encode()) == expected
    library = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model)
    assert library.encode(text) == expected


@given(st.text(st.sampled_from([*INVISIBLE, " ", "\t", "\x01", "\x9f"]), max_size=9))
def test_a_line_of_invisible_characters_is_blank(tokenizer, text):
    assert tokenizer.tokenize([text]).to_list() == [[]]
    assert reference.tokenize(tables_of(tokenizer.model), text.encode()) == []


@pytest.mark.parametrize("word", JOINED)
def test_joiners_stay_where_scripts_need_them(tokenizer, word):
    ids = tokenizer.tokenize([word]).to_list()
    assert tokenizer.decode(ids) == [unicodedata.normalize("NFKC", word)]
    tables = tables_of(tokenizer.model)
    assert reference.tokenize(tables, word.encode()) == ids[0]
    assert reference.detokenize(tables.spellings, ids[0]).decode() == tokenizer.decode(ids)[0]
    without = "".join(one for one in word if not is_invisible(one))
    assert len(without) < len(word) and tokenizer.decode(tokenizer.encode([without])) != [word]


def test_emoji_lose_their_variation_selector_alone(tokenizer):
    assert tokenizer.decode(tokenizer.encode(["🏳\ufe0f‍🌈 ❤\ufe0f"])) == ["🏳‍🌈 ❤"]


def test_the_rule_of_a_model_is_the_one_it_was_trained_with(text):
    models = {rule: Tokenizer.train(text, 420, normalization=rule) for rule in normalization.RULES}
    texts = ["ﬁsch\xad\tＡ", "fisch A"]
    rows = {rule: tokenizer.encode(texts).numpy() for rule, tokenizer in models.items()}
    assert [models[rule].decode(rows[rule])[0] for rule in normalization.RULES] == [
        "fisch\tA",
        "fisch A",
        "ﬁsch\xad\tＡ",
    ]


def test_another_rule_is_refused(text):
    with pytest.raises(ValueError, match="`normalization` must be one of nfkc, nmt_nfkc, identity"):
        Tokenizer.train(text, 420, normalization="nfd")


@pytest.mark.prove
@pytest.mark.skipif(
    not hasattr(sentencepiece.SentencePieceNormalizer, "decompile"),
    reason="Older versions of SentencePiece do not show their tables.",
)
@pytest.mark.parametrize("table", normalization.TABLES)
def test_the_tables_are_what_their_script_makes(table):
    assert charsmaps.compiled(charsmaps.replacements(table)) == normalization.charsmap(table)


def test_a_tokenizer_of_digits_splits_numbers(tmp_path):
    path = tmp_path / "numbers.txt"
    path.write_text("am 12. mai 1998 und 1998\n" * 50, "utf-8")
    split, whole = (
        Tokenizer(vocabulary.learn(path, 300, at_most=True, split_digits=split_digits))
        for split_digits in (True, False)
    )
    [ids] = split.tokenize(["1998 12"]).to_list()
    assert [piece.strip("▁") for piece in split.pieces(ids)].count("9") == 2
    assert len(ids) > len(whole.tokenize(["1998 12"]).to_list()[0])
