"""The classifier that a run trains: with random weights, or with an encoder of another model.

It streams labelled text as batches for `model.fit`, tokenized in graph and batched by length:
labels as rows of one id, and texts as rows of ids, of which long ones are cut.

Axes: B batch, N texts, S length.
"""

import dataclasses
import functools
from collections.abc import Callable, Sequence
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
from kformer.training.data.batching import Batching, BatchOptions
from kformer.training.data.mixture import Mixture
from kformer.training.data.noise import TextNoise
from kformer.training.data.windows import Windows
from kformer.training.kinds.classification_report import labelled_report
from kformer.training.kinds.classification_task import ClassificationTask
from kformer.training.kinds.labelled_files import Split, check_known, split
from kformer.training.objective.metrics import MacroF1, MaskedAccuracy, Tokens
from kformer.training.recipes.cost import training_cost
from kformer.training.recipes.noise_rates import NO_NOISE, OF_LABELLED_TEXT
from kformer.training.recipes.pace import pace_of
from kformer.training.recipes.recipe import NO_CONSISTENCY, Recipe
from kformer.training.run.fine_tuning import settings_to_start_from, warm_start_stack
from kformer.training.run.replicas import DTYPES, compile_network, one_stack
from kformer.training.run.run_preparation import Prepared
from kformer.training.run.training_task import TextOfRun


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
    consistency: str = NO_CONSISTENCY,
    cutoff: float = 0.05,
    noise: str = NO_NOISE,
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
        piece_splitting, byte_spelling, consistency, cutoff, fixed_shapes, shuffle, seed, epoch: As
            for `translation_dataset`. A row of padding has the label -1.
        noise: As for `translation_dataset`, but without "join" and "repeat".

    Returns:
        `tf.data.Dataset` of (source (B, S), label (B,)), int32: pieces + end, and the place of the
        label in `labels`.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: A file is malformed (the message has the line), or has a label that is not in
            `labels`; or all texts are blank.

    Examples:
        >>> import kformer
        >>> from kformer import phrasebook
        >>> from kformer.training import classification_dataset
        >>> files = phrasebook.write_reviews("reviews")
        >>> tokenizer = kformer.load("runs/de-en/translator.keras").tokenizer
        >>> batches = classification_dataset(files["test"], tokenizer, phrasebook.LABELS)
        >>> ids, labels = next(iter(batches))
        >>> len(ids) == len(labels)
        True
    """
    labels = check_labels(labels)
    files = as_list(files)
    check_known(files, labels, columns)
    options = BatchOptions(
        tokens_per_batch,
        max_length,
        piece_splitting,
        byte_spelling,
        fixed_shapes,
        shuffle,
        seed,
        consistency=consistency,
        cutoff=cutoff,
        noise=noise,
    )
    return classification_windows(split(files, columns), tokenizer, labels, options).dataset(epoch)


NO_LABEL = -1  # A row of padding.


def classification_windows(
    text: Split, tokenizer: Tokenizer, labels: Sequence[str], options: BatchOptions
) -> Windows:
    """Returns the windows of `classification_dataset`; `options` are its other arguments."""
    form = options.batching()

    def batch(source, label, shape):
        label = label.to_tensor()[:, 0]
        (source,) = form.pad([source], [tokenizer.padding_id], shape)
        missing = tf.shape(source)[0] - tf.size(label)
        return source, tf.pad(label, [[0, missing]], constant_values=NO_LABEL)

    sides, noise = (tokenizer, LabelIds(labels)), TextNoise.of(options.noise, OF_LABELLED_TEXT)
    return labelled_windows(text, sides, options, form, batch, noise)


def labelled_windows(
    text: Split,
    sides: Sequence,
    options: BatchOptions,
    form: Batching,
    batch: Callable,
    noise: TextNoise | None = None,
) -> Windows:
    """Returns the windows of labelled text, of which long texts are cut."""
    mixture = Mixture(text.texts, text.labels, longest=options.filter.most_bytes)
    respellings = options.respellings(sides[0]), ()
    views = options.views(sides[0])
    return Windows(sides, mixture, options, form, batch, respellings, views, cut=True, noise=noise)


def text_of(
    prepared: Prepared[ClassificationTask], windows: Callable = classification_windows
) -> TextOfRun:
    """Returns the text of a run with labels."""
    task, options = prepared.task, BatchOptions.for_training(prepared.recipe)
    known = prepared.tokenizers[0], task.labels
    plain = options.for_validation()
    return TextOfRun(
        windows(task.training, *known, options),
        [windows(text, *known, plain) for text in task.validation],
    )


def report(prepared: Prepared[ClassificationTask]) -> str:
    """Describes the text of a run and its cost, and warns of problems."""
    tokenizer, _ = prepared.tokenizers
    recipe = dataclasses.replace(prepared.recipe, vocab_size=tokenizer.vocab_size)
    labelled = labelled_report(prepared.task, tokenizer, prepared.text, prepared.origin)
    cost = training_cost(recipe, labelled.tokens, 0, classes=len(labelled.counts))
    pace = pace_of(recipe, labelled.batches, prepared.is_trained)
    return "\n".join([str(labelled), *cost.lines(), *pace.lines()])


def scores(prepared: Prepared[ClassificationTask], _: TextClassifier) -> list:
    """Returns no callbacks for each validation text: Keras computes all scores."""
    return [[] for _ in prepared.task.validation_files]


def new_model(prepared: Prepared[ClassificationTask], rising_steps: int) -> TextClassifier:
    """Returns the classifier of a run, ready for `fit`; `rising_steps` is of `WarmupSchedule`."""
    task, (tokenizer, _) = prepared.task, prepared.tokenizers
    return new_classifier(prepared.recipe, tokenizer, task.labels, task.options, rising_steps)


def new_classifier(
    recipe: Recipe, tokenizer: Tokenizer, labels: Any, options: Any, rising_steps: int | None = None
) -> TextClassifier:
    """Returns a classifier ready for `fit`."""
    network = functools.partial(SequenceClassifier, pooling=options.pooling)
    classifier = with_new_head(TextClassifier, network, recipe, tokenizer, labels, options)
    metrics = [MaskedAccuracy(NO_LABEL), MacroF1(len(labels), NO_LABEL)]
    metrics.append(Tokens(NO_LABEL, name="texts"))
    compile_network(classifier.network, recipe, NO_LABEL, metrics, rising_steps)
    return classifier


def with_new_head(model_class, network_class, recipe: Recipe, tokenizer, labels, options):
    """Returns a model with an encoder, perhaps of another model, and a new head; not compiled.

    Args:
        network_class: Callable (encoder, classes, dropout=, dtype=) -> network.
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
