"""The tagger that a run trains, and its batches: rows of ids with a label for each first piece.

Axes: B batch, N texts, S length.
"""

import warnings
from collections.abc import Sequence

import tensorflow as tf

from kformer.model.sequence_classifier import TokenClassifier
from kformer.tasks.text_tagger import TextTagger, word_starts
from kformer.text.label_scores import tag_scores
from kformer.text.text_files import as_list, read_lines
from kformer.text.tokenizer import Tokenizer
from kformer.training.callbacks.translation_scores import ValidationCallback
from kformer.training.data.batching import BatchOptions
from kformer.training.data.noise import TextNoise
from kformer.training.data.windows import Windows
from kformer.training.kinds.classification_learner import (
    NO_LABEL,
    LabelIds,
    labelled_windows,
    with_new_head,
)
from kformer.training.kinds.classification_learner import text_of as labelled_text_of
from kformer.training.kinds.labelled_files import Split
from kformer.training.kinds.tagging_task import TaggingTask
from kformer.training.objective.metrics import MaskedAccuracy, Tokens
from kformer.training.recipes.noise_rates import OF_TAGGED_WORDS
from kformer.training.run.replicas import compile_network
from kformer.training.run.run_preparation import Prepared
from kformer.training.run.training_task import TextOfRun

_SHOWN = 20  # Labels in the report on the text, the most frequent ones.
_MANY = 300  # Labels, more of which are rarely labels.


class WordLabelIds(LabelIds):
    """Looks up the labels of words: a row for each text, with the place of each of its labels.

    Args:
        labels: The C labels.
    """

    padding_id = NO_LABEL

    def tokenize(self, labels):
        """Returns the places of labels between spaces, int32 `tf.RaggedTensor` (N, None)."""
        words = tf.strings.split(labels, " ")
        return words.with_flat_values(self._table.lookup(words.flat_values))

    def with_end(self, rows):
        """Appends a -1, as the end id of a text has no label."""
        return tf.concat([rows, tf.fill([rows.nrows(out_type=tf.int32), 1], NO_LABEL)], axis=1)


def tagging_windows(
    text: Split, tokenizer: Tokenizer, labels: Sequence[str], options: BatchOptions
) -> Windows:
    """Returns the windows of tagged text, with batches of (source (B, S), labels (B, S)), int32.

    Labels are at the first pieces of words, -1 elsewhere. Text that is too long is cut. A text
    whose words the tokenizer splits otherwise has no labels.
    """
    form, starts = options.batching(), tf.constant(word_starts(tokenizer))

    def batch(source, label, shape):
        is_cut = source.row_lengths() >= options.max_length
        (ids,) = form.pad([source], [tokenizer.padding_id], shape)
        begins = tf.gather(starts, ids[: source.nrows()])
        number = tf.math.count_nonzero(begins, axis=1)
        fits = is_cut | (number == label.row_lengths() - 1)
        places = tf.math.cumsum(tf.cast(begins, tf.int32), axis=1) - 1
        row = label.to_tensor(NO_LABEL)
        row = tf.gather(row, tf.clip_by_value(places, 0, tf.shape(row)[1] - 1), batch_dims=1)
        row = tf.where(begins & fits[:, tf.newaxis], row, NO_LABEL)
        rest = tf.shape(ids)[0] - tf.shape(row)[0]
        return ids, tf.pad(row, [[0, rest], [0, 0]], constant_values=NO_LABEL)

    sides, noise = (tokenizer, WordLabelIds(labels)), TextNoise.of(options.noise, OF_TAGGED_WORDS)
    return labelled_windows(text, sides, options, form, batch, noise)


class SpanScores(ValidationCallback):
    """Adds `val_f1` to the logs: F1 of the spans that the tagger finds in a validation text.

    Args:
        tagger: `kformer.TextTagger` in training.
        tagged: `Split` of the validation text.
    """

    def __init__(self, tagger: TextTagger, tagged: Split):
        super().__init__()
        self.tagger = tagger
        self.texts = [line for file in tagged.texts for line in read_lines(file)]
        self.labels = [line.split() for file in tagged.labels for line in read_lines(file)]

    def on_validation(self, epoch: float, logs: dict):
        """Adds the score to the logs."""
        with warnings.catch_warnings(action="ignore"):  # Of texts over the limit, each time.
            predicted = [tagging.labels for tagging in self.tagger.tag(self.texts)]
        logs["val_f1"] = tag_scores(self.labels, predicted).f1


def text_of(prepared: Prepared[TaggingTask]) -> TextOfRun:
    """Returns the text of a run."""
    return labelled_text_of(prepared, tagging_windows)


def report(prepared: Prepared[TaggingTask]) -> str:
    """Describes the text of a run."""
    counts, valid = prepared.task.training.counts, prepared.task.validation
    most = sorted(counts, key=lambda label: -counts[label])[:_SHOWN]
    rest = f" and {len(counts) - len(most):,} others" * (len(counts) > len(most))
    lines = [
        f"{sum(counts.values()):,} words with {len(counts):,} labels: "
        f"{', '.join(label for label in counts if label in most)}{rest}."
    ]
    if len(counts) > _MANY:
        lines.append(
            "Text with so many labels is rare: are they in the last column of "
            f"{', '.join(map(str, as_list(prepared.task.files['train'])))}?"
        )
    if valid:
        words = sum(sum(text.counts.values()) for text in valid)
        lines.append(f"Validation: {words:,} words.")
    return "\n".join(lines)


def scores(prepared: Prepared[TaggingTask], tagger: TextTagger) -> list:
    """Returns the callbacks that add F1 of the spans of each validation text."""
    return [[SpanScores(tagger, text)] for text in prepared.task.validation]


def new_model(prepared: Prepared[TaggingTask], rising_steps: int) -> TextTagger:
    """Returns the tagger of a run, ready for `fit`; `rising_steps` is of `WarmupSchedule`."""
    recipe, task, (tokenizer, _) = prepared.recipe, prepared.task, prepared.tokenizers
    labels = task.labels
    tagger = with_new_head(TextTagger, TokenClassifier, recipe, tokenizer, labels, task.options)
    metrics = [MaskedAccuracy(NO_LABEL), Tokens(NO_LABEL)]
    compile_network(tagger.network, recipe, NO_LABEL, metrics, rising_steps)
    return tagger
