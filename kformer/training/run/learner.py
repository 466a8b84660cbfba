"""The translator that a run trains: with random weights, or with those of another."""

import dataclasses

import keras

from kformer.model.networks.transformer import Transformer
from kformer.tasks.translator import Translator
from kformer.text.tokenizer import Tokenizer
from kformer.training.objective.loss import MaskedCrossEntropy
from kformer.training.objective.metrics import MaskedAccuracy, Perplexity, Tokens
from kformer.training.objective.optimizer import AveragedAdam
from kformer.training.objective.schedule import WarmupSchedule
from kformer.training.recipes.recipe import Recipe
from kformer.training.run.fine_tuning import sizes, warm_start
from kformer.training.run.preparation import Prepared

_DTYPES = {"float32": "float32", "bfloat16": "mixed_bfloat16"}  # By precision.


def new_translator(
    recipe: Recipe,
    tokenizer: Tokenizer,
    other: Translator | None = None,
    target_tokenizer: Tokenizer | None = None,
) -> Translator:
    """Returns a translator ready for `fit`.

    Args:
        recipe: All numbers.
        tokenizer: `kformer.Tokenizer` of the source, or of both sides.
        other: `Translator` to start from, whose sizes replace those of the recipe.
        target_tokenizer: `kformer.Tokenizer` of the target, if it has its own vocabulary.
    """
    keras.utils.set_random_seed(recipe.seed)
    recipe = recipe_from(recipe, tokenizer, other, target_tokenizer)
    transformer = compiled_transformer(recipe, tokenizer.padding_id)
    translator = Translator(tokenizer, transformer, target_tokenizer)
    if other is not None:
        warm_start(translator, other)
    return translator


def recipe_from(
    recipe: Recipe,
    tokenizer: Tokenizer,
    other: Translator | None,
    target_tokenizer: Tokenizer | None = None,
) -> Recipe:
    """Returns `recipe` with the sizes of the vocabularies, and of `other` if there is one."""
    return dataclasses.replace(
        recipe,
        vocab_size=tokenizer.vocab_size,
        target_vocab_size=target_tokenizer.vocab_size if target_tokenizer else 0,
        **(sizes(other.transformer) if other else {}),
    )


def compiled_transformer(recipe: Recipe, padding_id: int = 0) -> Transformer:
    """Returns a new compiled model of the recipe, with Adam as in section 5.3 of the paper."""
    accumulated = recipe.gradient_accumulation
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
        dtype=_DTYPES[recipe.precision],
    )
    transformer.compile(
        optimizer=AveragedAdam(
            WarmupSchedule(recipe.d_model, recipe.warmup_steps, recipe.learning_rate_scale),
            beta_1=0.9,
            beta_2=0.98,
            epsilon=1e-9,
            average_momentum=recipe.ema_momentum,
            gradient_accumulation_steps=accumulated if accumulated > 1 else None,
        ),
        loss=MaskedCrossEntropy(recipe.label_smoothing, padding_id),
        metrics=[metric(padding_id) for metric in (MaskedAccuracy, Perplexity, Tokens)],
    )
    # Otherwise its variables are created in the first trace, and `fit` traces a second time.
    transformer.optimizer.build(transformer.trainable_variables)
    return transformer


def tokenizers_of(prepared: Prepared) -> list[Tokenizer | None]:
    """Returns the tokenizers of source and target; None for the target if both share one."""
    return [model and Tokenizer(model) for model in prepared.vocabularies]


def warm_start_of(prepared: Prepared) -> Translator | None:
    """Loads the translator that the run starts from, if there is one."""
    path = prepared.options.warm_start
    return None if path is None else Translator.load(path)
