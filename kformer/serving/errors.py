"""What a server says when it cannot do what it was asked."""

# After these the same request may well succeed; whoever asks again does no harm.
_PASSING = {429, 503, "RESOURCE_EXHAUSTED", "UNAVAILABLE"}


class ServerError(OSError):
    """The server refused a request, or failed.

    Attributes:
        code: The server's own, an int of HTTP (400) or a name of gRPC ("INVALID_ARGUMENT").
        message: The server's own words.
        retry_after: Seconds after which the server wants to be asked again, or None.
    """

    def __init__(self, url: str, code: int | str, message: str, retry_after: float | None = None):
        super().__init__(f"{url} answered {code}: {message}")
        self.code = code
        self.message = message
        self.retry_after = retry_after

    @property
    def is_passing(self) -> bool:
        """True if the same request may succeed a little later."""
        return self.code in _PASSING
