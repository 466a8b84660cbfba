"""Compiles a network as section 5.3 of the paper trains it, in runs of few steps, too."""

from typing import Any

from kformer.training.objective.loss import MaskedCrossEntropy
from kformer.training.objective.optimizer import AveragedAdam, AveragedMuon, WarmupSchedule
from kformer.training.recipes.pace import pace_of
from kformer.training.recipes.recipe import MUON, Recipe, peak_scale

DTYPES = {"float32": "float32", "bfloat16": "mixed_bfloat16"}  # By precision.


def one_stack(kind: type, recipe: Recipe, tokenizer: Any, **settings: Any):
    """Returns a network of one stack, by the numbers of the recipe."""
    return kind(
        tokenizer.vocab_size,
        recipe.num_layers,
        recipe.d_model,
        recipe.num_heads,
        recipe.d_ff,
        recipe.dropout,
        recipe.norm_first,
        tokenizer.padding_id,
        recipe.activation,
        dtype=DTYPES[recipe.precision],
        **settings,
    )


def rising_steps(prepared: Any, batches: Any) -> int:
    """Returns the steps until the learning rate of a run is highest, and records them.

    `Pace` computes them. A run that is resumed keeps its own, unless its `warmup_steps` change;
    they are `warmup_steps` if a kformer that did not record them began it.
    """
    recipe, config = prepared.recipe, prepared.config
    if prepared.resumes and "warmup_steps" not in prepared.changed:
        return config.get("rising_steps", recipe.warmup_steps)
    pace = pace_of(recipe, int(batches.cardinality()), prepared.is_trained)
    config["rising_steps"] = pace.rising_steps
    return pace.rising_steps


def compile_network(
    network: Any, recipe: Recipe, padding_id: int, metrics: Any, rising_steps: int | None = None
):
    """Compiles `network` with optimizer, warm-up schedule and loss, by the recipe's numbers."""
    accumulated = recipe.gradient_accumulation
    network.compile(
        optimizer=(AveragedMuon if recipe.optimizer == MUON else AveragedAdam)(
            WarmupSchedule(recipe.d_model, recipe.warmup_steps, peak_scale(recipe), rising_steps),
            beta_1=0.9,
            beta_2=0.98,
            epsilon=1e-9,
            average_momentum=recipe.ema_momentum,
            gradient_accumulation_steps=accumulated if accumulated > 1 else None,
        ),
        loss=MaskedCrossEntropy(
            recipe.label_smoothing,
            padding_id,
            consistency_weight=recipe.consistency_weight,
            ignored_ids=getattr(network, "forbidden_ids", ()),  # Nothing to learn to choose.
        ),
        metrics=metrics,
    )
    # `fit` would do this, but only here is gradient accumulation on several replicas refused early.
    network.optimizer.build(network.trainable_variables)
