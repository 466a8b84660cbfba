"""A client of TensorFlow Serving, for the SavedModel that kformer exports."""

import copy
from collections.abc import Callable, Iterable
from typing import Self

from kformer.arguments import (
    as_texts,
    check_languages_known,
    one_or_many,
    pair_or_pairs,
    text_or_texts,
)
from kformer.inference.any_language_model import AnyLanguageModel
from kformer.inference.any_translator import AnyTranslator
from kformer.serving.address import MODEL
from kformer.serving.answers import (
    ServedClass,
    ServedScore,
    Signature,
    Tokenized,
    VersionStatus,
)
from kformer.serving.connection import Connection
from kformer.serving.request_rows import (
    inputs_of,
    read_class,
    read_generation,
    read_generations,
    read_score,
    read_tags,
    read_tokenized,
    read_vector,
    warn_of_cut,
)
from kformer.serving.server_engine import ServerEngine
from kformer.text.labels import Tagging, tagger_text, tagging


class Client(AnyTranslator, AnyLanguageModel):
    """Asks a server for translations, for labels of texts, or for continuations of prompts.

    A call may have any number of texts: they are sent in batches, several at the same time, and
    results keep their order. Requests that fail because of a broken connection or a busy server
    are retried, with growing waits. All methods are thread-safe.

    Args:
        url: "http://host:8501", "https://host/path" for REST; "grpc://host:8500" or
            "grpcs://host:8500" for gRPC, which needs the extra `serving`. Without a scheme,
            "host:8501" is REST and "host:8500" gRPC.
        model: The model's name on the server; an export calls it "translator", "classifier" or
            "language_model".
        version, label: A version by its number or by its label; by default the newest.
        timeout: Seconds for a whole call with all of its requests, attempts and waits.
        batch_size: Maximum number of texts per request, within the server's limit.
        connections: Maximum number of concurrent requests of a call.
        retries: Maximum number of retries of a request.
        headers: Headers of every request, by name: {"Authorization": "Bearer ..."}. Headers that
            identify you are sent by https and grpcs, and to this machine, only.
        ca_file: File of trusted certificates for https and grpcs; by default the system's.

    Raises:
        FileNotFoundError: `ca_file` does not exist.
        ImportError: The URL is for gRPC, and the extra is not installed.
        TypeError, ValueError: An argument is wrong.

    All methods that ask the server raise:
        ServerError: The server refused the request or failed, with its code and message; or its
            answer is malformed or over 64 MiB.
        ConnectionError: The server cannot be reached.
        TimeoutError: The server did not answer in time.

    Examples:
        >>> from kformer.serving import Client
        >>> with Client("http://localhost:5000") as client:  # Of `kformer serve de-en.tflite`.
        ...     client.translate("Ein Hund läuft.")
        'A dog runs.'
    """

    def __init__(
        self,
        url: str,
        model: str = MODEL,
        *,
        version: int | None = None,
        label: str | None = None,
        timeout: float = 60.0,
        batch_size: int = 32,
        connections: int = 4,
        retries: int = 5,
        headers: dict[str, str] | None = None,
        ca_file: str | None = None,
    ):
        settings = timeout, batch_size, connections, retries, headers or {}, ca_file
        self._server = Connection(url, model, version, label, *settings)
        self._target_language: str | None = None

    @property
    def engine(self) -> ServerEngine:
        """The engine that asks the server."""
        return ServerEngine(self._server, self._target_language)

    def _into(self, target_language):
        """Returns a client of the same connections, which sends the language."""
        client = copy.copy(self)
        client._target_language = target_language
        return client

    @text_or_texts
    def classify(
        self, texts: Iterable[str], progress: Callable[[int], object] | None = None
    ) -> list[ServedClass]:
        """Returns the label of each text and the probabilities of all labels, from a classifier.

        Args:
            texts, progress: As for `translate`.

        Warns:
            UserWarning: A text was too long and was cut.
        """
        answers = self._server.predict("classify", {"text": texts}, read_class, progress)
        warn_of_cut([answer.flags for answer in answers], "classified")
        return answers

    @text_or_texts
    def tag(
        self, texts: Iterable[str], progress: Callable[[int], object] | None = None
    ) -> list[Tagging]:
        """Returns a label for each word of each text, of a tagger.

        Args:
            texts, progress: As for `translate`.

        Warns:
            UserWarning: A text was too long; its last words have no label.
        """
        texts = as_texts(texts, "texts")
        inputs = {"text": [*map(tagger_text, texts)]}
        answers = self._server.predict("tag", inputs, read_tags, progress)
        warn_of_cut([flags for *_, flags in answers], "tagged")
        return [tagging(text, *answer[:2]) for text, answer in zip(texts, answers, strict=True)]

    def _search_of(self, chosen):
        return self.engine.options(chosen)

    def _continued(self, prompts, request, details):
        n_best = request.options.n_best
        several = "generate_beam", read_generations
        signature, read = ("generate", read_generation) if n_best == 1 else several
        results = self._server.predict(signature, {"text": prompts}, read, request.progress)
        return [generations[:n_best] for generations in results]

    @pair_or_pairs
    def score(
        self,
        sources: Iterable[str],
        targets: Iterable[str],
        progress: Callable[[int], object] | None = None,
        target_language: str | None = None,
    ) -> list[ServedScore]:
        """Returns the scores of given translations.

        Args:
            sources, targets: lists of strings of equal length; or one string each.
            progress, target_language: As for `translate`.

        Raises:
            ValueError: As for `translate`.
        """
        inputs = inputs_of(target_language, source=sources, target=targets)
        scores = self._server.predict("score", inputs, read_score, progress)
        check_languages_known((score.flags for score in scores), target_language)
        return scores

    @one_or_many
    def encode(
        self,
        texts: Iterable[str],
        progress: Callable[[int], object] | None = None,
        target_language: str | None = None,
    ):
        """Returns a vector for each text, for comparing texts: float32 array (B, D).

        Args:
            texts, progress, target_language: As for `translate`.

        Raises:
            ValueError: As for `translate`.

        Warns:
            UserWarning: A text was too long and was cut.
        """
        import numpy as np  # The other methods do not need it.

        inputs = inputs_of(target_language, text=texts)
        rows = self._server.predict("encode", inputs, read_vector, progress)
        check_languages_known((flags for _, flags in rows), target_language)
        warn_of_cut([flags for _, flags in rows], "encoded")
        vectors = [vector for vector, _ in rows]
        if len(widths := sorted({*map(len, vectors)})) > 1:
            rule = "All vectors must have one width."
            raise self._server.malformed(f"{rule} Received: widths {widths[0]} to {widths[-1]}.")
        return np.array(vectors, np.float32) if vectors else np.zeros((0, 0), np.float32)

    @text_or_texts
    def tokenize(
        self,
        texts: Iterable[str],
        progress: Callable[[int], object] | None = None,
        target_language: str | None = None,
    ) -> list[Tokenized]:
        """Returns the ids of each text, as the model reads them.

        Args:
            texts, progress, target_language: As for `translate`.

        Raises:
            ValueError: As for `translate`.
        """
        inputs = inputs_of(target_language, text=texts)
        tokenized = self._server.predict("tokenize", inputs, read_tokenized, progress)
        check_languages_known((text.flags for text in tokenized), target_language)
        return tokenized

    def status(self) -> list[VersionStatus]:
        """Returns the state of each version of the model, or of the chosen version."""
        return self._server.status()

    def metadata(self) -> dict[str, Signature]:
        """Returns the signatures of the model by name."""
        return self._server.metadata()

    def close(self):
        """Closes the connections."""
        self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_):
        self.close()
