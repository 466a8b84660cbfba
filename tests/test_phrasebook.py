"""The built-in text: its content, its parts, and the files that are written of it."""

import re
from collections import Counter
from itertools import chain

import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from kformer.phrasebook import (
    LABELS,
    TURNING,
    Pair,
    phrasebook,
    reviews,
    write,
    write_reviews,
)
from support.processes import run_python

RAREST = 8  # Words of the other parts occur at least this often in training.


@pytest.fixture(scope="module")
def book():
    return phrasebook()


def words(text):
    """Returns the words of a text in lower case."""
    return re.findall(r"[\w'-]+", text.lower())


# The pairs


def test_the_phrasebook_has_twenty_thousand_distinct_sources(book):
    sources = [pair.source for pair in chain(*book)]
    assert len(set(sources)) == len(sources)
    assert len(book.train) >= 20_000
    assert len(book.valid) == len(book.test) == 500
    assert len(book.unseen) >= 300


def test_both_languages_have_more_than_two_hundred_words(book):
    for side in (0, 1):
        assert len({word for pair in chain(*book) for word in words(pair[side])}) >= 200


def test_sentences_have_up_to_fifteen_words_on_both_sides(book):
    lengths = {len(side.split()) for pair in chain(*book) for side in pair}
    assert lengths == set(range(1, 16))


def test_sentences_begin_with_a_capital_letter_and_end_in_a_mark(book):
    for side in (pair.target for pair in chain(*book)):
        assert re.fullmatch(r"[A-Z][\w '-]+(, [\w '-]+)*[.?!]", side) and "  " not in side
        assert not re.search(r"\b(i|anna|berlin|vienna)\b", side)


def test_one_of_ten_sources_is_written_in_a_hurry(book):
    for part in book:
        careful = [pair for pair in part if re.fullmatch(r"[A-ZÄÖÜ].*[.?!]", pair.source)]
        assert 0.07 < 1 - len(careful) / len(part) < 0.13
        assert any(pair.source.islower() for pair in part)


@pytest.mark.parametrize("greeting", ["Guten Morgen!", "Guten Morgen.", "guten morgen"])
def test_greetings_are_in_training(book, greeting):
    mark = "!" if greeting.endswith("!") else "."
    assert Pair(greeting, f"Good morning{mark}") in book.train


def test_every_word_of_the_other_parts_is_known_from_training(book):
    for side in (0, 1):
        known = Counter(word for pair in book.train for word in words(pair[side]))
        for pair in chain(book.valid, book.test, book.unseen):
            assert all(known[word] >= RAREST for word in words(pair[side]))


def test_no_part_has_a_sentence_of_another_one_in_other_letters(book):
    sources = Counter(" ".join(words(pair.source)) for part in book for pair in {*part})
    for pair in chain(book.valid, book.test, book.unseen):
        assert sources[" ".join(words(pair.source))] == 1


def test_write_leaves_only_parallel_files_of_the_same_phrasebook(tmp_path, book):
    paths = write(tmp_path / "data")
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == sorted(paths)
    assert sorted(paths) == sorted(f"{p}.{side}" for p in book._fields for side in ("de", "en"))
    for part, pairs in book._asdict().items():
        sources = paths[f"{part}.de"].read_bytes().decode().split("\n")
        targets = paths[f"{part}.en"].read_bytes().decode().split("\n")
        assert sources.pop() == targets.pop() == ""
        assert list(map(Pair, sources, targets)) == pairs


def test_reading_the_text_imports_no_library_that_computes():
    code = (
        "import sys; from kformer.phrasebook import phrasebook, reviews; phrasebook(), reviews();"
        "print({'numpy', 'tensorflow', 'keras'} & {*sys.modules})"
    )
    assert run_python("-c", code).stdout.strip() == "set()"


def test_a_caller_may_change_the_lists(book):
    phrasebook().train.clear()
    assert len(phrasebook().train) == len(book.train)


# The reviews


def test_no_review_occurs_twice_and_labels_are_balanced():
    texts = [review.text for part in reviews() for review in part]
    assert len({*texts}) == len(texts) > 5000
    for part in reviews():
        counts = Counter(review.label for review in part)
        assert {*counts} == {*LABELS}
        assert min(counts.values()) > 0.45 * len(part)


def test_a_bag_of_words_cannot_read_negation_and_contrast():
    corpus, vectorizer = reviews(), CountVectorizer(token_pattern=r"\w+")
    bags = vectorizer.fit_transform([review.text for review in corpus.train])
    model = LogisticRegression(max_iter=1000).fit(bags, [review.label for review in corpus.train])
    turning = [review for review in corpus.test if TURNING & {*words(review.text)}]
    assert len(turning) > len(corpus.test) / 2
    labels, texts = zip(*turning, strict=True)
    assert model.score(vectorizer.transform(texts), labels) < 0.6


def test_each_part_of_the_reviews_is_written_as_labelled_text(tmp_path):
    paths = write_reviews(tmp_path / "data")
    assert [*paths] == [*reviews()._fields]
    for name, part in reviews()._asdict().items():
        lines = paths[name].read_bytes().decode().split("\n")
        assert lines.pop() == ""
        assert [tuple(line.split("\t")) for line in lines] == part
