"""Checks a training run before TensorFlow loads, which takes seconds."""

import dataclasses
import functools
import hashlib
import shutil
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from kformer.arguments import check_choice
from kformer.text.text_files import as_list
from kformer.training.recipes.pace import as_begun, is_open, suited_to
from kformer.training.recipes.recipe import SUITED, Recipe, is_smaller_student
from kformer.training.run.continuation import check_output, check_time_left
from kformer.training.run.run_config import changed_settings, read_run_config, run_config
from kformer.training.run.run_folder import CHECKPOINTS
from kformer.training.run.run_vocabularies import Vocabularies, saved_vocabularies
from kformer.training.run.training_task import OneTextTask, Task, TextOfRun

AnyTask = TypeVar("AnyTask", bound=Task)
TaskOfRun = TypeVar("TaskOfRun", bound=Task, covariant=True)


@dataclasses.dataclass(frozen=True)
class Prepared(Generic[TaskOfRun]):
    """A training run that can begin or resume.

    Attributes:
        task: The kind of model, its files and its options.
        recipe: The recipe of the user, with the sizes of the model that the run starts from, and
            with epochs and batches for the size of the text where they were left open.
        replaced: The user's sizes that the model's sizes replaced, by name.
        output: The folder.
        resumes: Whether the folder holds a run to resume, from `check_output`.
        changed: The settings that change when it is resumed, from `changed_settings`.
        config: The run config.
        vocabularies: `Vocabularies`.
        origin: Where they are from: "learned" from the text, "all" if the text supports no more
            ids, or "given" by a file.
        pace: Sentences on the epochs and batches, if they were chosen for the text.
    """

    task: TaskOfRun
    recipe: Recipe
    replaced: dict[str, int]
    output: Path
    resumes: bool
    changed: dict[str, list]
    config: dict
    vocabularies: Vocabularies
    origin: str
    pace: Sequence[str] = ()

    @property
    def is_trained(self) -> bool:
        """Whether the run starts from a trained model."""
        return self.task.options.warm_start is not None

    @functools.cached_property
    def tokenizers(self) -> list:
        """The `kformer.Tokenizer`s of source and target; None for a target without one."""
        return self.task.tokenizers(self.vocabularies)

    @functools.cached_property
    def text(self) -> TextOfRun:
        """The text as batches, which is read once for the report, and once in each pass."""
        return self.task.text(self)

    def report(self) -> str:
        """Returns the notes and the report of the text, in lines that the terminal has room for."""
        lines = "\n".join([*self.notes(), self.task.report(self)]).splitlines()
        return "\n".join(map(_fitted, lines) if sys.stdout.isatty() else lines)

    def notes(self) -> list[str]:
        """Returns lines on the differences between the run and the user's settings."""
        notes = []
        if self.replaced:
            sizes = (
                f"{name}={getattr(self.recipe, name)} instead of {before}"
                for name, before in self.replaced.items()
            )
            path = self.task.options.warm_start
            notes.append(f"The model has the sizes of {path}: {', '.join(sizes)}.")
        if self.origin == "all":
            notes += [
                f"The text supports {size:,} ids, which are used: {name}={size} instead of "
                f"{getattr(self.recipe, name)}."
                for name, size in self.vocabularies.sizes().items()
                if size != getattr(self.recipe, name)
            ]
        return [*notes, *self.pace]


def _fitted(line):
    """Returns a line with breaks between words, if the terminal would break it within a word."""
    width = shutil.get_terminal_size().columns
    settings = {"break_long_words": False, "break_on_hyphens": False}
    return line if len(line) <= width else textwrap.fill(line, width, **settings)


def prepare(task: AnyTask, recipe: Recipe, output: str | Path) -> Prepared[AnyTask]:
    """Checks the files, the output folder and the text, and provides the vocabularies of a run.

    Writes nothing. Raises the errors of `kformer.training.train`.
    """
    options = task.options
    asked, recipe = recipe, _with_sizes_to_start_from(_with_monitor(recipe, task), task)
    before, after = dataclasses.asdict(asked), dataclasses.asdict(recipe)
    replaced = {
        name: value for name, value in before.items() if value != after[name] and name != "monitor"
    }
    check_choice("monitor", recipe.monitor, task.monitors)
    recipe.check_validation(task.validation_files)
    output = Path(output)
    earlier = {} if options.restart else read_run_config(output)
    left_open, recipe = recipe, as_begun(recipe, earlier)
    config = run_config(recipe, task)
    resumes, changed = check_output(output, options.overwrite, config, options.restart), {}
    if resumes:
        check_time_left(output, earlier, options.max_hours)
        changed = changed_settings(earlier, config)
        config = {**earlier, **config}  # The files may have moved.
    else:
        config |= task.read_examples()
    saved = saved_vocabularies(output) if resumes and "tokenizer" in config else None
    if options.vocabulary is not None:
        vocabularies = saved or task.given_vocabularies()
        _check_sizes(recipe, vocabularies.sizes(), options.exact_sizes)
        origin = "given"
    else:
        vocabularies = saved or task.learn_vocabularies(recipe)
        sizes = vocabularies.sizes()
        as_asked = all(size == getattr(recipe, name) for name, size in sizes.items())
        origin = "learned" if as_asked else "all"
    _add_vocabularies(config, vocabularies, output)
    facts = task, recipe, replaced, output, resumes, changed, config, vocabularies, origin
    if resumes:
        return Prepared(*facts)
    task.check_some_are_left(recipe, vocabularies)
    if not is_open(left_open):
        return Prepared(*facts)
    suited = suited_to(left_open, task.ids_of_a_pass(vocabularies))
    config |= {"recipe": dataclasses.asdict(suited.recipe), "suited_epochs": suited.epochs}
    return dataclasses.replace(Prepared(*facts), recipe=suited.recipe, pace=suited.lines())


def prepare_text(
    task: type[OneTextTask],
    recipe: Recipe,
    text: Any,
    output: str | Path,
    valid: Any = None,
    **options: Any,
) -> Prepared:
    """Prepares the run of a kind of model that reads one text, as `prepare`."""
    files = zip(task.names, (as_list(text), as_list(valid or [])), strict=True)
    return prepare(task(dict(files), task.options_class(**options)), recipe, output)


def _with_monitor(recipe, task):
    """Returns `recipe` with the score that chooses the best model, where it leaves that open.

    A trained model is surer than label smoothing wants, so the smoothed loss would prefer a worse
    one: in a run that starts from a model, the perplexity takes its place.
    """
    monitor = recipe.monitor
    if monitor == SUITED:
        monitor = task.suited_monitor()
    smoothed = monitor == "loss" and recipe.label_smoothing and "perplexity" in task.monitors
    if smoothed and task.options.warm_start is not None:
        monitor = "perplexity"
    return dataclasses.replace(recipe, monitor=monitor)


def _with_sizes_to_start_from(recipe, task):
    """Returns `recipe` with the sizes of the model that the run starts from, if any."""
    if task.options.warm_start is None:
        return recipe
    sizes = task.sizes_to_start_from()
    exact = task.options.exact_sizes
    fewer = {
        name
        for name in {*exact} & {*sizes}
        if is_smaller_student(name, getattr(recipe, name), sizes[name])
    }
    sizes = {name: size for name, size in sizes.items() if name not in fewer}
    differing = _differing(recipe, sizes, exact)
    if differing:
        raise ValueError(
            "A model must have the sizes of the one that it starts from, or fewer layers. "
            f"Received: {differing}, for {str(task.options.warm_start)!r}."
        )
    return dataclasses.replace(recipe, **sizes)


def _differing(recipe, sizes, exact) -> str:
    """Lists the sizes in `exact` that differ in `sizes`; returns "" if there are none."""
    return ", ".join(
        f"{name}={getattr(recipe, name)} instead of {size}"
        for name, size in sizes.items()
        if name in exact and getattr(recipe, name) != size
    )


def _check_sizes(recipe, sizes, exact):
    """Raises ValueError if an existing vocabulary differs in a size that `exact` names."""
    differing = _differing(recipe, sizes, exact)
    if differing:
        raise ValueError(f"An existing vocabulary keeps its size. Received: {differing}.")


def _add_vocabularies(config, vocabularies, output):
    """Adds the hashes and sizes of the vocabularies to `config`."""
    names = "tokenizer", "target_tokenizer"
    for name, model in zip(names, vocabularies, strict=True):
        checksum = None if model is None else hashlib.sha256(model).hexdigest()
        if config.setdefault(name, checksum) != checksum:
            raise ValueError(
                "A run is resumed with the tokenizer that it began with; --restart starts again. "
                f"Received: '{output / CHECKPOINTS / name}.model', which has changed."
            )
    config["vocab_sizes"] = vocabularies.sizes()
