"""A run that starts from a trained model keeps it if no epoch is better.

It also keeps what the model knows beside its weights: ids that it never chooses, its search.
"""

import dataclasses
import math
import re

import numpy as np
import pytest

from kformer import Transformer, Translator
from kformer.training import Recipe, train, train_classifier, train_language_model
from kformer.training.callbacks.weight_average import averaged_weights
from kformer.training.kinds.translation_learner import compiled_transformer, new_translator
from kformer.training.kinds.translation_task import prepare_translation
from kformer.training.run.fine_tuning import sizes
from support import toy
from support.disturbances import PowerCut
from support.reference import perturbed
from support.training.same_run import assert_same_run, read

RUIN = {"learning_rate": 0.5, "epochs": 1, "warmup_steps": 1}


def recipe_of(recipe, **changes):
    return dataclasses.replace(recipe, **{**RUIN, **changes})


@pytest.fixture(scope="module")
def ruined(parallel_text, tiny_run, tiny_recipe, tmp_path_factory):
    """The folder of a run whose rate ruins the model, its translator, and the one before."""
    folder = tmp_path_factory.mktemp("ruined") / "run"
    source, target, *valid = parallel_text.values()
    start = tiny_run[0] / "translator.keras"
    recipe = recipe_of(tiny_recipe, ema_momentum=0.9)
    return folder, train(recipe, source, target, folder, *valid, warm_start=start), tiny_run[1]


def test_a_run_that_only_ruins_its_start_keeps_it(ruined):
    folder, translator, start = ruined
    np.testing.assert_equal(translator.transformer.get_weights(), start.transformer.get_weights())
    history = read(folder / "history.json")
    assert (history["epoch"], history["step"][0]) == ([0, 1], 0)
    assert history["val_perplexity"][1] > history["val_perplexity"][0]
    assert history["loss"][0] is history["tokens/s"][0] is None  # Nothing was trained before it.
    assert (folder / "history.png").stat().st_size


def test_the_start_is_validated_as_it_is_not_as_an_average_of_nothing(ruined, tiny_run):
    before, first = (read(folder / "history.json") for folder in (tiny_run[0], ruined[0]))
    scores = zip(before["val_perplexity"], before["val_loss"], strict=True)
    assert any(np.allclose(first["val_perplexity"][0], ppl, rtol=1e-4) for ppl, _ in scores)


@pytest.mark.prove
def test_the_last_lines_of_a_run_name_the_start(
    tiny_run, tiny_recipe, parallel_text, tmp_path, capsys
):
    files = [*parallel_text.values()]
    start = tiny_run[0] / "translator.keras"
    for rate, words in (
        (0.5, r"No epoch was better than the start, so .* started with: val_perplexity [\d.]+\."),
        (1e-3, r"The best epoch is 1, with val_perplexity [\d.]+; the start has [\d.]+\."),
    ):
        recipe = recipe_of(tiny_recipe, learning_rate=rate)
        output = tmp_path / str(rate)
        train(recipe, *files[:2], output, *files[2:], warm_start=start)
        assert re.search(words, capsys.readouterr().out)
    train(recipe_of(tiny_recipe), *files[:2], tmp_path / "blind", warm_start=start)
    assert "the last model is kept, be it better than the start or not." in capsys.readouterr().out


@pytest.mark.prove
@pytest.mark.parametrize("kind", ["classifier", "language_model"])
def test_other_kinds_keep_their_start_too(
    kind, tiny_classifier, tiny_language_model, tiny_recipe, parallel_text, tmp_path
):
    start = {"classifier": tiny_classifier, "language_model": tiny_language_model}[kind]
    start.save(tmp_path / "start.keras")
    recipe = recipe_of(tiny_recipe, monitor="loss", label_smoothing=0.0, vocab_size=400)
    options = {"warm_start": tmp_path / "start.keras"}
    if kind == "language_model":
        texts = parallel_text["train.en"], tmp_path / "run", parallel_text["valid.en"]
        model = train_language_model(recipe, *texts, **options)
    else:
        lines = parallel_text["train.en"].read_text("utf-8").splitlines()
        labels = start.labels
        rows = [f"{labels[i % 3]}\t{line}\n" for i, line in enumerate(lines)]
        for name, part in (("train.tsv", rows[:200]), ("valid.tsv", rows[200:])):
            (tmp_path / name).write_text("".join(part), "utf-8")
        texts = tmp_path / "train.tsv", tmp_path / "run", tmp_path / "valid.tsv"
        model = train_classifier(recipe, *texts, **options)
    assert read(tmp_path / "run" / "history.json")["epoch"] == [0, 1]
    np.testing.assert_equal(model.network.get_weights(), start.network.get_weights())


@pytest.mark.prove
@pytest.mark.parametrize("epoch", [0, 1])
def test_a_run_that_breaks_off_resumes_to_the_bit(
    epoch, tiny_run, tiny_recipe, parallel_text, tmp_path
):
    files = [*parallel_text.values()]
    recipe = dataclasses.replace(tiny_recipe, learning_rate=1e-3, epochs=2)
    options = {"warm_start": tiny_run[0] / "translator.keras"}
    arguments = recipe, *files[:2]
    train(*arguments, tmp_path / "whole", *files[2:], **options)
    with pytest.raises(ZeroDivisionError):
        train(*arguments, tmp_path / "run", *files[2:], **options, callbacks=[PowerCut(epoch)])
    train(*arguments, tmp_path / "run", *files[2:], **options)
    assert read(tmp_path / "run" / "history.json")["epoch"] == [0, 1, 2]
    assert_same_run(tmp_path / "run", tmp_path / "whole")


def test_before_the_first_step_the_weights_are_their_own_average():
    recipe = Recipe.named("quick", ema_momentum=0.9, vocab_size=40)
    network = compiled_transformer(recipe)
    weights = network.get_weights()
    with averaged_weights(network):
        np.testing.assert_equal(network.get_weights(), weights)


@pytest.mark.parametrize("width", [16, 64])
def test_the_rate_of_fine_tuning_does_not_depend_on_the_width(width):
    recipe = Recipe.named("fine-tune", d_model=width, vocab_size=40)
    rate = compiled_transformer(recipe, 0, 7).optimizer._learning_rate
    rates = [float(rate(step)) for step in (0, 7, 100, recipe.warmup_steps)]
    np.testing.assert_allclose(rates, [0, *3 * [recipe.learning_rate]], rtol=1e-5)
    assert 1e-5 <= recipe.learning_rate <= 3e-5
    assert recipe.dropout == recipe.label_smoothing == 0


def test_what_the_user_asks_for_wins():
    asked = Recipe.named("fine-tune", learning_rate_scale=0.05, dropout=0.2, label_smoothing=0.1)
    assert (asked.learning_rate, asked.dropout, asked.label_smoothing) == (0, 0.2, 0.1)
    assert Recipe.named("fine-tune", learning_rate=1e-4).learning_rate == 1e-4


@pytest.mark.parametrize(
    ("recipe", "validated", "monitor"),
    [
        ({}, True, "chrf"),
        ({}, False, "loss"),
        ({"monitor": "loss", "label_smoothing": 0.1}, True, "perplexity"),
        ({"monitor": "loss"}, True, "loss"),
        ({"monitor": "bleu"}, True, "bleu"),
    ],
)
def test_label_smoothing_has_no_say_in_the_choice(
    recipe, validated, monitor, tiny_run, parallel_text, tmp_path
):
    source, target, *valid = parallel_text.values()
    files = source, target, tmp_path / "run", *(valid if validated else ())
    start = tiny_run[0] / "translator.keras"
    prepared = prepare_translation(Recipe.named("fine-tune", **recipe), *files, warm_start=start)
    assert prepared.recipe.monitor == prepared.config["recipe"]["monitor"] == monitor
    assert not any("monitor" in note for note in prepared.notes())


def start_model(tokenizer, **settings):
    """A translator that forbids its unknown id, and whose bias forbids another one."""
    config = {"num_layers": 1, "d_model": 16, "num_heads": 2, "d_ff": 24, "norm_first": True}
    network = perturbed(Transformer(tokenizer.vocab_size, **config, output_bias=True, **settings))
    bias = network.target_embedding.bias.numpy()
    bias[9] = -1e4
    network.target_embedding.bias.assign(bias)
    search = {"beam_size": 3, "max_length_ratio": 2.0}
    return Translator(tokenizer, network, None, 77, (1, 2), search_defaults=search)


def test_what_a_model_knows_beside_its_weights_is_kept(tokenizer):
    start = start_model(tokenizer, forbidden_ids=[tokenizer.unknown_id])
    recipe = Recipe.named("fine-tune", **sizes(start.transformer))
    new = new_translator(recipe, tokenizer, start)
    assert new.transformer.forbidden_ids == (tokenizer.unknown_id, 9)
    assert new.max_source_length == 77
    assert (new.alignment_head, new.search_defaults) == (
        start.alignment_head,
        start.search_defaults,
    )
    assert new.translate(toy.SOURCES) == start.translate(toy.SOURCES)


def test_ids_that_a_model_never_chooses_do_not_count_in_training(tokenizer):
    start = start_model(tokenizer, forbidden_ids=[tokenizer.unknown_id])
    recipe = Recipe.named("fine-tune", **sizes(start.transformer))
    network = new_translator(recipe, tokenizer, start).transformer
    source, ids = np.array([[7, 8, 3]]), np.array([[11, 9, tokenizer.unknown_id, 12, 3]])
    inputs = source, np.concatenate([[[2]], ids[:, :-1]], axis=1)
    counted = np.where(np.isin(ids, network.forbidden_ids), 0, ids)  # As if they were padding.
    scores = [
        network.evaluate(inputs, answer, verbose=0, return_dict=True) for answer in (ids, counted)
    ]
    del scores[0]["tokens"], scores[1]["tokens"]
    assert scores[0] == scores[1]
    assert math.log(scores[0]["perplexity"]) < 30
