"""The answers of models: one class for each kind of answer, whatever the saved form.

A field that a form cannot give is None.

Axes: S source length, T target length.
"""

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # A client of a server needs no NumPy.
    import numpy as np

UNSURE = "unsure"  # The flag of a translation whose quality is probably low.


@dataclasses.dataclass(frozen=True)
class Translation:
    """One translation of a sentence.

    Attributes:
        text: The translation.
        score: The score by which the search sorts, as `kformer.Greedy` and `kformer.Beam` define
            it.
        flags: Faults of the translation, empty most of the time:
            "source cut", "prefix cut": the text was too long, only its beginning was read;
            "translation cut": a `.tflite` file had no room for its end;
            "length limit": it was cut at its largest length;
            "loop", "length ratio": it is hardly a translation, by `kformer.inference.degenerate`;
            "term missed": it lacks a term of the glossary;
            "unsure": its quality is below the threshold of the translator's `quality_estimate`.
        tokens: Its T pieces; the end id's is the last, unless the length limit came first. Like the
            next three, only `kformer.Translator` gives them; other forms have None.
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
    flags: tuple[str, ...] = ()
    tokens: tuple[str, ...] | None = None
    source_tokens: tuple[str, ...] | None = None
    token_log_probabilities: tuple[float, ...] | None = None
    attention: "np.ndarray | None" = dataclasses.field(default=None, compare=False, repr=False)
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
        if self.attention is None or self.tokens is None or self.source_tokens is None:
            return None
        from kformer.text.alignment import align_words  # It imports NumPy.

        tokens = self.tokens if "length limit" in self.flags else self.tokens[:-1]
        attention = self.attention[: len(tokens), :-1]
        return align_words(attention, self.source_tokens[:-1], tokens).links


@dataclasses.dataclass(frozen=True)
class Generation:
    """One continuation of a prompt.

    Attributes:
        text: The prompt with its continuation.
        score: The score by which the search sorts, as `kformer.Greedy` and `kformer.Beam` define
            it, of the continuation alone.
        flags: Faults of the continuation, empty most of the time: "length limit", it was cut at its
            largest length; "loop", it repeats itself, by `kformer.inference.degenerate`.
        tokens: The pieces of the continuation; the end id's is the last, unless the length limit
            came first. Like the next two, only `kformer.LanguageModel` gives them; other forms have
            None.
        prompt_tokens: The pieces of the prompt.
        token_log_probabilities: Log-probability of each of `tokens` given the tokens before,
            without penalties; None without details.

    Examples:
        >>> import kformer
        >>> tokenizer = kformer.load("runs/de-en/translator.keras").tokenizer
        >>> sizes = {"num_layers": 1, "d_model": 16, "num_heads": 2, "d_ff": 32}
        >>> decoder = kformer.TransformerDecoder(tokenizer.vocab_size, **sizes)
        >>> model = kformer.LanguageModel(tokenizer, decoder, max_length=16)
        >>> [[generation]] = model.generations(["A dog"])
        >>> generation.prompt_tokens, len(generation.tokens)
        (('▁A', '▁dog'), 14)
    """

    text: str
    score: float
    flags: tuple[str, ...] = ()
    tokens: tuple[str, ...] | None = None
    prompt_tokens: tuple[str, ...] | None = None
    token_log_probabilities: tuple[float, ...] | None = None


def with_flag(translation: Any, flag: str) -> Any:
    """Returns a translation with one more flag; `UNSURE` stays the last."""
    flags = [raised for raised in translation.flags if raised != UNSURE]
    last = [UNSURE] if UNSURE in translation.flags else []
    return dataclasses.replace(translation, flags=(*flags, flag, *last))
