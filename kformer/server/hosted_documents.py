"""Documents and texts with markup, translated by a hosted model in batches with other requests.

The functions of `kformer.documents` wait for their translator, so they run in threads; those of
whole documents in processes, each with a thread that waits for it. Their texts join the queue of
the model like those of other requests.
"""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

from kformer.documents.document_report import DocumentTranslation
from kformer.documents.document_translation import translate_markup
from kformer.inference.facts import ModelFacts
from kformer.inference.glossary import Glossary
from kformer.inference.splitting import SplitTranslation
from kformer.server.document_process import DocumentJob
from kformer.server.document_workers import DocumentWorkers, Stop
from kformer.server.hosted_models import HostedModel
from kformer.server.refusals import Refusal

_MARKUP_THREADS = 32  # Requests with markup at once, which are as many as a batch has rows.
_DOCUMENT_THREADS = 2  # Documents at once: more would be no faster, and delay other requests.


class Languages(NamedTuple):
    """The languages of a request; None for the only one that the model has."""

    source: str | None = None
    target: str | None = None


class HostedDocuments:
    """Threads that translate texts with markup, and processes that translate documents.

    It belongs to one event loop.

    Args:
        portion: Maximum number of characters, or one text, that a document has in the queue of a
            model at a time.
        characters: Maximum number of characters of the texts of a document.
        seconds: Time after which a document is refused.
    """

    def __init__(self, portion: int, characters: int, seconds: float):
        self._portion, self._characters = portion, characters
        self._workers = DocumentWorkers(seconds)
        self._markup_threads = ThreadPoolExecutor(_MARKUP_THREADS, "kformer-markup")
        self._document_threads = ThreadPoolExecutor(_DOCUMENT_THREADS, "kformer-document")

    def close(self):
        """Ends the threads and the processes; requests that have not begun are cancelled."""
        self._workers.close()
        self._markup_threads.shutdown(wait=False, cancel_futures=True)
        self._document_threads.shutdown(wait=False, cancel_futures=True)

    async def markup(
        self,
        model: HostedModel,
        texts: Sequence[str],
        languages: Languages,
        *,
        kind: str = "html",
        keep: Iterable[str] | None = None,
        glossary: Glossary | None = None,
    ) -> list[tuple[str, DocumentTranslation]]:
        """Translates texts with markup, as `translate_markup` does."""

        def translate(translator):
            terms = glossary or model.glossary
            return translate_markup(texts, translator, kind=kind, keep=keep, glossary=terms)

        return await self._in_thread(self._markup_threads, translate, model, languages)

    async def document(
        self,
        model: HostedModel,
        content: bytes,
        name: str,
        languages: Languages,
        glossary: Glossary | None = None,
    ) -> tuple[bytes, DocumentTranslation]:
        """Translates a document, as `translate_content` does.

        If the caller is cancelled, the process that translates it ends.
        """
        stop = Stop()

        def translate(translator):
            job = DocumentJob(
                content,
                name,
                glossary or model.glossary,
                translator.facts,
            )
            return self._workers.translate(job, translator, stop)

        try:
            return await self._in_thread(self._document_threads, translate, model, languages)
        finally:
            stop("gone")

    async def texts(self, content: bytes, name: str, most: int) -> list[str]:
        """Returns the texts of a document from its beginning on, up to so many characters or more.

        If the caller is cancelled, the process that reads it ends.
        """
        stop, listener = Stop(), _Listener(most)
        job = DocumentJob(content, name, None, listener.facts)
        threads = self._document_threads

        def read():
            with contextlib.suppress(_Heard):
                self._workers.translate(job, listener, stop)

        try:
            await asyncio.get_running_loop().run_in_executor(threads, read)
        finally:
            stop("gone")
        return listener.heard

    async def _in_thread(self, threads, function, model, languages):
        translator = WaitingTranslator(model, languages, self._portion, self._characters)
        try:
            return await asyncio.get_running_loop().run_in_executor(threads, function, translator)
        finally:
            translator.close()


class _Heard(Exception):
    """A listener has heard enough of a document."""


class _Listener:
    """Stands for a translator: keeps the first texts of a document, and translates none."""

    def __init__(self, most: int):
        self._most = most
        self.heard: list[str] = []
        self.facts = ModelFacts(about={})

    def split_translations(
        self, texts: Sequence[str], glossary: Glossary | None = None, **_languages: Any
    ) -> list[SplitTranslation]:
        """Returns the texts themselves."""
        self.heard += texts
        if sum(map(len, self.heard)) >= self._most:
            raise _Heard
        return [SplitTranslation(text, (), ()) for text in texts]


class WaitingTranslator:
    """A hosted model as a translator for another thread, which waits for its answers.

    If too many characters wait when a document has begun, it is not refused, but goes on later.

    Args:
        model, languages: The model, and the languages.
        portion, characters: As for `HostedDocuments`.
    """

    def __init__(self, model: HostedModel, languages: Languages, portion: int, characters: int):
        self._model, self._languages = model, languages
        self._portion, self._left, self._most = portion, characters, characters
        self._loop = asyncio.get_running_loop()
        self._answer: Future | None = None
        self._has_begun = self._is_closed = False
        source = languages.source or model.source_language
        self.facts = ModelFacts(  # Its languages are chosen.
            about={"source_marks": model.about.get("source_marks"), "source_language": source},
            target_language=languages.target or model.target_language,
            aligns=model.aligner is not None,
            no_terms=None,
        )

    def split_translations(
        self, texts: Sequence[str], glossary: Glossary | None = None, **_languages: Any
    ) -> list[SplitTranslation]:
        """Returns the translations of texts of many sentences."""
        self._left -= sum(map(len, texts))
        if self._left < 0:
            raise Refusal(
                413, f"The texts of a file may have {self._most:,} characters. Received: more."
            )
        results: list[SplitTranslation] = []
        for portion in _portions(texts, self._portion):
            results += self._wait(self._model.paragraphs, portion, *self._languages, glossary)
            self._has_begun = True
        return results

    def align(self, sources: Sequence[str], targets: Sequence[str]) -> list:
        """Returns the `WordAlignment` of each pair, if the facts say `aligns`."""
        return self._wait(self._model.align, sources, targets)

    def close(self):
        """Ends the wait of the other thread with an error, if it still waits."""
        self._is_closed = True
        if self._answer:
            self._answer.cancel()

    def _wait(self, ask, *arguments):
        self._answer = asyncio.run_coroutine_threadsafe(
            self._patiently(ask, *arguments), self._loop
        )
        if self._is_closed:
            self._answer.cancel()
        return self._answer.result()

    async def _patiently(self, ask: Callable[..., Coroutine], *arguments):
        while True:
            try:
                return await ask(*arguments)
            except Refusal as refusal:
                if not self._has_begun or refusal.retry_after is None:
                    raise
                await asyncio.sleep(refusal.retry_after)


def _portions(texts: Sequence[str], most: int) -> Iterator[list[str]]:
    """Yields texts in lists with at most so many characters, or one text."""
    portion: list[str] = []
    characters = 0
    for text in texts:
        if portion and characters + len(text) > most:
            yield portion
            portion, characters = [], 0
        portion.append(text)
        characters += len(text)
    if portion:
        yield portion
