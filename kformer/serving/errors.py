"""Errors of a server, and malformed answers."""

import re
from typing import Any

# After these errors the same request may succeed, and repeating it does no harm.
_PASSING = {429, 503, "RESOURCE_EXHAUSTED", "UNAVAILABLE"}
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # All but the tab and the line feed.
_SHOWN = 99  # Characters of a value in a message.

MAX_ANSWER = 64 * 2**20  # Bytes.
TOO_LARGE = f"An answer may have at most {MAX_ANSWER} bytes. Received: more."


class ServerError(OSError):
    """The server refused a request, or failed, or its answer is malformed.

    Attributes:
        code: The server's code, an int of HTTP (400) or a name of gRPC ("INVALID_ARGUMENT"). A
            malformed answer usually has the code of success, 200 or "OK".
        message: The server's message, or the fault of a malformed answer.
        retry_after: Seconds after which the server asks for a retry, or None.

    Examples:
        >>> from kformer.serving import Client, ServerError
        >>> with Client("http://localhost:5000") as client:
        ...     try:
        ...         client.classify(["Ein Hund läuft."])
        ...     except ServerError as error:
        ...         print(error.code)
        400
    """

    def __init__(self, url: str, code: int | str, message: str, retry_after: float | None = None):
        super().__init__(printable(f"{url} answered {code}: {message}"))
        self.code = code
        self.message = message
        self.retry_after = retry_after

    @property
    def is_passing(self) -> bool:
        """Whether the same request may succeed later."""
        return self.code in _PASSING


class MalformedAnswer(ValueError):
    """A server's answer is malformed."""

    @classmethod
    def of(cls, name: str, wanted: str, value: Any):
        """Returns the error for a `value` called `name`, which should be `wanted`."""
        return cls(f"`{name}` must be {wanted}. Received: {shown(value)}.")


def printable(text: str) -> str:
    r"""Returns text that is safe for a terminal: control characters are written as \x1b."""
    return _CONTROLS.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def shown(value: Any) -> str:
    """Returns a short description of any value, however deep or long."""
    if isinstance(value, list | dict):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, int) and abs(value) >= 10**_SHOWN:
        return "a huge integer"
    text = repr(value[: _SHOWN + 1] if isinstance(value, str) else value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
