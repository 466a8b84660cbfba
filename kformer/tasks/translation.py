"""The translation of a sentence, with all that is known of it.

Axes: S source length, T target length.
"""

import dataclasses

import numpy as np

from kformer.text.alignment import align_words
from kformer.text.degenerate import degenerate_flags


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
