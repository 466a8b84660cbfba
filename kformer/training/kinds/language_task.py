"""A training run of a language model, before TensorFlow loads."""

import functools

from kformer.files import check_file
from kformer.kinds import LANGUAGE_MODEL
from kformer.tasks.keras_file import check_kind
from kformer.text.documents import LINE, read_documents
from kformer.text.vocabulary import check_keeps_lines
from kformer.training.data.pairs import checksum_of_text, count_lines
from kformer.training.recipes.recipe import Recipe
from kformer.training.run.run_options import LanguageOptions
from kformer.training.run.run_preparation import prepare_text
from kformer.training.run.run_vocabularies import learn_vocabularies
from kformer.training.run.training_task import OneTextTask


class LanguageTask(OneTextTask):
    """A language model, trained on plain text: "text" and "valid_text"."""

    kind = LANGUAGE_MODEL
    monitors = ("loss", "perplexity")
    learning = "kformer.training.kinds.language_learner"
    names = "text", "valid_text"
    options: LanguageOptions
    options_class = LanguageOptions

    def read_examples(self):
        for file in self.validation_files:
            count_lines(file)
        lines = sum(map(count_lines, self.files["text"]))
        if self.options.documents == LINE:
            return {"lines": lines}
        return {"lines": lines, "documents": sum(1 for _ in self.texts("text"))}

    def texts(self, name: str):
        for file in self.files[name]:
            yield from read_documents(file, self.options.documents, parts=True)

    def learn_vocabularies(self, recipe: Recipe):
        line_breaks = self.options.documents != LINE
        exact = self.options.exact_sizes
        return learn_vocabularies(recipe, self.files["text"], [], exact, line_breaks)

    def given_vocabularies(self):
        vocabularies = super().given_vocabularies()
        if self.options.documents != LINE:
            file, documents = str(self.options.vocabulary), self.options.documents
            check_keeps_lines(vocabularies.source, vocabulary=file, documents=documents)
        return vocabularies

    def sizes_to_start_from(self):
        check_file(self.options.warm_start)
        check_kind(self.options.warm_start, LANGUAGE_MODEL)
        return super().sizes_to_start_from()

    def checksum(self, file: str):
        return checksum_of_text(file)


prepare_language_model = functools.partial(prepare_text, LanguageTask)
