"""Whole translations, text to text, with every option: what they are, and what they depend on."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kformer import SearchOptions, Transformer, Translator
from kformer.decoding.batch_decoder import BatchDecoder
from support.reference import perturbed

TEXTS = ["der hund schläft .", "ein bier", "", "guten tag , wo ist der bahnhof ?", "ja"]
WAYS = {
    "greedy": SearchOptions(),
    "beam": SearchOptions(beam_size=3, n_best=2),
    "coverage": SearchOptions(beam_size=3, coverage_penalty=0.5),
    "sample": SearchOptions(sample=True, temperature=0.8, top_k=50, top_p=0.95, seed=7),
    "restrained": SearchOptions(
        beam_size=2,
        min_length_ratio=0.5,
        max_length_ratio=2.0,
        no_repeat_ngram=2,
        repetition_penalty=1.3,
    ),
}
ways = pytest.mark.parametrize("options", WAYS.values(), ids=WAYS.keys())


@pytest.fixture(scope="module")
def translator(tokenizer):
    """It rambles, in ways that depend on its source."""
    return Translator(tokenizer, perturbed(Transformer(400, 1, 16, 2, 24, norm_first=True)))


def reshuffle(translator, seed):
    """Gives the model other random weights."""
    random = np.random.default_rng(seed)
    for weight in translator.transformer.weights:
        weight.assign(random.normal(size=weight.shape) * 0.5)


def close(one, other):
    """Whether two translations are the same, or as good as each other to the last digits."""
    if one.tokens == other.tokens:
        return one.score == pytest.approx(other.score, abs=1e-2)
    return one.score == pytest.approx(other.score, abs=1e-3)


def first_ids(translations):
    return [one.tokens for one, *_ in translations]


@pytest.mark.sample(6)
@ways
def test_a_translation_is_what_the_strings_are(translator, options):
    several = translator.translations(TEXTS, options, details=False)
    assert [best.text for best, *_ in several] == translator.translate(
        TEXTS, **dataclasses.asdict(options)
    )
    for row, text in zip(several, TEXTS, strict=True):
        assert 1 <= len(row) <= options.n_best
        scores = [one.score for one in row]
        assert scores == sorted(scores, reverse=True)
        if not options.sample:
            assert len({one.text for one in row}) == len(row)
        assert row[0].source_tokens[-1] == "</s>"
        assert bool(row[0].tokens) == bool(text)
        assert row[0].token_log_probabilities is row[0].attention is row[0].alignment is None


@pytest.mark.prove
@ways
def test_details_are_of_every_token(translator, options):
    for one in itertools.chain(*translator.translations(TEXTS, options)):
        t, s = len(one.tokens), len(one.source_tokens)
        assert len(one.token_log_probabilities) == t
        assert one.attention.shape == (t, s)
        np.testing.assert_allclose(one.attention.sum(axis=1), 1, rtol=1e-5)
        assert [target for target, _ in one.alignment] == list(range(t))
        assert all(0 <= source < s for _, source in one.alignment)
        unfinished = one.tokens and one.tokens[-1] != "</s>"
        assert ("length limit" in one.flags) == bool(unfinished)
        if options == SearchOptions() or options.sample:
            assert sum(one.token_log_probabilities) == pytest.approx(one.score, abs=1e-3)


@pytest.mark.prove
@ways
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), data=st.data())
def test_a_translation_depends_on_nothing_but_its_text(translator, options, seed, data):
    """Neither on the batch, the order, the padding nor the beams of others; for any weights."""
    reshuffle(translator, seed)
    texts = data.draw(st.lists(st.text(max_size=9), min_size=2, max_size=5))
    batch_size = data.draw(st.integers(1, 5))
    together = translator.translations(texts, options, batch_size=batch_size, details=False)
    [alone] = translator.translations(texts[-1:], options, details=False)
    backwards = translator.translations(texts[::-1], options, details=False)[::-1]
    assert all(close(one, other) for one, other in zip(alone, together[-1], strict=True))
    for row, other_row in zip(together, backwards, strict=True):
        assert all(close(one, other) for one, other in zip(row, other_row, strict=True))


@pytest.mark.prove
def test_a_sample_depends_on_its_seed_and_its_sentence_alone(translator):
    def drawn(texts, seed):
        options = SearchOptions(sample=True, seed=seed)
        return first_ids(translator.translations(texts, options, details=False))

    one, other = drawn(TEXTS, 1), drawn(TEXTS, 2)
    assert one == drawn(TEXTS, 1)
    assert all(a != b for a, b, text in zip(one, other, TEXTS, strict=True) if text)
    assert drawn(TEXTS[::-1] * 2, 1) == one[::-1] * 2


@pytest.mark.prove
def test_sampling_among_one_is_greedy(translator):
    assert translator.translate(TEXTS, sample=True, top_k=1) == translator.translate(TEXTS)


@pytest.mark.prove
@pytest.mark.parametrize("beam_size", [1, 3])
def test_lengths_have_their_limits(translator, beam_size):
    options = SearchOptions(beam_size, min_length=3, max_length=6)
    for one, *_ in translator.translations(TEXTS[:2], options):
        assert len(one.tokens) <= 6
        assert len([token for token in one.tokens if token != "</s>"]) >= 3
    options = SearchOptions(beam_size, min_length_ratio=1.5, max_length_ratio=2)
    for one, *_ in translator.translations([text for text in TEXTS if text], options):
        pieces = len(one.source_tokens) - 1
        assert 1.5 * pieces <= len(one.tokens) <= 2 * (pieces + 1)


@pytest.mark.prove
@pytest.mark.parametrize("beam_size", [1, 3])
def test_a_translation_begins_with_its_prefix(translator, tokenizer, beam_size):
    prefixes = ["the dog", "", "of a blank line", "no no no no no no", "y" * 70]
    options = SearchOptions(beam_size, no_repeat_ngram=2)
    found = translator.translations(TEXTS, options, prefixes=prefixes)
    plain = translator.translations(TEXTS, options)
    for (one, *_), (other, *_), prefix, text in zip(found, plain, prefixes, TEXTS, strict=True):
        if not text:
            assert (one.text, one.flags) == (prefix, ())
        elif not prefix:
            assert one.tokens == other.tokens
        else:
            ids = tokenizer.tokenize([prefix])[0].numpy()
            assert one.tokens[: len(ids)] == tuple(tokenizer.pieces(ids))
            assert len(one.tokens) > len(ids)
    assert [best.text for best, *_ in found] == translator.translate(
        TEXTS, beam_size=beam_size, no_repeat_ngram=2, prefixes=prefixes
    )


@pytest.mark.prove
@pytest.mark.parametrize(
    "options",
    [
        SearchOptions(),
        SearchOptions(3, n_best=3, min_length=9, repetition_penalty=1.5),
        SearchOptions(sample=True, n_best=3),
    ],
)
def test_a_blank_sentence_translates_to_its_prefix(translator, options):
    texts, prefixes = ["", " \t", "", "ein bier"], ["the dog", "guten tag", "", "ja"]
    blank = translator.translations(texts, options, prefixes=prefixes, batch_size=2)[:3]
    assert [[one.text for one in several] for several in blank] == [
        ["the dog"],
        ["guten tag"],
        [""],
    ]
    scored = translator.score(texts[:2], prefixes[:2])
    for (one,), expected in zip(blank, scored, strict=False):
        assert one.tokens == expected.tokens and one.flags == ()
        np.testing.assert_allclose(
            one.token_log_probabilities, expected.token_log_probabilities, rtol=1e-4
        )
        if options == SearchOptions():
            assert one.score == pytest.approx(expected.log_probability, rel=1e-4)


@pytest.mark.prove
def test_a_prefix_that_is_too_long_is_cut_and_said_so(tokenizer):
    transformer = perturbed(Transformer(400, 1, 16, 2, 24))
    translator = Translator(tokenizer, transformer, max_source_length=5)
    message = "Prefix of sentence 2 has .* over the limit of 5: only its first 4 were kept"
    with pytest.warns(UserWarning, match=message) as warned:
        (short, *_), (long, *_) = translator.translations(["ja"] * 2, prefixes=["x", "xyz" * 30])
    assert {w.filename for w in warned} == {__file__}
    assert "prefix cut" in long.flags and "prefix cut" not in short.flags


def test_every_text_needs_its_prefix(translator):
    with pytest.raises(ValueError, match="Received: 2 texts, 1 prefixes"):
        translator.translate(["a", "b"], prefixes=["c"])
    with pytest.raises(TypeError, match="Received: prefixes='c'"):
        translator.translate(["a"], prefixes="c")


def test_no_text_is_no_translation(translator):
    assert translator.translations([]) == []
    assert translator.score([], []) == []


@pytest.mark.prove
def test_degenerate_output_is_flagged(tokenizer):
    transformer = perturbed(Transformer(400, 1, 16, 2, 24, norm_first=True))
    translator = Translator(tokenizer, transformer)
    norm = transformer.decoder.norm
    norm.gamma.assign(norm.gamma * 0)  # So that it says one thing, whatever was said before.
    [[one], [blank]] = translator.translations(["ein bier", ""])
    assert one.flags == ("length limit", "loop", "length ratio")
    assert len(set(one.tokens)) == 1
    assert blank.flags == ()


@pytest.mark.prove
def test_numbers_of_a_call_are_no_reason_to_trace_again(tokenizer):
    calls = []

    class Counting(Transformer):
        def encode(self, *arguments):
            calls.append(arguments)
            return super().encode(*arguments)

    decode = BatchDecoder(Counting(400, 1, 16, 2, 24), tokenizer)
    rows = [[5, 6, 3], [7, 3]]
    for seed in (1, 2):
        for most in (3, 9):
            options = SearchOptions(sample=True, seed=seed, min_length=1, max_length=most)
            decode(rows, options)
    assert len(calls) == 1
    decode(rows, options, prefixes=[[8], []])
    decode(rows, options, prefixes=[[8, 9], [7]])
    assert len(calls) == 2
