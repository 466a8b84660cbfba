"""Requests that a server refuses, each with a status of HTTP and a message for its client."""


class Refusal(Exception):
    """A request that is refused.

    Args:
        status: The status of the response.
        message: The rule, and what was received; without any text to translate.
        retry_after: Seconds after which the same request may succeed; None if it never will.
        unread: Whether a part of the request was not read, so that the connection must close.
    """

    def __init__(
        self, status: int, message: str, retry_after: int | None = None, unread: bool = False
    ):
        super().__init__(message)
        self.status, self.message, self.retry_after = status, message, retry_after
        self.headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        if unread:
            self.close()

    def close(self):
        """Has the connection close after the response."""
        self.headers["Connection"] = "close"


class ClientGone(Exception):
    """The client has closed its connection, so nobody waits for the answer."""
