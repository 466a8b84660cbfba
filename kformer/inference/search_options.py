"""The options of a search that a user may choose, with their defaults."""

import dataclasses
import functools
import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from kformer.arguments import check_flag, check_integer, check_number
from kformer.near_names import check_names, with_near_fields

EXTRA_LENGTH = 50  # A translation may have this many more ids than its source, as in the paper.

SHORTLIST_SIZE = 512  # Candidates of a source, unless `learn_shortlist` is given another number.

MAX_LENGTH = 100_000  # Ids of a translation, whatever is asked for: this bounds memory.
_MAX_BEAMS = 256  # A step of 32 rows and 32,000 ids then takes 1 GB.
_MAX_SAMPLES = 1000
_MAX_NGRAM = 100  # Every step compares so many ids with those before.


def _option(default, description, check, **limits):
    """Declares an option by its default, its description and the check of its values."""
    metadata = {"description": description, "check": functools.partial(check, **limits)}
    return dataclasses.field(default=default, metadata=metadata)


_positive = functools.partial(_option, check=check_integer, least=1)
_count = functools.partial(_option, check=check_integer, least=0)
_number = functools.partial(_option, check=check_number, least=0)


@with_near_fields()
@dataclasses.dataclass(frozen=True)
class SearchOptions:
    """Options of a search for answers: translations of sources, or continuations of prompts.

    Lengths are numbers of ids. The end id counts in a source's length and in largest lengths;
    `min_length` counts the ids before it. Without `max_length` and `max_length_ratio`, a
    translation may have 50 ids more than its source.

    `kformer.Beam` explains `length_penalty`, `length_offset` and `coverage_penalty`,
    `kformer.Sample` sampling, and `kformer.decoding.search.constraints.RepetitionPenalty` the
    penalty of that name. A sample depends on the seed, the sentence and the sample's number, not on
    other texts.

    A model may have search defaults of its own, `kformer.Translator.search_defaults`. They replace
    the defaults below for every option that the caller does not give.

    Raises:
        TypeError: A value has the wrong type; NumPy's integers are allowed, 2.0 is not.
        ValueError: A value is out of range, or contradicts another.

    Examples:
        >>> import kformer
        >>> kformer.SearchOptions(beam_size=4, n_best=2).changed
        {'beam_size': 4, 'n_best': 2}
        >>> kformer.SearchOptions(max_length_ratio=2.0).limit(source_length=10)
        20
    """

    _explicit = frozenset[str]()  # Names of the options that the caller gave, by `_with_names`.

    beam_size: int = _positive(
        1, "Number of sequences kept at each step; 1 is greedy search.", most=_MAX_BEAMS
    )
    length_penalty: float = _number(
        0.6, "With several beams: 0 prefers short answers, 1 long ones."
    )
    length_offset: float = _number(
        5.0,
        "With several beams: number added to lengths for the length penalty; Marian adds 0.",
    )
    coverage_penalty: float = _number(
        0.0,
        "With several beams: higher values prefer translations that cover the whole source; 0 for "
        "none.",
    )
    n_best: int = _positive(
        1,
        "Answers for each text, best first, no two the same; at most `beam_size`. With `sample`, "
        "the number of samples.",
        most=_MAX_SAMPLES,
    )
    sample: bool = _option(
        False, "Draw each id at random by its probability instead of taking the best.", check_flag
    )
    temperature: float = _option(
        1.0,
        "For sampling: below 1, likely ids are drawn more often; above 1, less often.",
        check_number,
        above=0,
    )
    top_k: int = _count(0, "For sampling: number of the likeliest ids to draw from; 0 for all.")
    top_p: float = _option(
        1.0,
        "For sampling: total probability of the likeliest ids to draw from.",
        check_number,
        above=0,
        most=1,
    )
    seed: int = _count(0, "For sampling: the same seed and text give the same samples.")
    min_length: int = _count(0, "Minimum number of ids of an answer.")
    max_length: int | None = _positive(None, "Maximum number of ids of an answer.", most=MAX_LENGTH)
    min_length_ratio: float = _number(0.0, "Minimum number of ids for each id of the source.")
    max_length_ratio: float | None = _option(
        None, "Maximum number of ids for each id of the source.", check_number, above=0
    )
    no_repeat_ngram: int = _count(
        0, "Length of n-grams that may not occur twice; 0 for none.", most=_MAX_NGRAM
    )
    repetition_penalty: float = _number(
        1.0, "Above 1, ids that occurred before become less likely; 1 for none.", least=1
    )
    narrowing: bool = _option(
        False,
        "With several beams: each answer that ends leaves one beam less, and the last ends the "
        "search, as in Marian.",
        check_flag,
    )

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
                "min_length_ratio",
                "max_length_ratio",
            )

    @property
    def given(self) -> dict[str, Any]:
        """The options that the caller gave, by name; a model's search defaults replace the rest."""
        names = (field.name for field in dataclasses.fields(self))
        return {name: getattr(self, name) for name in names if name in self._explicit}

    @property
    def changed(self) -> dict[str, Any]:
        """The options that differ from their defaults, by name."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {n: value for n, value in values.items() if value != getattr(SearchOptions, n)}

    def limit(self, source_length: int, prefix_length: int = 0, most: int | None = None) -> int:
        """Returns the largest number of ids, end id included, in which the prefix always fits.

        Args:
            source_length: Ids of the source, its end id included.
            prefix_length: Ids that the translation must begin with.
            most: For the continuation of a prompt, the number of ids that are left for it, which
                is also its largest length if these options limit none; else None.
        """
        limits = []
        if self.max_length is not None:
            limits.append(self.max_length)
        if self.max_length_ratio is not None:
            limits.append(math.floor(self.max_length_ratio * source_length))
        usual = source_length + EXTRA_LENGTH if most is None else most
        limits = [min(limits, default=usual), MAX_LENGTH if most is None else most]
        return max(min(limits), prefix_length + 1)

    def minimum(self, source_length: int, limit: int) -> int:
        """Returns the smallest number of ids before the end id, which must come by `limit`."""
        by_source = math.ceil(self.min_length_ratio * (source_length - 1))
        return min(max(self.min_length, by_source), limit - 1)

    def normalized(self, log_probability: float, length: int) -> float:
        """Returns the log-probability of a sequence, divided by the length penalty.

        It is the score of `kformer.Beam` without the coverage penalty.

        Args:
            length: Number of ids, the end id included.
        """
        return log_probability / self._length_divisor(length)

    def log_probability(self, score: Any, length: Any) -> Any:
        """Returns the log-probability of a sequence by its score in this search.

        A coverage penalty stays in it.

        Args:
            score: Of `kformer.Greedy`, `kformer.Sample` or `kformer.Beam`; a number or a tensor.
            length: Number of ids, the end id included.
        """
        return score if self.beam_size == 1 else score * self._length_divisor(length)

    def _length_divisor(self, length):
        offset = self.length_offset
        return ((offset + length) / (offset + 1)) ** self.length_penalty

    @property
    def has_minimum(self) -> bool:
        """Whether translations have a smallest length."""
        return self.min_length > 0 or self.min_length_ratio > 0

    def graph(self) -> "SearchOptions":
        """Returns these options, with defaults for all that may vary between calls of one graph.

        Options for which this is equal share a graph, if both or neither have a minimum.
        """
        return _graph_options(self)


@functools.lru_cache(maxsize=256)  # Every call of a translator asks, usually with equal options.
def _graph_options(options):
    varying = ["seed", "min_length", "max_length", "min_length_ratio", "max_length_ratio"]
    varying += ["n_best"] if options.sample else []
    defaults = {name: getattr(SearchOptions, name) for name in varying}
    return dataclasses.replace(options, **defaults)


def _with_names(make):
    """Returns an `__init__` that records which options the caller gave; for `given`."""
    fields = [field.name for field in dataclasses.fields(SearchOptions)]

    @functools.wraps(make)
    def __init__(self, *values, **named):
        names = frozenset((*fields[: len(values)], *named))
        object.__setattr__(self, "_explicit", names)
        make(self, *values, **named)

    return __init__


# A dataclass has no other place for it.
SearchOptions.__init__ = _with_names(SearchOptions.__init__)  # type: ignore[method-assign]


class OtherSearchOptions(TypedDict, total=False):
    """The options of `SearchOptions` but `beam_size` and `length_penalty`, as keyword arguments."""

    length_offset: float
    coverage_penalty: float
    n_best: int
    sample: bool
    temperature: float
    top_k: int
    top_p: float
    seed: int
    min_length: int
    max_length: int | None
    min_length_ratio: float
    max_length_ratio: float | None
    no_repeat_ngram: int
    repetition_penalty: float
    narrowing: bool


class AllSearchOptions(OtherSearchOptions, total=False):
    """The options of `SearchOptions`, as keyword arguments."""

    beam_size: int
    length_penalty: float


_BEAM_OPTIONS = ("beam_size", "length_penalty", "length_offset", "coverage_penalty", "narrowing")
_SAMPLING_OPTIONS = ("sample", "temperature", "top_k", "top_p", "seed")


def given_options(**options: Any) -> dict[str, Any]:
    """Returns the options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def chosen_options(
    method: Callable, options: SearchOptions | None, named: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the options that the caller of a method gave, by name.

    Args:
        options: The argument `options`; None for none.
    """
    if named:
        check_names(method.__name__, named, _names_of(method))
    defaults = {field.name: field.default for field in dataclasses.fields(SearchOptions)}
    named = {
        name: value
        for name, value in named.items()
        if value is not None or defaults.get(name) is None  # None stands for the model's own.
    }
    if options is None:
        return named
    if not isinstance(options, SearchOptions):
        raise TypeError(
            f"`options` must be a kformer.SearchOptions. Received: options={options!r:.99}."
        )
    return {**options.given, **named}


@functools.cache
def _names_of(method):
    """Returns the names of the arguments of a method, and of the options of a search."""
    own = [*inspect.signature(method).parameters][1:-1]  # Without `self` and what gets the options.
    return (*own, *(field.name for field in dataclasses.fields(SearchOptions)))


def with_defaults(chosen: Mapping[str, Any], defaults: Mapping[str, Any]) -> SearchOptions:
    """Returns the options that a caller gave, and a model's search defaults for all others.

    A caller who asks for samples gets no beams, whatever the model's defaults; a caller who asks
    for a number of beams or for `sample=False` gets no samples.
    """
    useless: tuple[str, ...] = ()
    if chosen.get("sample"):
        useless = _BEAM_OPTIONS
    elif "sample" in chosen or "beam_size" in chosen:
        useless = _SAMPLING_OPTIONS
    if chosen.get("beam_size") == 1:
        useless = (*useless, "coverage_penalty")
    kept = {name: value for name, value in defaults.items() if name not in useless}
    return SearchOptions(**{**kept, **chosen})


SearchOptions.__doc__ = f"{inspect.getdoc(SearchOptions)}\n\nAttributes:\n" + "\n".join(
    f"    {field.name}: {field.metadata['description']}"
    for field in dataclasses.fields(SearchOptions)
)
