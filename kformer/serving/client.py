"""A client of TensorFlow Serving, for the SavedModel that kformer exports."""

import re
import warnings
from concurrent.futures import ThreadPoolExecutor

from kformer.serving.address import read_address, read_model
from kformer.serving.answers import ServedTranslation, Signature, VersionStatus
from kformer.serving.deadline import Deadline, patiently

_LONE_SURROGATES = re.compile("[\ud800-\udfff]")  # UTF-8 cannot hold them.


class Client:
    """Asks a server for translations.

    A call may have any number of texts: they are sent in pieces, several at the same time, and
    come back in their order. What fails because of a broken connection or a busy server is tried
    again, with growing waits. All methods may be called from several threads.

    Args:
        url: "http://host:8501", "https://host/path" for REST; "grpc://host:8500", "host:8500"
            or "grpcs://host" for gRPC, which needs the extra `serving`.
        model: The name under which the server has the model.
        version, label: A version by its number or by its label, else the newest.
        timeout: Seconds for a whole call: all of its pieces, attempts and waits.
        batch_size: Most texts in a request; not over the server's own limit.
        connections: Most requests of a call at the same time.
        retries: How often a request is tried again.
        headers: Headers of every request, by name: {"Authorization": "Bearer ..."}.
        ca_file: Certificates to trust, for https and grpcs, else those of the system.

    Raises:
        ImportError: gRPC, and the extra is not installed.
        ValueError: An argument is not as it should be.

    All methods that ask the server raise:
        ServerError: It refused, or failed; with its own code and words.
        ConnectionError: It cannot be reached.
        TimeoutError: It did not answer in time.
    """

    def __init__(
        self,
        url: str,
        model: str,
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
        for name, value in (("batch_size", batch_size), ("connections", connections)):
            if value < 1:
                raise ValueError(f"`{name}` must be positive. Received: {name}={value}.")
        if retries < 0:
            raise ValueError(f"`retries` must not be negative. Received: retries={retries}.")
        Deadline(timeout)
        self._timeout, self._batch_size = timeout, batch_size
        self._connections, self._retries = connections, retries
        address = read_address(url)
        transport = _transport(address)
        chosen = read_model(model, version, label)
        self._transport = transport(address, chosen, dict(headers or {}), ca_file)

    def translate(self, texts, progress=None) -> list[str]:
        """As `kformer.Translator.translate`; the search was chosen by the export.

        Warns:
            UserWarning: A text was so long that only its beginning was translated.
        """
        translations = self.translations(texts, progress)
        for i, one in enumerate(translations, start=1):
            if "source cut" in one.flags:
                warnings.warn(
                    f"Sentence {i} is over the model's limit of ids: only its beginning was "
                    "translated.",
                    stacklevel=2,
                )
        return [one.text for one in translations]

    def translations(self, texts, progress=None) -> list[ServedTranslation]:
        """Returns the translations of `texts` with scores and flags.

        Args:
            texts: list of strings.
            progress: Called with the number of texts that are done, again and again.
        """
        rows = self._predict("serving_default", {"text": texts}, progress)
        return [_translation(row) for row in rows]

    def status(self) -> list[VersionStatus]:
        """Returns how each version of the model is; of the chosen one alone, if one was."""
        return self._ask(self._transport.status)

    def metadata(self) -> dict[str, Signature]:
        """Returns the signatures of the model by name: what it can be asked."""
        return self._ask(self._transport.metadata)

    def close(self):
        """Closes the connections."""
        self._transport.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _ask(self, question):
        deadline = Deadline(self._timeout)
        return patiently(lambda: question(deadline), deadline, self._retries)

    def _predict(self, signature, inputs, progress=None):
        """Returns a dict of the outputs for each row of the inputs."""
        inputs = {name: _checked(name, texts) for name, texts in inputs.items()}
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

        answers = [{} for _ in texts]
        for piece, outputs in zip(pieces, self._run(ask, pieces, deadline), strict=True):
            for name, values in outputs.items():
                for i, value in zip(piece, values, strict=True):
                    answers[i][name] = value
            if progress:
                progress(len(piece))
        return answers

    def _run(self, ask, pieces, deadline):
        """Yields what `ask` returns for each piece, several of which are under way at once."""
        count = min(self._connections, len(pieces))
        if count < 2:
            yield from map(ask, pieces)
            return
        pool = ThreadPoolExecutor(count)
        try:
            yield from pool.map(ask, pieces)
        finally:
            deadline.give_up()  # After an error the others need not go on.
            pool.shutdown(wait=False, cancel_futures=True)


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


def _checked(name, texts):
    """The texts as a list of strings that UTF-8 can hold."""
    if isinstance(texts, str):
        raise TypeError(f"`{name}` must be a list of strings. Received: {name}={texts!r}.")
    texts = list(texts)
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"Every `{name}` must be a string. Received: {text!r}.")
    return [_LONE_SURROGATES.sub("\ufffd", text) for text in texts]


def _translation(row):
    flags = ("source cut",) if row.get("truncated") else ()
    return ServedTranslation(row["translation"], row["score"], flags)
