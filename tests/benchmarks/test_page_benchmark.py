"""The arithmetic of `make bench-page`, its sentences, and a round of each contender in Chromium."""

import contextlib

import pytest
import sentencepiece

from benchmarks.page import report
from benchmarks.page.contenders import NAMES, PAGE, WITH_SHORTLIST, Page, Sentences
from benchmarks.page.random_folder import (
    LENGTH_FACTOR,
    WORDS,
    sentences,
    vocabulary,
    write_random_folder,
)
from benchmarks.page.write_pages import distinct, write_page, write_rival
from benchmarks.sizes import StudentSize
from browser.chromium import Chromium, NotHere, served

IDS = 512  # A multiple of 8, as the engine needs it.


def rounds_of(*seconds):
    return [
        {"alone": time, "together": 2 * time, "first": 3 * time, "bytes": 29_714_430}
        for time in seconds
    ]


def test_the_table_says_words_a_second_the_first_answer_and_bytes():
    measured = {"page": rounds_of(2, 1, 4)}
    header, line = report.table(measured, Sentences("a", ["a b", "c d e f"], ["a b c"] * 4))
    assert len(header) == len(line)
    assert line.split() == ["page", "3", "2", "6", "3", "2", "6", "6.00", "s", "29.7", "MB"]


def test_ratios_are_of_pages_with_the_same_candidates():
    measured = {"page": rounds_of(1), "bergamot shortlist": rounds_of(1), "bergamot": rounds_of(3)}
    assert report.ratios(measured) == [
        f"{way}: page is 3.00 x bergamot; by round 3.00 to 3.00"
        for way in ("one at a time", "at once", "first answer")
    ]


def test_each_word_of_a_random_sentence_is_one_id():
    words = vocabulary(IDS)
    assert len(words.pieces) == len({*words.pieces}) == IDS + 1
    library = sentencepiece.SentencePieceProcessor(model_proto=words.models[0])
    texts = sentences(words, 50)
    assert len({*texts}) == 50
    assert {len(text.split()) for text in texts} == {WORDS}
    assert {len(library.Encode(text)) for text in texts} == {WORDS}


def test_a_text_must_have_enough_different_sentences():
    assert distinct(["a", "b", "a", "c", "d"], 3) == ["a", "b", "c"]
    with pytest.raises(ValueError, match=r"4 different sentences. Received: 2\."):
        distinct(["a", "b", "a"], 4)


@pytest.mark.prove
def test_both_pages_translate_all_sentences_of_a_round(packages, tmp_path):
    words = vocabulary(IDS)
    size = StudentSize(2, 32, 48, 4, 1, decoder_cell="ssru", vocab_size=IDS)
    firefox = write_random_folder(tmp_path / "firefox", size, words)
    texts = sentences(words, 8)
    of_round = Sentences(texts[0], texts[1:3], texts[3:])
    try:
        chromium = Chromium(packages)
    except NotHere as reason:
        pytest.skip(str(reason))
    with contextlib.closing(chromium) as browser:
        for name in NAMES:
            folder, with_shortlist = tmp_path / name, name.endswith(WITH_SHORTLIST)
            if name.startswith(PAGE):
                write_page(firefox, folder, with_shortlist, packages)
            else:
                write_rival(firefox, folder, with_shortlist, packages, LENGTH_FACTOR)
            with served(folder) as address:
                measured = Page(browser, address, folder, of_round).round()
            assert len(measured["ids"]) == len(texts), name
            # Random translations never end; some of their pieces are parts of words.
            lengths = [len(row) for row in measured["ids"]]
            assert min(lengths) > WORDS / 3, name
            assert max(lengths) <= WORDS + 1, name
            assert min(measured[part] for part in ("first", "alone", "together")) > 0
            assert measured["bytes"] > 5e6  # An engine of WebAssembly is among the files.
