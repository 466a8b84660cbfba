"""The versions of a model in a folder, and their reports, read without TensorFlow."""

from pathlib import Path

from kformer.json_files import read_json

_GRAPH = "saved_model.pb"
NEWEST = "versions.json"  # Beside the versions: the highest number that was ever given.
REPORT = "assets.extra/kformer.json"  # In the folder of a version.


def newest_version(path) -> Path:
    """Returns the SavedModel folder at `path`: itself, or its subfolder of the highest number.

    Raises:
        ValueError: There is none.
    """
    path = Path(path)
    if (path / _GRAPH).is_file():
        return path
    versions = versions_in(path)
    if not versions:
        raise ValueError(
            "A SavedModel folder holds saved_model.pb, or numbered versions. "
            f"Received: path={str(path)!r}."
        )
    return path / str(max(versions))


def holds_saved_model(path) -> bool:
    """Returns whether `newest_version` finds one."""
    return (Path(path) / _GRAPH).is_file() or bool(versions_in(Path(path)))


def versions_in(folder) -> list[int]:
    """Returns the numbers of the versions in the folder of all versions, if there is one."""
    if not folder.is_dir():
        return []
    return [int(child.name) for child in folder.iterdir() if child.name.isdecimal()]


def next_version(folder) -> int:
    """Returns a number that no version in the folder has or had.

    A server, or who reads its metrics, would take a new version for the one that was deleted.
    """
    try:
        newest = read_json(folder / NEWEST, dict[str, int], rule="").get("newest", 0)
    except (OSError, ValueError):
        newest = 0
    return 1 + max((*versions_in(folder), newest), default=0)


def read_report(version) -> dict:
    """Returns the export report in the folder of a version; {} if there is none."""
    try:
        return read_json(Path(version) / REPORT, rule="")
    except (OSError, ValueError):
        return {}
