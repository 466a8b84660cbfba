"""Models at an address: an archive of another program, or a `.keras` or `.tflite` file of kformer.

`#sha256=` at the end of an address gives the digest that the file must have.
"""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from kformer.imports.packed_folder import SUFFIXES
from kformer.imports.published.downloads import download
from kformer.imports.published.model_names import Fetched, PublishedName

_ENDS = (*SUFFIXES, ".keras", ".tflite")
_DIGEST = "sha256="


def fetch(name: PublishedName, folder: Path, addresses: dict[str, str]) -> Fetched:
    """Downloads the file of an address."""
    return fetch_file(str(name), folder)


def fetch_file(address: str, folder: Path) -> Fetched:
    """Downloads the file of an address to `folder`.

    Raises:
        ValueError: The address ends in another way than a model's file, or the file is another.
    """
    url, _, fragment = address.partition("#")
    name = unquote(Path(urlsplit(url).path).name)
    if Path(name).suffix.lower() not in _ENDS:
        raise ValueError(f"An address must end in {', '.join(_ENDS)}. Received: {address}.")
    digest = fragment.removeprefix(_DIGEST) if fragment.startswith(_DIGEST) else None
    received = download(url, folder / name, name, digest)
    return Fetched(folder / name, {"files": {url: received}})
