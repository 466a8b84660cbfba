"""Answers with different texts: a search tells sequences of ids apart, its reader does not.

"dogs" and "dog" + "s" are two sequences and one text. The search itself keeps only one of them, see
`kformer.decoding.search.spelling`. What remains is what a tokenizer drops, such as a space before
the first word.
"""

from collections.abc import Sequence

from kformer.decoding.batch_decoder import Hypothesis
from kformer.decoding.options import SearchOptions
from kformer.text.rows import write_texts


def distinct_answers(
    tokenizer,
    found: list[list[Hypothesis]],
    options: SearchOptions,
    prompts: Sequence[list[int]] | None = None,
) -> list[list[Hypothesis]]:
    """Returns for each row the best `options.n_best` hypotheses that differ in their texts.

    Samples stay as they were drawn.

    Args:
        tokenizer: `kformer.Tokenizer` of the answers.
        found: For each row a list of `Hypothesis`, best first.
        options: `kformer.SearchOptions` of the search.
        prompts: The ids that each row continues, without the start id; None for translations.
    """
    if options.sample or options.n_best == 1:
        return found
    before = prompts or [[]] * len(found)
    whole = [[*ids, *one.ids] for ids, row in zip(before, found, strict=True) for one in row]
    texts = iter(write_texts(tokenizer, whole))
    results = []
    for row in found:
        of_texts: dict[str, Hypothesis] = {}
        for one in row:
            of_texts.setdefault(next(texts), one)
        results.append([*of_texts.values()][: options.n_best])
    return results
