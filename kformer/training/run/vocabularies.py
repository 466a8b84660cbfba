"""The vocabularies of a training run: learned from its text, or read from a file.

They are SentencePiece models, bytes, so that what is wrong with them shows before TensorFlow loads.
"""

from pathlib import Path
from typing import NamedTuple

from kformer.files import check_file, replacing
from kformer.tasks.keras_file import tokenizer_models
from kformer.text import vocabulary
from kformer.training.run.folder import CHECKPOINTS, TARGET_TOKENIZER, TOKENIZER


class Vocabularies(NamedTuple):
    """SentencePiece models of a run.

    Attributes:
        source: Of the source, and of the target if that has no own.
        target: Of the target, if it has a vocabulary of its own; else None.
    """

    source: bytes
    target: bytes | None

    @property
    def models(self) -> tuple[bytes, ...]:
        """The one or two models."""
        return tuple(model for model in self if model is not None)

    def sizes(self) -> dict[str, int]:
        """Returns the numbers of ids, by the names that a recipe has for them."""
        source, target = (model and vocabulary.read(model).GetPieceSize() for model in self)
        return {"vocab_size": source, "target_vocab_size": target or 0}


def learn_vocabularies(recipe, source, target, exact=()) -> Vocabularies:
    """Learns one vocabulary from both sides of the text, or one from each.

    Args:
        recipe: `Recipe`, whose `vocab_size` and `target_vocab_size` say how many ids.
        source, target: Lists of paths.
        exact: Those of these two names whose number must be met: an error is raised where the text
            supports fewer ids. By default as many are learned as it supports.

    Raises:
        ValueError: See `kformer.text.vocabulary.learn`.
    """
    if not recipe.target_vocab_size:
        at_most = "vocab_size" not in exact
        joint = vocabulary.learn([*source, *target], recipe.vocab_size, at_most=at_most)
        return Vocabularies(joint, None)
    models = []
    for name, files in (("vocab_size", source), ("target_vocab_size", target)):
        try:
            size = getattr(recipe, name)
            models.append(vocabulary.learn(files, size, at_most=name not in exact))
        except ValueError as error:
            raise ValueError(str(error).replace("vocab_size", name)) from error
    return Vocabularies(*models)


def read_vocabularies(path, target_path=None) -> Vocabularies:
    """Reads vocabularies that exist.

    Args:
        path: A SentencePiece model file, or a `.keras` translator, of which it takes both sides.
        target_path: The same, for the target alone; None where `path` serves both.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: A file holds no such model; or the two have different ids for padding.
    """
    found = Vocabularies(*_models(path))
    if target_path is not None:
        source, target = _models(target_path)
        found = found._replace(target=target or source)
    paddings = [vocabulary.read(model).pad_id() for model in found.models]
    if len({*paddings}) > 1:
        raise ValueError(
            "The vocabularies of source and target must have the same padding id. Received: "
            f"padding ids {paddings[0]} and {paddings[1]}, of {str(path)!r} and "
            f"{str(target_path or path)!r}."
        )
    return found


def _models(path):
    path = Path(path)
    check_file(path)
    if path.suffix == ".keras":
        return tokenizer_models(path)
    model = path.read_bytes()
    try:
        vocabulary.read(model)
    except ValueError as error:
        raise ValueError(f"{error} Received: path={str(path)!r}.") from error
    return model, None


def saved_vocabularies(folder) -> Vocabularies | None:
    """Returns the vocabularies that an unfinished run keeps in its `folder`; None, if none."""
    source, target = _paths(folder)
    if not source.is_file():
        return None
    return Vocabularies(source.read_bytes(), target.read_bytes() if target.is_file() else None)


def save_vocabularies(folder, vocabularies: Vocabularies):
    """Writes the vocabularies, for a run that goes on later."""
    for path, model in zip(_paths(folder), vocabularies, strict=True):
        if model is not None:
            with replacing(path) as temporary:
                temporary.write_bytes(model)


def _paths(folder):
    return [Path(folder) / CHECKPOINTS / name for name in (TOKENIZER, TARGET_TOKENIZER)]
