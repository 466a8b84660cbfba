"""The text of a training run: its batches, and the report that is printed before the first step."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import tensorflow as tf

from kformer.text.scores import bleu_metric, chrf_metric, signature_of
from kformer.text.text_files import read_lines
from kformer.text.tokenizer import Tokenizer
from kformer.training.data.pairs import check_parallel
from kformer.training.data.preflight import check_corpus
from kformer.training.data.translation_dataset import translation_dataset
from kformer.training.recipes.cost import training_cost
from kformer.training.recipes.recipe import TRANSLATION_MONITORS, Recipe, pace_of
from kformer.training.run.run_preparation import Prepared
from kformer.training.run.run_vocabularies import tokenizers_of
from kformer.training.shards.shard_set import ShardSet
from kformer.training.shards.shards_dataset import ShardBatches


@dataclasses.dataclass(frozen=True)
class TextOfRun:
    """Parallel text to train and to validate on.

    Attributes:
        source, target: Lists of paths.
        valid_source, valid_target: Files of the validation text; empty for no validation.
        weights, temperature: Mixture of several files, as for `translation_dataset`.
        names: How the report shows a path, where that differs.
    """

    source: Sequence[str | Path]
    target: Sequence[str | Path]
    valid_source: Sequence[str | Path] = ()
    valid_target: Sequence[str | Path] = ()
    weights: list[float] | None = None
    temperature: float | None = None
    names: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def report(
        self,
        recipe: Recipe,
        tokenizer: Tokenizer,
        target_tokenizer: Tokenizer | None = None,
        vocabulary: str = "learned",
    ) -> str:
        """Describes the text and the cost of a run; `vocabulary` is as for `check_corpus`."""
        report = check_corpus(
            *(self.source, self.target, tokenizer, target_tokenizer),
            valid_source=self.valid_source,
            valid_target=self.valid_target,
            weights=self.weights,
            temperature=self.temperature,
            vocabulary=vocabulary,
            **_sizes(recipe),
            **_respelling(recipe),
        )
        report = dataclasses.replace(
            report, source=self._with_names(report.source), target=self._with_names(report.target)
        )
        cost = training_cost(recipe, report.source_tokens, report.target_tokens)
        return "\n".join([str(report), *cost.lines(), *pace_of(recipe, report.batches).lines()])

    def _with_names(self, side):
        file, _, line = side.longest_at.rpartition(", line ")
        if file not in self.names:
            return side
        return dataclasses.replace(side, longest_at=f"pair {line} of {self.names[file]}")

    def batches(
        self,
        recipe: Recipe,
        tokenizer: Tokenizer,
        epoch: tf.Variable,
        target_tokenizer: Tokenizer | None = None,
    ):
        """Returns the batches of training, and a list of the batches of each validation text.

        `epoch` is as for `translation_dataset`.
        """
        tokenizers = tokenizer, target_tokenizer
        training = self._training(recipe, tokenizers, {"seed": recipe.seed, "epoch": epoch})
        pairs = zip(self.valid_source, self.valid_target, strict=True)
        return training, [
            translation_dataset(*files, *tokenizers, shuffle=False, **_sizes(recipe))
            for files in pairs
        ]

    def _training(self, recipe, tokenizers, order):
        return translation_dataset(
            *(self.source, self.target),
            *tokenizers,
            weights=self.weights,
            temperature=self.temperature,
            **_respelling(recipe),
            **_sizes(recipe),
            **order,
        )

    def validation_lines(self) -> list[tuple[list[str], list[str]]]:
        """Returns the sources and the targets of each validation text."""
        pairs = zip(self.valid_source, self.valid_target, strict=True)
        return [(list(read_lines(source)), list(read_lines(target))) for source, target in pairs]


@dataclasses.dataclass(frozen=True)
class ShardsOfRun(TextOfRun):
    """Shards to train on, and parallel text to validate on.

    Attributes:
        sets: List of `ShardSet`.
    """

    sets: Sequence[ShardSet] = ()

    def report(
        self,
        recipe: Recipe,
        tokenizer: Tokenizer,
        target_tokenizer: Tokenizer | None = None,
        vocabulary: str = "given",
    ):
        shards = self._batches(recipe)
        lines, cost = shards.describe(), training_cost(recipe, *shards.passes.ids)
        pace = pace_of(recipe, shards.passes.number)
        if self.valid_source:
            lines.append(
                f"Validation: {check_parallel(self.valid_source, self.valid_target):,} pairs."
            )
        return "\n".join([*lines, *cost.lines(), *pace.lines()])

    def _training(self, recipe, tokenizers, order):
        return self._batches(recipe, **order).dataset()

    def _batches(self, recipe, **order):
        return ShardBatches(
            self.sets,
            weights=self.weights,
            temperature=self.temperature,
            **_respelling(recipe),
            **_sizes(recipe),
            **order,
        )


def recipe_from(
    recipe: Recipe, tokenizer: Tokenizer, target_tokenizer: Tokenizer | None = None
) -> Recipe:
    """Returns `recipe` with the sizes of the vocabularies."""
    return dataclasses.replace(
        recipe,
        vocab_size=tokenizer.vocab_size,
        target_vocab_size=target_tokenizer.vocab_size if target_tokenizer else 0,
    )


def _sizes(recipe):
    return {
        "tokens_per_batch": recipe.tokens_per_batch,
        "max_length": recipe.max_length,
        "max_length_ratio": recipe.max_length_ratio or None,
    }


def _respelling(recipe):
    return {"piece_splitting": recipe.piece_splitting, "byte_spelling": recipe.byte_spelling}


def text_of(prepared: Prepared) -> TextOfRun:
    """Returns the text to train and to validate on."""
    training, validation = prepared.task.training, prepared.task.validation
    options = prepared.task.options
    values = (
        *(training.source, training.target, validation.source, validation.target),
        *(options.weights, options.temperature, training.names()),
    )
    sets = prepared.task.sets
    return ShardsOfRun(*values, sets) if sets else TextOfRun(*values)


def report(prepared: Prepared) -> str:
    """Describes the text of a run and its cost, and warns of problems."""
    tokenizer, target_tokenizer = tokenizers_of(prepared)
    recipe, task = recipe_from(prepared.recipe, tokenizer, target_tokenizer), prepared.task
    lines = [text_of(prepared).report(recipe, tokenizer, target_tokenizer, prepared.origin)]
    if recipe.monitor in TRANSLATION_MONITORS:
        bleu = bleu_metric(task.options.tokenize, task.target_language)
        lines += [f"val_bleu: {signature_of(bleu)}", f"val_chrf: {signature_of(chrf_metric())}"]
    return "\n".join(lines)
