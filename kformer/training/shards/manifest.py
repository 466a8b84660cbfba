"""The manifest of a folder of shards: what it holds, where it is from, and checksums."""

import dataclasses
import json
from pathlib import Path

FORMAT = 2
MANIFEST = "manifest.json"
TOKENIZERS = ("tokenizer.model", "target_tokenizer.model")  # The second only if it differs.


@dataclasses.dataclass(frozen=True)
class Manifest:
    """What a folder of shards holds.

    Attributes:
        format: Version of the format.
        pairs: Number of pairs.
        counts: Numbers of pairs: "read", "kept", and those dropped by the name of the reason.
        tokenizers: SHA-256 of each tokenizer file, by its name.
        vocab_sizes: Numbers of ids, by the names of a recipe's fields.
        settings: Those of `PreparationOptions`, and the columns.
        files: Lists of absolute paths of the text, by the name of the argument.
        shards: Of each shard its "name", its "pairs", the "ids" of both sides without end ids,
            and the "sha256" of its files.
        teacher_ids: Number of ids of which teachers say how likely they are, at each place of a
            target; 0 without teachers.
    """

    format: int
    pairs: int
    counts: dict[str, int]
    tokenizers: dict[str, str]
    vocab_sizes: dict[str, int]
    settings: dict
    files: dict[str, list[str]]
    shards: list[dict]
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
    """Reads the manifest of a folder.

    Raises:
        FileNotFoundError: There is no such folder, or it has no manifest.
        ValueError: The manifest is damaged, or of a newer version of kformer.
    """
    path = Path(folder) / MANIFEST
    if not path.is_file():
        raise FileNotFoundError(
            "Shards are a folder that `kformer prepare` wrote, with a manifest. "
            f"Received: {str(folder)!r}, without {MANIFEST!r}."
        )
    try:
        content = json.loads(path.read_text("utf-8"))
        written = content["format"]
        if written <= FORMAT:
            return Manifest(**content)
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(
            f"A manifest must be as `kformer prepare` writes it. Received: {str(path)!r}."
        ) from error
    raise ValueError(
        "The shards were written by a newer kformer: update kformer. Received: "
        f"{str(path)!r}, of format {written}; this kformer reads {FORMAT}."
    )
