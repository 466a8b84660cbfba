"""The text that a student learns from (each source file, translated by teachers), and its options.

The name of a translation contains a hash of all that it depends on: the teachers, their search, the
source and its reference. So a second start uses existing translations, and never mixes settings.
"""

import dataclasses
import functools
import hashlib
import inspect
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from kformer.arguments import check_choice, check_integer, check_number
from kformer.files import sha256, sha256_of_folder
from kformer.inference.search_options import SearchOptions
from kformer.text.bleu_tokenizers import DEFAULT, TOKENIZERS, bleu_tokenizer
from kformer.text.text_files import read_lines
from kformer.training.data.pairs import check_parallel, count_lines


def _setting(default, description, check, **limits):
    metadata = {"description": description, "check": functools.partial(check, **limits)}
    return dataclasses.field(default=default, metadata=metadata)


@dataclasses.dataclass(frozen=True, kw_only=True)
class DistillationOptions:
    """How the teachers of `distill` translate."""

    beam_size: int = _setting(
        5,
        "Number of sequences that the teachers keep at each step; where there is a reference, the "
        "student learns the best of as many translations.",
        check_integer,
        least=1,
    )
    length_penalty: float | None = _setting(
        None,
        "With several beams: 0 prefers short translations, 1 long ones; by default the first "
        f"teacher's own, usually {SearchOptions.length_penalty}.",
        check_number,
        least=0,
    )
    metric: str = _setting(
        "bleu",
        "What compares a translation with its reference: bleu or chrf, of the sentence.",
        check_choice,
        among=("bleu", "chrf"),
    )
    tokenize: str | None = dataclasses.field(
        default=None,
        metadata={
            "description": f"Tokenizer of BLEU: {', '.join(TOKENIZERS)}. By default that of the "
            "target language, else 13a.",
            "check": lambda name, value: value is None or bleu_tokenizer(value),
        },
    )
    distributions: int = _setting(
        8,
        "Number of ids at each place of a translation whose probability, as the teachers find it, "
        "the student learns, too; 0 for the translations alone.",
        check_integer,
        least=0,
    )

    def search(self) -> dict:
        """Returns the options that change the translations, by name.

        The length penalty in a teacher's file counts because the file does.
        """
        names = ["beam_size", "length_penalty", "metric"]
        if self.metric == "bleu" and self.tokenize not in (None, DEFAULT):
            names.append("tokenize")
        options = {name: getattr(self, name) for name in names}
        if self.length_penalty is None:
            options["length_penalty"] = SearchOptions.length_penalty
        return options

    def __post_init__(self):
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is not None or field.default is not None:
                field.metadata["check"](field.name, value)


DistillationOptions.__doc__ = f"{inspect.getdoc(DistillationOptions)}\n\nAttributes:\n" + "\n".join(
    f"    {field.name}: {field.metadata['description']}"
    for field in dataclasses.fields(DistillationOptions)
)


_DIGITS = 12  # Of the hash, in a file's name.


class TextToTeach(NamedTuple):
    """A source file, its reference, and the file of its translation.

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
    """Checks the files, and returns which files their translations are."""
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
    checksums = [(sha256_of_folder if Path(t).is_dir() else sha256)(t) for t in teachers]
    search = [*checksums, options.search()]
    texts = []
    for file, reference in zip(source, [*[None] * without, *target], strict=True):
        compared = None if reference is None else sha256(reference)
        made_of = json.dumps([search, sha256(file), compared])
        digits = hashlib.sha256(made_of.encode()).hexdigest()[:_DIGITS]
        translation = Path(folder) / f"{Path(file).name}.{digits}.txt"
        reference = None if reference is None else Path(reference)
        texts.append(TextToTeach(Path(file), reference, translation))
    return texts


def shards_to_teach(
    texts: Sequence[TextToTeach], folder: str | Path, number: int, max_length: int
) -> Path:
    """Returns the path of the shards that hold the texts and their teachers' probabilities.

    Args:
        max_length: Maximum ids per sentence.
    """
    made_of = json.dumps([[text.translation.name for text in texts], number, max_length])
    return Path(folder) / f"{hashlib.sha256(made_of.encode()).hexdigest()[:_DIGITS]}.shards"


def missing(texts: Sequence[TextToTeach]) -> list[TextToTeach]:
    """Returns the texts that are still to be translated."""
    return [text for text in texts if not text.translation.exists()]
