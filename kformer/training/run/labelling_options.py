"""The options of runs of models with a head on an encoder: classifiers and taggers."""

import dataclasses
from collections.abc import Sequence

from kformer.arguments import check_choice
from kformer.kinds import CLASSIFIER, TAGGER
from kformer.training.recipes.noise_rates import OF_LABELLED_TEXT, OF_TAGGED_WORDS, noise_rates
from kformer.training.recipes.recipe import MODEL, RUN, Recipe
from kformer.training.run.run_options import (
    RunArguments,
    RunOptions,
    check_no_target,
    flag_option,
    option_metadata,
)

POOLINGS = ("mean", "first")


class LabellingArguments(RunArguments, total=False):
    """The fields of `LabellingOptions`, as keyword arguments."""

    freeze: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class LabellingOptions(RunOptions):
    """The options of the run of a model with a head on an encoder."""

    freeze: bool = flag_option(MODEL, "With `warm_start`: train the head alone.", recorded=bool)

    def check(self, recipe: Recipe):
        if self.freeze and self.warm_start is None:
            raise ValueError(
                "Only an encoder that was trained before can be frozen: `freeze` needs "
                "`warm_start`. Received: freeze=True, warm_start=None."
            )
        super().check(recipe)


class ClassificationArguments(LabellingArguments, total=False):
    """The fields of `ClassificationOptions`, as keyword arguments."""

    pooling: str
    columns: Sequence[str] | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClassificationOptions(LabellingOptions):
    """The options of a classifier's run."""

    pooling: str = dataclasses.field(
        default="mean",
        metadata=option_metadata(
            MODEL,
            "One vector of a text: the mean of all, or the first one.",
            recorded=str,
            choices=POOLINGS,
        ),
    )
    columns: Sequence[str] | None = dataclasses.field(
        default=None,
        metadata=option_metadata(
            RUN,
            'Names of the columns of label and text, if they are not "label" and "text"; or their '
            "numbers, from 1, in a table without a header.",
            recorded=lambda columns: [*columns],
            in_commands=False,
        ),
    )

    def check(self, recipe: Recipe):
        check_choice("pooling", self.pooling, POOLINGS)
        check_no_target(recipe, CLASSIFIER.words)
        noise_rates(recipe.noise, OF_LABELLED_TEXT)
        super().check(recipe)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TaggingOptions(LabellingOptions):
    """The options of a tagger's run."""

    columns = None  # Those of CoNLL.

    def check(self, recipe: Recipe):
        check_no_target(recipe, TAGGER.words)
        noise_rates(recipe.noise, OF_TAGGED_WORDS)
        super().check(recipe)
