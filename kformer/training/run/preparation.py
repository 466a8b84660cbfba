"""All that can be checked of a training run before TensorFlow loads, which takes seconds."""

import dataclasses
import hashlib
from pathlib import Path

from kformer.tasks.keras_file import transformer_config
from kformer.training.data.dropped_pairs import check_some_are_left
from kformer.training.data.text_files import as_list, check_parallel
from kformer.training.recipes.recipe import SIZES, Recipe
from kformer.training.run.changed_settings import changed_settings
from kformer.training.run.folder import CHECKPOINTS, check_output, read_record, settings
from kformer.training.run.vocabularies import (
    Vocabularies,
    learn_vocabularies,
    read_vocabularies,
    saved_vocabularies,
)


@dataclasses.dataclass(frozen=True)
class Prepared:
    """A training run that can begin, or go on.

    Attributes:
        recipe: As the user gave it, but with the sizes of the translator that it starts from.
        replaced: By name the sizes that differ from those: what the user's recipe had.
        files: Lists of paths by "source", "target", "valid_source", "valid_target".
        mixture: `weights` and `temperature`; see `translation_dataset`.
        warm_start: Path of a translator to start from, or None.
        output: The folder.
        resumes: Whether a run is there to go on with; see `check_output`.
        changed: What differs then from its settings; see `changed_settings`.
        record: What `run.json` will say.
        vocabularies: `Vocabularies`.
        origin: Where they are from: "learned" from the text, "all" that the text supports, or
            "given" by a file.
    """

    recipe: Recipe
    replaced: dict[str, int]
    files: dict[str, list[str]]
    mixture: dict
    warm_start: Path | None
    output: Path
    resumes: bool
    changed: dict[str, list]
    record: dict
    vocabularies: Vocabularies
    origin: str

    def notes(self) -> list[str]:
        """What differs from what was asked for, in plain words."""
        notes = []
        if self.replaced:
            sizes = (
                f"{name}={getattr(self.recipe, name)} instead of {before}"
                for name, before in self.replaced.items()
            )
            notes.append(f"The model has the sizes of {self.warm_start}: {', '.join(sizes)}.")
        if self.origin == "all":
            notes += [
                f"The text supports {size:,} ids, which are used: {name}={size} instead of "
                f"{getattr(self.recipe, name)}."
                for name, size in self.vocabularies.sizes().items()
                if size != getattr(self.recipe, name)
            ]
        return notes


def prepare(
    recipe: Recipe,
    source,
    target,
    output,
    valid_source=None,
    valid_target=None,
    *,
    weights=None,
    temperature=None,
    warm_start=None,
    new_vocabulary: bool = False,
    tokenizer=None,
    target_tokenizer=None,
    exact_sizes=(),
    overwrite: bool = False,
    restart: bool = False,
) -> Prepared:
    """Checks the files, the output folder and the text, and has the vocabularies of a run.

    Writes nothing. Arguments and errors are those of `kformer.training.train`.
    """
    replaced = {}
    if warm_start is not None:
        asked, keeps = recipe, tokenizer is None and not new_vocabulary
        recipe = _with_sizes_of(Path(warm_start), asked, exact_sizes, keeps)
        replaced = {
            name: value
            for name, value in dataclasses.asdict(asked).items()
            if value != getattr(recipe, name)
        }
    recipe.check_validation(valid_source)
    output = Path(output)
    files = {
        "source": as_list(source),
        "target": as_list(target),
        "valid_source": as_list(valid_source or []),
        "valid_target": as_list(valid_target or []),
    }
    given = (warm_start, new_vocabulary, tokenizer, target_tokenizer)
    record = settings(recipe, files, weights, temperature, *given)
    resumes, changed = check_output(output, overwrite, record, restart), {}
    if resumes:
        earlier = read_record(output)
        changed = changed_settings(earlier, record)
        record = {**earlier, **record}  # The files may have moved.
    else:
        record["pairs"] = _check_text(files)
    saved = saved_vocabularies(output) if resumes and "tokenizer" in record else None
    if warm_start is not None and not new_vocabulary and tokenizer is None:
        tokenizer = warm_start
    if tokenizer is not None:
        vocabularies = saved or read_vocabularies(tokenizer, target_tokenizer)
        _check_sizes(recipe, vocabularies.sizes(), exact_sizes)
    else:
        sides = files["source"], files["target"]
        vocabularies = saved or learn_vocabularies(recipe, *sides, exact_sizes)
    _note(record, vocabularies, output)
    if not resumes:
        _check_some_pairs_are_left(files, vocabularies, recipe)
    sizes = vocabularies.sizes()
    learned = "learned" if all(sizes[name] == getattr(recipe, name) for name in sizes) else "all"
    return Prepared(
        *(
            recipe,
            replaced,
            files,
            {"weights": weights, "temperature": temperature},
            warm_start,
            output,
        ),
        *(resumes, changed, record, vocabularies, learned if tokenizer is None else "given"),
    )


def _with_sizes_of(path, recipe, exact, keeps_vocabulary):
    """Returns `recipe` with the sizes of the translator at `path`, from which a run starts.

    Raises:
        FileNotFoundError, ValueError: It cannot be read; or it has not the sizes named in `exact`.
    """
    config = transformer_config(path)
    sizes = {name: config[name] for name in SIZES}
    if keeps_vocabulary:
        sizes["vocab_size"] = config["vocab_size"]
    differing = _differing(recipe, sizes, exact)
    if differing:
        raise ValueError(
            "A model has the sizes of the one that it starts from. "
            f"Received: {differing}, for {str(path)!r}."
        )
    return dataclasses.replace(recipe, **sizes)


def _differing(recipe, sizes, exact) -> str:
    """Lists the sizes that the user named and that are others in `sizes`; "" if there are none."""
    return ", ".join(
        f"{name}={getattr(recipe, name)} instead of {size}"
        for name, size in sizes.items()
        if name in exact and getattr(recipe, name) != size
    )


def _check_sizes(recipe, sizes, exact):
    """Raises ValueError where a vocabulary that exists has another size than the user named."""
    differing = _differing(recipe, sizes, exact)
    if differing:
        raise ValueError(
            f"A vocabulary that exists has the size that it has. Received: {differing}."
        )


def _check_text(files):
    """Returns the number of pairs to train on; errors as of `check_parallel`."""
    if files["valid_source"] or files["valid_target"]:
        check_parallel(files["valid_source"], files["valid_target"])
    return check_parallel(files["source"], files["target"])


def _note(record, vocabularies, output):
    """Notes the vocabularies in `record`.

    Raises:
        ValueError: They are not those that the run began with.
    """
    names = "tokenizer", "target_tokenizer"
    for name, model in zip(names, vocabularies, strict=True):
        found = None if model is None else hashlib.sha256(model).hexdigest()
        if record.setdefault(name, found) != found:
            raise ValueError(
                "A run goes on with the tokenizer that it began with; --restart begins anew. "
                f"Received: '{output / CHECKPOINTS / name}.model', which has changed."
            )
    record["vocab_sizes"] = vocabularies.sizes()


def _check_some_pairs_are_left(files, vocabularies, recipe):
    models = vocabularies.source, vocabularies.target or vocabularies.source
    limits = recipe.max_length, recipe.max_length_ratio or None
    check_some_are_left(files["source"], files["target"], models, *limits)
    if files["valid_source"]:
        check_some_are_left(files["valid_source"], files["valid_target"], models, *limits)
