"""The folder of a training run, and the record in it of what was run."""

import json
from pathlib import Path

from kformer.files import replacing

RECORD = "run.json"  # Written when a run starts and again when it ends.
TRANSLATOR = "translator.keras"
HISTORY = "history.json"
PICTURE = "history.png"


def check_output(output, overwrite: bool):
    """Raises an error where a run in the folder `output` would destroy something.

    Raises:
        FileExistsError: The folder holds a run, or something else.
        ValueError: It holds a record that is not one of a run.
    """
    output = Path(output)
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return
    if not (output / RECORD).is_file():
        raise FileExistsError(
            "The output folder must be new or empty, or hold an earlier run. Received: "
            f"{str(output)!r}, which holds something else."
        )
    state = "a finished" if read_record(output).get("finished") else "an unfinished"
    if not overwrite:
        raise FileExistsError(
            "The output folder must be new or empty, or --overwrite (`overwrite=True`) be given. "
            f"Received: {str(output)!r}, which holds {state} run."
        )


def clear(folder):
    """Deletes what an earlier run left in `folder`, and nothing else."""
    for name in (RECORD, TRANSLATOR, HISTORY, PICTURE):
        (Path(folder) / name).unlink(missing_ok=True)


def read_record(folder) -> dict:
    """Returns what a run in `folder` recorded; nothing, if there is no record.

    Raises:
        ValueError: The record is not one of a run.
    """
    path = Path(folder) / RECORD
    if not path.is_file():
        return {}
    try:
        record = json.loads(path.read_text("utf-8"))
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise ValueError(f"The record of a run must be as `train` writes it. Received: {path}.")
    return record


def write_json(path, content):
    """Writes `content` as JSON that people can read, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")
