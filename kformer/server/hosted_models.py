"""The models of a server: saved forms of any kind, found by name or by a pair of languages."""

import asyncio
import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kformer.export.loading import load, named_model, saved_form
from kformer.export.saved_model.serving_files import newest_version
from kformer.kinds import TRANSLATOR, Kind, kind_of
from kformer.pocket.metadata import read_examples
from kformer.server.batcher import Batcher
from kformer.server.hosted_signatures import (
    HostedSignature,
    answer_with_terms,
    signatures_of,
    takes_glossary,
)
from kformer.server.refusals import Refusal
from kformer.serving.request_rows import read_best
from kformer.text.glossary import Glossary
from kformer.text.paragraphs.split_translation import SplitTranslation, split_steps
from kformer.text.zero_shot import ZERO_SHOT, is_zero_shot
from kformer.threads import available_cores

_BATCH = 32  # Rows of a call of TensorFlow.
_ALIGNMENT = object()  # Stands in the queue for a signature, of which none is public.
_EXAMPLES = 3  # Texts to try that the page shows.
_LONG = 2_000  # Characters that are split into sentences in a thread of their own.


@dataclasses.dataclass(eq=False)
class HostedModel:
    """A model of a server.

    Attributes:
        name: Its name in addresses.
        path: The saved form.
        form: The saved form, as `kformer.export.loading.saved_form` names it.
        kind: Its `Kind`.
        about: Its metadata by name, such as "licence".
        signatures: Its `HostedSignature`s by name.
        choice: The target languages of which a request chooses one; usually none.
        target_language: Code of the language of its translations; None if it is not known.
        batch_size, calls: Numbers of rows of a call, and of calls at the same time.
        aligner: Function from texts and translations to their `WordAlignment`s; None if the form
            has no alignment.
        glossary: `kformer.Glossary` of requests that have none of their own.
        term_search: Function from columns of texts and a `kformer.Glossary` to rows; None if the
            model cannot search for terms.
        examples: Texts to try, of a `.tflite` file.
        version: Number of the folder that was loaded, of a SavedModel; else 1.
        created: When the file was written, in seconds since 1970.
    """

    name: str
    path: Path
    form: str
    kind: Kind
    about: Mapping[str, Any]
    signatures: Mapping[str, HostedSignature]
    choice: tuple[str, ...]
    target_language: str | None
    batch_size: int
    calls: int
    aligner: Callable[..., list] | None = None
    glossary: Glossary | None = None
    term_search: Callable[..., list] | None = None
    examples: tuple[str, ...] = ()
    version: int = 1
    created: int = 0
    _queue: Batcher | None = None

    @property
    def source_language(self) -> str | None:
        """Code of the language of the texts; None if it is not known."""
        return self.about.get("source_language")

    @property
    def target_languages(self) -> tuple[str, ...]:
        """Codes of the languages of the translations; empty if they are not known."""
        return self.choice or ((self.target_language,) if self.target_language else ())

    @property
    def directions(self) -> list[tuple[str, str]]:
        """Codes of source and target of each direction that it was trained in, if they are known.

        For a model of one source language also those that are known without its training.
        """
        if trained := self.about.get("directions"):
            return [tuple(name.split("-")) for name in trained]
        if self.source_language is None:
            return []
        return [(self.source_language, target) for target in self.target_languages]

    @property
    def lacks_languages(self) -> bool:
        """Whether it is a translator that answers a request for any languages."""
        return self.kind is TRANSLATOR and not (self.source_language and self.target_languages)

    @property
    def waiting(self) -> int:
        """Number of characters that wait or are being answered."""
        return self._queue.characters if self._queue else 0

    def start(self, capacity: int):
        """Makes the queue, in the running event loop.

        Args:
            capacity: Maximum number of characters that wait.
        """

        def answer(rows, signature):
            columns = [list(column) for column in zip(*rows, strict=True)]
            if signature is _ALIGNMENT:
                return self.aligner(*columns) if self.aligner else []
            if isinstance(signature, _Terms):
                inputs = self.signatures["serving_default"].inputs
                return self._with_terms(dict(zip(inputs, columns, strict=True)), signature.glossary)
            inputs = self.signatures[signature].inputs
            return self.signatures[signature].answer(dict(zip(inputs, columns, strict=True)))

        self._queue = Batcher(answer, self.batch_size, self.calls, capacity)

    async def stop(self):
        """Waits for the calls that have started."""
        if self._queue:
            await self._queue.close()
            self._queue = None

    def _with_terms(self, columns, glossary):
        assert self.term_search is not None  # `paragraphs` has checked it.
        return self.term_search(columns, glossary)

    async def rows(self, signature: str, columns: Mapping[str, Sequence[str]]) -> list[dict]:
        """Returns the outputs of a signature for each text, in batches with other requests.

        Args:
            signature: One of `signatures`.
            columns: As many strings for each of its inputs, by name.

        Raises:
            Refusal: Too many characters wait.
        """
        assert self._queue is not None  # `start` has been called.
        rows = zip(*(columns[name] for name in self.signatures[signature].inputs), strict=True)
        return await self._queue.submit([*rows], signature)

    async def align(self, sources: Sequence[str], translations: Sequence[str]) -> list:
        """Returns the `WordAlignment` of each text and its translation.

        Raises:
            Refusal: Too many characters wait.
        """
        assert self._queue is not None  # `start` has been called.
        return await self._queue.submit([*zip(sources, translations, strict=True)], _ALIGNMENT)

    async def paragraphs(
        self,
        texts: Sequence[str],
        source_language: str | None = None,
        target_language: str | None = None,
        glossary: Glossary | None = None,
    ) -> list[SplitTranslation]:
        """Translates texts of many sentences, like `kformer.Translator.split_translations`.

        Without a glossary, the model's own is used, if it has one. Translations in a direction that
        the model was not trained in get the flag "zero-shot".

        Raises:
            Refusal: Too many characters wait, the model has no such language, or it takes no
                glossary.
        """
        self.check_target(target_language)
        glossary = glossary or self.glossary
        if glossary and self.term_search is None:
            raise Refusal(400, f"{self.name} takes no glossary. Received: glossary.")
        source_language = source_language or self.source_language
        languages = source_language, target_language or self.target_language
        flags = (ZERO_SHOT,) if is_zero_shot(self.about.get("directions"), *languages) else ()
        steps = split_steps(texts, source_language)
        is_long = sum(map(len, texts)) > _LONG
        translations = None
        while True:
            # Splitting a long text must not keep other requests waiting.
            sentences, results = (
                await asyncio.to_thread(_step, steps, translations)
                if is_long
                else _step(steps, translations)
            )
            if results is not None:
                return [_flagged(result, flags) for result in results]
            rows = await self._sentences(sentences, target_language, glossary, is_long)
            translations = [best for row in rows for best in read_best(row)]

    async def _sentences(self, sentences, target_language, glossary, is_long):
        """Returns the rows of sentences; those without a term of the glossary join all others."""
        columns = {"text": sentences}
        if self.choice:
            columns["target_language"] = [target_language] * len(sentences)
        if not glossary:
            return await self.rows("serving_default", columns)
        find = functools.partial(_with_a_term, glossary, sentences)
        has_term = await asyncio.to_thread(find) if is_long else find()
        assert self._queue is not None  # `start` has been called.
        inputs = self.signatures["serving_default"].inputs
        rows = [*zip(*(columns[name] for name in inputs), strict=True)]
        plain = [row for row, has in zip(rows, has_term, strict=True) if not has]
        termed = [row for row, has in zip(rows, has_term, strict=True) if has]
        parts = await asyncio.gather(
            self._queue.submit(plain, "serving_default"),
            self._queue.submit(termed, _Terms(glossary)),
        )
        answers = [iter(part) for part in parts]
        return [next(answers[has]) for has in has_term]

    def check_target(self, target_language: str | None):
        """Raises a `Refusal` with the known languages if the model has no such language."""
        known = self.target_languages
        if not known or target_language in known or (target_language is None and not self.choice):
            return
        raise Refusal(
            400,
            f"{self.name} translates into {', '.join(known)}. "
            f"Received: target={target_language!r:.40}.",
        )


class _Terms(NamedTuple):
    """Stands in the queue for a signature: sentences with the terms of one glossary."""

    glossary: Glossary


def _with_a_term(glossary, sentences):
    return [bool(glossary.find(sentence)) for sentence in sentences]


class _Step(NamedTuple):
    """The sentences that `split_steps` asks for, or None and its results."""

    sentences: list[str]
    results: list[SplitTranslation] | None


def _flagged(result, flags):
    """Returns a `SplitTranslation` with further flags."""
    return dataclasses.replace(result, flags=(*result.flags, *flags))


def _step(steps, translations):
    try:
        return _Step(steps.send(translations), None)
    except StopIteration as end:
        return _Step([], end.value)


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
    """
    models: dict[str, HostedModel] = {}
    for path in paths:
        name, separator, place = str(path).partition("=")
        if not separator or Path(path).exists():
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
    batch_size, calls, examples = _BATCH, 1, ()
    if form == "tflite":  # A file has several workers, and batches of its own.
        about = model.manifest
        shapes = about.get("batches", {}).values()
        batch_size, calls = max([1, *(batch for batch, _ in shapes)]), available_cores()
        examples = tuple(read_examples(path)[:_EXAMPLES])
    else:
        about = model.report if form == "saved_model" else getattr(model, "about", {})
    hosted = HostedModel(
        name,
        path,
        form,
        kind,
        about,
        signatures_of(model, kind, form),
        tuple(getattr(model, "target_languages", ())),
        getattr(model, "target_language", None),
        batch_size,
        calls,
        getattr(model, "align", None),
        examples=examples,
        version=int(place.name) if form == "saved_model" and place.name.isdecimal() else 1,
        created=created,
    )
    if kind is TRANSLATOR and takes_glossary(model):
        hosted.term_search = functools.partial(answer_with_terms, model)
    if not name:
        pair = hosted.source_language, *hosted.target_languages
        hosted.name = "-".join(pair) if len(pair) == 2 and all(pair) else kind.name
    return hosted


def for_languages(models: Iterable[HostedModel], source: str | None, target: str) -> HostedModel:
    """Returns the first translator from one language into another.

    Args:
        models: `HostedModel`s.
        source: Code of the language of a text; "auto" for any.
        target: Code of the language to translate into.

    Raises:
        Refusal: There is none; the message names the pairs that there are.
    """
    translators = [model for model in models if model.kind is TRANSLATOR]
    for model in translators:
        if (source, target) in model.directions:
            return model
    for model in translators:
        from_it = source in ("auto", model.source_language) or not model.source_language
        if from_it and (target in model.target_languages or not model.target_languages):
            return model
    pairs = [
        f"{_sources_in_words(model)} to {' or '.join(model.target_languages) or 'any'}"
        for model in translators
    ]
    raise Refusal(
        400,
        f"This server translates {', '.join(pairs) or 'nothing'}. "
        f"Received: source={source!r:.40}, target={target!r:.40}.",
    )


def _sources_in_words(model):
    sources = dict.fromkeys(source for source, _ in model.directions)
    return " or ".join(sources) or model.source_language or "any"
