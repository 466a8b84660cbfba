"""The models of a server, of any kind, found by a pair of languages."""

import asyncio
import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kformer.inference.glossary import Glossary
from kformer.inference.results import Translation
from kformer.inference.splitting import SplitTranslation, split_steps
from kformer.inference.zero_shot import ZERO_SHOT, is_zero_shot
from kformer.kinds import TRANSLATOR, Kind
from kformer.server.batcher import Batcher
from kformer.server.hosted_signatures import HostedSignature
from kformer.server.model_memory import HeldModel, ModelCounts
from kformer.server.refusals import Refusal
from kformer.serving.request_rows import read_best
from kformer.text.language_names import direction_codes, known_code

_ALIGNMENT = object()  # Stands in the queue for a signature, of which none is public.
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
        several: Function from columns of texts and a number to as many `kformer.Translation`s of
            each, the best first; None if the form has one alone.
        examples: Texts to try, of a `.tflite` file.
        version: Number of the folder that was loaded, of a SavedModel; else 1.
        created: When the file was written, in seconds since 1970.
        is_of_folder: Whether it is served because it is in a folder.
        held: The model itself, which is loaded when it is used; None for a route.
        counts: `ModelCounts` of all models that had its name.

    Examples:
        >>> from kformer.server import host
        >>> [model] = host(["demo"])
        >>> model.source_language, model.target_languages
        ('de', ('en',))
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
    several: Callable[..., list] | None = None
    examples: tuple[str, ...] = ()
    version: int = 1
    created: int = 0
    is_of_folder: bool = False
    held: HeldModel | None = None
    counts: ModelCounts = dataclasses.field(default_factory=ModelCounts)
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
            return [*map(direction_codes, trained)]
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
            if isinstance(signature, _Several):
                inputs = self.signatures["serving_default"].inputs
                assert self.several is not None  # `alternatives` has checked it.
                return self.several(dict(zip(inputs, columns, strict=True)), signature.number)
            inputs = self.signatures[signature].inputs
            return self.signatures[signature].answer(dict(zip(inputs, columns, strict=True)))

        self._queue = Batcher(answer, self.batch_size, self.calls, capacity, self.counts.waited)

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
            rows = await self.sentences(sentences, target_language, glossary, is_long)
            translations = [best for row in rows for best in read_best(row)]

    async def alternatives(
        self,
        texts: Sequence[str],
        source_language: str | None,
        target_language: str | None,
        number: int,
    ) -> list[list[str]]:
        """Returns other translations of texts, the best first, as many as there are.

        Of a text of several sentences, each is made of the sentences' translations of one rank.

        Args:
            number: Maximum number for each text; a form that has one translation alone has none.

        Raises:
            Refusal: Too many characters wait, or the model has no such language.
        """
        self.check_target(target_language)
        known: dict[str, list[Translation]] = {}
        ranked: list[list[str]] = [[] for _ in texts]
        for rank in range(number + 1 if self.several else 0):
            steps = split_steps(texts, source_language or self.source_language)
            translations = None
            while True:
                sentences, results = await asyncio.to_thread(_step, steps, translations)
                if results is not None:
                    break
                new = [*{*sentences} - {*known}]
                known |= zip(new, await self.ranked(new, target_language, number + 1), strict=True)
                translations = [known[each][: rank + 1][-1] for each in sentences]
            for several, result in zip(ranked, results, strict=True):
                several += [result.text] if result.text not in several else []
        return ranked

    async def ranked(
        self, sentences: Sequence[str], target_language: str | None, number: int
    ) -> list[list[Translation]]:
        """Returns so many translations of each sentence, the best first."""
        assert self._queue is not None  # `start` has been called.
        languages = [str(target_language)] if self.choice else []
        return await self._queue.submit(
            [(sentence, *languages) for sentence in sentences], _Several(number)
        )

    async def sentences(
        self,
        sentences: Sequence[str],
        target_language: str | None,
        glossary: Glossary | None,
        is_long: bool,
    ) -> list[dict]:
        """Returns the rows of sentences; those without a term of the glossary join all others.

        Args:
            target_language: Of a model with a choice of languages.
            is_long: Whether terms are sought in another thread.
        """
        columns: dict[str, Sequence[Any]] = {"text": sentences}
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


class _Several(NamedTuple):
    """Stands in the queue for a signature: sentences with so many translations."""

    number: int


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


def without_regions(
    models: Iterable[HostedModel], source: str | None, target: str | None
) -> tuple[str | None, str | None]:
    """Returns the codes that models have for languages: "pt" for "pt-BR", as Weblate sends it.

    A source that no model has may be one of their targets.
    """
    if source is None and target is None:
        return None, None
    directions = [pair for model in models for pair in model.directions]
    sources, targets = ({pair[side] for pair in directions} for side in (0, 1))
    source = known_code(known_code(source, sources), sources | targets)
    return source, known_code(known_code(target, targets), sources | targets)
