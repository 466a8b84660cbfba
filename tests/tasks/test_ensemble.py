"""Several translators that translate together; untrained ones, which ramble in various ways."""

from itertools import chain

import keras
import numpy as np
import pytest

from kformer import Ensemble, SearchOptions, Tokenizer, Transformer, Translator
from support import toy
from support.reference import perturbed

TEXTS = ["", *toy.SOURCES[:6], " ".join(toy.SOURCES[6:8])]
OPTIONS = {
    "greedy": SearchOptions(max_length=9),
    "beam": SearchOptions(beam_size=3, n_best=2, max_length=9, min_length=1),
}
searches = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)


@pytest.fixture(scope="module")
def translators(tokenizer):
    """Two of unlike sizes."""
    keras.utils.set_random_seed(3)
    return [
        Translator(tokenizer, perturbed(Transformer(400, 1, 16, 2, 24))),
        Translator(
            tokenizer,
            perturbed(Transformer(400, 2, 12, 3, 20, num_decoder_layers=1)),
            max_source_length=40,
            alignment_head=(1, 2),
        ),
    ]


def teacher_forced(translator, text, tokens):
    """The probabilities (T, V) of all ids after each beginning of `tokens`."""
    [source] = translator.source_rows([text])
    pieces = translator.target_tokenizer.pieces(range(400))
    target = [2, *(pieces.index(token) for token in tokens[:-1])]
    logits = translator.transformer((np.array([source]), np.array([target])))[0]
    return keras.ops.convert_to_numpy(keras.ops.softmax(logits))


def assert_same(found, expected):
    assert [[one.text for one in row] for row in found] == [
        [one.text for one in row] for row in expected
    ]
    pairs = zip(chain.from_iterable(found), chain.from_iterable(expected), strict=True)
    for one, other in pairs:
        assert (one.tokens, one.flags) == (other.tokens, other.flags)
        assert one.score == pytest.approx(other.score, abs=1e-4)
        np.testing.assert_allclose(
            one.token_log_probabilities, other.token_log_probabilities, atol=1e-4
        )


@pytest.mark.prove
@searches
def test_an_ensemble_of_one_model_twice_is_the_model(translators, options):
    model = translators[0]
    expected = model.translations(TEXTS, options)
    assert_same(Ensemble([model, model]).translations(TEXTS, options), expected)
    assert_same(Ensemble([model]).translations(TEXTS, options), expected)


@pytest.mark.prove
@searches
def test_a_translation_does_not_depend_on_its_neighbours(translators, options):
    ensemble = Ensemble(translators)
    together = ensemble.translations(TEXTS, options, batch_size=5)
    alone = [ensemble.translations([text], options)[0] for text in TEXTS]
    assert_same(together, alone)


@pytest.mark.prove
def test_the_best_id_is_that_of_the_mean_of_what_each_model_finds(translators):
    """Step by step, with the models' own probabilities after the same beginning."""
    options = SearchOptions(max_length=9, no_repeat_ngram=1)
    [[found]] = Ensemble(translators).translations(TEXTS[1:2], options)
    of_models = [teacher_forced(one, TEXTS[1], found.tokens) for one in translators]
    mean = np.mean(of_models, axis=0)
    pieces = translators[0].tokenizer.pieces(range(400))
    chosen = [pieces.index(token) for token in found.tokens]
    for step, best in enumerate(chosen):
        left = [i for i in range(400) if i not in chosen[:step]]
        assert best == max(left, key=mean[step].__getitem__)
    expected = np.log(mean[np.arange(len(chosen)), chosen])
    np.testing.assert_allclose(found.token_log_probabilities, expected, atol=1e-4)
    assert found.score == pytest.approx(expected.sum(), abs=1e-3)


@pytest.mark.prove
def test_attention_is_the_mean_of_the_heads_that_align(translators):
    texts, targets = TEXTS[1:3], toy.TARGETS[:2]
    [[found]] = Ensemble(translators).translations(texts[:1], OPTIONS["greedy"])
    sources = [translators[0].source_rows(texts[:1])[0]]
    pieces = translators[0].tokenizer.pieces(range(400))
    ids = [[pieces.index(token) for token in found.tokens]]
    last = translators[0]._likelihood(sources, ids)[0].attention
    head = translators[1]._likelihood(sources, ids, layer=0, head=1)[0].attention
    np.testing.assert_allclose(found.attention, (last + head) / 2, atol=1e-5)
    scored = Ensemble(translators).score(texts, targets)
    of_models = [one.score(texts, targets) for one in translators]
    for one, *others in zip(scored, *of_models, strict=True):
        assert one.tokens == others[0].tokens
        likely = np.mean([np.exp(other.token_log_probabilities) for other in others], axis=0)
        np.testing.assert_allclose(one.token_log_probabilities, np.log(likely), atol=1e-4)


@pytest.mark.prove
def test_what_one_model_would_cut_is_cut(translators):
    long = " ".join(toy.SOURCES[:20])
    with pytest.warns(UserWarning, match="40"):
        [[found]] = Ensemble(translators).translations([long], OPTIONS["greedy"])
    assert "source cut" in found.flags


@pytest.mark.prove
def test_progress_is_called_once_for_each_text(translators):
    done = []
    Ensemble(translators).translate(TEXTS, max_length=3, batch_size=3, progress=done.append)
    assert sum(done) == len(TEXTS)
    done = []
    Ensemble(translators).score(TEXTS[1:3], TEXTS[1:3], done.append)
    assert sum(done) == 2


def test_translators_of_an_ensemble_have_one_vocabulary(translators, parallel_text):
    other = Tokenizer.train([parallel_text["train.en"]], vocab_size=300)
    of_other = Translator(other, Transformer(300, 1, 8, 2, 8))
    with pytest.raises(ValueError, match=r"translators\[1\], of 300 ids, than in .*of 400 ids"):
        Ensemble([translators[0], of_other])
    own_target = Translator(
        translators[0].tokenizer, Transformer(400, 1, 8, 2, 8, target_vocab_size=300), other
    )
    with pytest.raises(ValueError, match=r"another `target_tokenizer` in translators\[2\]"):
        Ensemble([*translators, own_target])


def test_an_ensemble_is_of_translators():
    with pytest.raises(ValueError, match="Received: none"):
        Ensemble([])
    with pytest.raises(TypeError, match=r"Received: translators\[0\]='a.keras'"):
        Ensemble(["a.keras"])
