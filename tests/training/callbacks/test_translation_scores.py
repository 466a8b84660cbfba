"""BLEU and chrF during training."""

import keras
import numpy as np
import pytest

import kformer
from kformer.decoding import batch_decoder as module
from kformer.decoding.search_ids import search_ids
from kformer.training import (
    MaskedCrossEntropy,
    TranslationScores,
    translation_dataset,
)
from support import toy

SOURCES, TARGETS = toy.SOURCES[toy.HELD_OUT], toy.TARGETS[toy.HELD_OUT]


@pytest.fixture
def translator(toy_keras):
    """Right about most sentences; of this test alone."""
    return kformer.load(toy_keras)


@pytest.fixture
def batches(toy_run, toy_translator):
    files = toy_run.files["valid.de"], toy_run.files["valid.en"]
    return translation_dataset(*files, toy_translator.tokenizer, shuffle=False)


def learner(translator, dtype="float32"):
    """A translator that has learnt nothing yet, compiled."""
    transformer = kformer.Transformer(
        translator.tokenizer.vocab_size, 1, 32, 2, 64, dropout=0.3, norm_first=True, dtype=dtype
    )
    transformer.compile(keras.optimizers.Adam(1e-2), MaskedCrossEntropy())
    return kformer.Translator(translator.tokenizer, transformer)


def fit(translator, batches, epochs, *callbacks, **options):
    """Returns the history."""
    options = {"epochs": epochs, "callbacks": [*callbacks], "verbose": 0, **options}
    return translator.transformer.fit(batches, shuffle=False, **options).history


def scores_of(translations):
    return {
        "val_bleu": kformer.bleu(translations, TARGETS).value,
        "val_chrf": kformer.chrf(translations, TARGETS).value,
    }


def damage(weights, amount):
    """Weights with noise of `amount` times their own spread."""
    generator = np.random.default_rng(0)
    return [w + amount * w.std() * generator.normal(size=w.shape) for w in weights]


@pytest.mark.prove
@pytest.mark.parametrize("beam_size", [1, pytest.param(3, marks=pytest.mark.prove)])
def test_the_scores_are_those_of_the_current_weights(translator, toy_keras, beam_size):
    callback = TranslationScores(translator, SOURCES, TARGETS, beam_size=beam_size)
    right, seen = translator.transformer.get_weights(), []
    for amount in (0.0, 0.3, 1.0, 0.0):
        weights = damage(right, amount)
        translator.transformer.set_weights(weights)
        logs = {"loss": 1.0}
        callback.on_epoch_end(0, logs)
        other = kformer.load(toy_keras)  # It has traced nothing yet.
        other.transformer.set_weights(weights)
        assert logs == {"loss": 1.0, **scores_of(other.translate(SOURCES, beam_size=beam_size))}
        seen.append(logs["val_bleu"])
    assert seen[0] == seen[3] > seen[2] and len(set(seen)) == 3


def test_bleu_has_the_tokenizer_of_the_language_or_the_given_one(translator):
    translator.about["target_language"] = "th"
    for given, tokenize in ((None, "char"), ("intl", "intl")):
        logs = {}
        TranslationScores(translator, SOURCES, TARGETS, tokenize=given).on_epoch_end(0, logs)
        translations = translator.translate(SOURCES)
        assert logs["val_bleu"] == kformer.bleu(translations, TARGETS, tokenize=tokenize).value
    with pytest.raises(ValueError, match="download the tokenizer 'spm'"):
        TranslationScores(translator, SOURCES, TARGETS, tokenize="spm")


def test_references_without_spaces_are_warned_of_before_training(translator):
    with pytest.warns(UserWarning, match="no spaces between words") as caught:
        TranslationScores(translator, ["der hund"], ["那只狗在花园里奔跑。"])
    assert [one.filename for one in caught] == [__file__]


def test_the_search_is_traced_once(translator, monkeypatch):
    traced = []

    def counted(*arguments, **options):
        traced.append(arguments)
        return search_ids(*arguments, **options)

    monkeypatch.setattr(module, "search_ids", counted)
    callback = TranslationScores(translator, SOURCES, TARGETS)
    for epoch in range(3):
        callback.on_epoch_end(epoch, {})
    assert len(traced) == 1


@pytest.mark.prove
def test_fit_has_the_scores_in_its_history_and_stops_early_by_them(translator, batches):
    """An epoch of which nothing is learnt any more is not better than the one before."""
    stop = keras.callbacks.EarlyStopping("val_bleu", mode="max", patience=2)
    model = learner(translator)
    model.transformer.optimizer.learning_rate = 0.0
    scores = TranslationScores(model, SOURCES, TARGETS)
    history = fit(model, batches, 7, scores, stop, validation_data=batches)
    assert set(history) == {"loss", "val_loss", "val_bleu", "val_chrf"}
    assert history["val_bleu"] == [history["val_bleu"][0]] * 3


@pytest.mark.prove
def test_a_model_of_mixed_precision_is_scored_in_its_precision(translator, batches):
    model = learner(translator, "mixed_bfloat16")
    scores = TranslationScores(model, SOURCES, TARGETS)
    history = fit(model, batches, 4, scores)
    last = {name: history[name][-1] for name in ("val_bleu", "val_chrf")}
    assert last == scores_of(model.translate(SOURCES))
    assert history["loss"][-1] < history["loss"][0]


@pytest.mark.prove
def test_scoring_does_not_change_training(translator, batches):
    trained = []
    for measured in (False, True):
        keras.utils.set_random_seed(5)
        model = learner(translator)
        callbacks = [TranslationScores(model, SOURCES, TARGETS)] if measured else []
        fit(model, batches, 2, *callbacks)
        trained.append(model.transformer.get_weights())
    np.testing.assert_equal(*trained)


@pytest.mark.prove
def test_inside_with_average_the_averaged_weights_translate(translator, batches):
    """An average that hardly moves: the model stays as right as it began, whatever it learns."""
    model = kformer.Translator(translator.tokenizer, translator.transformer)
    before = scores_of(model.translate(SOURCES))
    optimizer = keras.optimizers.Adam(0.1, use_ema=True, ema_momentum=0.9999)
    model.transformer.compile(optimizer, MaskedCrossEntropy())
    optimizer.build(model.transformer.trainable_variables)
    optimizer.iterations.assign(1)  # At 0 the average would start anew.
    for average, variable in zip(
        optimizer._model_variables_moving_average, optimizer._trainable_variables, strict=True
    ):
        average.assign(variable)
    seen = {}
    for name, order in {"average": (0, 1), "weights": (1, 0)}.items():
        callbacks = [
            keras.callbacks.SwapEMAWeights(swap_on_epoch=True),
            TranslationScores(model, SOURCES, TARGETS),
        ]
        history = fit(model, batches, 1, *(callbacks[i] for i in order))
        seen[name] = {key: history[key][0] for key in before}
    assert seen["average"] == before
    assert seen["weights"]["val_chrf"] < before["val_chrf"]


@pytest.mark.parametrize("sources, references", [(2, 3), (3, 2), (0, 0)])
def test_every_source_needs_a_reference(translator, sources, references):
    message = f"Received: {sources} sources, {references} references"
    with pytest.raises(ValueError, match=message):
        TranslationScores(translator, SOURCES[:sources], TARGETS[:references])
