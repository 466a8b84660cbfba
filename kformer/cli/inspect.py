"""`kformer inspect`: the content of a model, and the sizes that its exports would have.

Weights have the size of their precision. The size of the rest of a file was measured, for
translators of 1 to 4 layers, and classifiers and language models of 1 and 4 layers, with 400 to
8,000 ids.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import typer

import kformer
from kformer.cli.common_models import AnyModel
from kformer.cli.terminal.streams import quiet
from kformer.export.loading import saved_form
from kformer.export.saved_model.serving_files import newest_version, read_report
from kformer.export.tflite.tflite_report import report_path
from kformer.inference.search_options import EXTRA_LENGTH
from kformer.inference.zero_shot import zero_shot_directions
from kformer.json_files import read_json
from kformer.kinds import EXPORTED, TRANSLATOR, Kind, known_kind
from kformer.pocket.metadata import kind_in, read_metadata
from kformer.training.run.run_config import read_run_config

if TYPE_CHECKING:  # The command line imports this module, also for --help.
    from kformer.tasks.parts import NetworkPart

# Of a weight in a table of vectors, and of another.
_BYTES = {
    "float32": (4, 4),
    "float16": (2, 2),
    "int8": (1, 1),
    "int4": (1, 0.5),
    "int4-all": (0.5, 0.5),
}


def export_sizes(
    kind: Kind, stacks: Iterable, parts: "Iterable[NetworkPart]"
) -> Iterator[tuple[str, str]]:
    """Yields the forms in which a model can be exported, and their sizes in words."""
    if kind not in EXPORTED:
        return
    stacks, parts = [*stacks], [*parts]
    parameters = sum(part.parameters for part in parts)
    in_tables = sum(part.parameters for part in parts if part.name.endswith("embedding"))
    ids = in_tables // stacks[0].d_model
    layers = sum(stack.num_layers for stack in stacks)

    def beside(per_model, per_layer, per_id):
        return per_model + per_layer * layers + per_id * ids

    sizes = []
    for precision, (table_bytes, other_bytes) in _BYTES.items():
        weights = table_bytes * in_tables + other_bytes * (parameters - in_tables)
        sizes.append(f"{precision} {(weights + beside(*kind.tflite_bytes)) / 1e6:.1f}")
    yield ".tflite", f"{', '.join(sizes)} MB"
    yield "SavedModel", f"{(4 * parameters + beside(*kind.saved_model_bytes)) / 1e6:.1f} MB"


_MB = 1e6


def inspect(model: AnyModel):
    """Describe a model: sizes, parameters, limits, ids, its training and its exports."""
    describe = {
        "keras": _keras,
        "saved_model": _saved_model,
        "tflite": _tflite,
        "ctranslate2": _ctranslate2,
    }
    for name, value in describe.get(saved_form(model), _any_form)(model):
        typer.echo(f"{name:<12}{value}".rstrip())


def _keras(path):
    """Yields names and values about a `.keras` file, and about the run beside it."""
    with quiet():
        from kformer.tasks.parts import parts_of, stacks_of

        model = kformer.load(path)
        parts, stacks = parts_of(model.network), stacks_of(model.network)
    kind = known_kind(model)
    yield "model", f"{kind.words}, {path}, {_megabytes(path.stat().st_size)}"
    yield from _layers(stacks)
    yield from _texts(model)
    yield from _table(parts)
    yield from _run(path.parent)
    for name, size in export_sizes(kind, stacks.values(), parts):
        yield name, f"about {size}"


def _any_form(path):
    """Yields names and values about a model of whatever form."""
    with quiet():
        model = kformer.load(path)
    yield "model", f"{known_kind(model).words}, {path}"
    facts = model.facts
    yield from _about({**facts.about, "target_languages": facts.target_languages})


def _layers(stacks):
    """Yields the sizes of each stack of layers."""
    for name, stack in stacks.items():
        norm = "normalization before" if stack.norm_first else "normalization after"
        yield (
            name,
            f"{stack.num_layers} layer{'s' * (stack.num_layers > 1)} of {stack.num_heads} heads; "
            f"d_model {stack.d_model}, d_ff {stack.d_ff}, "
            f"{stack.activation}, dropout {stack.dropout}, {norm} each sub-layer"
            + (", SSRU instead of self-attention" if _has_ssru(stack) else ""),
        )


def _has_ssru(stack):
    return getattr(stack, "decoder_cell", None) == "ssru"


def _texts(model):
    """Yields vocabularies, ids, limits, labels and the head that aligns words."""
    target = getattr(model, "target_tokenizer", model.tokenizer)
    sides = {"ids": model.tokenizer}
    if target is not model.tokenizer:
        sides = {"source ids": model.tokenizer, "target ids": target}
    for name, tokenizer in sides.items():
        yield (
            name,
            f"{tokenizer.vocab_size:,}; padding {tokenizer.padding_id}, unknown "
            f"{tokenizer.unknown_id}, start {tokenizer.start_id}, end {tokenizer.end_id}",
        )
    if hasattr(model, "alignment_head"):
        most = model.max_source_length
        yield "limits", f"{most} ids of a source, {most + EXTRA_LENGTH} of a translation"
        head = model.alignment_head
        yield "alignment", head or "the last layer's mean of heads; `kformer align --choose`"
    elif hasattr(model, "max_length"):
        yield "limits", f"{model.max_length} ids of a prompt and its continuation"
    else:
        yield "limits", f"{model.max_source_length} ids of a text"
    if getattr(model, "search_defaults", None):
        yield "search", f"by default {_options(model.search_defaults)}"
    if hasattr(model, "quality_estimate"):
        estimate = model.quality_estimate
        unsure = estimate and f"unsure below a chrF of {100 * estimate.threshold:.1f}"
        yield "quality", unsure or "no estimate; `kformer calibrate`"
    if hasattr(model, "labels"):
        yield "labels", ", ".join(model.labels)
    if hasattr(model, "about"):
        yield from _about({**model.about, "target_languages": model.target_languages})


def _about(metadata):
    """Yields the languages, the scores, the licence and the citation of a model."""
    if metadata.get("target_languages"):
        yield "into", f"one of {', '.join(metadata['target_languages'])}"
    sides = [metadata.get(f"{side}_language", "?") for side in ("source", "target")]
    if sides != ["?", "?"]:
        yield "languages", " -> ".join(sides)
    elif metadata.get("languages"):
        yield "languages", ", ".join(metadata["languages"])
    if directions := metadata.get("directions"):
        untrained = zero_shot_directions(directions)
        rest = f"; without training text (zero-shot): {', '.join(untrained)}" if untrained else ""
        yield "directions", f"{', '.join(directions)}{rest}"
    for name in ("scores", "licence", "citation"):
        if metadata.get(name):
            yield name, " ".join(metadata[name].split())


def _table(parts):
    """Yields the rows of a table of parameters."""
    width = max(len(part.name) for part in parts)
    yield "", ""
    yield "parameters", f"{'':<{width}}{'number':>13}{'MB':>9}  matrices"
    for part in parts:
        yield (
            "",
            f"{part.name:<{width}}{part.parameters:>13,}{part.bytes / _MB:>9.2f}  {part.shapes}",
        )
    number, size = (sum(getattr(part, name) for part in parts) for name in ("parameters", "bytes"))
    yield "", f"{'all':<{width}}{number:>13,}{size / _MB:>9.2f}"
    yield "", ""


def _run(folder):
    """Yields the recipe and the best scores of the run in a folder, if there is one."""
    from kformer.training.run.training_facts import best_scores

    config = read_run_config(folder)
    if "recipe" not in config:
        return
    recipe = config["recipe"]
    finished = "" if config.get("finished") else ", unfinished"
    yield (
        "training",
        f"{recipe['epochs']} epochs of {recipe['tokens_per_batch']:,} tokens a batch, "
        f"{recipe['precision']}, seed {recipe['seed']}{finished}",
    )
    for name, files in config.get("files", {}).items():
        if files:
            yield "", f"{name.replace('_', '-')}: {', '.join(files)}"
    if best := best_scores(folder):
        epoch = best.pop("epoch")
        scores = ", ".join(f"{name} {value:.4g}" for name, value in best.items())
        yield "scores", f"{scores}, after epoch {epoch}"


def _saved_model(path):
    """Yields names and values of the report in a SavedModel."""
    version = newest_version(path)
    report = read_report(version)
    kind = report.get("kind", TRANSLATOR.name).replace("_", " ")
    yield "model", f"{kind}, SavedModel {version}"
    sizes = report.get("bytes", {})
    if sizes:
        yield (
            "size",
            f"{_megabytes(sizes['all'])}: weights {_megabytes(sizes['weights'])}, graph "
            f"{_megabytes(sizes['graph'])}",
        )
    yield from _about(report)
    yield from _search(report)
    limits = (
        ("max_source_length", "{:,} ids of a text"),
        ("max_target_length", "{:,} of an answer"),
        ("max_texts", "{:,} texts of a request"),
        ("max_batch_tokens", "{:,} ids of a request"),
    )
    yield "limits", ", ".join(words.format(report[key]) for key, words in limits if key in report)
    for name, signature in report.get("signatures", {}).items():
        yield (
            "signature",
            f"{name}: {_tensors(signature['inputs'])} -> {_tensors(signature['outputs'])}",
        )
    yield from _written(report)
    yield from _checked(report.get("checked") or {})


def _ctranslate2(path):
    """Yields names and values of the description in a folder of CTranslate2."""
    model = kformer.load(path)
    about, options = model.about, model.options
    yield "model", f"{TRANSLATOR.words}, folder of CTranslate2 {path}"
    yield "size", _megabytes(sum(file.stat().st_size for file in path.iterdir()))
    yield from _about(about)
    if "max_source_length" in about:
        yield "limits", f"{about['max_source_length']:,} ids of a text"
    search = {"beam_size": options.beam_size, "length_penalty": options.length_penalty}
    yield from _search({**search, "search": options.changed})


def _size(size):
    return "B" if size is None else str(size)


def _tensors(described):
    return ", ".join(
        f"{name} {tensor['dtype']} ({', '.join(map(_size, tensor['shape']))})"
        for name, tensor in described.items()
    )


def _tflite(path):
    """Yields names and values of the metadata of a `.tflite` file, and of the report beside it."""
    metadata = read_metadata(path)
    report = _report_beside(path)
    precision = f", {metadata['precision']}" if "precision" in metadata else ""
    kind = kind_in(metadata).words
    yield "model", f"{kind}, {path}, {_megabytes(path.stat().st_size)}{precision}"
    yield from _about(metadata)
    sizes = ("num_layers", "num_decoder_layers", "d_model", "num_heads", "d_ff", "activation")
    sizes += ("decoder_cell",)
    parts = [f"{name} {metadata[name]}" for name in sizes if metadata.get(name)]
    if parts:
        yield "network", ", ".join(parts)
    if "parameters" in metadata:
        yield "parameters", f"{metadata['parameters']:,}"
    for side in ("source", "target", ""):
        key = f"{side}_vocab_size".lstrip("_")
        if key in metadata:
            yield f"{side} ids".lstrip(), _ids(metadata, side)
    yield from _search(metadata)
    limits = (
        ("max_source_length", "{:,} ids of a text"),
        ("max_source_bytes", "{:,} bytes of it"),
        ("max_target_length", "{:,} ids of an answer"),
    )
    yield (
        "limits",
        ", ".join(words.format(metadata[key]) for key, words in limits if key in metadata),
    )
    if "labels" in metadata:
        yield "labels", ", ".join(metadata["labels"])
    yield "signatures", ", ".join(metadata.get("signatures", []))
    yield from _written(metadata)
    yield from _checked(report)


def _ids(metadata, side):
    special = {
        name: metadata.get(f"target_{name}_id" if side == "target" else f"{name}_id")
        for name in ("padding", "unknown", "start", "end")
    }
    ids = ", ".join(f"{name} {i}" for name, i in special.items() if i is not None)
    return f"{metadata[f'{side}_vocab_size'.lstrip('_')]:,}; {ids}"


def _report_beside(path):
    try:
        return read_json(report_path(path), rule="")
    except (OSError, ValueError):
        return {}


def _search(metadata):
    if "beam_size" in metadata:
        words = "greedy"
        if metadata["beam_size"] > 1:
            words = f"{metadata['beam_size']} beams, length penalty {metadata['length_penalty']}"
        options = {**metadata.get("search", {})}
        for name in ("beam_size", "length_penalty"):
            options.pop(name, None)
        yield "search", ", ".join(filter(None, [words, _options(options)]))


def _options(options):
    """Returns options of a search in words, named as on the command line."""
    return ", ".join(f"{name.replace('_', '-')} {value}" for name, value in options.items())


def _written(metadata):
    if "kformer" in metadata:
        beside = f", TensorFlow {metadata['tensorflow']}" if "tensorflow" in metadata else ""
        yield "written by", f"kformer {metadata['kformer']}{beside}"


def _checked(report):
    """Yields the measurements of a model's export."""
    equal = report.get("equal_to_python", report.get("equal"))
    if equal is None:
        return
    yield "checked", f"{equal:,} of {report['sentences']:,} texts answered as in Python"
    for name, digits in (("bleu", ".2f"), ("accuracy", ".4f")):
        if report.get(name) is not None:
            yield "", f"{name} {report[name]:{digits}}"


def _megabytes(size):
    return f"{size / _MB:.2f} MB"
