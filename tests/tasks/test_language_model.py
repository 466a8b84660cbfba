"""Prompts in, continuations out; scores of texts."""

import dataclasses

import numpy as np
import pytest

import kformer
from kformer import LanguageModel, SearchOptions, TransformerDecoder, Translator
from support.reference import perturbed

PROMPTS = ["the dog", "", "a child calls the tree .", "we", "👍🏽"]
SIZES = (400, 2, 16, 2, 24)
MAX_LENGTH = 24
SEARCHES = {
    "greedy": SearchOptions(),
    "beam": SearchOptions(beam_size=3, n_best=2),
    "sample": SearchOptions(sample=True, n_best=2, temperature=0.8, top_p=0.9, seed=7),
}
every_search = pytest.mark.parametrize("options", SEARCHES.values(), ids=SEARCHES.keys())


@pytest.fixture
def model(tokenizer):
    decoder = perturbed(TransformerDecoder(*SIZES))
    return LanguageModel(tokenizer, decoder, max_length=MAX_LENGTH)


def log_softmax(logits):
    logits = np.asarray(logits, "float64")
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


@pytest.mark.prove
def test_a_length_beyond_the_model_is_said_and_ends_there(model):
    assert model.generate(["we"], max_length=MAX_LENGTH)
    with pytest.warns(UserWarning, match=r"has 24 positions, .* Received: max_length=25"):
        [[found]] = model.generations(["we"], SearchOptions(max_length=25))
    assert len(found.prompt_tokens) + len(found.tokens) <= MAX_LENGTH


@pytest.mark.prove
def test_a_generated_text_is_the_prompt_with_the_best_ids(model):
    texts = model.generate(PROMPTS, max_length=5)
    for prompt, text in zip(PROMPTS, texts, strict=True):
        [row] = model.tokenizer.with_start(model.tokenizer.tokenize([prompt])).to_list()
        start = len(row)
        while len(row) < start + 5 and row[-1] != model.tokenizer.end_id:
            row.append(int(np.argmax(model(np.array([row]))[0, -1])))
        ids = [i for i in row[1:] if i != model.tokenizer.end_id]
        assert text == model.tokenizer.detokenize([ids]).numpy()[0].decode().replace("\0", "")


@pytest.mark.prove
@every_search
def test_neither_the_batch_nor_the_order_changes_an_answer(model, options):
    together = model.generations(PROMPTS, options, details=False)
    alone = model.generations(PROMPTS[::-1], options, batch_size=2, details=False)[::-1]
    for several, others in zip(together, alone, strict=True):
        assert [one.text for one in several] == [one.text for one in others]
        assert len(several) == options.n_best


@pytest.mark.prove
@every_search
def test_details_are_the_probabilities_that_the_search_found(model, options):
    options = dataclasses.replace(options, max_length=6, **_without_penalty(options))
    for prompt, several in zip(PROMPTS, model.generations(PROMPTS, options), strict=True):
        assert several[0].prompt_tokens == tuple(
            model.tokenizer.pieces(model.tokenizer.tokenize([prompt])[0].numpy())
        )
        for one in several:
            assert len(one.tokens) == len(one.token_log_probabilities) <= 6
            np.testing.assert_allclose(sum(one.token_log_probabilities), one.score, atol=1e-2)


def _without_penalty(options):
    return {"length_penalty": 0.0} if options.beam_size > 1 else {}


@pytest.mark.prove
def test_a_continuation_ends_at_the_limit_of_the_model_and_is_flagged(model):
    options = SearchOptions(min_length=100)
    for [one] in model.generations(PROMPTS, options):
        assert len(one.prompt_tokens) + len(one.tokens) == MAX_LENGTH
        assert one.flags[0] == "length limit"


@pytest.mark.prove
def test_other_options_constrain_the_continuation(model):
    [[one]] = model.generations(["the dog"], SearchOptions(no_repeat_ngram=1, min_length=9))
    assert len({*one.tokens}) == len(one.tokens) >= 9


@pytest.mark.prove
def test_a_seed_repeats_a_sample_and_another_draws_another(model):
    draw = {"sample": True, "temperature": 2.0}
    assert model.generate(PROMPTS, seed=1, **draw) == model.generate(PROMPTS, seed=1, **draw)
    assert model.generate(PROMPTS, seed=1, **draw) != model.generate(PROMPTS, seed=2, **draw)


@pytest.mark.prove
def test_perplexity_is_that_of_the_networks_logits(model):
    texts = ["the dog seeks the house .", "", "we"]
    total, tokens = 0.0, 0
    for text, scored in zip(texts, model.score(texts), strict=True):
        [row] = model.tokenizer.with_end(model.tokenizer.tokenize([text])).to_list()
        read = [model.tokenizer.start_id, *row[:-1]]
        expected = log_softmax(model(np.array([read])))[0, np.arange(len(row)), row]
        np.testing.assert_allclose(scored.token_log_probabilities, expected, atol=1e-3)
        total, tokens = total + expected.sum(), tokens + len(row)
        assert scored.tokens == tuple(model.tokenizer.pieces(row)) and not scored.flags
    found = kformer.perplexity(model.score(texts))
    np.testing.assert_allclose(found, np.exp(-total / tokens), rtol=1e-3)


def test_of_a_long_text_the_beginning_is_scored_with_a_warning(model):
    with pytest.warns(UserWarning, match="Text 2 has .* over the limit of 24: .* scored"):
        scored = model.score(["we", "we " * 40])
    assert [one.flags for one in scored] == [(), ("text cut",)]
    assert len(scored[1].tokens) == MAX_LENGTH


@pytest.mark.prove
def test_vectors_are_those_of_the_last_layer_after_the_start_id(model):
    [vectors] = model.token_vectors(["the dog"])
    [row] = model.tokenizer.with_start(model.tokenizer.tokenize(["the dog"])).to_list()
    np.testing.assert_allclose(vectors, model.decoder.encode(np.array([row]))[0], atol=1e-5)
    np.testing.assert_allclose(model.encode(["the dog"])[0], vectors.mean(axis=0), atol=1e-5)


@pytest.mark.prove
def test_a_keras_file_is_all_that_it_needs(model, tmp_path):
    model.save(tmp_path / "model.keras")
    for loaded in (kformer.load(tmp_path / "model.keras"), model.load(tmp_path / "model.keras")):
        assert type(loaded) is LanguageModel and loaded.max_length == MAX_LENGTH
        assert loaded.generate(PROMPTS) == model.generate(PROMPTS)
    with pytest.raises(ValueError, match="which holds a language model"):
        Translator.load(tmp_path / "model.keras")


def test_no_prompt_gives_no_text(model):
    assert model.generate([]) == [] and model.score([]) == []


def test_a_prompt_beyond_the_limit_is_refused(model):
    with pytest.raises(ValueError, match=r"may have 23 ids.* Received: prompt 2 of \d+ ids"):
        model.generate(["we", "we " * 40])


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"coverage_penalty": 0.2, "beam_size": 2}, "no source .* coverage_penalty=0.2"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"beam_size": 0}, "beam_size=0"),
    ],
)
def test_options_out_of_range_are_refused(model, options, rule):
    with pytest.raises(ValueError, match=rule):
        model.generate(["we"], **options)


def test_options_and_decoders_of_another_kind_are_refused(model, tokenizer):
    with pytest.raises(TypeError, match=r"must be a kformer\.SearchOptions"):
        model.generations(["we"], {"beam_size": 2})
    with pytest.raises(TypeError, match="`decoder` must be a TransformerDecoder"):
        LanguageModel(tokenizer, kformer.TransformerEncoder(*SIZES))
    with pytest.raises(ValueError, match="vocabulary size 399"):
        LanguageModel(tokenizer, TransformerDecoder(399, *SIZES[1:]))
    with pytest.raises(ValueError, match="start_id=5 of the decoder, 2 of the tokenizer"):
        LanguageModel(tokenizer, TransformerDecoder(*SIZES, start_id=5))
