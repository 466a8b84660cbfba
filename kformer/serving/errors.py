"""What a server says when it cannot do what it was asked, or answers what makes no sense."""

import re

# After these the same request may well succeed; whoever asks again does no harm.
_PASSING = {429, 503, "RESOURCE_EXHAUSTED", "UNAVAILABLE"}
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # All but the tab and the line feed.
_SHOWN = 99  # Characters of a value in a message.

MAX_ANSWER = 64 * 2**20  # Bytes.
TOO_LARGE = f"An answer may have at most {MAX_ANSWER} bytes. Received: more."


class ServerError(OSError):
    """The server refused a request, or failed, or its answer is malformed.

    Attributes:
        code: The server's own, an int of HTTP (400) or a name of gRPC ("INVALID_ARGUMENT"). A
            malformed answer mostly has that of success, 200 or "OK".
        message: The server's own words; for a malformed answer, what is wrong with it.
        retry_after: Seconds after which the server wants to be asked again, or None.
    """

    def __init__(self, url: str, code: int | str, message: str, retry_after: float | None = None):
        super().__init__(printable(f"{url} answered {code}: {message}"))
        self.code = code
        self.message = message
        self.retry_after = retry_after

    @property
    def is_passing(self) -> bool:
        """True if the same request may succeed a little later."""
        return self.code in _PASSING


class MalformedAnswer(ValueError):
    """What a server answered is not what it should be."""

    @classmethod
    def of(cls, name: str, wanted: str, value):
        """The error for a `value` called `name`, which should be `wanted`."""
        return cls(f"`{name}` must be {wanted}. Received: {shown(value)}.")


def printable(text: str) -> str:
    r"""Returns text for a terminal: control characters, which could steer it, as \x1b."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def shown(value) -> str:
    """Returns a short description of a value that may be anything, however deep or long."""
    if isinstance(value, list | dict):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, int) and abs(value) >= 10**_SHOWN:
        return "a huge integer"
    text = repr(value[: _SHOWN + 1] if isinstance(value, str) else value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
