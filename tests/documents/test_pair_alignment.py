"""Words of sentences and translations are aligned from the pairs alone."""

import random

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from kformer.documents.document_translation import translate_markup
from kformer.documents.pair_alignment import WordPair, align_pairs

WORDS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6)


@given(st.lists(st.tuples(WORDS, WORDS, st.booleans()), min_size=1, max_size=5))
def test_the_weights_of_each_word_are_shares(pairs):
    pairs = [
        WordPair(source, target, np.eye(len(target), len(source)) if has_attention else None)
        for source, target, has_attention in pairs
    ]
    for pair, weights in zip(pairs, align_pairs(pairs), strict=True):
        assert weights.shape == (len(pair.target), len(pair.source))
        assert (weights >= 0).all()
        np.testing.assert_allclose(weights.sum(1), 1)


def test_a_word_for_word_cipher_in_any_order_is_found():
    generator = random.Random(0)
    words = [f"w{number}" for number in range(40)]
    pairs, orders = [], []
    for _ in range(150):
        source = generator.sample(words, 6)
        order = generator.sample(range(6), 6)
        pairs.append(WordPair(source, [source[place].replace("w", "z") for place in order]))
        orders.append(order)
    right = [
        (weights.argmax(1) == order).mean()
        for weights, order in zip(align_pairs(pairs), orders, strict=True)
    ]
    assert np.mean(right) > 0.97  # By chance: 1/6; by the diagonal alone about 1/4.


def test_texts_that_are_translated_together_show_which_words_belong_together():
    """Alone, each would have its marks near the diagonal, where the words in any order are not."""
    generator = random.Random(0)
    words = [f"w{number}" for number in range(40)]
    sentences = [generator.sample(words, 6) for _ in range(150)]
    texts = [f"<b>{first}</b> {' '.join(others)}" for first, *others in sentences]

    def shuffle(texts):
        return [" ".join(generator.sample(text.replace("w", "z").split(), 6)) for text in texts]

    answers = [markup for markup, _ in translate_markup(texts, shuffle)]
    right = [
        f"<b>{sentence[0].replace('w', 'z')}</b>" in answer
        for sentence, answer in zip(sentences, answers, strict=True)
    ]
    assert np.mean(right) > 0.9  # Alone: 1 of 6.


def test_attention_decides_where_words_alone_cannot():
    pair = WordPair(["a", "b", "c"], ["x", "y", "z"], np.eye(3)[[2, 0, 1]])
    assert align_pairs([pair])[0].argmax(1).tolist() == [2, 0, 1]
    assert align_pairs([pair._replace(attention=None)])[0].argmax(1).tolist() == [0, 1, 2]
