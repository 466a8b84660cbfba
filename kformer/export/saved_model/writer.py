"""The SavedModel: strings in, strings out, tokenizer and decode loop in the graph.

TensorFlow Serving loads it with nothing but the ops that it has built in.
"""

from pathlib import Path

import tensorflow as tf

from kformer.decoding.options import EXTRA_LENGTH, SearchOptions
from kformer.export.saved_model.batch_limits import MAX_TEXTS, batch_limits
from kformer.export.saved_model.report import sizes, write_receipt
from kformer.export.saved_model.served_translator import versions_in
from kformer.export.saved_model.serving_files import check_serving_folder, write_serving_files
from kformer.export.saved_model.signatures import PIECE_IDS, Signatures, input_names
from kformer.export.saved_model.warmup import Request, examples_of, requests, write_warmup
from kformer.files import part_of


def export_saved_model(
    translator,
    folder,
    beam_size: int = 1,
    length_penalty: float = 0.6,
    check=None,
    xla: bool = False,
    examples=None,
    max_batch_tokens: int | None = None,
    publication=None,
) -> Path:
    """Writes the next version of a model that a server mounts, and how to serve it.

    Its signature `serving_default` takes `text`, string (B,), and gives `translation`, string
    (B,); `score`, float32 (B,), see `kformer.Greedy` and `kformer.Beam`; `truncated`, bool (B,),
    True where the text had more than `translator.max_source_length` ids and only its beginning
    was translated; and `flags`, string (B,), what else is wrong, nothing most of the time. The
    others are `beam`, `score`, `encode` and `tokenize`: see `signatures`.

    In the version's `assets.extra` are warm-up requests and `kformer.json`, a report of the
    export. Beside the versions lie settings for the server, and a README with real requests and
    responses; each export writes them anew, unless somebody has made them his own.

    Args:
        translator: `kformer.Translator`.
        folder: The folder of all versions; this one becomes `folder/1`, or the next free number.
        beam_size, length_penalty: See `kformer.Translator.translate`. The signature `beam` has
            `beam_size` translations a text, or 4 if that is 1.
        check: Called with the path of the SavedModel before it gets its name; what it raises
            keeps a server from ever seeing it. If it returns a dict, that goes into the report.
        xla: Whether the decode loops are to be compiled: for a server that was started with
            `--xla_cpu_compilation_enabled`; any other will refuse requests. See
            `kformer.export.saved_model.compiled`: each new shape takes seconds, once.
        examples: Sentences for the warm-up requests and the README; None for words of the
            vocabulary.
        max_batch_tokens: The most ids, in all texts together, of a request that is answered; by
            default as many as 64 of the longest sources and targets have. The batches that
            `batching.config` has the server merge are so small that they are never over it.
        publication: `kformer.files.Publication` with whose files this appears; alone if None.

    Returns:
        `Path` of the version written.

    Raises:
        ValueError: An argument is wrong.
    """
    SearchOptions(beam_size, length_penalty)  # Checks them.
    folder = Path(folder)
    check_serving_folder(folder)
    limits = batch_limits(translator.max_source_length, max_batch_tokens, xla)
    version = max(versions_in(folder), default=0) + 1
    examples = examples_of(translator, examples)
    module = _Serving(translator, beam_size, length_penalty, limits, xla)
    settings = {
        "version": version,
        "beam_size": beam_size,
        "length_penalty": length_penalty,
        "n_best": module.n_best,
        "xla": xla,
        "max_source_length": translator.max_source_length,
        "max_target_length": translator.max_source_length + EXTRA_LENGTH,
        "max_texts": MAX_TEXTS,
        "max_batch_tokens": limits.tokens,
        "max_batch_characters": limits.characters,
        "batch_sizes": limits.batch_sizes,
    }
    with part_of(publication) as together:
        with together.writing(folder / str(version)) as temporary:
            tf.saved_model.save(module, str(temporary), dict(module.functions))
            inputs = {name: input_names(function) for name, function in module.functions.items()}
            longest, most = translator.max_source_length, limits.batch_size
            found = requests(inputs, examples, longest, PIECE_IDS, xla, most)
            number = write_warmup(temporary, found)
            write_receipt(temporary, module.functions, settings, number)
            if check:  # It reads the limits in the report, which then gets its result.
                checked = check(temporary)
                write_receipt(temporary, module.functions, settings, number, checked)
        settings["bytes"] = sizes(temporary)["all"]
        write_serving_files(together, folder, settings, _answers(module.functions, examples))
    return folder / str(version)


class _Serving(tf.Module):
    """What is saved: tokenizers and variables, but no Keras object.

    With a Keras model in it, the folder would load in Python, and fail in a server.
    """

    def __init__(self, translator, beam_size, length_penalty, limits, xla):
        super().__init__()
        transformer = translator.transformer.copy()
        self.weights = [variable.value for variable in transformer.variables]
        self.tokenizers = [translator.tokenizer.in_graph, translator.target_tokenizer.in_graph]
        signatures = Signatures(translator, transformer, beam_size, length_penalty, limits, xla)
        self.n_best = signatures.n_best
        self.functions = signatures.functions()


def _answers(functions, examples):
    """What each signature says to an example: pairs of a `Request` and a dict of lists."""
    answers = []
    for name, function in functions.items():
        texts = {"target": examples.targets}
        request = {name: texts.get(name, examples.sources)[:1] for name in input_names(function)}
        found = function(**{name: tf.constant(texts) for name, texts in request.items()})
        answer = {name: _listed(tensor) for name, tensor in found.items()}
        answers.append((Request(name, request), answer))
    return answers


def _listed(tensor):
    """As lists, bytes as text: what JSON has."""
    if tensor.dtype != tf.string:
        return tensor.numpy().tolist()
    return [
        row.decode("utf-8") if isinstance(row, bytes) else [text.decode("utf-8") for text in row]
        for row in tensor.numpy().tolist()
    ]
