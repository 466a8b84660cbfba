"""The vocabularies of a training run: learned from its text, or read from a file.

They are the bytes of SentencePiece models, so that they are checked before TensorFlow loads.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from kformer.files import check_file, replacing
from kformer.inference.source_marks import symbols_of
from kformer.tasks.keras_file import tokenizer_models
from kformer.text import vocabulary
from kformer.training.recipes.recipe import OF_VOCABULARIES, Recipe
from kformer.training.run.run_folder import CHECKPOINTS, TARGET_TOKENIZER, TOKENIZER


class Vocabularies(NamedTuple):
    """The SentencePiece models of a run.

    Attributes:
        source: Model of the source, or the joint one.
        target: Model of the target, if it has its own vocabulary; else None.
    """

    source: bytes
    target: bytes | None

    @property
    def models(self) -> tuple[bytes, ...]:
        """The one or two models."""
        return tuple(model for model in self if model is not None)

    def sizes(self) -> dict[str, int]:
        """Returns the numbers of ids, by the names of the recipe's fields."""
        source, *target = (vocabulary.read(model).GetPieceSize() for model in self.models)
        return {"vocab_size": source, "target_vocab_size": target[0] if target else 0}


def learn_vocabularies(
    recipe: Recipe,
    source: list[str],
    target: list[str],
    exact: Collection[str] = (),
    line_breaks: bool = False,
    languages: Collection[str] = (),
    characters: Sequence[str] = (),
) -> Vocabularies:
    """Learns one vocabulary from both sides of the text, or one from each.

    Args:
        line_breaks: Whether the vocabularies keep line breaks.
    """
    options = {name: getattr(recipe, name) for name in OF_VOCABULARIES}
    options |= {"line_breaks": line_breaks, "long_lines": not target}  # Such pairs are dropped.
    options["characters"] = characters
    if not recipe.target_vocab_size:
        files, at_most = [*source, *target], "vocab_size" not in exact
        if languages:  # A text of both directions counts once.
            files = [*dict.fromkeys(files)]
        options["languages"] = languages
        model = vocabulary.learn(files, recipe.vocab_size, at_most=at_most, **options)
        return Vocabularies(model, None)
    models = []
    sides = ("vocab_size", source, languages), ("target_vocab_size", target, ())
    for name, files, codes in sides:
        options["languages"] = codes
        try:
            size = getattr(recipe, name)
            models.append(vocabulary.learn(files, size, at_most=name not in exact, **options))
        except ValueError as error:
            raise ValueError(str(error).replace("vocab_size", name)) from error
    return Vocabularies(*models)


def read_vocabularies(
    path: str | Path,
    target_path: str | Path | None = None,
    prefix_kept: bool = False,
    languages: Collection[str] = (),
    marks: Sequence[str] = (),
) -> Vocabularies:
    """Reads existing vocabularies.

    Args:
        target_path: The same, for the target alone; None if `path` serves both sides.
    """
    vocabularies = Vocabularies(*_models(path, prefix_kept, bool(languages)))
    if target_path is not None:
        source, target = _models(target_path)
        vocabularies = vocabularies._replace(target=target or source)
    if languages:
        source = vocabulary.with_languages(vocabularies.source, languages)
        vocabularies = vocabularies._replace(source=source)
    _check_marks(vocabularies, marks, path)
    paddings = [vocabulary.read(model).pad_id() for model in vocabularies.models]
    if len({*paddings}) > 1:
        raise ValueError(
            "The vocabularies of source and target must have the same padding id. Received: "
            f"padding ids {paddings[0]} and {paddings[1]}, of {str(path)!r} and "
            f"{str(target_path or path)!r}."
        )
    return vocabularies


def _check_marks(vocabularies, marks, path):
    symbols = symbols_of(marks)
    if not all(vocabulary.has_pieces(model, symbols) for model in vocabularies.models):
        raise ValueError(
            "`terms` and `placeholders` need a vocabulary with their symbols, which a run with "
            "them learns: with `warm_start`, by `new_vocabulary`. "
            f"Received: {' and '.join(marks)} with {str(path)!r}."
        )


def _models(path, prefix_kept=False, languages_kept=False):
    path = Path(path)
    check_file(path)
    if path.suffix == ".keras":
        return tokenizer_models(path, prefix_kept, languages_kept)
    model = path.read_bytes()
    try:
        vocabulary.read(model)
    except ValueError as error:
        raise ValueError(f"{error} Received: path={str(path)!r}.") from error
    return model, None


def saved_vocabularies(folder: Path) -> Vocabularies | None:
    """Returns the vocabularies saved in the `folder` of a run; None if there are none."""
    source, target = _paths(folder)
    if not source.is_file():
        return None
    return Vocabularies(source.read_bytes(), target.read_bytes() if target.is_file() else None)


def save_vocabularies(folder: Path, vocabularies: Vocabularies):
    """Saves the vocabularies in the `folder` of a run, so that it can be resumed."""
    for path, model in zip(_paths(folder), vocabularies, strict=True):
        if model is not None:
            with replacing(path) as temporary:
                temporary.write_bytes(model)


def _paths(folder):
    return [folder / CHECKPOINTS / name for name in (TOKENIZER, TARGET_TOKENIZER)]
