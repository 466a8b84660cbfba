"""The options of a search that a user may choose, with their defaults."""

import dataclasses
import functools
import math

from kformer.arguments import check_flag, check_integer, check_number

EXTRA_LENGTH = 50  # A translation may have this many more ids than its source, as in the paper.

MAX_LENGTH = 100_000  # Ids of a translation, whatever is asked for: this bounds memory.


def _option(default, check, **limits):
    """Declares an option by its default and the check of its values."""
    metadata = {"check": functools.partial(check, **limits)}
    return dataclasses.field(default=default, metadata=metadata)


@dataclasses.dataclass(frozen=True)
class SearchOptions:
    """How to search for translations.

    Lengths are numbers of ids. The end id counts in a source's length and in largest lengths;
    `min_length` counts the ids before it.

    Attributes:
        beam_size: 1 takes the best id at every step; more beams search wider, and slower.
        length_penalty: See `kformer.Beam`; for more than one beam.
        coverage_penalty: See `kformer.Beam`; needs more than one beam.
        n_best: Translations of each sentence, best first; at most `beam_size`. With `sample`, the
            number of samples; a larger number begins with the same samples.
        sample: Whether to draw each id by its probability instead of taking the best.
        temperature, top_k, top_p: See `kformer.Sample`; they need `sample`.
        seed: Seed of sampling. A sample depends on the seed, the sentence and the sample's number,
            not on what else is translated.
        min_length: Smallest number of ids of a translation.
        max_length: Largest number of ids of a translation; None for no limit.
        min_length_ratio: Smallest number of ids for each id of the source.
        max_length_ratio: Largest number of ids for each id of the source; None for no limit.
            Without this and `max_length`, a translation may have 50 ids more than its source.
        no_repeat_ngram: Length of n-grams that may not occur twice; 0 for none.
        repetition_penalty: See `kformer.decoding.search.constraints.RepetitionPenalty`; 1 for none.

    Raises:
        TypeError: A value has the wrong type; NumPy's integers are allowed, 2.0 is not.
        ValueError: A value is out of range, or contradicts another.
    """

    beam_size: int = _option(1, check_integer, least=1)
    length_penalty: float = _option(0.6, check_number, least=0)
    coverage_penalty: float = _option(0.0, check_number, least=0)
    n_best: int = _option(1, check_integer, least=1)
    sample: bool = _option(False, check_flag)
    temperature: float = _option(1.0, check_number, above=0)
    top_k: int = _option(0, check_integer, least=0)
    top_p: float = _option(1.0, check_number, above=0, most=1)
    seed: int = _option(0, check_integer, least=0)
    min_length: int = _option(0, check_integer, least=0)
    max_length: int | None = _option(None, check_integer, least=1, most=MAX_LENGTH)
    min_length_ratio: float = _option(0.0, check_number, least=0)
    max_length_ratio: float | None = _option(None, check_number, above=0)
    no_repeat_ngram: int = _option(0, check_integer, least=0)
    repetition_penalty: float = _option(1.0, check_number, least=1)

    def __post_init__(self):
        self._check_each()
        self._check_together()

    def _check_each(self):
        for option in dataclasses.fields(self):
            value = getattr(self, option.name)
            if value is not None or option.default is not None:
                # As int and float, so that equal options have equal representations.
                value = option.metadata["check"](option.name, value)
                object.__setattr__(self, option.name, value)

    def _check_together(self):
        def refuse(rule, *names):
            received = ", ".join(f"{name}={getattr(self, name)}" for name in names)
            raise ValueError(f"{rule} Received: {received}.")

        if self.n_best > self.beam_size and not self.sample:
            refuse("`beam_size` must be at least `n_best`.", "beam_size", "n_best")
        if self.sample and self.beam_size > 1:
            refuse("Sampling draws one sequence: it has no beams.", "sample", "beam_size")
        if self.coverage_penalty and self.beam_size == 1:
            refuse("`coverage_penalty` needs a beam.", "coverage_penalty", "beam_size")
        if not self.sample:
            for name in ("temperature", "top_k", "top_p", "seed"):
                if getattr(self, name) != getattr(SearchOptions, name):
                    refuse(f"`{name}` is for sampling.", name, "sample")
        if self.max_length is not None and self.min_length >= self.max_length:
            refuse("`max_length` must be over `min_length`.", "min_length", "max_length")
        if self.max_length_ratio is not None and self.min_length_ratio > self.max_length_ratio:
            refuse(
                "`max_length_ratio` must be at least `min_length_ratio`.",
                *("min_length_ratio", "max_length_ratio"),
            )

    def limit(self, source_length: int, prefix_length: int = 0) -> int:
        """Returns the largest number of ids, end id included, in which the prefix always fits.

        Args:
            source_length: Ids of the source, its end id included.
            prefix_length: Ids that the translation must begin with.
        """
        limits = []
        if self.max_length is not None:
            limits.append(self.max_length)
        if self.max_length_ratio is not None:
            limits.append(math.floor(self.max_length_ratio * source_length))
        limits = [min(limits, default=source_length + EXTRA_LENGTH), MAX_LENGTH]
        return max(min(limits), prefix_length + 1)

    def minimum(self, source_length: int, limit: int) -> int:
        """Returns the smallest number of ids before the end id, which must come by `limit`."""
        of_source = math.ceil(self.min_length_ratio * (source_length - 1))
        return min(max(self.min_length, of_source), limit - 1)

    @property
    def has_minimum(self) -> bool:
        """Whether translations have a smallest length."""
        return self.min_length > 0 or self.min_length_ratio > 0

    def graph(self) -> "SearchOptions":
        """Returns these options, with defaults for all that may vary between calls of one graph.

        Options for which this is equal share a graph, if both or neither have a minimum.
        """
        varying = ["seed", "min_length", "max_length", "min_length_ratio", "max_length_ratio"]
        varying += ["n_best"] if self.sample else []
        return dataclasses.replace(self, **{name: getattr(SearchOptions, name) for name in varying})
