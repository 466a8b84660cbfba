"""Loads the saved forms that a server hosts, each under a name of its own."""

import functools
from collections.abc import Iterable
from pathlib import Path

from kformer.export.loading import load, named_model, saved_form
from kformer.export.saved_model.serving_files import newest_version
from kformer.imports.published.model_names import published_name
from kformer.inference.glossary import Glossary
from kformer.kinds import TRANSLATOR, kind_of
from kformer.pocket.metadata import read_examples
from kformer.server.hosted_models import HostedModel
from kformer.server.hosted_signatures import (
    answer_with_several,
    answer_with_terms,
    has_several,
    signatures_of,
)

_EXAMPLES = 3  # Texts to try that the page shows.


def host(
    paths: Iterable[str | Path],
    glossaries: Iterable[str | Path] = (),
    languages: Iterable[str] = (),
) -> list[HostedModel]:
    """Loads models for a server.

    Args:
        paths: Saved forms as for `kformer.load`, or "demo" for the model of `kformer.demo`, where
            no file or folder has that name; "NAME=PATH" gives a model a name. By default it is the
            pair of its languages, such as "de-en", or else the name of its kind.
        glossaries: Files as for `kformer.Glossary.load`, each for the model of a name, as
            "NAME=PATH"; without a name, for the only translator.
        languages: Codes of the languages of a translator that does not know its own, such as
            "NAME=de-en"; without a name, of the only one.

    Raises:
        FileNotFoundError, ValueError: As `kformer.load` and `kformer.Glossary.load`; or two models
            have one name, or a glossary or languages have no model that takes them.

    Examples:
        >>> from kformer.server import host
        >>> [model] = host(["demo"])
        >>> model.name, model.form, model.target_languages
        ('de-en', 'tflite', ('en',))
    """
    models: dict[str, HostedModel] = {}
    for path in paths:
        name, separator, place = str(path).partition("=")
        if not separator or published_name(path) or Path(path).exists():
            name, place = "", path
        hosted = _loaded(name, named_model(place))
        if namesake := models.get(hosted.name):
            raise ValueError(
                "Each model needs a name of its own: NAME=PATH gives it one. Received: "
                f"{hosted.name!r} for {str(namesake.path)!r} and for {str(hosted.path)!r}."
            )
        models[hosted.name] = hosted
    for path in glossaries:
        _add_glossary(models, str(path))
    for pair in languages:
        _name_languages(models, pair)
    return [*models.values()]


def _name_languages(models, named_pair):
    name, _, pair = named_pair.rpartition("=")
    codes = pair.split("-")
    unknown = [each for each in models.values() if each.lacks_languages]
    takers = [each for each in unknown if name in ("", each.name)]
    if len(takers) != 1 or len(codes) != 2 or not all(code.isalpha() for code in codes):
        names = ", ".join(each.name for each in unknown)
        raise ValueError(
            "Languages are two codes, NAME=de-en, of a translator that has none: here "
            f"{names or 'all have theirs'}. Received: {named_pair!r}."
        )
    [hosted] = takers
    hosted.about = {**hosted.about, "source_language": codes[0]}
    hosted.target_language = codes[1]


def _add_glossary(models, path):
    name, separator, place = path.partition("=")
    if not separator or Path(path).exists():
        name, place = "", path
    takers = [each for each in models.values() if each.term_search and name in ("", each.name)]
    if len(takers) != 1:
        names = ", ".join(each.name for each in models.values() if each.term_search)
        raise ValueError(
            "A glossary needs the translator that it is for: NAME=PATH names one of "
            f"{names or 'none that takes a glossary'}. Received: {path!r}."
        )
    takers[0].glossary = Glossary.load(place)


def _loaded(name, path):
    form = saved_form(path)
    # A newer version may appear while this one is loaded.
    place = newest_version(path) if form == "saved_model" else path
    created, model = int(path.stat().st_mtime), load(place)
    kind = kind_of(model)
    if kind is None:  # A network.
        raise ValueError(
            "A server needs models with a tokenizer, such as a translator. "
            f"Received: {str(path)!r}, which holds a {type(model).__name__}."
        )
    facts = model.facts
    hosted = HostedModel(
        name,
        path,
        form,
        kind,
        facts.about,
        signatures_of(model, kind),
        facts.target_languages,
        facts.target_language,
        facts.batch_size,
        facts.calls,
        model.align if facts.aligns else None,
        examples=tuple(read_examples(path)[:_EXAMPLES]) if form == "tflite" else (),
        version=int(place.name) if form == "saved_model" and place.name.isdecimal() else 1,
        created=created,
    )
    if facts.no_terms is None:
        hosted.term_search = functools.partial(answer_with_terms, model)
    if kind is TRANSLATOR and has_several(model):
        hosted.several = functools.partial(answer_with_several, model)
    if not name:
        pair = hosted.source_language, *hosted.target_languages
        hosted.name = "-".join(pair) if len(pair) == 2 and all(pair) else kind.name
    return hosted
