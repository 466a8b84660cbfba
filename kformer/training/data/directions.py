"""Directions of translation: the texts of a model of several languages, each with its direction."""

import dataclasses
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from kformer.training.data.pairs import ParallelText, parallel_text

_CODE = r"[^\W_](?:\w*[^\W_])?"
_DIRECTION = re.compile(f"({_CODE})-({_CODE})")


@dataclasses.dataclass(frozen=True)
class Direction:
    """Text of one direction of translation: parallel files, or pairs.

    Args:
        languages: Codes of source and target with a hyphen between, such as "de-en".
        source, target: A path or a list of paths of parallel text.
        pairs: Instead of such files: tables, or pairs in Python, as for
            `kformer.training.split_pairs`.
        columns: Names of the columns of source and target in tables and dicts; by default those of
            the languages, such as "de" and "en".
        shards: Instead of text: a path of a folder that `kformer.training.prepare_shards` wrote
            with `columns` of these two languages. The same folder serves both directions.

    Raises:
        ValueError: `languages` are not two codes, or there is no text.

    Examples:
        >>> from kformer.training import Direction
        >>> Direction("de-en", pairs=[("Ein Hund läuft.", "A dog runs.")]).codes
        ('de', 'en')
        >>> Direction.parse("de-en:train.de:train.en").source
        'train.de'
    """

    languages: str
    source: str | Path | Sequence[str | Path] | None = None
    target: str | Path | Sequence[str | Path] | None = None
    pairs: str | Path | Iterable[Any] | None = None
    columns: Sequence[str] | None = None
    shards: str | Path | None = None

    def __post_init__(self):
        codes_of(self.languages)
        if self.pairs is None and not (self.source and self.target) and not self.shards:
            raise ValueError(
                "A direction needs files of source and target, or pairs, or shards. "
                f"Received: {self.languages!r} with source={self.source}, target={self.target}."
            )

    @classmethod
    def parse(cls, text: str) -> "Direction":
        """Returns the direction of "de-en:SOURCE:TARGET", "de-en:TABLE" or "de-en:SHARDS".

        Raises:
            ValueError: The text has another form; or as for the class.
        """
        languages, *paths = text.split(":")
        if len(paths) == 1 and paths[0]:
            is_folder = Path(paths[0]).is_dir()
            return cls(languages, **{"shards" if is_folder else "pairs": paths[0]})
        if len(paths) == 2 and all(paths):
            return cls(languages, *paths)
        raise ValueError(
            "A direction has the form de-en:SOURCE:TARGET, of two files, or de-en:TABLE, of a "
            "table, or of a folder of shards, with a column for each language. "
            f"Received: {text!r}."
        )

    @property
    def codes(self) -> tuple[str, str]:
        """The codes of source and target."""
        return codes_of(self.languages)

    def text(self, kind: str = "") -> ParallelText:
        """Returns the text; `kind` and errors are as for `parallel_text`."""
        columns = None
        if self.pairs is not None:
            columns = self.codes if self.columns is None else self.columns
        return parallel_text(self.source, self.target, self.pairs, columns, kind)


def codes_of(languages: Any) -> tuple[str, str]:
    """Returns the codes of source and target of a direction such as "de-en"."""
    match = _DIRECTION.fullmatch(languages) if isinstance(languages, str) else None
    if not match or match[1] == match[2]:
        raise ValueError(
            "A direction is named by the codes of its two languages with a hyphen between, such as "
            f"de-en; within a code write pt_BR. Received: {languages!r}."
        )
    return match[1], match[2]


def names_of_both(languages: str, number: int) -> list[str]:
    """Returns the direction of `number` texts, and of as many of the other one: "en-de"."""
    return [languages] * number + ["-".join(reversed(codes_of(languages)))] * number


def both_directions(text: ParallelText, languages: str) -> ParallelText:
    """Returns text in a direction and, sides swapped, in the other one."""
    return text._replace(
        source=[*text.source, *text.target],
        target=[*text.target, *text.source],
        directions=names_of_both(languages, len(text.source)),
    )


def text_of_directions(
    directions: Iterable["Direction | str"] | None, kind: str = ""
) -> ParallelText:
    """Returns the text of several directions as one."""
    together = ParallelText([], [], {})
    for direction in as_directions(directions):
        text = direction.text(kind)
        paths = {
            name: [*together.paths.get(name, ()), *text.paths.get(name, ())]
            for name in {**together.paths, **text.paths}
        }
        together = ParallelText(
            [*together.source, *text.source],
            [*together.target, *text.target],
            paths,
            together.recorded and text.recorded,
            [*together.directions, *[direction.languages] * len(text.source)],
            {**together.shown, **text.shown},
        )
    return together


def as_directions(directions: "Iterable[Direction | str] | Direction | str | None"):
    """Returns a list of `Direction`s, of which some may be given as texts."""
    if directions is None:
        return []
    several = [directions] if isinstance(directions, Direction | str) else [*directions]
    return [
        direction if isinstance(direction, Direction) else Direction.parse(direction)
        for direction in several
    ]
