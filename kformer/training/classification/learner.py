"""The classifier that a run trains: with random weights, or with an encoder of another model."""

import keras

import kformer
from kformer.model.networks.sequence_classifier import SequenceClassifier
from kformer.model.networks.transformer_encoder import TransformerEncoder
from kformer.tasks.text_classifier import TextClassifier
from kformer.training.classification.dataset import classification_dataset
from kformer.training.objective.loss import MaskedCrossEntropy
from kformer.training.objective.macro_f1 import MacroF1
from kformer.training.objective.metrics import MaskedAccuracy, Tokens
from kformer.training.recipes.recipe import Recipe
from kformer.training.run.compiling import DTYPES, compile_network, one_stack, rising_steps
from kformer.training.run.fine_tuning import settings_to_start_from, warm_start_stack
from kformer.training.run.preparation import Prepared
from kformer.training.run.task import Learner
from kformer.training.run.vocabularies import tokenizers_of

_NO_PADDING = -1  # Every label counts.


def learner(prepared: Prepared, epoch) -> Learner:
    """Returns what the run trains; `epoch` is that of `classification_dataset`."""
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
    recipe: Recipe, tokenizer, labels, options, rising_steps: int | None = None
) -> TextClassifier:
    """Returns a classifier ready for `fit`.

    Args:
        recipe: All numbers, with the sizes of the model to start from.
        tokenizer: `kformer.Tokenizer`.
        labels: Strings.
        options: `ClassificationOptions`.
        rising_steps: See `WarmupSchedule`.
    """
    other = None if options.warm_start is None else kformer.load(options.warm_start)
    keras.utils.set_random_seed(recipe.seed)
    settings = settings_to_start_from(other, tokenizer)
    encoder = one_stack(TransformerEncoder, recipe, tokenizer, **settings)
    classes, dtype = len(labels), DTYPES[recipe.precision]
    network = SequenceClassifier(encoder, classes, options.pooling, recipe.dropout, dtype=dtype)
    classifier = TextClassifier(tokenizer, network, labels, max_source_length=recipe.max_length)
    if other is not None:
        warm_start_stack(classifier, other)
    encoder.trainable = not options.freeze
    loss = MaskedCrossEntropy(recipe.label_smoothing, _NO_PADDING)
    metrics = [MaskedAccuracy(_NO_PADDING), MacroF1(classes, _NO_PADDING)]
    metrics.append(Tokens(_NO_PADDING, name="texts"))
    compile_network(network, recipe, loss, metrics, rising_steps)
    return classifier
