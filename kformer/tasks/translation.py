"""The translation of a sentence with its scores and flags; distinct answers of a search.

A search compares sequences of ids: "dogs" and "dog" + "s" are two sequences and one text. The
search keeps only one of them (`kformer.decoding.search.constraints`), but a tokenizer also drops
characters, such as a space before the first word, so answers with equal texts are removed here.

Axes: S source length, T target length.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

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
        score: The score by which the search sorts, as `kformer.Greedy` and `kformer.Beam` define
            it.
        flags: Faults of the translation, empty most of the time:
            "source cut", "prefix cut": the text was too long, only its beginning was read;
            "length limit": it was cut at its largest length;
            "loop", "length ratio": it is hardly a translation, by `kformer.text.degenerate`;
            "term missed": it lacks a term of the glossary;
            "unsure": its quality is below the threshold of the translator's `quality_estimate`.
        tokens: Its T pieces; the end id's is the last, unless the length limit came first.
        source_tokens: The S pieces of the source, the end id's last, without a tokenizer's prefix.
        token_log_probabilities: Log-probability of each of the T tokens given the tokens before,
            without penalties; None without details.
        attention: float32 array (T, S), the attention to the source when each token was chosen, of
            the translator's `alignment_head`; None without details.
        quality: Estimate of its sentence chrF, from 0 to 1; None if the translator has no
            `quality_estimate`.

    Examples:
        >>> import kformer
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> [[translation]] = translator.translations(["Ein Hund läuft."])
        >>> translation.text, translation.flags
        ('A dog runs.', ())
        >>> translation.tokens
        ('▁A', '▁dog', '▁runs', '.', '</s>')
    """

    text: str
    score: float
    flags: tuple[str, ...]
    tokens: tuple[str, ...]
    source_tokens: tuple[str, ...]
    token_log_probabilities: tuple[float, ...] | None = None
    attention: np.ndarray | None = dataclasses.field(default=None, compare=False, repr=False)
    quality: float | None = None

    @property
    def alignment(self) -> list[tuple[int, int]] | None:
        """Pairs of the index of each token and of the source token with most of its attention."""
        if self.attention is None:
            return None
        return [(t, int(s)) for t, s in enumerate(self.attention.argmax(axis=1))]

    @property
    def word_alignment(self) -> list[tuple[int, int]] | None:
        """Links of the words of source and translation, as by `kformer.Translator.align`."""
        if self.attention is None:
            return None
        tokens = self.tokens if "length limit" in self.flags else self.tokens[:-1]
        attention = self.attention[: len(tokens), :-1]
        return align_words(attention, self.source_tokens[:-1], tokens).links


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
        tokenizer: `kformer.Tokenizer` of the answers.
        hypotheses: For each row a list of `Hypothesis`, best first.
        options: `kformer.SearchOptions` of the search.
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
