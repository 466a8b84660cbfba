"""What differs by the kind of a model that is exported, chosen in one place."""

import dataclasses
import functools

from kformer.decoding.search_options import SearchOptions, given_options, with_defaults
from kformer.tasks.language_model import LanguageModel
from kformer.tasks.text_classifier import TextClassifier
from kformer.tasks.translator import Translator


def export_options(
    model, beam_size: int | None = None, length_penalty: float | None = None
) -> SearchOptions:
    """Returns the options of the search of an export: those given, and the model's own.

    Args:
        model: Of any kind.
        beam_size, length_penalty: See `kformer.SearchOptions`; None for those of the model.

    Raises:
        ValueError: The model draws samples by default, and no number of beams is given.
    """
    given = given_options(beam_size=beam_size, length_penalty=length_penalty)
    options = with_defaults(given, getattr(model, "search_defaults", {}))
    if options.sample:
        raise ValueError(
            "An export cannot draw samples: choose its number of beams, 1 for greedy search. "
            f"Received: sample={options.sample}."
        )
    return options


BEAMS = 4  # Of the signature `beam`, if the export has a greedy search.


def of_several(options: SearchOptions) -> SearchOptions:
    """Returns the options of the signature `beam`, for as many answers as beams."""
    beams = options.beam_size if options.beam_size > 1 else BEAMS
    return dataclasses.replace(options, beam_size=beams, n_best=beams)


def of_kind(model, options: SearchOptions, of_translator, of_classifier, of_language_model):
    """Returns what is to be called with a model, by its kind.

    Args:
        model: `kformer.Translator`, `kformer.TextClassifier` or `kformer.LanguageModel`.
        options: How the model searches; a classifier has the defaults.
        of_translator: Callable (translator, options).
        of_classifier: Callable (classifier).
        of_language_model: Callable (language model, options).

    Returns:
        Callable (model).

    Raises:
        TypeError: `model` is something else.
        ValueError: `options` are not the defaults, and the model does not search.
    """
    if isinstance(model, Translator):
        return functools.partial(of_translator, options=options)
    if isinstance(model, LanguageModel):
        return functools.partial(of_language_model, options=options)
    if not isinstance(model, TextClassifier):
        raise TypeError(
            "`model` must be a kformer.Translator, a kformer.TextClassifier or a "
            "kformer.LanguageModel, which only a .keras file holds. "
            f"Received: model={model!r:.99}."
        )
    if options != SearchOptions():
        raise ValueError(
            "A classifier does not search. Received: "
            f"beam_size={options.beam_size}, length_penalty={options.length_penalty}."
        )
    return of_classifier


def check_is_translator(name, value):
    """Refuses other forms with a TypeError, where the whole model of a `.keras` file is needed."""
    if not isinstance(value, Translator):
        raise TypeError(
            f"`{name}` must be a kformer.Translator, which only a .keras file holds. "
            f"Received: {name}={value!r:.99}."
        )
