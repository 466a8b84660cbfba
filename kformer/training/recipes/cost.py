"""Estimates the memory and the time of a training run before it begins."""

import dataclasses
import os
import time

import tensorflow as tf

from kformer.backend import in_parts
from kformer.training.recipes.pace import suited_to
from kformer.training.recipes.recipe import NO_CONSISTENCY, Recipe

# Fitted to the peak memory and the speed of the tiny and the base model, in float32 on two cores.
# tests/training/run/test_cost.py measures the memory.
_RESIDENT = 1.2e9  # Bytes of TensorFlow, Keras, the graphs and the windows of text.
_TEMPORARY = 1.5  # Temporary copies of the weights in a step of Adam.
_LOGITS = 2.3  # Tensors of tokens x vocabulary that exist at the same time.
_OF_WIDTH = 27  # Tensors of tokens x d_model that an encoder and a decoder layer keep.
_OF_INNER_WIDTH = 2  # The same, of tokens x d_ff.
_OTHER_WORK = 130  # Other work takes as long as the products if d_model is this.
_MEASURED_FOR = 0.3  # Seconds.
_IDLE = 0.5  # Other processes for each core that make no difference worth a word.


@dataclasses.dataclass(frozen=True)
class TrainingCost:
    """An estimate with an error of about a third, if no other program uses the machine.

    Attributes:
        parameters: Number of trainable parameters.
        memory: Bytes at the peak, TensorFlow included.
        seconds: Time for an epoch.
        epochs: Number of epochs.
        load: Processes of other programs that used the machine in the last minute, for each core.
            The text then has a range of times, up to the time with a fair share of the cores.

    Examples:
        >>> from kformer.training import Recipe, training_cost
        >>> cost = training_cost(Recipe.named("tiny"), source_tokens=10**6, target_tokens=10**6)
        >>> cost.parameters, cost.epochs
        (2349568, 20)
    """

    parameters: int
    memory: float
    seconds: float
    epochs: int = 1
    load: float = 0.0

    def warnings(self) -> list[str]:
        """Returns a warning with advice if the machine has too little memory."""
        installed = memory_of_machine()
        if self.memory < installed:
            return []
        return [
            f"Training takes about {self.memory / 2**30:.1f} GiB of memory, and the machine has "
            f"{installed / 2**30:.1f}: lower --tokens-per-batch."
        ]

    def lines(self) -> list[str]:
        """Returns the lines of a report, the warnings last."""
        return [str(self), *(f"Warning: {text}" for text in self.warnings())]

    def __str__(self):
        busy = "" if self.load < _IDLE else ", while other programs use the machine,"
        return (
            f"The model has {self.parameters:,} parameters. Training takes about "
            f"{self.memory / 2**30:.1f} GiB of memory and{busy} {self._range(1)} for an epoch"
            + (f", {self._range(self.epochs)} for all {self.epochs}." if self.epochs > 1 else ".")
        )

    def _range(self, epochs):
        least = epochs * self.seconds
        if self.load < _IDLE:
            return _duration(least)
        return f"{_duration(least)} to {_duration((1 + self.load) * least)}"


def _duration(seconds):
    """Formats a duration in a fitting unit."""
    if seconds < 1:
        return "less than a second"
    if seconds < 90:
        return f"{seconds:.0f} second{'s' * (round(seconds) > 1)}"
    minutes = seconds / 60
    if minutes > 48 * 60:
        return f"{minutes / 60 / 24:.1f} days"
    return f"{minutes / 60:.1f} hours" if minutes > 90 else f"{minutes:.1f} minutes"


def training_cost(
    recipe: Recipe | str,
    source_tokens: int,
    target_tokens: int,
    speed: float | None = None,
    classes: int = 0,
    one_stack: bool = False,
) -> TrainingCost:
    """Estimates the cost of training by a recipe, on the CPU.

    The memory holds the weights, their gradients, Adam's two moments, the average, the activations
    and the logits, in float32. The time is the sum of the matrix products' (three times a forward
    pass, at the machine's speed in the recipe's precision) and of all other work's, which is a
    share of the time of the same products in float32 that falls with the width: 130 / d_model.
    Consistency training computes each text twice.

    Args:
        recipe: Sizes of the model and of a batch: a recipe or its name.
        source_tokens, target_tokens: Tokens per epoch, as in `CorpusReport`.
        speed: Floating point operations per second of a large matrix product, in any precision; by
            default it is measured, in 0.3 s for each precision.
        classes: Number of labels of a classifier, which has no decoder; 0 for others.
        one_stack: For a language model, which has one stack of `num_layers` layers; its tokens are
            both `source_tokens` and `target_tokens`.

    Examples:
        >>> from kformer.training import training_cost
        >>> cost = training_cost("tiny", source_tokens=10**6, target_tokens=10**6)
        >>> f"{cost.parameters:,} parameters"
        '2,349,568 parameters'
    """
    recipe = Recipe.named(recipe) if isinstance(recipe, str) else recipe
    recipe = suited_to(recipe, max(source_tokens, target_tokens)).recipe
    d, ff, encoder_layers = recipe.d_model, recipe.d_ff, recipe.num_layers
    decoder_layers = recipe.num_decoder_layers or encoder_layers
    if classes or one_stack:
        decoder_layers = 0
    vocab = recipe.target_vocab_size or recipe.vocab_size  # Width of the logits.
    feed_forward = 2 * d * ff
    encoder = encoder_layers * (4 * d * d + feed_forward)
    own, own_biases = (2, 1) if recipe.decoder_cell == "ssru" else (4, 4)
    decoder = decoder_layers * ((own + 4) * d * d + feed_forward)
    # Biases and layer normalisation.
    vectors = encoder_layers * (ff + d + 4 * d + 4 * d)
    vectors += decoder_layers * (ff + d + (own_biases + 4) * d + 6 * d)
    if recipe.norm_first:  # Each stack ends with a norm.
        vectors += (1 + bool(decoder_layers)) * 2 * d
    parameters = encoder + decoder + vectors + vocab * d
    if classes:
        parameters += classes * (d + 1)
        vocab = classes / recipe.max_length  # A row of logits for each text, not for each token.
    if recipe.target_vocab_size:
        parameters += recipe.vocab_size * d
    copies = (5 if recipe.ema_momentum else 4) + _TEMPORARY
    kept = (encoder_layers + decoder_layers) / 2 * (_OF_WIDTH * d + _OF_INNER_WIDTH * ff)
    views = 1 if recipe.consistency == NO_CONSISTENCY else 2
    floats = copies * parameters + views * recipe.tokens_per_batch * (_LOGITS * vocab + kept)
    # A multiplication and an addition for each weight; the backward pass is two more of these.
    operations = 3 * 2 * (source_tokens * encoder + target_tokens * (decoder + vocab * d)) * views
    float32_speed = speed or matmul_speed("float32")
    product_speed = float32_speed
    if speed is None and recipe.precision != "float32":
        product_speed = matmul_speed(recipe.precision)
    seconds = operations * (1 / product_speed + _OTHER_WORK / d / float32_speed)
    load = load_of_machine() if speed is None else 0.0
    return TrainingCost(parameters, _RESIDENT + 4 * floats, seconds, recipe.epochs, load)


def load_of_machine() -> float:
    """Returns the processes that other programs ran in the last minute, for each core."""
    running = os.getloadavg()[0] - 1  # Without this process.
    return max(0.0, running / (os.cpu_count() or 1))


def memory_of_machine() -> int:
    """Returns the bytes of memory that the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def matmul_speed(precision: str) -> float:
    """Measures the floating point operations per second of a large matrix product.

    It runs on as many cores as a training step, by `kformer.backend.in_parts`.

    Args:
        precision: "float32" or "bfloat16".
    """
    matrix = tf.ones((1024, 1024), precision)

    @tf.function(autograph=False)
    def product(left):
        return in_parts(lambda rows: tf.matmul(rows, matrix), left)

    product(matrix)  # It is traced.
    products, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < _MEASURED_FOR:
        product(matrix).numpy()
        products += 1
    return products * 2 * 1024**3 / elapsed
