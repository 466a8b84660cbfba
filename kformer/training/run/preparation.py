"""Checks a training run before TensorFlow loads, which takes seconds."""

import dataclasses
import hashlib
from pathlib import Path

from kformer.tasks.keras_file import transformer_config
from kformer.text.text_files import as_list
from kformer.training.data.dropped_pairs import check_some_are_left
from kformer.training.data.parallel_files import check_parallel
from kformer.training.recipes.recipe import Recipe, sizes_in
from kformer.training.run.continuation import check_output
from kformer.training.run.folder import CHECKPOINTS
from kformer.training.run.options import RunOptions
from kformer.training.run.run_config import changed_settings, read_run_config, run_config
from kformer.training.run.vocabularies import (
    Vocabularies,
    learn_vocabularies,
    read_vocabularies,
    saved_vocabularies,
)


@dataclasses.dataclass(frozen=True)
class Prepared:
    """A training run that can begin or resume.

    Attributes:
        recipe: The recipe of the user, with the sizes of the translator that the run starts from.
        replaced: The user's sizes that those replaced, by name.
        files: Lists of paths by "source", "target", "valid_source", "valid_target".
        options: The optional arguments of the user.
        output: The folder.
        resumes: Whether the folder holds a run to resume; see `check_output`.
        changed: The settings that change when it is resumed; see `changed_settings`.
        config: The run config.
        vocabularies: `Vocabularies`.
        origin: Where they are from: "learned" from the text, "all" if the text supports no more
            ids, or "given" by a file.
    """

    recipe: Recipe
    replaced: dict[str, int]
    files: dict[str, list[str]]
    options: RunOptions
    output: Path
    resumes: bool
    changed: dict[str, list]
    config: dict
    vocabularies: Vocabularies
    origin: str

    def notes(self) -> list[str]:
        """Describes where the run differs from what the user asked for."""
        notes = []
        if self.replaced:
            sizes = (
                f"{name}={getattr(self.recipe, name)} instead of {before}"
                for name, before in self.replaced.items()
            )
            path = self.options.warm_start
            notes.append(f"The model has the sizes of {path}: {', '.join(sizes)}.")
        if self.origin == "all":
            notes += [
                f"The text supports {size:,} ids, which are used: {name}={size} instead of "
                f"{getattr(self.recipe, name)}."
                for name, size in self.vocabularies.sizes().items()
                if size != getattr(self.recipe, name)
            ]
        return notes


def prepare(
    recipe: Recipe, source, target, output, valid_source=None, valid_target=None, **options
) -> Prepared:
    """Checks the files, the output folder and the text, and provides the vocabularies of a run.

    Writes nothing. The arguments and errors are those of `kformer.training.train`; `options` are
    the fields of `RunOptions`.
    """
    options = RunOptions(**options)
    asked, recipe = recipe, _with_sizes_of_warm_start(recipe, options)
    before, after = dataclasses.asdict(asked), dataclasses.asdict(recipe)
    replaced = {name: value for name, value in before.items() if value != after[name]}
    recipe.check_validation(valid_source)
    output = Path(output)
    files = {
        "source": as_list(source),
        "target": as_list(target),
        "valid_source": as_list(valid_source or []),
        "valid_target": as_list(valid_target or []),
    }
    config = run_config(recipe, files, options)
    resumes, changed = check_output(output, options.overwrite, config, options.restart), {}
    if resumes:
        earlier = read_run_config(output)
        changed = changed_settings(earlier, config)
        config = {**earlier, **config}  # The files may have moved.
    else:
        config["pairs"] = _check_text(files)
    saved = saved_vocabularies(output) if resumes and "tokenizer" in config else None
    if options.vocabulary is not None:
        vocabularies = saved or read_vocabularies(options.vocabulary, options.target_tokenizer)
        _check_sizes(recipe, vocabularies.sizes(), options.exact_sizes)
        origin = "given"
    else:
        sides = files["source"], files["target"]
        vocabularies = saved or learn_vocabularies(recipe, *sides, options.exact_sizes)
        sizes = vocabularies.sizes()
        as_asked = all(size == getattr(recipe, name) for name, size in sizes.items())
        origin = "learned" if as_asked else "all"
    _add_vocabularies(config, vocabularies, output)
    if not resumes:
        _check_some_pairs_are_left(files, vocabularies, recipe)
    return Prepared(
        *(recipe, replaced, files, options, output),
        *(resumes, changed, config, vocabularies, origin),
    )


def _with_sizes_of_warm_start(recipe, options):
    """Returns `recipe` with the sizes of the translator that the run starts from, if any.

    Raises:
        FileNotFoundError, ValueError: The translator cannot be read; or it differs in a size that
            `options.exact_sizes` names.
    """
    path = options.warm_start
    if path is None:
        return recipe
    config = transformer_config(Path(path))
    sizes = sizes_in(config)
    if options.tokenizer is None and not options.new_vocabulary:
        sizes["vocab_size"] = config["vocab_size"]
    differing = _differing(recipe, sizes, options.exact_sizes)
    if differing:
        raise ValueError(
            "A model must have the sizes of the one that it starts from. "
            f"Received: {differing}, for {str(path)!r}."
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


def _check_text(files):
    """Returns the number of pairs to train on; raises the errors of `check_parallel`."""
    if files["valid_source"] or files["valid_target"]:
        check_parallel(files["valid_source"], files["valid_target"])
    return check_parallel(files["source"], files["target"])


def _add_vocabularies(config, vocabularies, output):
    """Adds the hashes and sizes of the vocabularies to `config`.

    Raises:
        ValueError: The run began with other vocabularies.
    """
    names = "tokenizer", "target_tokenizer"
    for name, model in zip(names, vocabularies, strict=True):
        found = None if model is None else hashlib.sha256(model).hexdigest()
        if config.setdefault(name, found) != found:
            raise ValueError(
                "A run is resumed with the tokenizer that it began with; --restart starts again. "
                f"Received: '{output / CHECKPOINTS / name}.model', which has changed."
            )
    config["vocab_sizes"] = vocabularies.sizes()


def _check_some_pairs_are_left(files, vocabularies, recipe):
    models = vocabularies.source, vocabularies.target or vocabularies.source
    limits = recipe.max_length, recipe.max_length_ratio or None
    check_some_are_left(files["source"], files["target"], models, *limits)
    if files["valid_source"]:
        check_some_are_left(files["valid_source"], files["valid_target"], models, *limits)
