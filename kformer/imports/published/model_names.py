"""Names of published models, such as firefox://en-pt, and the places that they lead to."""

import functools
import hashlib
import importlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from kformer.files import sha256
from kformer.imports.packed_folder import SUFFIXES
from kformer.json_files import read_json

# One slash is enough: a `Path` of a name has lost the other.
_NAME = re.compile(r"(?P<place>[a-z][a-z0-9+]+):/(?P<slashes>/?)(?P<rest>[^/].*)")
_UNSAFE = re.compile(r"[^\w.@-]+", re.ASCII)
_RULE = "The addresses of places are strings by name, by place."
_PLACES = {  # The module of each.
    "hf": "hugging_face",
    "firefox": "firefox_models",
    "argos": "argos_index",
    "https": "web_addresses",
    "http": "web_addresses",
}
SOURCES = "KFORMER_SOURCES"
ROUTE_FILE = "route.json"  # Names of two models, of a model that is a route.


class Offer(NamedTuple):
    """A model that a place has.

    Attributes:
        bytes: Of the download; None if the place does not say it.
    """

    name: str
    source_language: str
    target_language: str
    bytes: int | None = None
    licence: str | None = None


class Place(Protocol):
    """Where models are published: a module of this package."""

    def fetch(self, name: "PublishedName", folder: Path, addresses: dict[str, str]) -> "Fetched":
        """Downloads the files of a model, to `folder` unless the place has a cache of its own.

        Args:
            addresses: Of the place, by what they are for.

        Raises:
            ConnectionError: There is no answer; what arrived stays in `folder`.
            FileNotFoundError, ValueError: The place has no such model, or files that are damaged.
        """

    def offers(self, language: str | None, addresses: dict[str, str]) -> Iterable[Offer]:
        """Returns the models from or into a language."""


class Fetched(NamedTuple):
    """The files of a model.

    Attributes:
        files: Path of the folder of the files.
        facts: As JSON: `files`, the SHA-256 of each by its address, and what else is known of
            `version`, `licence`, `source_language` and `target_language`.
    """

    files: Path
    facts: dict[str, Any]


class PublishedName(NamedTuple):
    """The name of a published model.

    Attributes:
        place: Such as "firefox"; empty for an archive on this machine.
        rest: What follows the place.
    """

    place: str
    rest: str

    def __str__(self):
        return f"{self.place}://{self.rest}" if self.place else self.rest

    @property
    def folder(self) -> str:
        """Name of its folder in the cache, which differs from that of every other model."""
        if self.place:
            digest, stem = hashlib.sha256(str(self).encode()).hexdigest(), self.rest
        else:
            digest, stem = sha256(self.rest), Path(self.rest).stem
        return f"{self.place or 'file'}_{_UNSAFE.sub('_', stem)[-60:]}_{digest[:12]}"

    @property
    def may_be_converted(self) -> bool:
        """Whether the model may be a `.tflite` file already, which needs no TensorFlow."""
        return self.place == "hf" or urlsplit(self.rest).path.lower().endswith(".tflite")

    def fetch(self, folder: Path) -> Fetched:
        """Downloads the files of the model, as `Place.fetch`; those of an archive are there."""
        if not self.place:
            return Fetched(Path(self.rest), {"files": {self.rest: sha256(self.rest)}})
        return place_named(self.place).fetch(self, folder, addresses_of(self.place))


def published_name(name: Any) -> PublishedName | None:
    """Returns the name of a published model, or None for a path of anything else.

    An archive of another program's model (.argosmodel, .zip) counts, too.

    Raises:
        ValueError: The name begins with a place that is none.
    """
    if not isinstance(name, str | Path):
        return None
    if match := _NAME.fullmatch(str(name)):
        place, rest = match["place"], match["rest"]
        if place in _PLACES:
            return PublishedName(place, rest.rstrip("/"))
        if match["slashes"]:
            places = ", ".join(f"{known}://" for known in _PLACES)
            raise ValueError(f"The name of a model begins with {places}. Received: {str(name)!r}.")
    path = Path(name)
    if path.suffix.lower() in SUFFIXES and path.is_file():
        return PublishedName("", str(path))
    return None


def place_named(place: str) -> Any:
    """Returns the module of a place."""
    return importlib.import_module(f"{__package__}.{_PLACES[place]}")


def offers(language: str | None, missed: Callable[[str, Exception], object]) -> Iterator[Offer]:
    """Yields the models of all places that have a list, from or into a language.

    Args:
        missed: Called with a place that cannot be asked, and why.
    """
    for place in ("firefox", "hf", "argos"):
        try:
            yield from place_named(place).offers(language, addresses_of(place))
        except (ConnectionError, ValueError) as error:
            missed(place, error)


def matches(language: str | None, codes: Sequence[str]) -> bool:
    """Returns whether a language, such as "zh", is one of `codes`, such as "zh-Hans"."""
    return language is None or any(
        code == language or code.startswith(f"{language}-") for code in codes
    )


def addresses_of(place: str) -> dict[str, str]:
    """Returns the addresses of a place: its own, or those of the user's file of mirrors.

    The environment variable KFORMER_SOURCES names that file, JSON such as
    `{"firefox": {"records": "https://mirror.example/records"}}`.
    """
    own = getattr(place_named(place), "ADDRESSES", {})
    return own | _mirrors(os.environ.get(SOURCES)).get(place, {})


@functools.cache
def _mirrors(path):
    return read_json(path, dict[str, dict[str, str]], rule=_RULE) if path else {}
