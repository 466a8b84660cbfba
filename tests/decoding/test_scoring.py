"""Scores of given translations: against the equations in NumPy, and against search."""

import math

import numpy as np
import pytest
import tensorflow as tf

from kformer import Scored, SearchOptions, Transformer, Translator, perplexity
from kformer.decoding import scoring as module
from kformer.decoding.decoder_step import start_decoding
from kformer.decoding.scoring import BatchLikelihood, likelihood
from support import reference
from support.reference import perturbed

START, END, V = 2, 3, 13
SOURCES = [[4, 9, 6, 8, 5, 7, 3], [9, 6, 3], [3]]
TARGETS = [[5, 7, 3], [], [6, 0, 8, 8, 3]]  # One of them reads the padding id.


class Ids:
    """The part of a tokenizer that scoring needs."""

    start_id = START


@pytest.fixture(scope="module")
def transformer():
    return perturbed(Transformer(V, num_layers=2, d_model=30, num_heads=3, d_ff=23))


@pytest.fixture(scope="module")
def translator(tokenizer):
    return Translator(tokenizer, perturbed(Transformer(400, 1, 16, 2, 24)))


@pytest.mark.parametrize("start", [START, 0], ids=["start", "padding as start"])
def test_the_likelihood_is_that_of_the_equations(transformer, start):
    model = reference.Model(reference.weights_of(transformer), 3, 2)
    source, target = np.array([SOURCES[0]]), np.array([[5, 7, 11, 3]])
    values, attention = likelihood(transformer, source, target.astype("int32"), start)
    logits = reference.transformer(source, np.array([[start, 5, 7, 11]]), model)
    expected = np.log(reference.softmax(logits))[0, np.arange(4), target[0]]
    np.testing.assert_allclose(values[0], expected, atol=1e-4)
    np.testing.assert_allclose(np.sum(attention, axis=-1), 1, rtol=1e-5)


def test_an_id_that_the_bias_forbids_costs_what_it_would_without_that_bias():
    network = perturbed(Transformer(V, 1, 30, 3, 23, output_bias=True))
    arguments = np.array([SOURCES[0]]), np.array([[5, 9, 7, 9, 3]], "int32"), START
    free, _ = likelihood(network, *arguments)
    network.target_embedding.bias.assign(network.target_embedding.bias - 1e4 * np.eye(V)[9])
    values, _ = likelihood(network, *arguments)
    values, free = np.array(values[0]), np.array(free[0])
    bias = network.target_embedding.bias.numpy()[9] + 1e4
    assert abs(bias) < 1
    np.testing.assert_allclose(values[[1, 3]], free[[1, 3]], atol=2 * abs(bias) + 0.01)
    assert (values[[0, 2, 4]] > free[[0, 2, 4]]).all()  # The id had a share of these.
    assert values.min() > -20


def test_the_likelihood_is_that_of_decoding_step_by_step(transformer):
    results = BatchLikelihood(transformer, Ids)(SOURCES, TARGETS)
    for source, target, (values, attention) in zip(SOURCES, TARGETS, results, strict=True):
        step, cache = start_decoding(transformer, np.array([source], "int32"), 5)
        assert values.shape == (len(target),) and attention.shape == (len(target), len(source))
        for position, (read, expected_id) in enumerate(zip([START, *target], target, strict=False)):
            visible = (np.arange(5) <= position)[None, None]
            ids = np.array([[read]], "int32")
            logits, cache, weights, _ = step(ids, position, visible, cache)
            expected = tf.nn.log_softmax(logits).numpy()[0, 0, expected_id]
            assert values[position] == pytest.approx(expected, abs=1e-4)
            np.testing.assert_allclose(attention[position], weights[0, 0], atol=1e-5)


@pytest.mark.prove
@pytest.mark.parametrize("max_logits", [1, 2 * V * 5])
def test_the_bound_on_batches_changes_no_result(transformer, monkeypatch, max_logits):
    expected = BatchLikelihood(transformer, Ids)(SOURCES, TARGETS)
    done = []
    monkeypatch.setattr(module, "_MAX_LOGITS", max_logits)
    got = BatchLikelihood(transformer, Ids)(SOURCES, TARGETS, progress=done.append)
    assert done == ([1, 1] if max_logits == 1 else [2])
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one.log_probabilities, other.log_probabilities, atol=1e-4)
        np.testing.assert_allclose(one.attention, other.attention, atol=1e-5)


@pytest.mark.prove
def test_the_score_of_a_greedy_translation_is_that_of_the_search(translator):
    [[found]] = translator.translations(["der hund"])
    # By ids, as its text may split into other pieces.
    assert sum(found.token_log_probabilities) == pytest.approx(found.score, abs=1e-3)


def test_a_score_is_the_sum_over_its_tokens(translator, tokenizer):
    sources, targets = ["der hund", "", "ein bier ."], ["the dog", "", "a"]
    for source, target, scored in zip(
        sources, targets, translator.score(sources, targets), strict=True
    ):
        assert scored.tokens[:-1] == tuple(tokenizer.pieces(tokenizer.tokenize([target])[0]))
        assert scored.tokens[-1] == "</s>"
        assert len(scored.token_log_probabilities) == len(scored.tokens)
        assert scored.log_probability == pytest.approx(sum(scored.token_log_probabilities))
        assert scored.mean == scored.log_probability / len(scored.tokens)
        assert all(value <= 0 for value in scored.token_log_probabilities)
        [alone] = translator.score([source], [target])
        assert alone.log_probability == pytest.approx(scored.log_probability, abs=1e-3)


@pytest.mark.prove
def test_the_best_of_all_translations_has_the_best_score(translator):
    """A wide beam sorts by what `score` says, when nothing else counts."""
    options = SearchOptions(beam_size=5, n_best=5, length_penalty=0, max_length=9)
    [found] = translator.translations(["der hund"], options)
    finished = [one for one in found if "length limit" not in one.flags]
    for one in finished:
        assert sum(one.token_log_probabilities) == pytest.approx(one.score, abs=1e-3)


def test_perplexity_is_a_mean_over_tokens():
    scored = [Scored(-2.0, ("a", "</s>"), (-1.5, -0.5)), Scored(-4.0, ("</s>",), (-4.0,))]
    assert perplexity(scored) == pytest.approx(math.exp(6 / 3))
    with pytest.raises(ValueError, match="Received: none"):
        perplexity([])


def test_every_source_needs_its_target(translator):
    with pytest.raises(ValueError, match="Received: 2 sources, 1 targets"):
        translator.score(["a", "b"], ["c"])
    with pytest.raises(TypeError, match="Received: targets='c'"):
        translator.score(["a"], "c")


@pytest.mark.prove
def test_texts_that_are_too_long_are_scored_in_part_with_a_warning(tokenizer):
    transformer = perturbed(Transformer(400, 1, 16, 2, 24))
    translator = Translator(tokenizer, transformer, max_source_length=5)
    with pytest.warns(UserWarning) as warned:
        long_source, long_target, short = translator.score(
            ["x y z x y z", "x", "x"], ["x", "x y z " * 30, "x"]
        )
    messages = [str(w.message) for w in warned]
    assert [m.split(" has ")[0] for m in messages] == [
        "Source of sentence 1",
        "Target of sentence 2",
    ]
    assert all(m.endswith("were scored.") for m in messages)
    assert {w.filename for w in warned} == {__file__}
    assert (long_source.flags, long_target.flags) == (("source cut",), ("target cut",))
    assert short.flags == () and len(long_target.tokens) == 55
