"""Checks a training run of a translator before TensorFlow loads."""

from pathlib import Path
from typing import Any

from kformer.training.data.pairs import parallel_text
from kformer.training.kinds.translation_task import (
    ShardsOptions,
    ShardsTask,
    TranslationOptions,
    TranslationTask,
)
from kformer.training.recipes.recipe import Recipe
from kformer.training.run.run_preparation import Prepared
from kformer.training.run.run_preparation import prepare as prepare_run


def prepare_translation(
    recipe: Recipe,
    source: Any,
    target: Any,
    output: Path,
    valid_source: Any = None,
    valid_target: Any = None,
    *,
    pairs: Any = None,
    valid_pairs: Any = None,
    shards: Any = None,
    skip_damaged: bool = False,
    **options: Any,
) -> Prepared:
    """Checks a run and provides its vocabularies, as `run_preparation.prepare` does.

    The arguments and errors are as for `kformer.training.train`; `options` are the fields of
    `TranslationOptions`.
    """
    columns = options.get("columns")
    validation = parallel_text(valid_source, valid_target, valid_pairs, columns, "valid_")
    if not shards:
        training = parallel_text(source, target, pairs, columns)
        task = TranslationTask(training, validation, TranslationOptions(**options))
    elif source or target or pairs is not None:
        raise ValueError(
            "A run trains on shards or on text, not on both. "
            f"Received: {shards=} and source={source}, target={target} or pairs."
        )
    else:
        settings = ShardsOptions(shards=shards, skip_damaged=skip_damaged, **options)
        task = ShardsTask(validation, settings)
    return prepare_run(task, recipe, output)
