"""The translation of a sentence with its scores and flags; distinct answers of a search.

A search compares sequences of ids: "dogs" and "dog" + "s" are two sequences and one text. The
search keeps only one of them (`kformer.decoding.search.constraints`), but a tokenizer also drops
characters, such as a space before the first word, so answers with equal texts are removed here.

Axes: S source length, T target length.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from kformer.decoding.batch_decoder import Hypothesis
from kformer.decoding.search_options import SearchOptions
from kformer.text.alignment import align_words
from kformer.text.degenerate import degenerate_flags
from kformer.text.text_rows import write_texts


@dataclasses.dataclass(frozen=True)
class Translation:
    """One translation of a sentence.

    Attributes:
        text: The translation.
        score: What the search sorts by; see `kformer.Greedy` and `kformer.Beam`.
        flags: What is wrong with it, nothing most of the time:
            "source cut", "prefix cut": the text was too long, only its beginning was read;
            "length limit": it was cut at its largest length;
            "loop", "length ratio": it is hardly a translation; see `kformer.text.degenerate`.
        tokens: Its T pieces; the end id's is the last, unless the length limit came first.
        source_tokens: The S pieces of the source, the end id's last, without a tokenizer's prefix.
        token_log_probabilities: T numbers, what the model says of each token, given those before;
            None where details were not asked for. No penalty is in them.
        attention: float32 array (T, S), where the model looked when it chose each token: the
            attention to the source of the translator's `alignment_head`; or None, likewise.
    """

    text: str
    score: float
    flags: tuple[str, ...]
    tokens: tuple[str, ...]
    source_tokens: tuple[str, ...]
    token_log_probabilities: tuple[float, ...] | None = None
    attention: np.ndarray | None = dataclasses.field(default=None, compare=False, repr=False)

    @property
    def alignment(self) -> list[tuple[int, int]] | None:
        """For each token (its index, that of the source token it looked at most)."""
        if self.attention is None:
            return None
        return [(t, int(s)) for t, s in enumerate(self.attention.argmax(axis=1))]

    @property
    def word_alignment(self) -> list[tuple[int, int]] | None:
        """Links of the words of source and translation; see `kformer.Translator.align`."""
        if self.attention is None:
            return None
        tokens = self.tokens if "length limit" in self.flags else self.tokens[:-1]
        attention = self.attention[: len(tokens), :-1]
        return align_words(attention, self.source_tokens[:-1], tokens).links


def found_flags(source, found) -> tuple[str, ...]:
    """Returns what is wrong with a `Hypothesis` for a row of ids, its end id last.

    Nothing where the source is blank: then it is the prefix that was asked for.
    """
    if len(source) == 1:
        return ()
    if found.ended:
        return degenerate_flags(source[:-1], found.ids[:-1])
    return ("length limit", *degenerate_flags(source[:-1], found.ids))


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
