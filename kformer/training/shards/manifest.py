"""The manifest of a folder of shards: its content, its origin, and checksums."""

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import NotRequired, TypedDict

from kformer.files import write_json
from kformer.json_files import check_schema, read_json

FORMAT = 3
_FIRST_WITH_CHECKSUM = 3  # Of the manifest itself.
MANIFEST = "manifest.json"
TOKENIZERS = ("tokenizer.model", "target_tokenizer.model")  # The second only if it differs.


_CHECKSUM = "sha256"
_RULE = "A manifest must be as `kformer prepare` writes it."


class ShardEntry(TypedDict):
    """A shard in a manifest, described at `Manifest.shards`."""

    name: str
    pairs: int
    ids: list[int]
    sha256: dict[str, str]


class _ManifestInFile(TypedDict):
    format: int
    sha256: NotRequired[str]


@dataclasses.dataclass(frozen=True)
class Manifest:
    """Content and origin of a folder of shards.

    Attributes:
        format: Version of the format.
        pairs: Number of pairs.
        counts: Numbers of pairs: "read", "kept", and dropped, by the name of the reason.
        tokenizers: SHA-256 of each tokenizer file, by its name.
        vocab_sizes: Numbers of ids, by the names of a recipe's fields.
        settings: The fields of `PreparationOptions`, and the columns.
        files: Lists of absolute paths of the text, by the name of the argument.
        shards: Of each shard its "name", its "pairs", the "ids" of both sides without end ids,
            and the "sha256" of its files.
        teacher_ids: Number of ids at each place of a target whose probabilities by the teachers
            are stored; 0 without teachers.

    Examples:
        >>> from kformer.training import prepare_shards
        >>> tokenizer = "runs/de-en/translator.keras"
        >>> manifest = prepare_shards("shards", "test.de", "test.en", tokenizer=tokenizer)
        >>> manifest.pairs, manifest.counts["duplicate"]
        (500, 0)
    """

    format: int
    pairs: int
    counts: dict[str, int]
    tokenizers: dict[str, str]
    vocab_sizes: dict[str, int | None]
    settings: dict
    files: dict[str, list[str]]
    shards: list[ShardEntry]
    teacher_ids: int = 0

    def __str__(self):
        dropped = {name: self.counts[name] for name in self.counts if name not in ("read", "kept")}
        reasons = ", ".join(
            f"{number:,} {name.replace('_', ' ')}" for name, number in dropped.items() if number
        )
        number = len(self.shards)
        ids = " and ".join(f"{size:,}" for size in self.vocab_sizes.values() if size)
        return (
            f"{self.counts['read']:,} pairs were read, {self.pairs:,} are in {number:,} "
            f"shard{'s' * (number > 1)}, with a vocabulary of {ids} ids. "
            f"Dropped: {reasons or 'none'}."
        )


def read_manifest(folder: str | Path) -> Manifest:
    """Reads the manifest of a folder."""
    path = Path(folder) / MANIFEST
    if not path.is_file():
        raise FileNotFoundError(
            "Shards are a folder that `kformer prepare` wrote, with a manifest. "
            f"Received: {str(folder)!r}, without {MANIFEST!r}."
        )
    content = read_json(path, _ManifestInFile, rule=_RULE)
    written, checksum = content["format"], content.pop(_CHECKSUM, None)
    if written > FORMAT:
        raise ValueError(
            "The shards were written by a newer kformer: update kformer. Received: "
            f"{str(path)!r}, of format {written}; this kformer reads {FORMAT}."
        )
    try:
        check_schema(content, Manifest)
        if checksum != (_digest(content) if written >= _FIRST_WITH_CHECKSUM else None):
            raise ValueError("its checksum is that of another manifest")
        for shard in content["shards"]:
            if Path(shard["name"]).name != shard["name"]:
                raise ValueError(f"a shard must lie beside it, and {shard['name']!r:.99} does not")
    except ValueError as error:
        raise ValueError(f"{_RULE} Received: {str(path)!r} ({error}).") from error
    return Manifest(**content)


def save_manifest(folder: Path, manifest: Manifest):
    """Writes the manifest of a folder, completely or not at all."""
    content = {**dataclasses.asdict(manifest), "format": FORMAT}
    write_json(folder / MANIFEST, {**content, _CHECKSUM: _digest(content)})


def _digest(content):
    """Returns the SHA-256 of the content of a manifest, however the file writes it."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
