"""`Task`: the part of a training run that differs between the kinds of model."""

import importlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kformer.files import sha256
from kformer.kinds import Kind
from kformer.tasks.keras_file import encoder_config
from kformer.text import vocabulary
from kformer.text.text_files import read_lines
from kformer.training.recipes.recipe import Recipe
from kformer.training.run.run_options import RunOptions
from kformer.training.run.run_vocabularies import Vocabularies, read_vocabularies
from kformer.training.run.text_size import ids_of_texts


class Learner(NamedTuple):
    """The model and the data of a run.

    Attributes:
        model: A `TextModel` whose `network` is compiled.
        batches: `tf.data.Dataset` of training.
        validation: Data set of the validation text that chooses the best model; or None.
        scores: Callbacks that add scores to the logs of a validation: scores of other validation
            text, and monitored scores that Keras does not compute.
        examples: Unit of the speed, "tokens" or "texts", the name of the metric that counts it.
    """

    model: Any
    batches: Any
    validation: Any
    scores: list
    examples: str

    @classmethod
    def on(
        cls,
        model: Any,
        batches: Any,
        validation: list,
        texts: Sequence,
        counted: str,
        by_mean: bool = False,
    ):
        """Returns a learner with any number of validation texts.

        The first is monitored, or the mean of all.

        Args:
            by_mean: Whether the mean of the scores of all texts is monitored.
        """
        from kformer.training.run.validation import (  # Keras.
            MeanOfTexts,
            MoreValidation,
            names_of_texts,
        )

        if not validation:
            return cls(model, batches, None, [], counted)
        paths, scores = zip(*texts, strict=True)
        named = list(zip(names_of_texts(list(paths)), validation, scores, strict=True))
        more = [MoreValidation(name, data, counted, more) for name, data, more in named[1:]]
        if by_mean:
            more.append(MeanOfTexts([name for name, *_ in named]))
        return cls(model, batches, validation[0], [*scores[0], *more], counted)


class TextOfRun(NamedTuple):
    """The text of a run, as it becomes batches.

    Attributes:
        training: `Windows` of text, or `ShardBatches`.
        validation: List of the `Windows` of each validation text.
    """

    training: Any
    validation: list


class Task:
    """A kind of model, with the text and the options of one run of it.

    The methods above `tokenizers` are called before TensorFlow loads. The others ask a module of
    the kind, which imports it, with four functions: `text_of(prepared)`, a `TextOfRun`;
    `report(prepared)`, lines; `new_model(prepared, rising_steps)`, a compiled model, with an
    argument of `WarmupSchedule`; and `scores(prepared, model)`, lists of callbacks, one for each
    validation text, that add its scores to the logs.

    Args:
        files: Lists of paths by name, as the run config has them.
        options: The optional arguments.

    Attributes:
        kind: Kind of the model that is trained.
        monitors: The names in `MONITORS` that such a model has.
        temporary: Names of files that do not outlive the process.
        learning: Name of the module of the kind.
        counted: Unit of the speed, as `Learner.examples`.
    """

    kind: Kind
    monitors: tuple[str, ...]
    learning: str
    counted = "tokens"
    temporary: Collection[str] = ()

    def __init__(self, files: dict[str, list[str]], options: RunOptions):
        self.files = files
        self.options = options

    def check(self, recipe: Recipe):
        """Raises ValueError if the recipe and the options contradict each other."""
        self.options.check(recipe)

    @property
    def validation_files(self) -> list[str]:
        """Paths of the validation text; empty for no validation."""
        raise NotImplementedError

    @property
    def validation_names(self) -> list[str]:
        """The validation files, as scores name them."""
        return self.validation_files

    @property
    def is_chosen_by_mean(self) -> bool:
        """Whether the mean over the validation texts chooses the model, instead of the first."""
        return False

    def suited_monitor(self) -> str:
        """Returns which of `monitors` suits a run whose recipe leaves it open."""
        return "loss"

    def read_examples(self) -> dict:
        """Reads and checks all text; returns its entries for the run config."""
        raise NotImplementedError

    def learn_vocabularies(self, recipe: Recipe) -> Vocabularies:
        """Learns the vocabularies from the text."""
        raise NotImplementedError

    def given_vocabularies(self) -> Vocabularies:
        """Reads the vocabularies that the options name."""
        assert self.options.vocabulary is not None  # `prepare` has checked it.
        return read_vocabularies(self.options.vocabulary)

    def check_some_are_left(self, recipe: Recipe, vocabularies: Vocabularies):
        """Raises ValueError if no example can be used."""
        raise NotImplementedError

    def ids_of_a_pass(self, vocabularies: Vocabularies) -> int:
        """Counts the ids of a pass over the text, or of its longer sides, up to `LARGE_TEXT`."""
        raise NotImplementedError

    def sizes_to_start_from(self) -> dict:
        """Returns the sizes, by their names in the recipe, of the model to start from."""
        raise NotImplementedError

    def checksum(self, file: str) -> str:
        """Returns the SHA-256 of one of the files."""
        return sha256(file)

    def tokenizers(self, vocabularies: Vocabularies) -> list:
        """Returns the `kformer.Tokenizer`s of source and target; None for a target without one."""
        from kformer.text.tokenizer import Tokenizer  # TensorFlow.

        return [model and Tokenizer(model) for model in vocabularies]

    def text(self, prepared: Any) -> TextOfRun:
        """Returns the text of a `Prepared` run."""
        return self._learning.text_of(prepared)

    def report(self, prepared: Any) -> str:
        """Describes the text of a `Prepared` run and its cost, and warns of problems."""
        return self._learning.report(prepared)

    def learner(self, prepared: Any, epoch: Any) -> Learner:
        """Returns the model of a `Prepared` run, with its first weights, and its batches.

        Args:
            epoch: Number of the pass, an int64 variable.
        """
        from kformer.training.run.replicas import rising_steps  # TensorFlow.

        learning, text = self._learning, prepared.text
        batches = text.training.dataset(epoch)
        validation = [windows.dataset() for windows in text.validation]
        model = learning.new_model(prepared, rising_steps(prepared, batches))
        scores = zip(self.validation_names, learning.scores(prepared, model), strict=True)
        by_mean = self.is_chosen_by_mean
        return Learner.on(model, batches, validation, list(scores), self.counted, by_mean)

    @property
    def _learning(self):
        return importlib.import_module(self.learning)

    def load(self, path: Any) -> Any:
        """Loads a model of this kind from its file."""
        return self.kind.part("model").load(path)

    def calibrate(self, model: Any) -> str | None:
        """Completes the model of a finished run; returns a sentence if that has changed it."""
        return None

    def uselessness(
        self, model: Any, scores: Mapping[str, float], epochs: int | None
    ) -> str | None:
        """Returns a warning if the model of a finished run is of no use on its validation text."""
        return None


class OneTextTask(Task):
    """A kind of model that reads one text and has one stack of layers; base class.

    Attributes:
        names: Names of the files to train on, and of the validation text.
        options_class: The class of the options.
    """

    names: tuple[str, str]
    options_class: type[RunOptions]

    @property
    def validation_files(self):
        return self.files[self.names[1]]

    def plain_files(self, name: str) -> list[str]:
        """Returns paths of the text alone, a text on each line, of the files called `name`."""
        return self.files[name]

    def texts(self, name: str) -> Iterable[str]:
        """Yields the text of the files called `name`."""
        for file in self.plain_files(name):
            yield from read_lines(file)

    def given_vocabularies(self):
        return Vocabularies(super().given_vocabularies().source, None)

    def check_some_are_left(self, recipe: Recipe, vocabularies: Any):
        library = vocabulary.read(vocabularies.source)
        for name, files in self.files.items():
            if files and not any(map(library.encode, self.texts(name))):
                raise ValueError(f"Some text must be left to use. Received: {files}, all blank.")

    def ids_of_a_pass(self, vocabularies: Vocabularies):
        return ids_of_texts(self.texts(self.names[0]), vocabularies.source)

    def sizes_to_start_from(self):
        """Reads the sizes of the encoder of any kind of model."""
        config = encoder_config(Path(self.options.warm_start))
        names = ("num_layers", "d_model", "num_heads", "d_ff", "norm_first", "activation")
        sizes = {name: config[name] for name in names}
        if self.options.tokenizer is None and not self.options.new_vocabulary:
            sizes["vocab_size"] = config["vocab_size"]
        return sizes
