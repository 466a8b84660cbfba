"""How likely a given translation is to a model, token by token, and where it looks meanwhile.

Axes: B batch, S source length, T target length, V vocabulary, D d_model.
"""

import dataclasses
import math
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from kformer.decoding.inputs import padded
from kformer.decoding.parallel import in_parallel
from kformer.model.dense import form_of
from kformer.model.masks import causal_mask, padding_mask

_MOST_LOGITS = 2**24  # Held at once, 64 MiB: rows x T x V, unless a single row has more.
_MOST_ROWS = 64


@dataclasses.dataclass(frozen=True)
class Scored:
    """How likely a model finds a translation.

    Attributes:
        log_probability: Natural logarithm of the probability of the whole, its end included.
        tokens: The pieces of the translation, the end id's last.
        token_log_probabilities: As many numbers; each given the source and the pieces before.
        flags: "source cut", "target cut": only the beginning was scored, it was too long.
    """

    log_probability: float
    tokens: tuple[str, ...]
    token_log_probabilities: tuple[float, ...]
    flags: tuple[str, ...] = ()

    @property
    def mean(self) -> float:
        """The log-probability for a token."""
        return self.log_probability / len(self.tokens)


def perplexity(scored) -> float:
    """exp of minus the mean log-probability of all tokens of all `Scored`, end ids included."""
    total, tokens = 0.0, 0
    for one in scored:
        total += one.log_probability
        tokens += len(one.tokens)
    if not tokens:
        raise ValueError("Perplexity is of at least one translation. Received: none.")
    return math.exp(-total / tokens)


class OfTokens(NamedTuple):
    """What the model says of one target."""

    log_probabilities: np.ndarray  # float32 (T,)
    attention: np.ndarray  # float32 (T, S)


def likelihood(transformer, source, target, start_id):
    """What the model thinks of each id of `target`, in one pass.

    It agrees with what a search sees step by step: also a padding id amid a target is read.

    Args:
        transformer: `Transformer`.
        source: int32 tensor (B, S), padded.
        target: int32 tensor (B, T), without the start id, padded.
        start_id: What the decoder reads first.

    Returns:
        log_probabilities: float32 tensor (B, T), each given what comes before.
        attention: float32 tensor (B, T, S), the mean over the heads of the last layer's attention
            to the source when the id was chosen.
    """
    read = ops.concatenate([ops.full_like(target[:, :1], start_id), target[:, :-1]], axis=1)
    x = transformer.positions(transformer.target_embedding(read))  # (B, T, D)
    x, weights = transformer.decoder.attend(
        x,
        transformer.encode(source),
        causal_mask(ops.shape(target)[1]),
        padding_mask(source, transformer.padding_id),
    )
    logits = ops.cast(transformer.target_embedding.logits(x), "float32")  # (B, T, V)
    chosen = ops.take_along_axis(logits, target[..., None], axis=-1)[..., 0]
    attention = ops.cast(ops.mean(weights.decoder_cross[-1], axis=1), "float32")
    return chosen - ops.logsumexp(logits, axis=-1), attention


class BatchLikelihood:
    """`likelihood` of any number of rows, in batches of about one length, one on each core.

    Args:
        transformer: `Transformer`.
        tokenizer: `Tokenizer` of the target.
    """

    def __init__(self, transformer, tokenizer):
        self._transformer = transformer
        self._tokenizer = tokenizer
        self._graphs = {}

    def _graph(self):
        key = form_of(self._transformer)
        if key not in self._graphs:

            def compute(source, target):
                return likelihood(self._transformer, source, target, self._tokenizer.start_id)

            if keras.backend.backend() == "tensorflow":
                ids = tf.TensorSpec([None, None], tf.int32)
                compute = tf.function(compute, input_signature=[ids, ids], autograph=False)
            self._graphs[key] = compute
        return self._graphs[key]

    def __call__(self, sources, targets, progress=None):
        """Returns an `OfTokens` for each pair of rows of ids; nothing of padding is in it."""
        graph = self._graph()
        results = [
            OfTokens(np.zeros(0, np.float32), np.zeros((0, len(s)), np.float32)) for s in sources
        ]

        def compute(batch):
            source, target = (
                padded([rows[i] for i in batch], self._transformer.padding_id)
                for rows in (sources, targets)
            )
            return map(ops.convert_to_numpy, graph(source, target))

        batches = list(self._batches([len(target) for target in targets]))
        for batch, known in zip(batches, in_parallel(compute, batches), strict=True):
            values, attention = known
            for row, i in enumerate(batch):
                t, s = len(targets[i]), len(sources[i])
                results[i] = OfTokens(values[row, :t], attention[row, :t, :s].copy())
            if progress:
                progress(len(batch))
        return results

    def _batches(self, lengths):
        """Lists of indices, the longest first; those of empty rows are left out."""
        order = [i for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]) if lengths[i]]
        vocab_size = self._transformer.target_embedding.vocab_size
        while order:
            size = max(1, min(_MOST_ROWS, _MOST_LOGITS // (lengths[order[0]] * vocab_size)))
            yield order[:size]
            order = order[size:]
