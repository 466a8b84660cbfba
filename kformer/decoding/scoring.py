"""The log-probability of given translations, token by token, and the attention of each token.

Axes: B batch, S source length, T target length, V vocabulary, D d_model.
"""

import dataclasses
import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from keras import ops

from kformer.backend import is_tensorflow
from kformer.decoding.inputs import padded
from kformer.decoding.parallel import in_parallel, longest_first
from kformer.decoding.runtime import max_parallel_batches
from kformer.model.dense import form_of
from kformer.model.encoder import Encoder
from kformer.model.masks import causal_mask, padding_mask

_MAX_LOGITS = 2**24  # Of a batch, 64 MiB: rows x T x V, unless a single row has more.
_MAX_ROWS = 64


@dataclasses.dataclass(frozen=True)
class Scored:
    """How likely a model finds a translation, or a language model a text.

    Attributes:
        log_probability: Natural logarithm of the probability of the whole, end id included.
        tokens: Its pieces, the end id's last.
        token_log_probabilities: That of each token, given the source and the tokens before.
        flags: "source cut", "target cut", "text cut": it was too long, only its beginning was
            scored.
    """

    log_probability: float
    tokens: tuple[str, ...]
    token_log_probabilities: tuple[float, ...]
    flags: tuple[str, ...] = ()

    @property
    def mean(self) -> float:
        """The mean log-probability of a token."""
        return self.log_probability / len(self.tokens)


def perplexity(scored: Iterable[Scored]) -> float:
    """Returns exp(-mean log-probability) over the tokens of all `scored`, end ids included."""
    total, tokens = 0.0, 0
    for one in scored:
        total += one.log_probability
        tokens += len(one.tokens)
    if not tokens:
        raise ValueError("Perplexity is of at least one translation. Received: none.")
    return math.exp(-total / tokens)


class TokenScores(NamedTuple):
    """The log-probabilities and the attention of one target."""

    log_probabilities: np.ndarray  # float32 (T,)
    attention: np.ndarray  # float32 (T, S)


def likelihood(transformer, source: Any, target: Any, start_id: int) -> tuple[Any, Any]:
    """Scores each id of `target`, in one pass.

    A search step by step gives the same numbers: a padding id within a target is read, too.

    Args:
        transformer: `kformer.Transformer`, or `kformer.TransformerDecoder`, which has no source.
        source: int32 tensor (B, S), padded; S is 0 without a source.
        target: int32 tensor (B, T), without the start id, padded.
        start_id: The id that the decoder reads first.

    Returns:
        log_probabilities: float32 tensor (B, T), of each id given those before.
        attention: float32 tensor (B, T, S), the last layer's attention to the source when each id
            is chosen, the mean over its heads.
    """
    read = ops.concatenate([ops.full_like(target[:, :1], start_id), target[:, :-1]], axis=1)
    if isinstance(transformer.decoder, Encoder):
        logits, attention = transformer(read), ops.zeros((*ops.shape(target), 0))
    else:
        x = transformer.positions(transformer.target_embedding(read))  # (B, T, D)
        x, weights = transformer.decoder.attend(
            x,
            transformer.encode(source),
            causal_mask(ops.shape(target)[1]),
            padding_mask(source, transformer.padding_id),
        )
        logits = transformer.target_embedding.logits(x)  # (B, T, V)
        attention = ops.cast(ops.mean(weights.decoder_cross[-1], axis=1), "float32")
    logits = ops.cast(logits, "float32")
    target_logit = ops.take_along_axis(logits, target[..., None], axis=-1)[..., 0]
    log_normalizer = ops.logsumexp(logits, axis=-1)
    return target_logit - log_normalizer, attention


class BatchLikelihood:
    """`likelihood` of any number of rows, in batches of about one length, one on each core.

    Args:
        transformer: `kformer.Transformer`.
        tokenizer: `kformer.Tokenizer` of the target.
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

            if is_tensorflow():
                ids = tf.TensorSpec([None, None], tf.int32)
                compute = tf.function(compute, input_signature=[ids, ids], autograph=False)
            self._graphs[key] = compute
        return self._graphs[key]

    def __call__(
        self, sources: list, targets: list, progress: Callable | None = None
    ) -> list[TokenScores]:
        """Returns the `TokenScores` of each pair of rows of ids, without padding."""
        graph = self._graph()
        results = [
            TokenScores(np.zeros(0, np.float32), np.zeros((0, len(s)), np.float32)) for s in sources
        ]

        def compute(batch):
            source, target = (
                padded([rows[i] for i in batch], self._transformer.padding_id)
                for rows in (sources, targets)
            )
            return map(ops.convert_to_numpy, graph(source, target))

        batches = list(self._batches([len(target) for target in targets]))
        outputs = in_parallel(compute, batches, max_parallel_batches())
        for batch, (values, attention) in zip(batches, outputs, strict=True):
            for row, i in enumerate(batch):
                t, s = len(targets[i]), len(sources[i])
                results[i] = TokenScores(values[row, :t], attention[row, :t, :s].copy())
            if progress:
                progress(len(batch))
        return results

    def _batches(self, lengths):
        """Yields lists of indices, the longest first, without empty rows."""
        order = [i for i in longest_first(lengths) if lengths[i]]
        vocab_size = self._transformer.target_embedding.vocab_size
        while order:
            size = max(1, min(_MAX_ROWS, _MAX_LOGITS // (lengths[order[0]] * vocab_size)))
            yield order[:size]
            order = order[size:]
