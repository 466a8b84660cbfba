"""Streams labelled text as batches for `model.fit`: tokenized in graph and batched by length.

Axes: B batch, S length.
"""

from collections.abc import Sequence
from pathlib import Path

import tensorflow as tf

from kformer.text.labels import check_labels
from kformer.text.text_files import as_list
from kformer.text.tokenizer import Tokenizer
from kformer.training.classification.label_ids import FirstIds, LabelIds
from kformer.training.classification.labelled_files import check_known, split
from kformer.training.data.batching import batching
from kformer.training.data.dataset import respellings
from kformer.training.data.dropped_pairs import PairFilter
from kformer.training.data.mixture import Mixture
from kformer.training.data.windows import Windows


def classification_dataset(
    files: str | Path | Sequence[str | Path],
    tokenizer: Tokenizer,
    labels: Sequence[str],
    *,
    columns: Sequence[str] | None = None,
    tokens_per_batch: int = 4096,
    max_length: int = 128,
    piece_splitting: float = 0.0,
    byte_spelling: float = 0.0,
    fixed_shapes: bool | None = None,
    shuffle: bool = True,
    seed: int = 0,
    epoch: tf.Variable | None = None,
) -> tf.data.Dataset:
    """Reads labelled text as batches of about the same number of tokens.

    Blank texts are dropped; of a text of more than `max_length` ids, the beginning is kept. Each
    other text is in every pass once, in a batch of texts of similar length; for order, padding and
    resumption see `translation_dataset`.

    Args:
        files: A path or a list of paths: TSV with a label, a tab and a text on each line, or CSV
            or JSON lines with the columns "label" and "text"; UTF-8, plain or compressed.
        tokenizer: `kformer.Tokenizer`.
        labels: C strings, as the classifier has them.
        columns: Names of the columns of label and text, if they are not "label" and "text"; or
            their numbers, from 1, in a table without a header.
        tokens_per_batch: Maximum ids of a batch, with padding.
        max_length: Maximum ids of a text, its end id included.
        piece_splitting, byte_spelling, fixed_shapes, shuffle, seed, epoch: See
            `translation_dataset`. A row of padding has the label -1.

    Returns:
        `tf.data.Dataset` of (source (B, S), label (B,)), int32: pieces + end, and the place of the
        label in `labels`.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: A file is malformed (the message has the line), or has a label that is not in
            `labels`; or all texts are blank.
    """
    labels = check_labels(labels)
    files = as_list(files)
    check_known(files, labels, columns)
    found = split(files, columns)
    find = PairFilter(max_length)
    form = batching(tokens_per_batch, max_length, fixed_shapes, piece_splitting, byte_spelling)

    def batch(source, label, shape):
        label = label.to_tensor()[:, 0]
        (source,) = form.pad([source], [tokenizer.padding_id], shape)
        missing = tf.shape(source)[0] - tf.size(label)
        return source, tf.pad(label, [[0, missing]], constant_values=-1)

    return Windows(
        (FirstIds(tokenizer, max_length), LabelIds(labels)),
        Mixture(found.texts, found.labels, longest=find.most_bytes),
        find,
        form,
        batch,
        (respellings(tokenizer, piece_splitting, byte_spelling), ()),
        shuffle,
        seed,
    ).dataset(epoch)
