"""Terms and placeholders that are put into random training pairs."""

import random
import re

import pytest
import tensorflow as tf

from kformer import Tokenizer
from kformer.inference.source_marks import (
    KINDS,
    PLACEHOLDER_SYMBOLS,
    PLACEHOLDERS,
    TERM_BEGIN,
    TERM_END,
    TERMS,
    symbols_of,
)
from kformer.phrasebook import phrasebook
from kformer.text import vocabulary
from kformer.training.data.batching import BatchOptions
from kformer.training.data.marking import Marking
from kformer.training.data.translation_dataset import translation_windows
from kformer.training.data.word_pairs import WordSplitter, learn_word_pairs
from support.training import pairs

PAIRS = [(pair.source, pair.target) for pair in phrasebook().train[:1500]]
ANY_TERM = re.compile(f"{TERM_BEGIN}([^{TERM_END}]*){TERM_END}")
ANY_PLACEHOLDER = re.compile(f"[{''.join(PLACEHOLDER_SYMBOLS)}]")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return pairs.write(tmp_path_factory.mktemp("marking"), PAIRS)


@pytest.fixture(scope="module")
def tokenizer(files):
    return Tokenizer(vocabulary.learn(files, 700, characters=symbols_of(KINDS)))


@pytest.fixture(scope="module")
def word_pairs(files, tokenizer):
    windows = translation_windows(*[[file] for file in files], (tokenizer,) * 2, OPTIONS)
    return learn_word_pairs([WordSplitter(tokenizer)] * 2, [tokenizer] * 2, windows.mixture)


OPTIONS = BatchOptions(1000, 50, marks=KINDS)


def marked(tokenizer, word_pairs, kinds, seed=0, texts=PAIRS):
    """Returns the texts of both sides with marks."""
    marking = Marking((WordSplitter(tokenizer),) * 2, word_pairs, kinds)
    rows = [tokenizer.tokenize([*side]) for side in zip(*texts, strict=True)]
    sides = marking(*rows, tf.constant([seed, 1], tf.int64))
    return [
        *zip(
            *([text.decode() for text in tokenizer.detokenize(side).numpy()] for side in sides),
            strict=True,
        )
    ]


def test_terms_are_words_of_the_target_that_follow_their_source(tokenizer, word_pairs):
    after = marked(tokenizer, word_pairs, [TERMS])
    changed = [(old, new) for old, new in zip(PAIRS, after, strict=True) if old != new]
    assert 0.1 < len(changed) / len(PAIRS) < 0.35
    copied = 0
    for (source, target), (new_source, new_target) in changed:
        assert ANY_TERM.sub("", new_source) == source
        assert all(term.strip() in new_target for term in ANY_TERM.findall(new_source))
        assert not ANY_TERM.search(new_target)
        copied += target != new_target
    assert 0.1 < copied / len(changed) < 0.5


def test_most_terms_are_translations(tokenizer, word_pairs):
    after = marked(tokenizer, word_pairs, [TERMS])
    found = {
        (match[1].lower(), match[2].strip().lower())
        for source, _ in after
        for match in re.finditer(f"(\\w+){TERM_BEGIN}([^{TERM_END}]*){TERM_END}", source)
    }
    assert {("hund", "dog"), ("wasser", "water"), ("brot", "bread")} & found


def test_placeholders_are_on_both_sides_once(tokenizer, word_pairs):
    after = marked(tokenizer, word_pairs, [PLACEHOLDERS])
    both = [[sorted(ANY_PLACEHOLDER.findall(text)) for text in pair] for pair in after]
    assert all(source == target and len({*source}) == len(source) for source, target in both)
    assert 0.05 < sum(map(bool, (source for source, _ in both))) / len(PAIRS) < 0.25
    assert {symbol for source, _ in both for symbol in source} == {*PLACEHOLDER_SYMBOLS}


def test_the_seed_decides(tokenizer, word_pairs):
    first, again, other = (marked(tokenizer, word_pairs, KINDS, seed) for seed in (1, 1, 2))
    assert first == again != other


def test_pairs_without_known_words_stay(tokenizer, word_pairs):
    strange = [("", ""), ("xyz", ""), (" 🙂 ", "🙂"), ("qqq", "qqq")]
    assert marked(tokenizer, word_pairs, KINDS, texts=strange) == [
        (source.strip(), target) for source, target in strange
    ]


@pytest.mark.prove
def test_a_pass_has_marks_that_its_number_decides(files, tokenizer):
    windows = translation_windows(*[[file] for file in files], (tokenizer,) * 2, OPTIONS)
    begin = tokenizer.encode([TERM_BEGIN])[0, 1]

    def number_of_marks():
        return [
            int(tf.reduce_sum(tf.cast(source == begin, tf.int32)))
            for (source, _), _ in windows.dataset().take(6)
        ]

    first = number_of_marks()
    assert first == number_of_marks()
    assert sum(first) > 0


def test_text_without_translations_is_refused(tmp_path, tokenizer):
    files = pairs.write(tmp_path, [("eins", "one"), ("zwei", "two")])
    windows = translation_windows(*[[file] for file in files], (tokenizer,) * 2, OPTIONS)
    with pytest.raises(ValueError, match="no word has the same translation twice"):
        learn_word_pairs([WordSplitter(tokenizer)] * 2, [tokenizer] * 2, windows.mixture)


def test_words_of_a_small_language_are_terms_though_each_is_frequent(tmp_path, tokenizer):
    sentences = [pairs.sentence(2, random.Random(i)) for i in range(300)]
    reverse = [" ".join(word[::-1] for word in text.split()) for text in sentences]
    files = pairs.write(tmp_path, zip(sentences, reverse, strict=True))
    windows = translation_windows(*[[file] for file in files], (tokenizer,) * 2, OPTIONS)
    learnt = learn_word_pairs([WordSplitter(tokenizer)] * 2, [tokenizer] * 2, windows.mixture)
    assert len(learnt.source_keys) == len(learnt.target_keys) == len(pairs.WORDS)
    assert (learnt.candidates[:, 0] >= 0).all()
