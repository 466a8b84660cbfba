"""What must be the same in every process that works on an output, so that its bytes are, too."""

import hashlib
from pathlib import Path

import kformer
from kformer.export.saved_model.versions import newest_version


def settings_of(model: Path, files: dict[str, Path | None], options: dict) -> dict:
    """Returns the settings of a translation, for `unfinished`: JSON.

    Args:
        model: Path of the model, of any form.
        files: Paths of the text and of other files that are read along with it, by option.
        options: All options that may change the output, by name.
    """
    contents = {name: path and _digest(path) for name, path in files.items()}
    return {
        "files": {"model": _digest_of_model(model), **contents},
        "options": {"kformer": kformer.__version__, **options},
    }


def check_same(settings: dict, earlier: dict, journal: Path):
    """Raises a ValueError that says what differs from earlier settings, if anything."""
    files = [
        f"another --{name}" if name != "model" else "another model"
        for name, _, _ in _differences(settings["files"], earlier["files"])
    ]
    options = [
        f"{name}={now} instead of {before}"
        for name, now, before in _differences(settings["options"], earlier["options"])
    ]
    if files or options:
        raise ValueError(
            "--resume needs the model, the text and the options with which the output began; or "
            "delete the journal to begin again. "
            f"Received: {', '.join(files + options)}; journal {str(journal)!r}."
        )


def _differences(now, before):
    """Yields name, value now and value before, where these differ."""
    for name in {**now, **before}:
        if now.get(name) != before.get(name):
            yield name, now.get(name), before.get(name)


def _digest_of_model(path):
    if path.is_file():
        return _digest(path)
    folder = newest_version(path)
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    contents = [f"{file.relative_to(folder)} {_digest(file)}\n" for file in files]
    return hashlib.sha256("".join(contents).encode()).hexdigest()


def _digest(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
