"""The text that a student learns from: each source file, and its translation by the teachers.

The name of a translation contains a hash of all that it depends on: the teachers, their search, the
source and its reference. So a second start uses what is there, and never mixes two settings.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from kformer.text.text_files import read_lines
from kformer.training.data.parallel_files import check_parallel, count_lines
from kformer.training.distillation.options import DistillationOptions
from kformer.training.run.run_config import sha256

_DIGITS = 12  # Of the hash, in a file's name.


class TextToTeach(NamedTuple):
    """A source file, what it is compared with, and the file of its translation.

    Attributes:
        source: Path of the source.
        reference: Path of its translation by people, or None.
        translation: Path of that by the teachers, which may not exist yet.
    """

    source: Path
    reference: Path | None
    translation: Path

    def lines(self) -> int:
        """Counts the lines of the source."""
        return count_lines(self.source)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yields each line of the source with its reference, "" for none."""
        lines = read_lines(self.source)
        if self.reference is None:
            return ((line, "") for line in lines)
        return zip(lines, read_lines(self.reference), strict=True)


def texts_to_teach(
    teachers: Sequence[str | Path],
    source: Sequence[str | Path],
    target: Sequence[str | Path],
    folder: str | Path,
    options: DistillationOptions,
) -> list[TextToTeach]:
    """Checks the files, and returns which files their translations are.

    Args:
        teachers: Paths of `.keras` translators.
        source: Paths of text to translate.
        target: Paths of references, for the last files of `source`.
        folder: Where the translations are written.
        options: `DistillationOptions`.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: There are more references than sources, they differ in lines, or a file is not
            UTF-8.
    """
    if not source or len(target) > len(source):
        raise ValueError(
            "The target files are references of the last source files, so there are at most as "
            f"many. Received: {len(source)} source and {len(target)} target files."
        )
    without = len(source) - len(target)
    for file in source[:without]:
        count_lines(file)
    if target:
        check_parallel(source[without:], target)
    search = [*map(sha256, teachers), options.search()]
    texts = []
    for file, reference in zip(source, [*[None] * without, *target], strict=True):
        compared = None if reference is None else sha256(reference)
        made_of = json.dumps([search, sha256(file), compared])
        digits = hashlib.sha256(made_of.encode()).hexdigest()[:_DIGITS]
        translation = Path(folder) / f"{Path(file).name}.{digits}.txt"
        texts.append(TextToTeach(Path(file), reference and Path(reference), translation))
    return texts


def shards_to_teach(
    texts: Sequence[TextToTeach], folder: str | Path, number: int, max_length: int
) -> Path:
    """Returns the path of the shards that hold the texts and their teachers' probabilities.

    Args:
        texts: Those that `texts_to_teach` returned.
        folder: Where the translations are.
        number: Of the ids at each place; see `DistillationOptions.distributions`.
        max_length: Maximum ids per sentence.
    """
    made_of = json.dumps([[text.translation.name for text in texts], number, max_length])
    return Path(folder) / f"{hashlib.sha256(made_of.encode()).hexdigest()[:_DIGITS]}.shards"


def missing(texts: Sequence[TextToTeach]) -> list[TextToTeach]:
    """Returns the texts that are still to be translated."""
    return [text for text in texts if not text.translation.exists()]
