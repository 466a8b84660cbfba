"""Packages of Argos Translate, by its index: argos://de-en."""

from collections.abc import Iterable
from pathlib import Path
from typing import TypedDict

from kformer.imports.published.downloads import fetch_json
from kformer.imports.published.model_names import Fetched, Offer, PublishedName, matches
from kformer.imports.published.web_addresses import fetch_file

ADDRESSES = {
    "index": "https://raw.githubusercontent.com/argosopentech/argospm-index/main/index.json"
}
_WHAT = "The index of Argos Translate"


class _Package(TypedDict, total=False):
    """The fields of an entry of the index that are read."""

    from_code: str
    to_code: str
    package_version: str
    links: list[str]


def fetch(name: PublishedName, folder: Path, addresses: dict[str, str]) -> Fetched:
    """Downloads the newest package of a pair of languages, such as "de-en"."""
    packages = _packages(addresses)
    if name.rest not in packages:
        raise FileNotFoundError(
            f"{_WHAT} has {len(packages)} pairs of languages. Received: {name}, which is "
            "none: `kformer models --available` lists them."
        )
    package = packages[name.rest]
    links = [link for link in package["links"] if link.startswith(("https://", "http://"))]
    if not links:
        raise FileNotFoundError(f"A package must have a web link. Received: {name}.")
    files, facts = fetch_file(links[0], folder)
    source, target = package["from_code"], package["to_code"]
    about = {"source_language": source, "target_language": target}
    return Fetched(files, {**facts, **about, "version": package.get("package_version", "")})


def offers(language: str | None, addresses: dict[str, str]) -> Iterable[Offer]:
    """Returns the packages from or into a language."""
    for pair, package in _packages(addresses).items():
        codes = package["from_code"], package["to_code"]
        if matches(language, codes):
            yield Offer(f"argos://{pair}", *codes)


def _packages(addresses):
    """Returns the newest package of each pair of languages."""
    packages: dict[str, _Package] = {}
    for package in fetch_json(addresses["index"], list[_Package], _WHAT):
        if {"from_code", "to_code", "links"} - {*package}:
            continue  # Of sentence boundaries, or without a file.
        pair = f"{package['from_code']}-{package['to_code']}"
        if pair not in packages or _version(package) > _version(packages[pair]):
            packages[pair] = package
    return packages


def _version(package):
    parts = package.get("package_version", "").split(".")
    return [int(part) if part.isdecimal() else -1 for part in parts]
