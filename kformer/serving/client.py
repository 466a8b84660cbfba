"""A client of TensorFlow Serving, for the SavedModel that kformer exports."""

import warnings
from pathlib import Path
from typing import Self

from kformer.arguments import check_integer
from kformer.serving.address import MODEL, read_address, read_model
from kformer.serving.answers import (
    ServedScore,
    ServedTranslation,
    Signature,
    Tokenized,
    VersionStatus,
)
from kformer.serving.deadline import Deadline, at_once, patiently
from kformer.serving.errors import MalformedAnswer
from kformer.serving.rows import (
    NEEDED,
    checked,
    read_score,
    read_tokenized,
    read_translation,
    read_translations,
    read_vector,
    rows_of,
)


class Client:
    """Asks a server for translations.

    A call may have any number of texts: they are sent in pieces, several at the same time, and
    come back in their order. What fails because of a broken connection or a busy server is tried
    again, with growing waits. All methods may be called from several threads.

    Args:
        url: "http://host:8501", "https://host/path" for REST; "grpc://host:8500", "host:8500"
            or "grpcs://host" for gRPC, which needs the extra `serving`.
        model: The name under which the server has the model; the default is that of an export.
        version, label: A version by its number or by its label, else the newest.
        timeout: Seconds for a whole call: all of its pieces, attempts and waits.
        batch_size: Most texts in a request; not over the server's own limit.
        connections: Most requests of a call at the same time.
        retries: How often a request is tried again.
        headers: Headers of every request, by name: {"Authorization": "Bearer ..."}.
        ca_file: Certificates to trust, for https and grpcs, else those of the system.

    Raises:
        FileNotFoundError: There is no such `ca_file`.
        ImportError: gRPC, and the extra is not installed.
        TypeError, ValueError: An argument is not as it should be.

    All methods that ask the server raise:
        ServerError: It refused, or failed, with its own code and words; or its answer is malformed
            or over 64 MiB, and the message says what is wrong.
        ConnectionError: It cannot be reached.
        TimeoutError: It did not answer in time.
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
        check_integer("batch_size", batch_size, least=1)
        check_integer("connections", connections, least=1)
        check_integer("retries", retries, least=0)
        for name, value in (headers or {}).items():
            if not (name and f"{name}{value}".isascii() and f"{name}{value}".isprintable()):
                raise ValueError(
                    "A header must be a line of printable ASCII. "
                    f"Received: headers={{{name!r}: ...}}."
                )
        if ca_file is not None and not Path(ca_file).is_file():
            raise FileNotFoundError(
                f"`ca_file` must be a file of certificates. Received: ca_file={ca_file!r}."
            )
        Deadline(timeout)
        self._timeout, self._batch_size = timeout, batch_size
        self._connections, self._retries = connections, retries
        address = read_address(url)
        transport = _transport(address)
        chosen = read_model(model, version, label)
        self._transport = transport(address, chosen, dict(headers or {}), ca_file)

    def translate(self, texts, progress=None) -> list[str]:
        """As `kformer.Translator.translate`; the search was chosen by the export.

        Args:
            texts: list of strings.
            progress: Called with the number of texts that are done, again and again.

        Warns:
            UserWarning: A text was so long that only its beginning was translated.
        """
        translations = self.translations(texts, progress)
        _warn_of_cut([one.flags for one in translations], "translated")
        return [one.text for one in translations]

    def translations(self, texts, progress=None) -> list[ServedTranslation]:
        """Returns the translation of each text, with its score and flags."""
        return self._predict("serving_default", {"text": texts}, read_translation, progress)

    def beam(self, texts, progress=None) -> list[list[ServedTranslation]]:
        """Returns several translations of each text, best first; the export chose how many."""
        return self._predict("beam", {"text": texts}, read_translations, progress)

    def score(self, sources, targets, progress=None) -> list[ServedScore]:
        """Returns how likely the model finds given translations.

        Args:
            sources, targets: lists of strings, as many.
            progress: See `translate`.
        """
        return self._predict("score", {"source": sources, "target": targets}, read_score, progress)

    def encode(self, texts, progress=None):
        """Returns a vector for each text, to compare texts by: float32 array (B, D).

        Warns:
            UserWarning: A text was so long that only its beginning was read.
        """
        import numpy as np  # Which is not needed for text.

        rows = self._predict("encode", {"text": texts}, read_vector, progress)
        _warn_of_cut([flags for _, flags in rows], "read")
        vectors = [vector for vector, _ in rows]
        widths = sorted({len(vector) for vector in vectors})
        if len(widths) > 1:
            raise self._transport.malformed(
                f"All vectors must have one width. Received: widths {widths[0]} to {widths[-1]}."
            )
        return np.array(vectors, np.float32) if vectors else np.zeros((0, 0), np.float32)

    def tokenize(self, texts, progress=None) -> list[Tokenized]:
        """Returns what the model reads of each text: ids."""
        return self._predict("tokenize", {"text": texts}, read_tokenized, progress)

    def status(self) -> list[VersionStatus]:
        """Returns how each version of the model is; of the chosen one alone, if one was."""
        return self._ask(self._transport.status)

    def metadata(self) -> dict[str, Signature]:
        """Returns the signatures of the model by name: what it can be asked."""
        return self._ask(self._transport.metadata)

    def close(self):
        """Closes the connections."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_):
        self.close()

    def _ask(self, question):
        deadline = Deadline(self._timeout)
        return patiently(lambda: question(deadline), deadline, self._retries)

    def _predict(self, signature, inputs, read, progress):
        """Returns what `read` makes of each row of a signature's outputs."""
        inputs = checked(inputs)
        texts = next(iter(inputs.values()))
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))  # The server pads.
        size = self._batch_size
        pieces = [order[start : start + size] for start in range(0, len(order), size)]
        deadline = Deadline(self._timeout)

        def ask(piece):
            chosen = {name: [texts[i] for i in piece] for name, texts in inputs.items()}
            return patiently(
                lambda: self._transport.predict(signature, chosen, deadline),
                deadline,
                self._retries,
            )

        answers = [None] * len(texts)
        for piece, outputs in at_once(ask, pieces, self._connections, deadline):
            try:
                rows = rows_of(outputs, len(piece), NEEDED[signature])
                for i, row in zip(piece, rows, strict=True):
                    answers[i] = read(row)
            except MalformedAnswer as error:
                raise self._transport.malformed(str(error)) from error
            if progress:
                progress(len(piece))
        return answers


def _transport(address):
    if address.scheme.startswith("http"):
        from kformer.serving.rest import Rest

        return Rest
    try:
        from kformer.serving.rpc import Rpc
    except ImportError as error:
        raise ImportError(
            "gRPC needs the package tensorflow-serving-api: pip install 'kformer[serving]'. "
            f"Received: {error}."
        ) from error
    return Rpc


def _warn_of_cut(flags, did):
    for number, raised in enumerate(flags, start=1):
        if "source cut" in raised:
            warnings.warn(
                f"Sentence {number} is over the model's limit of ids: only its beginning was "
                f"{did}.",
                stacklevel=3,
            )
