"""Directions of translation: their names, their text, and the symbols of their languages."""

from pathlib import Path

import numpy as np
import pytest
import sentencepiece

from kformer.text import vocabulary
from kformer.training.data.batching import BatchOptions
from kformer.training.data.directions import Direction, both_directions, text_of_directions
from kformer.training.data.pairs import parallel_text
from kformer.training.data.translation_dataset import translation_windows


def lines_of(files):
    return [Path(file).read_text("utf-8").splitlines() for file in files]


@pytest.fixture
def files(written):
    return written("a.de", b"eins\nzwei\n"), written("a.en", b"one\ntwo\n")


@pytest.mark.parametrize("languages", ["de", "de-en-fr", "de-de", "-en", "de-e n", "", "de_-en"])
def test_a_direction_is_named_by_two_codes(languages, files):
    with pytest.raises(ValueError, match=rf"codes of its two lang.* Received: '{languages}'\."):
        Direction(languages, *files)


@pytest.mark.parametrize("text", ["de-en", "de-en:", "de-en::b", "de-en:a:b:c"])
def test_a_direction_in_a_text_names_files_or_a_table(text):
    with pytest.raises(ValueError, match=rf"SOURCE:TARGET.* Received: '{text}'\."):
        Direction.parse(text)


def test_a_direction_needs_text():
    with pytest.raises(ValueError, match=r"files of source.* Received: 'de-en' with source=a, t"):
        Direction("de-en", "a")


def test_texts_of_directions_are_read_from_files_tables_and_python(files, written):
    table = written("a.csv", b"en,de\nthree,drei\n")
    pairs = [{"en": "four", "de": "vier"}]
    text = text_of_directions(
        [f"de-en:{files[0]}:{files[1]}", f"en-de:{table}", Direction("de-en", pairs=pairs)]
    )
    assert text.directions == ["de-en", "en-de", "de-en"]
    assert lines_of(text.source) == [["eins", "zwei"], ["three"], ["vier"]]
    assert lines_of(text.target) == [["one", "two"], ["drei"], ["four"]]
    assert text.paths["source"] == [str(files[0])] and text.paths["pairs"][0] == str(table)
    assert text.shown[text.source[1]] == str(table) and not text.recorded


def test_both_directions_swap_the_sides(files):
    text = both_directions(parallel_text(*files), "de-en")
    assert text.directions == ["de-en", "en-de"]
    assert text.source == [*map(str, files)] and text.target == text.source[::-1]


def test_each_source_begins_with_the_symbol_of_its_language(write, tokenizer):
    model = vocabulary.with_languages(tokenizer.model, ["en", "de"])
    extended = type(tokenizer)(model, None, {"en": ">>en<<", "de": ">>de<<"})
    plain = extended.without_prefix()
    german, english = write([("ein haus", "a house"), (" ", "a")], "a")
    codes = [("de-en", extended.language_ids["en"]), ("en-de", extended.language_ids["de"])]
    options = BatchOptions(64, 32, shuffle=False)
    windows = translation_windows(
        [german, english], [english, german], [plain, plain], options, codes
    )
    rows = {
        tuple(int(i) for i in row if i)
        for (source, _), _ in windows.dataset()
        for row in np.asarray(source)
    }
    assert rows == {
        (extended.language_ids[code], *tokenizer.encode([text]).numpy()[0])
        for code, text in (("en", "ein haus"), ("de", "a house"))
    }


def test_symbols_of_languages_are_added_to_a_vocabulary_and_never_split_text(tokenizer):
    size = tokenizer.vocab_size
    model = vocabulary.with_languages(tokenizer.model, ["de", "en"])
    more = vocabulary.with_languages(model, ["en", "fr"])
    assert vocabulary.with_languages(more, ["fr", "de"]) == more
    library = sentencepiece.SentencePieceProcessor(model_proto=more)
    before = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model)
    assert [library.PieceToId(f">>{code}<<") for code in ("de", "en", "fr")] == [
        *range(size, size + 3)
    ]
    assert library.decode([size, *before.encode("ein haus"), size + 2]) == "ein haus"
    for text in ("ein haus", ">>de<< haus"):
        assert library.encode(text) == before.encode(text)


def test_a_symbol_must_not_be_a_piece_of_text(tokenizer):
    proto = vocabulary.sentencepiece_model_pb2.ModelProto.FromString(tokenizer.model)
    proto.pieces[-1].piece = ">>de<<"
    with pytest.raises(ValueError, match=r"not be a piece of text\. .*piece '>>de<<'"):
        vocabulary.with_languages(proto.SerializeToString(), ["de"])
