"""The folder of a served model: its versions, their reports, the server's settings, a README.

A server loads only folders with numeric names, and ignores other files. Versions and reports are
read without TensorFlow.
"""

import json
import re
import shlex
import tomllib
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import kformer
from kformer.files import Publication, check_writable
from kformer.json_files import read_json

MARK = "Written by kformer export, which rewrites it; without this line it stays as it is."
NAMES = (
    "models.config",
    "batching.config",
    "monitoring.config",
    "compose.yaml",
    "kubernetes.yaml",
    "README.md",
)
_README = "folder_readme.md"  # The template of README.md, which is no guide of this package.
IMAGE_TAG = "2.20.0"  # Of tensorflow/serving: the newest release when this was written.
CORES = 2  # Of the server in compose.yaml, and threads in batching.config.
THREADS = 256  # For each protocol: a request that waits for its batch keeps one.
_GIB = 2**30
_SHOWN = 4  # Numbers shown of a long list in the README.


def write_serving_files(
    publication: Publication, folder: str | Path, settings: Any, about: Any, answers: Any
):
    """Writes settings and README of the newest version into the folder of all versions.

    A file without the line `MARK` was edited by the user and stays.

    Args:
        settings: dict with the version's `version`, `kind`, `xla`, `max_source_length`,
            `max_texts`, `max_batch_tokens`, `max_batch_characters`, `batch_sizes` and `bytes`, the
            size of its files; for a translator, `max_target_length`.
        answers: list of (`warmup.Request`, dict output -> list), for the README.
    """
    folder = Path(folder)
    values = _values(settings, about, answers)
    for name in NAMES:
        path = folder / name
        if path.exists() and MARK not in path.read_text("utf-8", errors="replace"):
            continue
        text = _filled(name, values)
        with publication.writing(path) as temporary:
            temporary.write_text(text, "utf-8")


def check_serving_folder(folder: str | Path):
    """Raises an `OSError` unless versions and settings can be written into `folder`."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(
            f"A SavedModel is a folder. Received: {str(folder)!r}, which is a file."
        )
    for name in NAMES:
        check_writable(folder / name)


def _filled(name, values):
    """Returns the text of a template."""
    templates = resources.files("kformer.export.saved_model")
    name = _README if name == "README.md" else name
    return Template((templates / name).read_text("utf-8")).substitute(values)


def _values(settings, about, answers):
    import tensorflow as tf  # The command line calls only the checks at first.

    xla, name = settings["xla"], settings["kind"]
    sizes = settings["batch_sizes"]
    at, flags = f"/models/{name}", _flags(xla)
    in_container = [f"--model_config_file={at}/models.config", *(flag.format(at) for flag in flags)]
    in_container[1:1] = [
        "--model_config_file_poll_wait_seconds=60",
        "--allow_version_labels_for_unavailable_models=true",
    ]
    words = tomllib.loads(_filled(f"{name}.toml", settings))
    abouts = {**words.pop("signatures"), **_ABOUT}
    return {
        "mark": MARK,
        "name": name,
        "version": settings["version"],
        "kformer": kformer.__version__,
        "tensorflow": tf.__version__,
        "image": f"tensorflow/serving:{IMAGE_TAG}",
        "cores": CORES,
        "threads": THREADS,
        "memory": _memory(settings["bytes"]),
        "resource": name.replace("_", "-"),  # Names of Kubernetes have no underscore.
        "start_period": 10 if xla else 2,
        "start_failures": 120 if xla else 24,  # Of a probe every 5 seconds.
        "about": about,
        "xla": _ABOUT_XLA.format(words["compiled"]) if xla else "",
        "flags": _listed(in_container, "      "),
        "pod_flags": _listed(in_container, "            "),
        "run_flags": _continued(in_container),
        "plain_flags": _continued([flag.format('"$PWD"') for flag in flags]),
        "max_texts": f"{settings['max_texts']:,}",
        "max_batch_size": sizes[-1],
        "max_batch_tokens": f"{settings['max_batch_tokens']:,}",
        "max_batch_characters": f"{settings['max_batch_characters']:,}",
        "allowed_batch_sizes": "\n".join(f"allowed_batch_sizes: {size}" for size in sizes),
        **words,
        "requests": "\n".join(
            _shown(name, abouts[request.signature], request, answer)
            for request, answer in answers
            if request.signature in abouts
        ),
    }


def _memory(size):
    """Returns the memory limit in compose.yaml and kubernetes.yaml, in whole GiB.

    An estimate: 2 GiB for the process and its batches, and two copies of the weights of both
    versions while the server switches between them.
    """
    return 2 - (-4 * size // _GIB)


_ABOUT_XLA = """XLA compiles {} for each new shape of a batch, which takes seconds.
The warm-up requests have all shapes, so the server needs some minutes to start. It must be started
with `--xla_cpu_compilation_enabled`, as above; otherwise requests fail.

"""


def _flags(xla):
    """Returns the server's flags except the model's; {} stands for the folder's path."""
    flags = [
        "--enable_batching=true",
        "--batching_parameters_file={}/batching.config",
        "--monitoring_config_file={}/monitoring.config",
        "--tensorflow_intra_op_parallelism=1",
        f"--tensorflow_inter_op_parallelism={CORES}",
        f"--rest_api_num_threads={THREADS}",
        f"--grpc_max_threads={THREADS}",
        "--enable_profiler=false",
    ]
    return [*flags, "--xla_cpu_compilation_enabled=true"] if xla else flags


def _listed(flags, indent):
    return "\n".join(f"{indent}- {flag}" for flag in flags)


def _continued(flags):
    return " \\\n".join(f"        {flag}" for flag in flags)


_ABOUT = {  # The signatures of every model.
    "encode": "A vector for comparing texts: the mean of the encoder's output over all pieces:",
    "tokenize": "The ids of the text, the end id, and then padding:",
}


def _shown(model, about, request, answer):
    """Returns a request to `model`, its name, and the response in Markdown."""
    signature = {"signature_name": request.signature}
    if request.signature == "serving_default":
        signature = {}
    if len(request.inputs) > 1:
        body = {**signature, "inputs": request.inputs}
        response = {"outputs": answer}
    else:
        [texts] = request.inputs.values()
        body = {**signature, "instances": texts}
        rows = [dict(zip(answer, row, strict=True)) for row in zip(*answer.values(), strict=True)]
        response = {"predictions": rows}
    data = shlex.quote(json.dumps(body, ensure_ascii=False))
    return (
        f"{about}\n\n"
        f"    curl http://localhost:8501/v1/models/{model}:predict -d {data}\n\n"
        f"    {_shortened(json.dumps(response, ensure_ascii=False))}\n"
    )


def _shortened(text):
    """Shortens long lists of numbers."""
    number = r"-?[\d.]+(?:e-?\d+)?"
    long_list = rf"\[((?:{number}, ){{{_SHOWN}}})(?:{number}, ){{{_SHOWN},}}{number}\]"
    return re.sub(long_list, r"[\1...]", text)


_GRAPH = "saved_model.pb"
NEWEST = "versions.json"  # Beside the versions: the highest number that was ever given.
REPORT = "assets.extra/kformer.json"  # In the folder of a version.


def newest_version(path: str | Path) -> Path:
    """Returns the SavedModel folder at `path`: itself, or its subfolder of the highest number."""
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


def holds_saved_model(path: str | Path) -> bool:
    """Returns whether `newest_version` finds one."""
    return (Path(path) / _GRAPH).is_file() or bool(versions_in(Path(path)))


def versions_in(folder: Path) -> list[int]:
    """Returns the numbers of the versions in the folder of all versions, if there is one."""
    if not folder.is_dir():
        return []
    return [int(child.name) for child in folder.iterdir() if child.name.isdecimal()]


def next_version(folder: Path) -> int:
    """Returns a number that no version in the folder has or had.

    A server, or who reads its metrics, would take a new version for the one that was deleted.
    """
    try:
        newest = read_json(folder / NEWEST, dict[str, int], rule="").get("newest", 0)
    except (OSError, ValueError):
        newest = 0
    return 1 + max((*versions_in(folder), newest), default=0)


def read_report(version: Path) -> dict:
    """Returns the export report in the folder of a version; {} if there is none."""
    try:
        return read_json(Path(version) / REPORT, rule="")
    except (OSError, ValueError):
        return {}
