"""The classifier that a run trains: with random weights, or with an encoder of another model.

It streams labelled text as batches for `model.fit`, tokenized in graph and batched by length:
labels as rows of one id, and texts as rows of ids, of which long ones are cut.

Axes: B batch, N texts, S length.
"""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

import kformer
from kformer.model.sequence_classifier import SequenceClassifier
from kformer.model.transformer_encoder import TransformerEncoder
from kformer.tasks.text_classifier import TextClassifier
from kformer.text.labels import check_labels
from kformer.text.text_files import as_list
from kformer.text.tokenizer import Tokenizer
from kformer.training.data.batching import batching
from kformer.training.data.dropped_pairs import PairFilter
from kformer.training.data.mixture import Mixture
from kformer.training.data.translation_dataset import respellings
from kformer.training.data.windows import Windows
from kformer.training.kinds.labelled_files import check_known, split
from kformer.training.objective.loss import MaskedCrossEntropy
from kformer.training.objective.metrics import MacroF1, MaskedAccuracy, Tokens
from kformer.training.recipes.recipe import Recipe
from kformer.training.run.fine_tuning import settings_to_start_from, warm_start_stack
from kformer.training.run.replicas import DTYPES, compile_network, one_stack, rising_steps
from kformer.training.run.run_preparation import Prepared
from kformer.training.run.run_vocabularies import tokenizers_of
from kformer.training.run.training_task import Learner


class LabelIds:
    """Looks labels up as a tokenizer would: a row for each text, its label's place.

    Args:
        labels: The C labels.
    """

    def __init__(self, labels: Any):
        self.vocab_size = len(labels)
        places = tf.range(len(labels), dtype=tf.int32)
        initial = tf.lookup.KeyValueTensorInitializer(tf.constant(labels), places)
        self._table = tf.lookup.StaticHashTable(initial, -1)

    def tokenize(self, labels: Any):
        """Returns the place of each label, int32 `tf.RaggedTensor` (N, 1)."""
        return tf.RaggedTensor.from_tensor(self._table.lookup(labels)[:, tf.newaxis])

    def with_end(self, rows: Any):
        """Appends a 0: rows of text have an end id, too, and a row without one is blank."""
        return tf.concat([rows, tf.zeros_like(rows)], axis=1)


class FirstIds:
    """A tokenizer of the beginnings of texts: so much as a row holds.

    Args:
        tokenizer: `kformer.Tokenizer`.
        max_length: Maximum number of ids of a row, its end id included.
    """

    def __init__(self, tokenizer: Tokenizer, max_length: int):
        self._tokenizer = tokenizer
        self._most = max_length - 1
        self.padding_id = tokenizer.padding_id

    def tokenize(self, texts: Any):
        """Returns the first ids of each text, without its end id; a ragged tensor (N, None)."""
        return self._tokenizer.tokenize(texts)[:, : self._most]

    def with_end(self, rows: Any):
        """Returns the rows with an end id behind each."""
        return self._tokenizer.with_end(rows)


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
    other text is in every pass once, in a batch of texts of similar length; order, padding and
    resumption are as in `translation_dataset`.

    Args:
        files: A path or a list of paths: TSV with a label, a tab and a text on each line, or CSV
            or JSON lines with the columns "label" and "text"; UTF-8, plain or compressed.
        tokenizer: `kformer.Tokenizer`.
        labels: C strings, as the classifier has them.
        columns: Names of the columns of label and text, if they are not "label" and "text"; or
            their numbers, from 1, in a table without a header.
        tokens_per_batch: Maximum ids of a batch, with padding.
        max_length: Maximum ids of a text, its end id included.
        piece_splitting, byte_spelling, fixed_shapes, shuffle, seed, epoch: As for
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
    files_split = split(files, columns)
    find = PairFilter(max_length)
    form = batching(tokens_per_batch, max_length, fixed_shapes, piece_splitting, byte_spelling)

    def batch(source, label, shape):
        label = label.to_tensor()[:, 0]
        (source,) = form.pad([source], [tokenizer.padding_id], shape)
        missing = tf.shape(source)[0] - tf.size(label)
        return source, tf.pad(label, [[0, missing]], constant_values=-1)

    return Windows(
        (FirstIds(tokenizer, max_length), LabelIds(labels)),
        Mixture(files_split.texts, files_split.labels, longest=find.most_bytes),
        find,
        form,
        batch,
        (respellings(tokenizer, piece_splitting, byte_spelling), ()),
        shuffle,
        seed,
    ).dataset(epoch)


NO_LABEL = -1  # A row of padding.


def learner(prepared: Prepared, epoch: tf.Variable) -> Learner:
    """Returns the model and data of a run; `epoch` is an argument of `classification_dataset`."""
    recipe, task = prepared.recipe, prepared.task
    tokenizer, _ = tokenizers_of(prepared)
    common = {
        "tokens_per_batch": recipe.tokens_per_batch,
        "max_length": recipe.max_length,
        "columns": task.options.columns,
    }
    batches = classification_dataset(
        *(task.files["train"], tokenizer, task.labels),
        piece_splitting=recipe.piece_splitting,
        byte_spelling=recipe.byte_spelling,
        seed=recipe.seed,
        epoch=epoch,
        **common,
    )
    validation = [
        classification_dataset(file, tokenizer, task.labels, shuffle=False, **common)
        for file in task.validation_files
    ]
    rise = rising_steps(prepared, batches)
    classifier = new_classifier(recipe, tokenizer, task.labels, task.options, rise)
    return Learner.on(classifier, batches, validation, task.validation_files, counted="texts")


def new_classifier(
    recipe: Recipe, tokenizer: Tokenizer, labels: Any, options: Any, rising_steps: int | None = None
) -> TextClassifier:
    """Returns a classifier ready for `fit`.

    Args:
        recipe: All numbers, with the sizes of the model to start from.
        tokenizer: `kformer.Tokenizer`.
        labels: Strings.
        options: `ClassificationOptions`.
        rising_steps: As for `WarmupSchedule`.
    """
    network = functools.partial(SequenceClassifier, pooling=options.pooling)
    classifier = with_new_head(TextClassifier, network, recipe, tokenizer, labels, options)
    metrics = [MaskedAccuracy(NO_LABEL), MacroF1(len(labels), NO_LABEL)]
    metrics.append(Tokens(NO_LABEL, name="texts"))
    loss = MaskedCrossEntropy(recipe.label_smoothing, NO_LABEL)
    compile_network(classifier.network, recipe, loss, metrics, rising_steps)
    return classifier


def with_new_head(model_class, network_class, recipe: Recipe, tokenizer, labels, options):
    """Returns a model with an encoder, perhaps of another model, and a new head; not compiled.

    Args:
        model_class: `kformer.TextClassifier` or `kformer.TextTagger`.
        network_class: Callable (encoder, classes, dropout=, dtype=) -> network.
        recipe, tokenizer, labels, options: As for `new_classifier`.
    """
    start_model = None if options.warm_start is None else kformer.load(options.warm_start)
    keras.utils.set_random_seed(recipe.seed)
    settings = settings_to_start_from(start_model, tokenizer)
    encoder = one_stack(TransformerEncoder, recipe, tokenizer, **settings)
    dtype = DTYPES[recipe.precision]
    network = network_class(encoder, len(labels), dropout=recipe.dropout, dtype=dtype)
    model = model_class(tokenizer, network, labels, max_source_length=recipe.max_length)
    if start_model is not None:
        warm_start_stack(model, start_model)
    encoder.trainable = not options.freeze
    return model
