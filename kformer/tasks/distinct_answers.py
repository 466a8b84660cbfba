"""The distinct answers of a search, and their flags.

A search compares sequences of ids: "dogs" and "dog" + "s" are two sequences and one text. The
search keeps only one of them (`kformer.decoding.search.constraints`), but a tokenizer also drops
characters, such as a space before the first word, so answers with equal texts are removed here.
"""

from collections.abc import Sequence
from typing import Any

from kformer.decoding.batch_decoder import Hypothesis
from kformer.inference.degenerate import degenerate_flags
from kformer.inference.search_options import SearchOptions
from kformer.text.text_rows import write_texts


def found_flags(source: Sequence[int], hypothesis: Any) -> tuple[str, ...]:
    """Returns the flags of a `Hypothesis` for a row of source ids, its end id last.

    There are none if the source is blank: then the hypothesis is the prefix.
    """
    if len(source) == 1:
        return ()
    if hypothesis.ended:
        return degenerate_flags(source[:-1], hypothesis.ids[:-1])
    return ("length limit", *degenerate_flags(source[:-1], hypothesis.ids))


def distinct_answers(
    tokenizer: Any,
    hypotheses: list[list[Hypothesis]],
    options: SearchOptions,
    prompts: Sequence[list[int]] | None = None,
) -> list[list[Hypothesis]]:
    """Returns for each row the best `options.n_best` hypotheses that differ in their texts.

    Samples stay as they were drawn.

    Args:
        prompts: The ids that each row continues, without the start id; None for translations.
    """
    if options.sample or options.n_best == 1:
        return hypotheses
    before = prompts or [[]] * len(hypotheses)
    whole = [
        [*ids, *hypothesis.ids]
        for ids, row in zip(before, hypotheses, strict=True)
        for hypothesis in row
    ]
    texts = iter(write_texts(tokenizer, whole))
    results = []
    for row in hypotheses:
        by_text: dict[str, Hypothesis] = {}
        for hypothesis in row:
            by_text.setdefault(next(texts), hypothesis)
        results.append([*by_text.values()][: options.n_best])
    return results
