"""The vocabularies of shards: read from files, or learned from a sample of the text."""

from pathlib import Path
from typing import Any

from kformer.text.long_lines import TOO_LONG, is_too_long
from kformer.text.tables import write_columns
from kformer.training.data.dropped_pairs import PairFilter
from kformer.training.data.pairs import COLUMNS
from kformer.training.preparation.cleaning import none_left
from kformer.training.preparation.preparation_options import OF_NEW_VOCABULARY, PreparationOptions
from kformer.training.preparation.raw_pairs import PairFiles, Pairs, read_batches
from kformer.training.recipes.recipe import Recipe
from kformer.training.run.run_vocabularies import (
    Vocabularies,
    learn_vocabularies,
    read_vocabularies,
)

SAMPLE = 200_000  # Pairs, at most; at least half as many of a larger text,
_SAMPLE_CHARACTERS = 2**27  # or as many as have so many characters.


def vocabularies_of(
    files: PairFiles,
    options: PreparationOptions,
    clean: Any,
    tokenizer: str | Path | None = None,
    target_tokenizer: str | Path | None = None,
) -> Vocabularies:
    """Returns existing vocabularies, or learns them from pairs spread evenly over the text."""
    if tokenizer is not None:
        return read_vocabularies(tokenizer, target_tokenizer)
    if target_tokenizer is not None:
        raise ValueError(
            "A tokenizer of the target needs one of the source beside it. "
            f"Received: tokenizer=None, target_tokenizer={str(target_tokenizer)!r}."
        )
    sample, dropped = clean(_sample(files, PairFilter(options.max_length).most_bytes))
    if not sample.source:
        raise none_left(dropped, files)
    sides = write_columns(zip(*sample, strict=True), COLUMNS)
    numbers = {name: getattr(options, name) for name in OF_NEW_VOCABULARY}
    return learn_vocabularies(Recipe.named("tiny", **numbers), sides[:1], sides[1:])


def _sample(files, most):
    """Returns every n-th pair; n is a power of 2, the smallest that leaves at most `SAMPLE`.

    Text that is too long is not kept, but `TOO_LONG` in its place.
    """
    chosen, characters, every, first = Pairs([], []), 0, 1, 0
    for batch in read_batches(files):
        begin = -first % every
        for old, new in zip(chosen, batch, strict=True):
            new = [TOO_LONG if is_too_long(text, most) else text for text in new[begin::every]]
            characters += _characters(new)
            old += new
        first += len(batch.source)
        while len(chosen.source) > SAMPLE or characters > _SAMPLE_CHARACTERS:
            chosen, every = Pairs(*(side[::2] for side in chosen)), 2 * every
            characters = sum(map(_characters, chosen))
    return chosen


def _characters(texts):
    return sum(len(text) for text in texts if text is not TOO_LONG)
