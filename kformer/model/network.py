"""The base classes of whole networks: from ids to vectors, copies for export and saving, and `fit`.

Axes: B batch, S sequence length, H heads, D d_model, L layers.
"""

import functools
from typing import Any

import keras

from kformer.backend import in_parts, is_tensorflow, num_replicas
from kformer.model.dense import HoldsDense, dense_layers, float_weights, is_quantized
from kformer.model.embedding import PositionalEncoding, TokenEmbedding
from kformer.model.encoder import Encoder
from kformer.model.residual import Dropout


def is_float32(transformer: keras.Model) -> bool:
    """Returns whether the transformer computes exactly what its float32 copy computes."""
    dtypes = {transformer.variable_dtype, transformer.compute_dtype}
    return dtypes == {"float32"} and not any(map(is_quantized, dense_layers(transformer).values()))


def float32_copy(transformer: keras.Model):
    """Returns a float32 copy, whose Dense layers are plain: LoRA merged, rounded weights as floats.

    The weights are the same, also with LoRA, and for weights of 16 bits. A quantized model may also
    round its inputs; the copy does not.
    """
    config = {**transformer.get_config(), "dtype": "float32"}
    config.pop("quantized", None)

    def fill(copied, dense):
        for weight, value in zip(copied.weights, float_weights(dense), strict=True):
            weight.assign(value)

    return _copy(transformer, config, fill)


def weights_copy(transformer: keras.Model):
    """Returns a copy whose weights keep their dtypes; quantized layers stay quantized.

    LoRA is merged. A model with a "mixed" policy, which has float32 weights and computes in 16
    bits, becomes a float32 model: that is faster on processors without 16-bit units.
    """
    config = {**transformer.get_config(), "dtype": transformer.variable_dtype}

    def fill(copied, dense):
        store = {}
        dense.save_own_variables(store)
        copied.load_own_variables(store)

    return _copy(transformer, config, fill)


def _copy(transformer, config, fill):
    """Makes a Transformer of `config`; `fill` copies the weights of one Dense layer to another."""
    copied = type(transformer).from_config(config)
    pairs = zip(dense_layers(copied).values(), dense_layers(transformer).values(), strict=True)
    for pair in pairs:
        fill(*pair)
    for weight, value in zip(_other_weights(copied), _other_weights(transformer), strict=True):
        weight.assign(value)
    return copied


def _other_weights(transformer):
    layers = dense_layers(transformer).values()
    dense_weights = {id(weight) for dense in layers for weight in dense.weights}
    return [weight for weight in transformer.weights if id(weight) not in dense_weights]


class KeepsOptimizer(keras.Model):
    """A model that is saved and loaded with its optimizer; a mixin for `keras.Model`.

    Not with LoRA: Keras saves the sum of a kernel and its LoRA as the kernel of a plain layer.
    """

    def make_train_function(self, force: bool = False):
        """Creates the variables of the optimizer, then does what Keras does.

        Left to itself, Keras on TensorFlow creates them while it traces the training step, and must
        then trace the step again, which takes `fit` twice as long to begin.
        """
        self._build_optimizer()
        return super().make_train_function(force)

    def get_compile_config(self):
        """Returns Keras's config, after it created the variables of the optimizer.

        Keras creates them when it loads a model, and warns if the file has none because the model
        was saved before it was trained.
        """
        layers = dense_layers(getattr(self, "network", self)).values()
        if any(dense.lora_enabled for dense in layers):
            return {}
        if getattr(self, "optimizer", None):  # A model of which Keras compiled a part has none.
            self._build_optimizer()
        return super().get_compile_config()

    def _build_optimizer(self):
        if not self.optimizer.built:
            self.optimizer.build(self.trainable_variables)


class MeanOverTokens(keras.metrics.Mean):
    """The mean of the losses of batches, each weighed by its number of real tokens."""

    def update_state(self, values: Any, sample_weight: Any = None):
        """Does nothing: Keras's trainer weighs each batch by its rows."""

    def add(self, loss: Any, tokens: Any):
        """Adds the loss of a batch of so many tokens; float scalars."""
        super().update_state(loss, sample_weight=tokens)


class ShowsLossOfTokens(keras.Model):
    """A model whose `loss` in the logs is of all tokens of an epoch; a mixin for `keras.Model`.

    Keras's is the mean of the losses of batches, weighed by their rows: tokens of batches of long
    rows count less. With a loss that has the method `count_tokens` and returns the mean over the
    tokens of a batch, as `kformer.training.MaskedCrossEntropy` does, each batch is weighed by its
    tokens. What the model learns is the same.
    """

    @functools.wraps(keras.Model.compile)
    def compile(self, *args: Any, **kwargs: Any):
        super().compile(*args, **kwargs)
        loss: Any = getattr(self, "loss", None)
        if hasattr(loss, "count_tokens") and loss.reduction == "sum_over_batch_size":
            # Keras has no public way to replace it. It has as many variables, so that checkpoints
            # of earlier versions fit. As in Keras's method, the attribute is not tracked.
            object.__setattr__(self, "_loss_tracker", MeanOverTokens(name="loss"))

    def compile_from_config(self, config: dict[str, Any]):
        """Compiles the model as Keras does, which refuses to if `compile` is not its own."""
        self.compile(**keras.saving.deserialize_keras_object(config))
        if getattr(self, "optimizer", None) and self.built:
            self.optimizer.build(self.trainable_variables)

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ):
        """Returns Keras's loss of a batch, and counts it for the logs."""
        loss = super().compute_loss(x, y, y_pred, sample_weight, training)
        if isinstance(self._loss_tracker, MeanOverTokens):
            # Under a strategy of `tf.distribute`, the loss is divided by the number of replicas.
            self._loss_tracker.add(loss * num_replicas(), self.loss.count_tokens(y, y_pred))
        return loss


class Network(KeepsOptimizer, ShowsLossOfTokens, HoldsDense, keras.Model):
    """Base class of `Transformer`, of `SequenceClassifier` and of the networks of one stack.

    Its subclasses create all weights at once, so that every method works before any call.
    """

    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)
        self.autocast = False  # Ids stay as they are: 16 bits hold them up to 256 only.
        # TensorFlow's XLA would compile anew for every shape of a batch, and trains no faster on a
        # processor; Keras's other backends compile in any case.
        self.supports_jit = not is_tensorflow()

    def build(self, input_shape: tuple[int | None, ...] | None = None):
        """Does nothing: all weights exist from the start."""

    def _maybe_symbolic_build(self, iterator=None, data_batch=None):
        """Builds the state of `fit` as Keras does, but from the share of one replica.

        Keras takes the mean of all replicas' shares of the first batch, only to learn its shape.
        That fails where the shares have different shapes. There is no public way to change this; a
        test in `tests/model/test_transformer.py` checks that Keras still has this method.
        """
        strategy = self.distribute_strategy
        if iterator is not None and strategy.num_replicas_in_sync > 1:
            first = next(next(iter(iterator))[-1])
            data_batch = keras.tree.map_structure(
                lambda shares: strategy.experimental_local_results(shares)[0], first
            )
            iterator = None
        super()._maybe_symbolic_build(iterator, data_batch)

    def copy(self):
        """Returns a float32 copy with the same weights and without an optimizer, for export.

        LoRA is merged; quantized weights become floats of the same values.
        """
        return float32_copy(self)

    def _check_ids(self, ids):
        """Refuses vectors, which layers of other libraries with the same names take."""
        if getattr(ids, "ndim", None) not in (2, None):
            raise ValueError(
                f"A {type(self).__name__} takes ids, integer tensors (B, S); `kformer.Encoder` and "
                f"`kformer.Decoder` take vectors. Received: shape={tuple(ids.shape)}."
            )

    def _embed(self, embedding, ids, training=None):
        """Returns the vectors of ids with their positions, float (B, S, D)."""
        self._check_ids(ids)
        return self.dropout(self.positions(embedding(ids)), training=training)


class PredictsTokens(keras.Model):
    """A model whose outputs are logits for each token; a mixin for `keras.Model`.

    Keras's class weights are of one class for each row: for rows of ids it takes the place of the
    largest id for the class, and weighs whole texts by it.
    """

    @functools.wraps(keras.Model.fit)
    def fit(
        self, x: Any = None, y: Any = None, *args: Any, class_weight: Any = None, **kwargs: Any
    ):
        _refuse(class_weight)
        return super().fit(x, y, *args, **kwargs)

    @functools.wraps(keras.Model.train_on_batch)
    def train_on_batch(self, *args: Any, class_weight: Any = None, **kwargs: Any):
        _refuse(class_weight)
        return super().train_on_batch(*args, **kwargs)


def _refuse(class_weight):
    if class_weight is not None:
        raise ValueError(
            "Tokens have no class weights. Weigh them by `sample_weight`, of shape (B, T): "
            "`weights[ids]`, for an array of the weights of all ids. "
            f"Received: class_weight={class_weight!r:.99}."
        )


class OneStack(Network):
    """A network of one embedding and one stack of self-attention: ids in, a vector for each id.

    `TransformerEncoder` and `TransformerDecoder` differ in the mask, and in the result of `call`.
    An `EncoderLayer` under a causal mask is a `DecoderLayer` without the attention over a memory.
    """

    def __init__(
        self,
        vocab_size: int,
        num_layers: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float,
        norm_first: bool,
        padding_id: int,
        activation: str,
        first_position: int,
        max_wavelength: float,
        norm_epsilon: float,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size
        self.d_model = d_model
        self.padding_id = padding_id
        self.first_position = first_position
        self.max_wavelength = max_wavelength
        self.norm_epsilon = norm_epsilon
        dtype = self.dtype_policy
        self.source_embedding = TokenEmbedding(vocab_size, d_model, name="embedding", dtype=dtype)
        self.positions = PositionalEncoding(
            first_position=first_position,
            max_wavelength=max_wavelength,
            name="positions",
            dtype=dtype,
        )
        self.dropout = Dropout(dropout, name="dropout", dtype=dtype)
        settings = (d_model, num_heads, d_ff, dropout, norm_first, activation)
        last = {"norm_epsilon": norm_epsilon, "dtype": dtype}
        self.encoder = Encoder(num_layers, *settings, name="encoder", **last)
        self.source_embedding.build((None, None))
        for layer in (self.positions, self.dropout, self.encoder):
            layer.build((None, None, d_model))
        self.built = True

    @property
    def parts(self):
        return (self.encoder,)

    def encode(self, source: Any, training: bool | None = None):
        """Returns the vectors, float (B, S, D), of `source`, integer (B, S)."""

        def encode(source):
            x = self._embed(self.source_embedding, source, training)
            return self.encoder(x, self._mask(source), training=training)

        return in_parts(encode, source) if training else encode(source)

    def attend(self, source: Any):
        """As `encode`, with the attention weights: a tuple of L tensors (B, H, S, S)."""
        x = self._embed(self.source_embedding, source)
        return self.encoder.attend(x, self._mask(source))

    def _mask(self, source):
        """Returns the boolean mask (B or 1, 1, S or 1, S) of the self-attention."""
        raise NotImplementedError

    def get_config(self):
        encoder = self.encoder
        return {
            **super().get_config(),
            "vocab_size": self.vocab_size,
            "num_layers": encoder.num_layers,
            "d_model": self.d_model,
            "num_heads": encoder.num_heads,
            "d_ff": encoder.d_ff,
            "dropout": self.dropout.rate,
            "norm_first": encoder.norm_first,
            "padding_id": self.padding_id,
            "activation": encoder.activation,
            "first_position": self.first_position,
            "max_wavelength": self.max_wavelength,
            "norm_epsilon": self.norm_epsilon,
        }
