"""The translator that a run trains: with random weights, or with another model's."""

from typing import Any

import keras
import tensorflow as tf

from kformer.model.transformer import Transformer
from kformer.tasks.translator import Translator
from kformer.text.tokenizer import Tokenizer
from kformer.training.callbacks.translation_scores import TranslationScores
from kformer.training.kinds.translation_text import recipe_from, text_of
from kformer.training.objective.loss import MaskedCrossEntropy
from kformer.training.objective.metrics import MaskedAccuracy, Perplexity, Tokens
from kformer.training.recipes.recipe import TRANSLATION_MONITORS, Recipe
from kformer.training.run.fine_tuning import OUTPUT_SETTINGS, settings_to_start_from, warm_start
from kformer.training.run.replicas import DTYPES, compile_network, rising_steps
from kformer.training.run.run_preparation import Prepared
from kformer.training.run.run_vocabularies import tokenizers_of
from kformer.training.run.training_task import Learner


def learner(prepared: Prepared, epoch: tf.Variable) -> Learner:
    """Returns the model and data of a run; `epoch` is an argument of `translation_dataset`."""
    recipe, text, task = prepared.recipe, text_of(prepared), prepared.task
    tokenizer, target_tokenizer = tokenizers_of(prepared)
    start = task.options.warm_start
    start_model = None if start is None else Translator.load(start)
    if start_model is not None and start_model.tokenizer.model == tokenizer.model:
        tokenizer = start_model.tokenizer  # It may put a target language before each source.
    batches, validation = text.batches(recipe, tokenizer, epoch, target_tokenizer)
    translator = new_translator(
        *(recipe, tokenizer, start_model, target_tokenizer, task.target_language),
        rising_steps=rising_steps(prepared, batches),
    )
    scores = None
    if recipe.monitor in TRANSLATION_MONITORS:
        scores = [
            [TranslationScores(translator, *lines, tokenize=task.options.tokenize)]
            for lines in text.validation_lines()
        ]
    names = task.validation.names()
    texts = [names.get(file, file) for file in text.valid_source]
    return Learner.on(translator, batches, validation, texts, scores=scores)


def new_translator(
    recipe: Recipe,
    tokenizer: Tokenizer,
    start_model: Translator | None = None,
    target_tokenizer: Tokenizer | None = None,
    target_language: str | None = None,
    rising_steps: int | None = None,
) -> Translator:
    """Returns a translator ready for `fit`.

    Args:
        recipe: All numbers, with the sizes of `start_model`.
        tokenizer: `kformer.Tokenizer` of the source, or of both sides.
        start_model: `Translator` to start from.
        target_tokenizer: `kformer.Tokenizer` of the target, if it has its own vocabulary.
        target_language: Code of the language of the translations, if it is known.
        rising_steps: As for `WarmupSchedule`.
    """
    keras.utils.set_random_seed(recipe.seed)
    recipe = recipe_from(recipe, tokenizer, target_tokenizer)
    settings = settings_to_start_from(start_model, tokenizer)
    if start_model is not None:
        settings |= {name: getattr(start_model.transformer, name) for name in OUTPUT_SETTINGS}
    transformer = compiled_transformer(recipe, tokenizer.padding_id, rising_steps, **settings)
    about = {} if start_model is None else dict(start_model.about)
    if target_language is not None:
        about["target_language"] = target_language
    translator = Translator(tokenizer, transformer, target_tokenizer, about=about)
    if start_model is not None:
        warm_start(translator, start_model)
    return translator


def compiled_transformer(
    recipe: Recipe, padding_id: int = 0, rising_steps: int | None = None, **settings: Any
) -> Transformer:
    """Returns a new compiled model of the recipe, with further `settings`."""
    transformer = Transformer(
        recipe.vocab_size,
        recipe.num_layers,
        recipe.d_model,
        recipe.num_heads,
        recipe.d_ff,
        recipe.dropout,
        recipe.norm_first,
        target_vocab_size=recipe.target_vocab_size or None,
        padding_id=padding_id,
        activation=recipe.activation,
        num_decoder_layers=recipe.num_decoder_layers or None,
        decoder_cell=recipe.decoder_cell,
        **settings,
        dtype=DTYPES[recipe.precision],
    )
    loss = MaskedCrossEntropy(recipe.label_smoothing, padding_id)
    metrics = [metric(padding_id) for metric in (MaskedAccuracy, Perplexity, Tokens)]
    compile_network(transformer, recipe, loss, metrics, rising_steps)
    return transformer
