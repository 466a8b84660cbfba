"""A training run of a classifier, before TensorFlow loads."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from kformer.kinds import CLASSIFIER
from kformer.training.kinds.labelled_files import (
    Split,
    check_known,
    check_several,
    checked_columns,
    split,
)
from kformer.training.recipes.recipe import Recipe
from kformer.training.run.labelling_options import ClassificationOptions, TaggingOptions
from kformer.training.run.outcome import useless_classifier
from kformer.training.run.run_options import RunOptions
from kformer.training.run.run_preparation import prepare_text
from kformer.training.run.run_vocabularies import learn_vocabularies
from kformer.training.run.training_task import OneTextTask


class ClassificationTask(OneTextTask):
    """A classifier, trained on labelled text: "train" and "valid"."""

    kind = CLASSIFIER
    monitors = ("loss", "accuracy", "f1")
    learning = "kformer.training.kinds.classification_learner"
    counted = "texts"
    names = "train", "valid"
    options: ClassificationOptions | TaggingOptions
    options_class: type[RunOptions] = ClassificationOptions
    split: Callable[..., Split] = staticmethod(split)

    def check(self, recipe: Recipe):
        checked_columns(self.options.columns)
        super().check(recipe)

    @functools.cached_property
    def training(self) -> Split:
        """The training text."""
        return self.split(self.files["train"], self.options.columns)

    @functools.cached_property
    def validation(self) -> list[Split]:
        """Each validation text."""
        return [self.split([file], self.options.columns) for file in self.files["valid"]]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the training text, in alphabetical order."""
        return tuple(self.training.counts)

    def read_examples(self):
        check_several(self.files["train"], self.options.columns)
        if self.validation_files:
            check_known(self.validation_files, self.labels, self.options.columns)
        return {"texts": sum(self.training.counts.values()), "labels": list(self.labels)}

    def learn_vocabularies(self, recipe: Recipe):
        return learn_vocabularies(recipe, self.training.texts, [], self.options.exact_sizes)

    def uselessness(self, model: Any, scores: Mapping[str, float], epochs: int | None):
        if "val_accuracy" not in scores:
            return None
        most = max(self.labels, key=self.training.counts.__getitem__)
        counts = self.validation[0].counts
        majority = counts.get(most, 0) / sum(counts.values())
        return useless_classifier(scores["val_accuracy"], majority, epochs)

    def plain_files(self, name: str):
        files = self.files[name]
        return self.split(files, self.options.columns).texts if files else []


prepare_classifier = functools.partial(prepare_text, ClassificationTask)
