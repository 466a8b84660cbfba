"""Opens folders of shards, and checks that they are whole and belong together."""

import functools
import hashlib
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kformer.files import check_file, sha256
from kformer.text.text_files import as_list
from kformer.training.data.directions import codes_of
from kformer.training.data.dropped_pairs import REASONS, DroppedPairs, PairFilter
from kformer.training.data.pairs import COLUMNS
from kformer.training.run.run_vocabularies import Vocabularies
from kformer.training.shards.manifest import TOKENIZERS, Manifest, read_manifest
from kformer.training.shards.shard_file import (
    TEACHERS,
    Shard,
    open_shard,
    paths_of,
    teachers_of,
)


class ShardSet(NamedTuple):
    """A folder of shards.

    Attributes:
        folder: Its path.
        manifest: `Manifest`.
        names: Names of the used shards: all, or the whole ones.
    """

    folder: Path
    manifest: Manifest
    names: list[str]

    def left_out(self) -> list[str]:
        """Returns the paths of the shards that are not used, without their endings."""
        names = [shard["name"] for shard in self.manifest.shards]
        return [str(self.folder / name) for name in names if name not in self.names]

    def is_swapped(self, direction: str, named: bool = True) -> bool:
        """Returns whether a direction reads the targets of the shards as its sources.

        Args:
            named: Whether the shards must name their languages; others are read as they are.
        """
        columns, codes = tuple(self.manifest.settings.get("columns", COLUMNS)), codes_of(direction)
        swapped = columns == codes[::-1]
        if not swapped and columns != codes and (named or columns != COLUMNS):
            raise ValueError(
                f"Shards of the direction {direction} must have these languages: prepare them with "
                f"--columns {','.join(codes)}. Received: {str(self.folder)!r}, with the columns "
                f"{' and '.join(columns)}."
            )
        self.check_swapped(swapped)
        return swapped

    def check_swapped(self, swapped: bool):
        """Raises ValueError if the sides are to be swapped and cannot be."""
        manifest = self.manifest
        if swapped and (len(manifest.tokenizers) > 1 or manifest.teacher_ids):
            raise ValueError(
                "Shards that are read in the other direction must have one vocabulary for both "
                f"sides, and no teachers. Received: {str(self.folder)!r}, with "
                f"{len(manifest.tokenizers)} vocabularies, teacher_ids={manifest.teacher_ids}."
            )

    def open(self) -> list[Shard]:
        """Opens the shards without reading their ids."""
        return [open_shard(self.folder, name) for name in self.names]


def shard_sets(
    folders: str | Path | Sequence[str | Path], skip_damaged: bool = False
) -> list[ShardSet]:
    """Reads the manifests of folders, and checks every file by its checksum.

    Args:
        skip_damaged: Whether to leave out shards that are missing or damaged, with a warning.
    """
    sets = []
    for folder in map(Path, as_list(folders)):
        manifest = read_manifest(folder)
        names = [
            shard["name"] for shard in manifest.shards if _is_whole(folder, shard, skip_damaged)
        ]
        if not names:
            raise ValueError(
                f"A shard must be left. Received: {str(folder)!r}, all of whose shards are damaged."
            )
        sets.append(ShardSet(folder, manifest, names))
    for shard_set in sets[1:]:
        if shard_set.manifest.tokenizers != sets[0].manifest.tokenizers:
            raise ValueError(
                "Folders of shards that are mixed must have the same tokenizer: prepare them with "
                f"--tokenizer. Received: {str(sets[0].folder)!r} and {str(shard_set.folder)!r}."
            )
        if shard_set.manifest.teacher_ids != sets[0].manifest.teacher_ids:
            raise ValueError(
                "Folders of shards that are mixed must have as many ids of teachers at each place. "
                f"Received: {str(sets[0].folder)!r} with {sets[0].manifest.teacher_ids} and "
                f"{str(shard_set.folder)!r} with {shard_set.manifest.teacher_ids}."
            )
    return sets


def _is_whole(folder, shard, skip_damaged):
    """Returns whether a shard is as it was written; only False if damage is to be skipped."""
    paths = paths_of(folder, shard["name"])
    if TEACHERS in shard["sha256"]:
        paths[TEACHERS] = teachers_of(folder, shard["name"])
    for kind, path in paths.items():
        damage = None
        if not path.is_file():
            damage = "is missing"
        elif _digest(path, path.stat().st_size, path.stat().st_mtime_ns) != shard["sha256"][kind]:
            damage = "is damaged: its checksum is not that of the manifest"
        if damage and not skip_damaged:
            raise ValueError(
                "Shards must be as `kformer prepare` wrote them; --skip-damaged "
                f"(`skip_damaged=True`) leaves out the others. Received: {str(path)!r}, which "
                f"{damage}."
            )
        if damage:
            warnings.warn(
                f"Shard {str(path)!r} {damage}. Its {shard['pairs']:,} pairs are left out.",
                stacklevel=2,
            )
            return False
    return True


@functools.cache
def _digest(path, *_state):
    """Returns the SHA-256 of a file; one that has not changed is read once per process."""
    return sha256(path)


def vocabularies_of(shards: ShardSet) -> Vocabularies:
    """Reads the vocabularies of a folder of shards."""
    digests, models = shards.manifest.tokenizers, {}
    for name in filter(digests.get, TOKENIZERS):
        check_file(shards.folder / name)
        models[name] = (shards.folder / name).read_bytes()
        if hashlib.sha256(models[name]).hexdigest() != digests[name]:
            raise ValueError(
                "The tokenizer of shards must be the one that made their ids. Received: "
                f"{str(shards.folder / name)!r}, whose checksum is not the manifest's."
            )
    source, target = TOKENIZERS
    return Vocabularies(models[source], models.get(target))


def check_shards_are_left(
    sets: Sequence[ShardSet], max_length: int, max_length_ratio: float | None = None
):
    """Raises ValueError if `PairFilter` of these limits drops all pairs; reads no ids."""
    groups = np.concatenate(
        [
            open_shard(shard_set.folder, name).groups
            for shard_set in sets
            for name in shard_set.names
        ]
    )
    reasons = PairFilter(max_length, max_length_ratio)(*(groups[:, :2] + 1).T)
    counts = np.bincount(reasons, groups[:, 2], len(REASONS)).astype(int)
    if not counts[0]:
        dropped = DroppedPairs(*counts.tolist())
        folders = [str(shard_set.folder) for shard_set in sets]
        raise ValueError(
            f"No pair is left to use: {dropped.too_long:,} are too long, "
            f"{dropped.unlike_lengths:,} are of unlike lengths. Received: max_length={max_length}, "
            f"max_length_ratio={max_length_ratio}, shards {folders}."
        )
