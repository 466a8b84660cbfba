"""A training run of a language model, before TensorFlow loads."""

import dataclasses

from kformer.files import check_file
from kformer.tasks.keras_file import check_kind
from kformer.text.text_files import as_list
from kformer.training.data.parallel_files import count_lines
from kformer.training.recipes.recipe import Recipe
from kformer.training.run.options import RunOptions, check_no_target
from kformer.training.run.preparation import Prepared
from kformer.training.run.preparation import prepare as prepare_run
from kformer.training.run.task import OneTextTask
from kformer.training.run.vocabularies import learn_vocabularies


@dataclasses.dataclass(frozen=True, kw_only=True)
class LanguageOptions(RunOptions):
    """The optional arguments that `kformer.training.train_language_model` documents."""

    def check(self, recipe):
        check_no_target(recipe, "language model")
        super().check(recipe)


class LanguageTask(OneTextTask):
    """A language model, trained on plain text: "text" and "valid_text"."""

    name = "language modelling"
    model = "language model"
    model_file = "language_model.keras"
    monitors = ("loss",)
    options: LanguageOptions

    @property
    def validation_files(self):
        return self.files["valid_text"]

    def read_examples(self):
        for file in self.validation_files:
            count_lines(file)
        return {"lines": sum(map(count_lines, self.files["text"]))}

    def learn_vocabularies(self, recipe):
        return learn_vocabularies(recipe, self.files["text"], [], self.options.exact_sizes)

    def sizes_to_start_from(self):
        check_file(self.options.warm_start)
        check_kind(self.options.warm_start, "LanguageModel")
        return super().sizes_to_start_from()

    def learner(self, prepared, epoch):
        from kformer.training.language.learner import learner  # TensorFlow.

        return learner(prepared, epoch)

    def report(self, prepared):
        from kformer.training.language.report import report  # TensorFlow.

        return report(prepared)

    @property
    def load(self):
        from kformer.tasks.language_model import LanguageModel  # TensorFlow.

        return LanguageModel.load


def prepare(recipe: Recipe, text, output, valid_text=None, **options) -> Prepared:
    """Checks a run and provides its vocabulary, as `kformer.training.run.preparation.prepare`.

    The arguments and errors are those of `kformer.training.train_language_model`; `options` are the
    fields of `LanguageOptions`.
    """
    files = {"text": as_list(text), "valid_text": as_list(valid_text or [])}
    return prepare_run(LanguageTask(files, LanguageOptions(**options)), recipe, output)
