"""The SavedModel, from strings to answers with the tokenizer in the graph, and its report.

It needs only operations that are built into TensorFlow Serving. The export report in it describes
its content and its checks.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import tensorflow as tf

import kformer
from kformer.export.model_card import CARD, model_card, size_facts
from kformer.export.saved_model.served_model import as_lists
from kformer.export.saved_model.serving_files import (
    NEWEST,
    REPORT,
    check_serving_folder,
    next_version,
    write_serving_files,
)
from kformer.export.saved_model.serving_signatures import (
    CHUNK_IDS,
    MAX_TEXTS,
    input_names,
    input_specs,
)
from kformer.export.saved_model.warmup import (
    BatchLimits,
    Request,
    batch_limits,
    requests,
    write_warmup,
)
from kformer.files import Publication, json_text, part_of
from kformer.kinds import known_kind
from kformer.near_names import with_near_names
from kformer.tasks.language_model import LanguageModel
from kformer.tasks.search_defaults import export_options
from kformer.tasks.text_classifier import TextClassifier
from kformer.tasks.translator import Translator

FORMAT = 1


def write_report(
    version: Any, functions: Any, settings: Any, warmup_requests: Any, checked: Any = None
):
    """Writes `kformer.json` and the model card in `assets.extra` in the folder of a version.

    Args:
        checked: dict of the check's results, or None.
    """
    version = Path(version)
    report = {
        "format": FORMAT,
        "kformer": kformer.__version__,
        "tensorflow": tf.__version__,
        **settings,
        "signatures": {name: _described(function) for name, function in functions.items()},
        "warmup_requests": warmup_requests,
        "bytes": sizes(version),
        "checked": checked,
    }
    path = version / REPORT
    path.parent.mkdir(exist_ok=True)  # The report is written again after the check.
    path.write_text(json_text(report), "utf-8")
    card = model_card("SavedModel", report, report.get("training"))
    path.with_name(CARD).write_text(card, "utf-8")


def _described(function):
    return {
        "inputs": {spec.name: _kind(spec) for spec in input_specs(function)},
        "outputs": {name: _kind(tensor) for name, tensor in function.structured_outputs.items()},
    }


def _kind(tensor):
    return {"dtype": tensor.dtype.name, "shape": tensor.shape.as_list()}


def sizes(folder: Path) -> dict[str, int]:
    """Returns the bytes of graph and tokenizers, of the weights, and of all but report and card."""
    parts_bytes = {"graph": 0, "weights": 0}
    parts = {"saved_model.pb": "graph", "variables": "weights"}
    total = 0
    for file in folder.rglob("*"):
        if file.is_file() and file not in (folder / REPORT, (folder / REPORT).with_name(CARD)):
            size = file.stat().st_size
            total += size
            part = parts.get(file.relative_to(folder).parts[0])
            if part:
                parts_bytes[part] += size
    return {**parts_bytes, "all": total}


@with_near_names
def export_saved_model(
    model: Translator | TextClassifier | LanguageModel,
    folder: str | Path,
    beam_size: int | None = None,
    length_penalty: float | None = None,
    check: Callable[[Path], dict | None] | None = None,
    xla: bool = False,
    examples: Iterable[str] | None = None,
    max_batch_tokens: int | None = None,
    publication: Publication | None = None,
    training: Mapping[str, Any] | None = None,
) -> Path:
    """Writes the next version of a model for TensorFlow Serving, and the files to serve it.

    For a translator, the signature `serving_default` takes `text`, string (B,), and returns
    `translation`, string (B,); `score`, float32 (B,), defined by `kformer.Greedy` and
    `kformer.Beam`; `truncated`, bool (B,), True if the text had more than `model.max_source_length`
    ids and was cut; and `flags`, string (B,), all problems, usually "". Others are `beam` and
    `score`.

    Of a classifier, `serving_default`, also named `classify`, takes `text`, string (B,), and
    returns `label`, string (B,); `probabilities`, float32 (B, C), in the order of `labels`, string
    (B, C); and `flags`.

    Of a language model, `serving_default` takes `text`, string (B,), the prompts, and returns
    `generation`, string (B,), each prompt with its continuation; `score`, float32 (B,); and
    `flags`. Others are `beam` and `score`.

    All kinds have the signatures `encode` and `tokenize`.

    The version's `assets.extra` holds warm-up requests, `kformer.json`, the export report, and
    `MODEL_CARD.md`, the same in words.
    Settings for the server and a README with real requests and responses lie beside the versions;
    each export rewrites them, unless their first line was removed.

    Args:
        model: `kformer.Translator`, `kformer.TextClassifier`, `kformer.TextTagger` or
            `kformer.LanguageModel`.
        folder: The folder of all versions; this one becomes `folder/1`, or the next number that
            none has or had.
        beam_size, length_penalty: As for `kformer.Translator.translate`. All other options of the
            search are the model's own, `kformer.Translator.search_defaults`. The signature `beam`
            returns `beam_size` answers per text, or 4 if that is 1. A classifier has no search.
        check: Called with the path of the complete SavedModel before it is renamed; if it raises,
            no server ever sees the version. A dict that it returns is added to the report.
        xla: Whether to compile the search, or the classifier, for a server that is started with
            `--xla_cpu_compilation_enabled`; any other fails on requests. Compiling a new shape
            takes seconds (`kformer.export.saved_model.graph_search`).
        examples: Sentences for the warm-up requests and the README; by default words of the
            vocabulary.
        max_batch_tokens: Maximum number of ids in all texts of a request; by default as many as 64
            of the longest texts have and their targets. `batching.config` keeps merged batches
            within it.
        publication: `kformer.files.Publication` that the version is part of; if None, its own.
        training: Facts about the training run for report and card, as
            `kformer.training.training_facts` returns them.

    Returns:
        `Path` of the new version.

    Raises:
        TypeError, ValueError: An argument is wrong.

    Examples:
        >>> import kformer
        >>> from kformer.export import export_saved_model
        >>> export_saved_model(kformer.load("runs/de-en"), "served/mine").name  # Its version.
        '1'
        >>> kformer.load("served/mine").translate("Ein Hund läuft.")
        'A dog runs.'
    """
    options = export_options(model, beam_size, length_penalty)
    kind = known_kind(model)
    export = kind.part("saved_model")(model, options)
    folder = Path(folder)
    check_serving_folder(folder)
    limits = batch_limits(model.max_source_length, max_batch_tokens, xla, kind.has_target)
    version = next_version(folder)
    examples = export.examples(examples)
    module = _Serving(model, export, limits, xla)
    settings = {
        "version": version,
        "kind": kind.name,
        **export.settings,
        **size_facts(model),
        "xla": xla,
        "max_source_length": model.max_source_length,
        "max_texts": MAX_TEXTS,
        "max_batch_tokens": limits.tokens,
        "max_batch_characters": limits.characters,
        "batch_sizes": limits.batch_sizes,
        **({"training": training} if training else {}),
    }
    with part_of(publication) as together:
        with together.writing(folder / str(version)) as temporary:
            _write_version(temporary, module, settings, examples, limits.batch_size, check)
        settings["bytes"] = sizes(temporary)["all"]
        answers = _answers(module.functions, examples)
        with together.writing(folder / NEWEST) as temporary:
            temporary.write_text(json_text({"newest": version}), "utf-8")
        write_serving_files(together, folder, settings, export.about, answers)
    return folder / str(version)


def _write_version(folder, module, settings, examples, batch_size, check):
    """Writes the SavedModel of a version, its warm-up requests and its report."""
    tf.saved_model.save(module, str(folder), dict(module.functions))
    inputs = {name: input_names(function) for name, function in module.functions.items()}
    longest, xla = settings["max_source_length"], settings["xla"]
    warmup_requests = requests(inputs, examples, longest, CHUNK_IDS, xla, batch_size)
    number = write_warmup(folder, warmup_requests, settings["kind"])
    write_report(folder, module.functions, settings, number)
    if check:  # It reads the limits in the report, to which its results are then added.
        write_report(folder, module.functions, settings, number, check(folder))


class _Serving(tf.Module):
    """The tokenizers and variables to save, without a Keras object.

    A SavedModel with a Keras object loads in Python, but fails in a server.
    """

    def __init__(
        self,
        model: Translator | TextClassifier | LanguageModel,
        export: Any,
        limits: BatchLimits,
        xla: bool,
    ):
        super().__init__()
        network = model.network.copy()
        self.weights = [variable.value for variable in network.variables]
        self.tokenizers = [tokenizer.in_graph for tokenizer in export.tokenizers]
        self.functions = export.signatures(network, limits, xla).functions()


def _answers(functions, examples):
    """Returns pairs of an example `Request` and its response, a dict of lists."""
    answers = []
    for signature, function in functions.items():
        request = {name: examples[name].sentences[:1] for name in input_names(function)}
        outputs = function(**{name: tf.constant(texts) for name, texts in request.items()})
        answer = {name: as_lists(tensor) for name, tensor in outputs.items()}
        answers.append((Request(signature, request), answer))
    return answers
