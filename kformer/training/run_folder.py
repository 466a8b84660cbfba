"""The folder of a training run, and the record in it of what was run."""

import json
from pathlib import Path

from kformer.files import replacing

RECORD = "run.json"  # Written when a run starts and again when it ends.


def check_output(output, overwrite: bool):
    """Raises FileExistsError where a run in the folder `output` would destroy something."""
    output = Path(output)
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return
    if not (output / RECORD).is_file():
        raise FileExistsError(
            "The output folder must be new or empty, or hold an earlier run. Received: "
            f"{str(output)!r}, which holds something else."
        )
    if not overwrite:
        state = "a finished" if read_record(output).get("finished") else "an unfinished"
        raise FileExistsError(
            "The output folder must be new or empty, or overwriting be asked for. Received: "
            f"{str(output)!r}, which holds {state} run."
        )


def read_record(folder) -> dict:
    """Returns what a run in `folder` recorded; nothing, if there is no record."""
    path = Path(folder) / RECORD
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


def write_json(path, content):
    """Writes `content` as JSON that people can read, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")
