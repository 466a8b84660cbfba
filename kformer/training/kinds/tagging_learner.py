"""The tagger that a run trains, and its batches: rows of ids with a label for each first piece.

Axes: B batch, N texts, S length.
"""

import warnings

import tensorflow as tf

from kformer.model.sequence_classifier import TokenClassifier
from kformer.tasks.text_tagger import TextTagger, word_starts
from kformer.text.label_scores import tag_scores
from kformer.text.text_files import read_lines
from kformer.training.callbacks.translation_scores import ValidationCallback
from kformer.training.data.batching import batching
from kformer.training.data.dropped_pairs import PairFilter
from kformer.training.data.mixture import Mixture
from kformer.training.data.translation_dataset import respellings
from kformer.training.data.windows import Windows
from kformer.training.kinds.classification_learner import (
    NO_LABEL,
    FirstIds,
    LabelIds,
    with_new_head,
)
from kformer.training.objective.loss import MaskedCrossEntropy
from kformer.training.objective.metrics import MaskedAccuracy, Tokens
from kformer.training.run.replicas import compile_network, rising_steps
from kformer.training.run.run_vocabularies import tokenizers_of
from kformer.training.run.training_task import Learner


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


def tagging_dataset(
    tagged, tokenizer, labels, recipe, respelled=True, shuffle=True, epoch=None
) -> tf.data.Dataset:
    """Reads tagged text as batches of (source (B, S), labels (B, S)), int32.

    Labels are at the first pieces of words, -1 elsewhere. Text that is too long is cut. A text
    whose words the tokenizer splits otherwise has no labels.

    Args:
        tagged: `Split` of `split_tagged`.
        tokenizer: `kformer.Tokenizer`.
        labels: C strings.
        recipe: `Recipe`.
        respelled: Whether some pieces are split or spelled in bytes, as the recipe wants.
        shuffle, epoch: As for `translation_dataset`.
    """
    rates = (recipe.piece_splitting, recipe.byte_spelling) if respelled else (0.0, 0.0)
    length, starts = recipe.max_length, tf.constant(word_starts(tokenizer))
    find = PairFilter(length)
    form = batching(recipe.tokens_per_batch, length, None, *rates)
    sides = FirstIds(tokenizer, length), FirstIds(WordLabelIds(labels), length)

    def batch(source, label, shape):
        is_cut = source.row_lengths() >= length
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

    text = Mixture(tagged.texts, tagged.labels, longest=find.most_bytes)
    respell = respellings(tokenizer, *rates), ()
    return Windows(sides, text, find, form, batch, respell, shuffle, recipe.seed).dataset(epoch)


class SpanScores(ValidationCallback):
    """Adds `val_f1` to the logs: F1 of the spans that the tagger finds in a validation text.

    Args:
        tagger: `kformer.TextTagger` in training.
        tagged: `Split` of the validation text.
    """

    def __init__(self, tagger: TextTagger, tagged):
        super().__init__()
        self.tagger = tagger
        self.texts = [line for file in tagged.texts for line in read_lines(file)]
        self.labels = [line.split() for file in tagged.labels for line in read_lines(file)]

    def on_validation(self, epoch: float, logs: dict | None = None):
        """Adds the score to the logs."""
        with warnings.catch_warnings(action="ignore"):  # Of texts over the limit, each time.
            predicted = [tagging.labels for tagging in self.tagger.tag(self.texts)]
        logs["val_f1"] = tag_scores(self.labels, predicted).f1


def learner(prepared, epoch) -> Learner:
    """Returns the model and data of a run; `epoch` is an argument of `tagging_dataset`."""
    recipe, task = prepared.recipe, prepared.task
    tokenizer, _ = tokenizers_of(prepared)
    settings = tokenizer, task.labels, recipe
    batches = tagging_dataset(task.training, *settings, epoch=epoch)
    valid = [task.split(file) for file in task.validation_files]
    validation = [
        tagging_dataset(text, *settings, respelled=False, shuffle=False) for text in valid
    ]
    rise = rising_steps(prepared, batches)
    tagger = with_new_head(
        TextTagger, TokenClassifier, recipe, tokenizer, task.labels, task.options
    )
    metrics = [MaskedAccuracy(NO_LABEL), Tokens(NO_LABEL)]
    loss = MaskedCrossEntropy(recipe.label_smoothing, NO_LABEL)
    compile_network(tagger.network, recipe, loss, metrics, rise)
    scores = [[SpanScores(tagger, text)] for text in valid]
    return Learner.on(tagger, batches, validation, task.validation_files, "tokens", scores)
