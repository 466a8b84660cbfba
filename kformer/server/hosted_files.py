"""Loads the saved forms that a server hosts, each under a name of its own."""

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from kformer.export.loading import ROUTE, load, named_model, saved_form
from kformer.export.saved_model.serving_files import newest_version
from kformer.imports.published.model_names import published_name
from kformer.inference.glossary import Glossary
from kformer.json_files import read_json
from kformer.kinds import TRANSLATOR, kind_of, known_kind
from kformer.pocket.metadata import read_examples
from kformer.server.hosted_models import HostedModel
from kformer.server.hosted_signatures import (
    HostedSignature,
    answer_with_several,
    answer_with_terms,
    has_several,
    signatures_of,
)
from kformer.server.model_memory import HeldModel, ModelCounts, ModelMemory
from kformer.server.refusals import Refusal
from kformer.tasks.run_file import model_file
from kformer.text.language_names import direction_codes

_EXAMPLES = 3  # Texts to try that the page shows.


def host(
    paths: Iterable[str | Path],
    glossaries: Iterable[str | Path] = (),
    languages: Iterable[str] = (),
    *,
    max_memory: int | None = None,
    say: Callable[[str], object] = warnings.warn,
) -> list[HostedModel]:
    """Loads models for a server.

    Args:
        paths: Saved forms as for `kformer.load`, or "demo" for the model of `kformer.demo`, where
            no file or folder has that name; "NAME=PATH" gives a model a name. By default it is the
            pair of its languages, such as "de-en", or else the name of its kind. A folder of saved
            forms stands for all of them, by the names of their files; each is loaded when it is
            used, and one that is damaged is left out.
        glossaries: Files as for `kformer.Glossary.load`, each for the model of a name, as
            "NAME=PATH"; without a name, for the only translator.
        languages: Codes of the languages of a translator that does not know its own, such as
            "NAME=de-en"; without a name, of the only one.
        max_memory: Number of bytes over which the least used models are unloaded, as in
            `ModelMemory`; None for no limit.
        say: Called with a line about each model of a folder that is left out, and about each that
            its file replaces while the server runs.

    Returns:
        list of `HostedModel`, which an application of `create_app` renews when the files change.

    Raises:
        FileNotFoundError, ValueError: As `kformer.load` and `kformer.Glossary.load`; or two models
            have one name, a folder has none that can be loaded, or a glossary or languages have no
            model that takes them.

    Examples:
        >>> from kformer.server import host
        >>> [model] = host(["demo"])
        >>> model.name, model.form, model.target_languages
        ('de-en', 'tflite', ('en',))
    """
    hosted = HostedModels(paths, ModelMemory(max_memory), say)
    models = {model.name: model for model in hosted}
    for path in glossaries:
        _add_glossary(models, str(path))
    for pair in languages:
        _name_languages(models, pair)
    return hosted


class HostedModels(list[HostedModel]):
    """The models of a server, which become other ones when their files do.

    Args:
        paths, say: As for `host`.
        memory: `ModelMemory` of all of them.
    """

    def __init__(
        self, paths: Iterable[str | Path], memory: ModelMemory, say: Callable[[str], object]
    ):
        super().__init__()
        self._memory, self._say = memory, say
        self._folders: list[Path] = []
        self._tried: dict[Path, Any] = {}  # How a file was when it was last loaded.
        self._seen: dict[Path, Any] = {}  # How one that has changed since then was just now.
        for path in paths:
            name, separator, place = str(path).partition("=")
            if not separator or published_name(path) or Path(path).exists():
                name, place = "", path
            if _is_folder_of_models(place):
                self._folders.append(Path(place))
            else:
                self.append(self._loaded(name, named_model(place), self))
        for name, path in self._in_folders():
            self += self._try(name, path, self)
        if not self:
            raise ValueError(
                "A server needs one model or more that can be loaded. "
                f"Received: {', '.join(map(str, self._folders)) or 'no path'}."
            )

    def changed(self) -> list[HostedModel]:
        """Returns the models as their files are now, where those that changed are loaded anew.

        A file counts as changed when it stays as it is between two calls. If it cannot be loaded,
        the model before it stays. This list stays as it is.
        """
        self._memory.keep_to_limit()  # A large model starts a process for each call at a time.
        members = self._in_folders()
        models: list[HostedModel] = []
        for model in self:
            if (model.name, model.path) in members:
                members.remove((model.name, model.path))
            elif model.is_of_folder:
                self._say(f"{model.path} is gone, and no longer served.")
                continue
            has_changed = self._has_changed(model.path)
            models += self._try(model.name, model.path, models, model) if has_changed else [model]
        for name, path in members:
            models += self._try(name, path, models) if self._has_changed(path) else []
        return models

    def _in_folders(self):
        """Returns the names and paths of what looks like saved forms in the folders."""
        return [each for folder in self._folders for each in saved_forms_in(folder)]

    def _has_changed(self, path):
        try:
            now = _state_of(path)
        except (OSError, ValueError):  # It is being replaced, or gone.
            return False
        before, self._seen[path] = self._seen.get(path), now
        return now == before != self._tried.get(path)

    def _try(self, name, path, served, earlier=None):
        """Returns a model in a list; if it is damaged, says why, and returns the earlier one."""
        try:
            new = self._loaded(name, path, served, earlier)
        except Refusal:  # There is no room for it now.
            del self._tried[path]
            return [earlier] if earlier else []
        except Exception as error:  # Of any library: it must not end the server.
            self._say(f"{path} is not served: {' '.join(str(error).split())}")
            return [earlier] if earlier else []
        new.is_of_folder = earlier is None or earlier.is_of_folder
        if earlier:
            self._say(f"{name} is now what {path} holds.")
        elif new.held:
            new.held.unload()  # Until it is used.
        return [new]

    def _loaded(self, name, path, served, earlier=None):
        self._tried[path] = _state_of(path)
        counts = earlier.counts if earlier else ModelCounts()
        new = _loaded(name, path, self._memory, counts)
        if namesake := next((model for model in served if model.name == new.name), None):
            raise ValueError(
                "Each model needs a name of its own: NAME=PATH gives it one. Received: "
                f"{new.name!r} for {str(namesake.path)!r} and for {str(new.path)!r}."
            )
        if earlier and new.lacks_languages:
            source = earlier.source_language
            new.about = {**new.about, "source_language": source}
            new.target_language = earlier.target_language
        if earlier and new.term_search:
            new.glossary = earlier.glossary
        return new


def _name_languages(models, named_pair):
    name, _, pair = named_pair.rpartition("=")
    source, target = direction_codes(pair)
    unknown = [each for each in models.values() if each.lacks_languages]
    takers = [each for each in unknown if name in ("", each.name)]
    if len(takers) != 1:
        names = ", ".join(each.name for each in unknown)
        raise ValueError(
            "Languages are named, as NAME=de-en, of a translator that has none: here "
            f"{names or 'all have theirs'}. Received: {named_pair!r}."
        )
    [hosted] = takers
    hosted.about = {**hosted.about, "source_language": source}
    hosted.target_language = target


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


def _is_folder_of_models(path: str | Path) -> bool:
    """Returns whether a path leads to a folder that is no model itself, but holds saved forms."""
    folder = Path(path)
    if published_name(path) or not folder.is_dir() or _is_model(folder):
        return False
    return any(True for _ in saved_forms_in(folder))


def saved_forms_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yields what looks like a saved form in a folder: its name, and its path."""
    for path in sorted(folder.iterdir()):
        is_hidden = path.name.startswith(".")  # As what is being written.
        if path.is_dir():
            name, is_model = path.name, _is_model(path)
        else:
            name = path.stem
            is_model = path.suffix in (".keras", ".tflite") or _is_route(path)
        if is_model and not is_hidden:
            yield name, model_file(path)


def _is_route(path):
    with contextlib.suppress(OSError, ValueError):
        return path.suffix == ".json" and ROUTE in read_json(
            path, dict[str, Any], rule="A route is a JSON file."
        )
    return False


def _is_model(folder):
    path = model_file(folder)
    try:
        return path.is_file() or bool(saved_form(path))
    except ValueError:
        return False


def _state_of(path: Path) -> Any:
    """Returns what changes when a saved form is written again: sizes and times of its files."""
    place = model_file(path)
    if place.is_dir() and saved_form(place) == "saved_model":
        place = newest_version(place)
    files = sorted(place.rglob("*")) if place.is_dir() else [place]
    states = [file.stat() for file in files]
    return str(place), [(each.st_mtime_ns, each.st_size, each.st_ino) for each in states]


class _Answers(NamedTuple):
    """A loaded model, and its functions by name."""

    model: Any
    signatures: Mapping[str, HostedSignature]


def _loaded(name, path, memory, counts):
    path = model_file(path)
    form = saved_form(path)
    # A newer version may appear while this one is loaded.
    place = newest_version(path) if form == "saved_model" else path
    created = int(path.stat().st_mtime)
    known: set[Any] = set()  # What it was when it was described.

    def load_answers():
        model = load(place)
        kind = kind_of(model)
        if kind is None:  # A network.
            raise ValueError(
                "A server needs models with a tokenizer, such as a translator. "
                f"Received: {str(path)!r}, which holds a {type(model).__name__}."
            )
        facts = model.facts
        languages = facts.source_language, facts.target_language, facts.target_languages
        if {*known} - {(kind, *languages)}:
            raise Refusal(
                503,
                f"{held.name} is being replaced. Received: a request for the model before.",
                retry_after=1,
            )
        known.add((kind, *languages))
        return _Answers(model, signatures_of(model, kind))

    held = HeldModel(name or path.stem, load_answers, memory, counts)
    with held.used() as answers:
        hosted = _described(name, path, form, answers, held)
    if form == "saved_model" and place.name.isdecimal():
        hosted.version = int(place.name)
    hosted.created = created
    return hosted


def _described(name, path, form, answers, held):
    """Returns a model whose functions load it if they are called while it is not loaded."""
    model, facts = answers.model, answers.model.facts
    kind = known_kind(model)

    def answer(columns, signature):
        with held.used() as now:
            return now.signatures[signature].answer(columns)

    def by(function):
        def call(*arguments):
            with held.used() as now:
                return function(now.model, *arguments)

        return call

    signatures = {
        key: each._replace(answer=functools.partial(answer, signature=key))
        for key, each in answers.signatures.items()
    }
    hosted = HostedModel(
        name,
        path,
        form,
        kind,
        facts.about,
        signatures,
        facts.target_languages,
        facts.target_language,
        facts.batch_size,
        facts.calls,
        by(_align) if facts.aligns else None,
        term_search=by(answer_with_terms) if facts.no_terms is None else None,
        several=by(answer_with_several) if kind is TRANSLATOR and has_several(model) else None,
        examples=tuple(read_examples(path)[:_EXAMPLES]) if form == "tflite" else (),
        held=held,
        counts=held.counts,
    )
    if not name:
        pair = hosted.source_language, *hosted.target_languages
        hosted.name = "-".join(pair) if len(pair) == 2 and all(pair) else kind.name
        held.name = hosted.name
    return hosted


def _align(model, sources, translations):
    return model.align(sources, translations)
