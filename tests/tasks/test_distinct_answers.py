"""Several answers differ in their texts, in Python and in a graph."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from kformer import SearchOptions
from kformer.decoding.batch_decoder import Hypothesis
from kformer.decoding.search.continuations import NEG_INF
from kformer.export.saved_model.graph_search import distinct
from kformer.tasks.distinct_answers import distinct_answers


class Spelling:
    """A tokenizer of three pieces."""

    def detokenize(self, rows):
        pieces = {4: "a", 5: "b", 6: "ab"}
        return tf.constant(["".join(pieces.get(i, "") for i in row) for row in rows.numpy()])


def hypotheses(*rows):
    return [Hypothesis([*ids, 3], -float(n), True) for n, ids in enumerate(rows)]


def ids_of(found):
    return [one.ids[:-1] for one in found]


def test_of_sequences_that_spell_one_text_the_best_is_kept():
    rows = [hypotheses([6], [4, 5], [4], [5, 4], [5]), hypotheses([4, 5], [6], [4, 5, 5])]
    first, second = distinct_answers(Spelling(), rows, SearchOptions(3, n_best=3))
    assert ids_of(first) == [[6], [4], [5, 4]]
    assert [one.score for one in first] == [0, -2, -3]
    assert ids_of(second) == [[4, 5], [4, 5, 5]]  # There are no more.


def test_samples_and_single_answers_stay_as_they_are():
    rows = [hypotheses([6], [4, 5])]
    for options in (SearchOptions(sample=True, n_best=2), SearchOptions(4)):
        assert distinct_answers(Spelling(), rows, options) is rows


texts = st.lists(st.sampled_from(["", "a", "b", "c"]), min_size=5, max_size=5)


@given(st.lists(st.tuples(texts, st.integers(0, 5)), min_size=1, max_size=3), st.integers(1, 5))
def test_a_graph_chooses_the_same(rows, number):
    """Of 5 answers to each row, as many as it has."""
    there = np.arange(5) < np.array([[count] for _, count in rows])
    scores = np.where(there, -np.arange(5.0), NEG_INF)
    words = np.where(there, [row for row, _ in rows], "")
    answers = {"text": tf.constant(words), "score": tf.constant(scores)}
    answers["flags"] = tf.strings.as_string(tf.where(there, scores, 0))
    nothing = tf.constant([["cut"]] * len(rows))
    found = distinct(answers, "text", number, tf.constant(there), nothing)
    for i, (row, count) in enumerate(rows):
        expected = [row[:count].index(text) for text in dict.fromkeys(row[:count])][:number]
        kept = len(expected)
        assert [text.decode() for text in found["text"][i, :kept].numpy()] == [
            row[k] for k in expected
        ]
        assert found["score"][i, :kept].numpy().tolist() == [-k for k in expected]
        assert (found["score"][i, kept:].numpy() <= NEG_INF).all()
        assert not any(found["text"][i, kept:].numpy())


@pytest.mark.prove
def test_every_form_has_distinct_answers(toy_translator, tmp_path):
    from kformer.export import export_saved_model
    from support import toy

    texts = toy.SOURCES[:20]
    expected = toy_translator.translations(texts, SearchOptions(4, n_best=4), details=False)
    served = tf.saved_model.load(str(export_saved_model(toy_translator, tmp_path / "served")))
    found = served.signatures["beam"](text=tf.constant(texts))["translation"].numpy()
    for row, several in zip(found, expected, strict=True):
        assert [text.decode() for text in row if text] == [one.text for one in several if one.text]
        assert len({one.text for one in several}) == len(several) == 4
