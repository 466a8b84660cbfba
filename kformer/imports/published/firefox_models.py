"""Firefox's translators, by the records of Mozilla's Remote Settings: firefox://en-pt.

A record describes one file: its pair of languages, kind, version and the digests of the file, which
is compressed by Zstandard. `@` and a version behind the pair choose another than the newest one.
The service is Firefox's own: who installs on many machines points them to a mirror.
"""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NotRequired, TypedDict
from urllib.parse import urljoin

from kformer.imports.published.downloads import download, fetch_json
from kformer.imports.published.model_names import ROUTE_FILE, Fetched, Offer, PublishedName, matches

ADDRESSES = {
    "records": "https://firefox.settings.services.mozilla.com/v1/buckets/main/collections/"
    "translations-models-v2/records",
    "attachments": "https://firefox-settings-attachments.cdn.mozilla.net/",
}
_WHAT = "The list of Firefox's models"
_VERSION = re.compile(r"(\d+)\.(\d+)([a-z]+\d*)?", re.ASCII)  # Such as 3.0, or 3.1a1 of a test.
_READ = ("model", "vocab", "srcvocab", "trgvocab", "lex")
_MOST = 2**30  # Bytes of a file.
_BETWEEN = "en"


class _Attachment(TypedDict):
    hash: str
    size: int
    location: str


class _Record(TypedDict):
    name: str
    sourceLanguage: str
    targetLanguage: str
    version: str
    fileType: str
    attachment: _Attachment
    architecture: NotRequired[str | None]
    decompressedHash: NotRequired[str | None]
    decompressedSize: NotRequired[int | None]
    filter_expression: NotRequired[str | None]


class _Records(TypedDict):
    data: list[_Record]


def fetch(name: PublishedName, folder: Path, addresses: dict[str, str]) -> Fetched:
    """Downloads the files of a pair of languages, such as "en-pt" or "en-pt@3.0".

    A pair that has no model of its own is a route of two: through English, as in Firefox.
    """
    pair, _, version = name.rest.partition("@")
    models = _models(addresses)
    versions = [files for known, files in models if known == pair]
    if not versions and (route := _route(pair, {known for known, _ in models})):
        path = folder / ROUTE_FILE
        path.write_text(json.dumps({"route": route}), "utf-8")
        return Fetched(path, {"files": {}})
    if not versions:
        raise FileNotFoundError(
            f"{_WHAT} has {len({known for known, _ in models})} pairs of languages. Received: "
            f"{name}, which is none: `kformer models --available` lists them."
        )
    chosen = [files for files in versions if version in ("", files["model"]["version"])]
    if not chosen:
        known = ", ".join(files["model"]["version"] for files in versions)
        raise FileNotFoundError(f"The versions are {known}. Received: {name}.")
    files = chosen[0]
    model = files["model"]
    digests = {}
    for record in files.values():
        url = urljoin(addresses["attachments"], record["attachment"]["location"])
        digests[url] = _fetch_file(record, url, folder, f"firefox://{pair} {record['fileType']}")
    facts = {name: model[name] for name in ("sourceLanguage", "targetLanguage")}
    (folder / "metadata.json").write_text(json.dumps(facts), "utf-8")
    return Fetched(folder, {"version": model["version"], "files": digests})


def _route(pair, known):
    """Returns the names of two models that translate through English; empty for none."""
    for first in known:
        source, _, between = first.rpartition("-")
        second = f"{between}-{pair.removeprefix(f'{source}-')}"
        if between == _BETWEEN and pair.startswith(f"{source}-") and second in known:
            return [f"firefox://{first}", f"firefox://{second}"]
    return []


def offers(language: str | None, addresses: dict[str, str]) -> Iterable[Offer]:
    """Returns the newest models from or into a language."""
    newest = dict(reversed(_models(addresses)))
    for pair, files in sorted(newest.items()):
        codes = files["model"]["sourceLanguage"], files["model"]["targetLanguage"]
        if matches(language, codes):
            size = sum(record["attachment"]["size"] for record in files.values())
            yield Offer(f"firefox://{pair}", *codes, size)


def _models(addresses):
    """Returns the pairs of languages, each with its files by kind; the best version comes first.

    A model is all files of one version and architecture. Released ones come before others.
    """
    groups = defaultdict(dict)
    for record in fetch_json(addresses["records"], _Records, _WHAT)["data"]:
        if _VERSION.fullmatch(record["version"]) and record["fileType"] in _READ:
            pair = f"{record['sourceLanguage']}-{record['targetLanguage']}"
            group = groups[pair, record["version"], record.get("architecture")]
            group.setdefault(record["fileType"], record)
    whole = [
        (pair, _without_replaced(files))
        for (pair, _, _), files in groups.items()
        if "model" in files and ("vocab" in files or {"srcvocab", "trgvocab"} <= files.keys())
    ]
    return sorted(whole, key=lambda model: _rank(model[1]["model"]), reverse=True)


def _without_replaced(files):
    """Returns the files by kind, without a vocabulary that other ones replace."""
    own = {"srcvocab", "trgvocab"} <= files.keys()
    left_out = {"vocab"} if own else {"srcvocab", "trgvocab"}
    return {kind: record for kind, record in files.items() if kind not in left_out}


def _rank(record):
    major, minor, test = _VERSION.fullmatch(record["version"]).groups()
    released = not test and not record.get("filter_expression")
    size = record.get("decompressedSize") or record["attachment"]["size"]
    return released, int(major), int(minor), not test, test or "", size


def _fetch_file(record, url, folder, what):
    """Downloads and unpacks a file, and returns the digest of the download."""
    attachment = record["attachment"]
    name = Path(record["name"]).name
    packed = folder / f"{name}.zst"
    path = folder / name
    wanted = record.get("decompressedHash") or attachment["hash"]
    if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == wanted:
        return attachment["hash"]  # An earlier call broke off behind it.
    download(url, packed, what, attachment["hash"], attachment["size"])
    if not url.endswith(".zst") and not record.get("decompressedHash"):
        packed.replace(path)
        return attachment["hash"]
    import zstandard

    digest, size = hashlib.sha256(), 0
    try:
        with packed.open("rb") as content, path.open("wb") as file:
            for chunk in zstandard.ZstdDecompressor().read_to_iter(content):
                digest.update(chunk)
                size += len(chunk)
                if size > (record.get("decompressedSize") or _MOST):
                    break
                file.write(chunk)
    except zstandard.ZstdError as error:
        raise ValueError(f"The file must be compressed by Zstandard. Received: {url}.") from error
    finally:
        packed.unlink()
    if digest.hexdigest() != (record.get("decompressedHash") or digest.hexdigest()):
        path.unlink()
        raise ValueError(
            "The unpacked file must be the one that was published: SHA-256 "
            f"{record['decompressedHash']}. Received: {digest.hexdigest()}, from {url}."
        )
    return attachment["hash"]
