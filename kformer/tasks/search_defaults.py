"""The search defaults of a model: options that it searches by, unless its caller gives others.

The options of the searches in an export.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from kformer.inference.search_options import SearchOptions, given_options, with_defaults
from kformer.kinds import EXPORTED, any_of, known_kind

# The number of answers is the choice of the caller.
_NAMES = [field.name for field in dataclasses.fields(SearchOptions) if field.name != "n_best"]


class SearchDefaults:
    """Search defaults of a model; base class of `Translator` and `LanguageModel`."""

    _search_defaults = SearchOptions()

    @property
    def search_defaults(self) -> dict[str, Any]:
        """The options of `kformer.SearchOptions` that this model has of its own, by name.

        Every search uses them where its caller gives no option of that name: in Python, on the
        command line and in exports. All saved forms keep them. Set it to a dict of options, or to
        `kformer.SearchOptions`, whose explicit options count.

        Raises:
            TypeError: It is set to something else, or a value has the wrong type.
            ValueError: There is no such option; or it is `n_best`, which only a caller can choose;
                or a value is out of range.
        """
        return self._search_defaults.given

    @search_defaults.setter
    def search_defaults(self, value: Mapping[str, Any] | SearchOptions | None):
        if isinstance(value, SearchOptions):
            value = value.given
        if not isinstance(value, Mapping | None):
            raise TypeError(
                "`search_defaults` must be a dict of options of `kformer.SearchOptions`. "
                f"Received: search_defaults={value!r:.99}."
            )
        if unknown := [name for name in value or () if name not in _NAMES]:
            raise ValueError(
                f"`search_defaults` must be options among {', '.join(_NAMES)}. "
                f"Received: {', '.join(map(repr, unknown))}."
            )
        self._search_defaults = SearchOptions(**(value or {}))

    def search_options(self, options: SearchOptions | None = None) -> SearchOptions:
        """Returns the options that a caller gave, and this model's own for all others.

        Args:
            options: `kformer.SearchOptions`; None for the model's own alone.

        Raises:
            TypeError: It is something else.
            ValueError: An option contradicts one of the model's own.
        """
        options = SearchOptions() if options is None else options
        if not isinstance(options, SearchOptions):
            raise TypeError(
                f"`options` must be a kformer.SearchOptions. Received: options={options!r:.99}."
            )
        return with_defaults(options.given, self.search_defaults)


def export_options(
    model: Any, beam_size: int | None = None, length_penalty: float | None = None
) -> SearchOptions:
    """Returns the options of the search of an export: the arguments, else the model's own.

    Args:
        beam_size, length_penalty: As in `kformer.SearchOptions`; None for the model's own.
    """
    if not isinstance(model, tuple(kind.part("model") for kind in EXPORTED)):
        models = any_of([f"a kformer.{kind.class_name}" for kind in EXPORTED])
        raise TypeError(
            f"`model` must be {models}, which only a .keras file holds. "
            f"Received: model={model!r:.99}."
        )
    explicit = given_options(beam_size=beam_size, length_penalty=length_penalty)
    options = with_defaults(explicit, getattr(model, "search_defaults", {}))
    if options.sample:
        raise ValueError(
            "An export cannot draw samples: choose its number of beams, 1 for greedy search. "
            f"Received: sample={options.sample}."
        )
    kind = known_kind(model)
    if not kind.searches and options != SearchOptions():
        raise ValueError(
            f"A {kind.words} does not search. Received: "
            f"beam_size={options.beam_size}, length_penalty={options.length_penalty}."
        )
    return options


BEAMS = 4  # Of the signature `beam`, if the export has a greedy search.


def with_beams(options: SearchOptions) -> SearchOptions:
    """Returns the options of the signature `beam`, for as many answers as beams."""
    beams = options.beam_size if options.beam_size > 1 else BEAMS
    return dataclasses.replace(options, beam_size=beams, n_best=beams)
