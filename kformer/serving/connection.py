"""Requests to one model on a server: batches of rows, several at once, retries, a time limit."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from kformer.arguments import check_integer
from kformer.serving.address import check_headers, read_address, read_model
from kformer.serving.deadline import Deadline, at_once, patiently
from kformer.serving.errors import MalformedAnswer
from kformer.serving.request_rows import checked, rows_from_columns


class Connection:
    """Asks for rows of a signature's outputs, with the arguments and errors of `Client`."""

    def __init__(
        self,
        url: str,
        model: str,
        version: int | None,
        label: str | None,
        timeout: float,
        batch_size: int,
        connections: int,
        retries: int,
        headers: dict[str, str],
        ca_file: str | None,
    ):
        check_integer("batch_size", batch_size, least=1)
        check_integer("connections", connections, least=1)
        check_integer("retries", retries, least=0)
        if ca_file is not None and not Path(ca_file).is_file():
            raise FileNotFoundError(
                f"`ca_file` must be a file of certificates. Received: ca_file={ca_file!r}."
            )
        Deadline(timeout)
        self._timeout, self._batch_size = timeout, batch_size
        self._connections, self._retries = connections, retries
        address = read_address(url)
        check_headers(headers, address)
        transport = _transport(address)
        chosen = read_model(model, version, label)
        self._transport = transport(address, chosen, headers, ca_file)

    def status(self) -> list:
        """Returns the state of each version of the model, or of the chosen version."""
        return self._patiently(self._transport.status, Deadline(self._timeout))

    def metadata(self) -> dict:
        """Returns the signatures of the model by name."""
        return self._patiently(self._transport.metadata, Deadline(self._timeout))

    def predict(
        self,
        signature: str,
        inputs: Mapping[str, Iterable],
        read: Callable,
        progress: Callable[[int], object] | None = None,
    ) -> list:
        """Returns `read` of each row of a signature's outputs."""
        inputs = checked(inputs)
        texts = next(iter(inputs.values()))
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))  # For less padding.
        size = self._batch_size
        batches = [order[start : start + size] for start in range(0, len(order), size)]
        deadline = Deadline(self._timeout)

        def ask(batch):
            chosen = {name: [texts[i] for i in batch] for name, texts in inputs.items()}
            return self._patiently(
                lambda deadline: self._transport.predict(signature, chosen, deadline), deadline
            )

        answers = [None] * len(texts)
        for batch, outputs in at_once(ask, batches, self._connections, deadline):
            try:
                rows = rows_from_columns(outputs, len(batch), signature)
                for i, row in zip(batch, rows, strict=True):
                    answers[i] = read(row)
            except MalformedAnswer as error:
                raise self.malformed(str(error)) from error
            if progress:
                progress(len(batch))
        return answers

    def malformed(self, message: str) -> Exception:
        """Returns the error for a malformed answer, with its `message`."""
        return self._transport.malformed(message)

    def close(self):
        """Closes the connections."""
        self._transport.close()

    def _patiently(self, question, deadline):
        return patiently(lambda: question(deadline), deadline, self._retries)


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
