"""Translated files, in memory alone, within bounds of number and time."""

import asyncio
import secrets

from kformer.server.request_bodies import NamedFile

MINUTES = 10  # That a translated file waits for its client.
_MOST_FILES = 1_000  # Translated ones, at most.
_TOKEN_BYTES = 16


class TranslatedFiles:
    """Translated files under names that nobody can guess.

    A file is deleted after some minutes, or when newer ones need its place.

    Args:
        most: Maximum number of bytes of all files.
        seconds: Time after which a file is deleted.
    """

    def __init__(self, most: int, seconds: float = 60.0 * MINUTES):
        self._most, self._seconds = most, seconds
        self._files: dict[str, NamedFile] = {}  # The oldest first.
        self._bytes = 0

    def put(self, file: NamedFile) -> str:
        """Stores a file, and returns its unguessable name."""
        while self._files and (
            self._bytes + len(file.content) > self._most or len(self._files) >= _MOST_FILES
        ):
            self._delete(next(iter(self._files)))
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._files[token] = file
        self._bytes += len(file.content)
        asyncio.get_running_loop().call_later(self._seconds, self._delete, token)
        return token

    def get(self, token: str) -> NamedFile | None:
        """Returns the file of a name; None if there is none."""
        return self._files.get(token)

    def _delete(self, token):
        file = self._files.pop(token, None)
        if file:
            self._bytes -= len(file.content)
