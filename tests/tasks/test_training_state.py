"""A model that is saved in the middle of its training goes on after it is loaded."""

import json
import zipfile

import keras
import numpy as np
import pytest

import kformer
from kformer import (
    LanguageModel,
    SequenceClassifier,
    TextClassifier,
    TextEncoder,
    Transformer,
    TransformerDecoder,
    TransformerEncoder,
    Translator,
)
from kformer.training import AveragedAdam, MaskedAccuracy, MaskedCrossEntropy, WarmupSchedule
from support.processes import printed_by

SIZES = (400, 1, 8, 2, 12, 0.0)  # Without dropout.
IDS = np.array([[5, 6, 7, 3], [8, 3, 0, 0], [9, 7, 3, 0]])


def settings():
    return {
        "optimizer": AveragedAdam(WarmupSchedule(8, 5), average_momentum=0.9),
        "loss": MaskedCrossEntropy(padding_id=-1),
        "metrics": [MaskedAccuracy(-1)],
        "jit_compile": False,
    }


def models(tokenizer):
    """Yields each kind of model, what of it is trained, and what it is trained on."""
    ids = IDS, IDS
    labels = IDS, np.array([0, 2, 1])
    translator = Translator(tokenizer, Transformer(*SIZES))
    yield translator, translator.transformer, (ids, IDS)
    language_model = LanguageModel(tokenizer, TransformerDecoder(*SIZES))
    yield language_model, language_model, ids
    yield language_model, language_model.decoder, ids
    for trained in (lambda one: one, lambda one: one.classifier):
        classifier = TextClassifier(
            tokenizer, TransformerEncoder(*SIZES), ["a", "b", "c"], dropout=0.0
        )
        yield classifier, trained(classifier), labels
    encoder = TextEncoder(tokenizer, TransformerEncoder(*SIZES))
    yield encoder, None, None
    for network, data in (
        (Transformer(*SIZES), (ids, IDS)),
        (TransformerDecoder(*SIZES), ids),
        (SequenceClassifier(TransformerEncoder(*SIZES), 3, dropout=0.0), labels),
    ):
        yield network, network, data


@pytest.mark.prove
@pytest.mark.parametrize("number", range(9))
def test_it_goes_on_as_if_it_had_not_been_saved(tmp_path, tokenizer, number):
    model, trained, data = [*models(tokenizer)][number]
    path = tmp_path / "model.keras"
    network = model.network if hasattr(model, "network") else model
    network.encoder.parts[0].trainable = False
    if trained is None:
        model.save(path)
        loaded = kformer.load(path)
        assert len(loaded.network.trainable_variables) == len(network.trainable_variables)
        return
    trained.compile(**settings())
    trained.fit(*data, epochs=2, verbose=0, shuffle=False)
    model.save(path)
    loaded = kformer.load(path) if hasattr(model, "network") else keras.saving.load_model(path)
    again = loaded if trained is model else loaded.network
    assert int(again.optimizer.iterations) == 2
    assert type(again.loss) is MaskedCrossEntropy
    assert len(again.trainable_variables) == len(trained.trainable_variables)
    losses = [
        one.fit(*data, epochs=3, verbose=0, shuffle=False).history["loss"]
        for one in (trained, again)
    ]
    assert again.optimizer.learning_rate == trained.optimizer.learning_rate
    np.testing.assert_allclose(*losses, rtol=1e-3)


def compiled_translator(tokenizer, **others):
    translator = Translator(tokenizer, Transformer(*SIZES))
    translator.transformer.compile(**settings() | others)
    return translator


@pytest.mark.prove
def test_a_fresh_process_finds_the_classes_of_training(tmp_path, tokenizer):
    path = tmp_path / "translator.keras"
    compiled_translator(tokenizer).save(path)
    code = "import sys, kformer; print(kformer.load(sys.argv[1]).transformer.optimizer.beta_1)"
    assert printed_by("-c", code, path, cwd=tmp_path).split() == ["0.9"]


def no_loss(y_true, y_pred):
    return 0.0


@pytest.mark.prove
def test_a_loss_that_is_not_known_is_left_out_with_a_warning(tmp_path, tokenizer):
    path = tmp_path / "translator.keras"
    translator = compiled_translator(tokenizer, loss=no_loss)
    translator.save(path)
    with pytest.warns(UserWarning, match="loaded without its optimizer, loss and metrics"):
        loaded = kformer.load(path)
    assert not loaded.transformer.compiled
    assert loaded.translate(["das haus"]) == translator.translate(["das haus"])


@pytest.mark.prove
def test_without_its_optimizer_the_file_is_that_of_the_weights(tmp_path, tokenizer):
    paths = [tmp_path / name for name in ("plain.keras", "whole.keras")]
    translator = compiled_translator(tokenizer)
    translator.transformer.optimizer.build(translator.transformer.trainable_variables)
    translator.save(paths[0], include_optimizer=False)
    translator.save(paths[1])
    of_weights = 4 * translator.transformer.count_params()
    sizes = [path.stat().st_size for path in paths]
    assert sizes[1] - sizes[0] > 1.8 * of_weights  # Adam's two moments, of 4 bytes each.
    with zipfile.ZipFile(paths[0]) as archive:
        assert not json.loads(archive.read("config.json")).get("compile_config")
    assert not kformer.load(paths[0]).transformer.compiled
