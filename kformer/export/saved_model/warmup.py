"""Warm-up requests of a server, and the limits of a request.

A server runs warm-up requests before it sends real ones to a new version. They are a TFRecord of
`PredictionLog`s in `assets.extra/tf_serving_warmup_requests`. Only a few fields of these messages
are needed, all of them length-delimited, so they are encoded here and no package of the server
needs to be installed.

Limits bound the work of one request. A server may merge several requests into one batch, and the
graph sees only the batch. So the limits fit the largest batch that it merges, whatever its texts.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from kformer.arguments import check_integer
from kformer.export.saved_model.graph_search import BATCH_CLASSES, shapes
from kformer.inference.search_options import EXTRA_LENGTH
from kformer.text import vocabulary
from kformer.text.text_rows import MAX_CHARACTERS
from kformer.text.tokenizer import Tokenizer

FILE = "assets.extra/tf_serving_warmup_requests"
EXAMPLES = 8  # Maximum number of example sentences.
BATCHES, LENGTHS = (1, 8, 64), (16, 64)  # Of requests without XLA.


class Request(NamedTuple):
    """The inputs of a call of a signature."""

    signature: str
    inputs: dict  # name -> list of strings


class Examples(NamedTuple):
    """Example sentences, and the tokenizer that reads them."""

    sentences: list
    tokenizer: Tokenizer

    def text(self, first: int, length: int):
        """Returns a text of about `length` ids, from sentence `first` on."""
        ids: list[int] = []
        i = first
        while len(ids) < length - 1:
            sentence = self.sentences[i % len(self.sentences)]
            [more] = self.tokenizer.tokenize([sentence]).to_list()
            ids, i = [*ids, *(more or [self.tokenizer.unknown_id])], i + 1
        rows = tf.ragged.constant([ids[: length - 1]], tf.int32)
        [text] = self.tokenizer.detokenize(rows).numpy()
        return text.decode("utf-8")


class Codes(NamedTuple):
    """The target languages of a model, as `Examples` of another input."""

    sentences: list

    def text(self, first: int, length: int):
        """Returns one of them."""
        return self.sentences[first % len(self.sentences)]


def examples_of(tokenizer: Any, texts: Sequence[str] | None) -> Examples:
    """Returns the first `texts` that are not blank, or else pieces of the vocabulary."""
    sentences = [text for text in texts or () if text.strip()][:EXAMPLES]
    if not sentences:
        library = vocabulary.read(tokenizer.model)
        used = [i for i in range(tokenizer.vocab_size) if not library.IsUnused(i)]
        last = used[: -8 * EXAMPLES - 1 : -1]
        rows = [last[8 * i : 8 * i + 8][::-1] for i in range(EXAMPLES)]
        texts = tokenizer.detokenize(tf.ragged.constant(rows, tf.int32)).numpy()
        sentences = [text.decode("utf-8") for text in texts]
    return Examples(sentences, tokenizer)


def requests(
    inputs: Any,
    examples: Any,
    max_source_length: int,
    max_ids: int,
    xla: bool,
    max_batch_size: int = BATCHES[-1],
):
    """Yields a `Request` for each signature and each of some batch sizes and lengths.

    Args:
        inputs: dict signature -> names of its inputs.
        examples: dict name of an input -> `Examples`.
        max_source_length: Maximum number of ids of a text.
        max_ids: Maximum of a batch, as for `kformer.export.saved_model.graph_search.shapes`.
        xla: Whether to include every shape, because each is compiled.
        max_batch_size: Maximum number of texts of a request.
    """
    sizes = shapes(max_source_length, max_ids)
    if not xla:
        longest = sizes[-1][1]
        batches = sorted({min(rows, max_batch_size) for rows in BATCHES})
        sizes = [(rows, length) for length in LENGTHS if length < longest for rows in batches]
        sizes.append((1, longest))
    sizes = [(rows, length) for rows, length in sizes if rows <= max_batch_size]
    for signature, names in inputs.items():
        for rows, length in sizes:
            well_within = max(2, 3 * length // 4)  # Joined sentences may have more pieces.
            inputs = {
                name: [examples[name].text(i, well_within) for i in range(rows)] for name in names
            }
            yield Request(signature, inputs)


def write_warmup(version: Path, requests: Any, model: Any) -> int:
    """Writes the requests to `model`, its name, into the folder `version`; returns their number."""
    path = Path(version) / FILE
    path.parent.mkdir(exist_ok=True)
    records = [prediction_log(request, model) for request in requests]
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)
    return len(records)


def prediction_log(request: Any, model: Any) -> bytes:
    """Returns a `Request` to `model` as an encoded `tensorflow.serving.PredictionLog`."""
    model = _field(1, model.encode()) + _field(3, request.signature.encode())
    predict = _field(1, model)  # PredictRequest.model_spec
    for name, texts in request.inputs.items():
        strings = np.array([text.encode("utf-8") for text in texts], object)  # Keeps a last NUL.
        tensor = tf.make_tensor_proto(strings).SerializeToString()
        predict += _field(2, _field(1, name.encode()) + _field(2, tensor))  # .inputs, a map
    return _field(6, _field(1, predict))  # PredictionLog.predict_log.request


def _field(number, content):
    """Encodes a length-delimited field of a protobuf message."""
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


def _varint(value):
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])


BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64)  # Sizes of merged batches without XLA.


class BatchLimits(NamedTuple):
    """Maximum size of a request, or of a batch merged from several."""

    tokens: int  # Ids of all texts without padding; `score` counts sources and targets.
    batch_sizes: tuple[int, ...]  # Allowed sizes of merged batches, ascending.

    @property
    def batch_size(self) -> int:
        """Maximum number of texts in a merged batch; it fits `tokens`, however long they are."""
        return self.batch_sizes[-1]

    @property
    def characters(self) -> int:
        """Maximum number of characters that are tokenized, of sources or of targets."""
        return self.batch_size * MAX_CHARACTERS


def batch_limits(
    max_source_length: int,
    max_batch_tokens: int | None = None,
    xla: bool = False,
    targets: bool = True,
) -> BatchLimits:
    """Returns the limits of an export.

    Args:
        max_source_length: Maximum number of ids of a text that the model reads.
        max_batch_tokens: Maximum number of ids of a request; by default as many as 64 of the
            longest texts and their targets have.
        xla: Whether the graph is compiled, so that only a few batch sizes are allowed.
        targets: Whether texts have targets, as for a translator.
    """
    longest = 2 * max_source_length + EXTRA_LENGTH if targets else max_source_length
    sizes = BATCH_CLASSES if xla else BATCH_SIZES
    tokens = sizes[-1] * longest if max_batch_tokens is None else max_batch_tokens
    check_integer("max_batch_tokens", tokens)
    if tokens < longest:
        raise ValueError(
            f"`max_batch_tokens` must be at least {longest}, the ids of the longest "
            f"{'source and its target' if targets else 'text'}. Received: "
            f"max_batch_tokens={tokens}."
        )
    return BatchLimits(tokens, tuple(size for size in sizes if size * longest <= tokens))
