"""The log-probability of given translations, token by token, and the attention of each token.

Axes: B batch, L layers, H heads, S source length, T target length, K ids, V vocabulary, D d_model.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from keras import ops

from kformer.backend import gather, is_tensorflow
from kformer.decoding.decoder_inputs import padded
from kformer.decoding.decoder_step import refusal_of
from kformer.decoding.runtime import each_batch
from kformer.model.dense import form_of
from kformer.model.embedding import NEVER_CHOSEN
from kformer.model.encoder import Encoder
from kformer.model.transformer import Transformer
from kformer.model.transformer_decoder import TransformerDecoder
from kformer.threads import longest_first

_MAX_LOGITS = 2**24  # Of a batch, 64 MiB: rows x T x V, unless a single row has more.
_MAX_ROWS = 64


@dataclasses.dataclass(frozen=True)
class Scored:
    """The log-probability of a translation, or of a language model's text, and of its tokens.

    Attributes:
        log_probability: Natural logarithm of the probability of the whole, end id included.
        tokens: The pieces, the end id's last.
        token_log_probabilities: Log-probability of each token, given the source and the tokens
            before.
        flags: "source cut", "target cut", "text cut": the text was too long, only its beginning was
            scored.

    Examples:
        >>> import kformer
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> right, wrong = translator.score(["Ein Hund läuft."] * 2, ["A dog runs.", "A cat."])
        >>> right.tokens
        ('▁A', '▁dog', '▁runs', '.', '</s>')
        >>> right.log_probability > wrong.log_probability
        True
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
    """Returns exp(-mean log-probability) over the tokens of all `scored`, end ids included.

    Examples:
        >>> import kformer
        >>> scored = kformer.Scored(-3.0, ("▁A", "▁dog", "</s>"), (-2.0, -0.5, -0.5))
        >>> round(kformer.perplexity([scored]), 3)
        2.718
    """
    total, tokens = 0.0, 0
    for sequence in scored:
        total += sequence.log_probability
        tokens += len(sequence.tokens)
    if not tokens:
        raise ValueError("Perplexity is of at least one translation. Received: none.")
    return math.exp(-total / tokens)


class TargetScores(NamedTuple):
    """The log-probabilities and the attention of one target."""

    log_probabilities: np.ndarray  # float32 (T,)
    attention: np.ndarray  # float32 (T, S)


def likelihood(
    transformer: Transformer | TransformerDecoder,
    source: Any,
    target: Any,
    start_id: int,
    layer: int = -1,
    head: int | None = None,
) -> tuple[Any, Any]:
    """Scores each id of `target`, in one pass.

    A search step by step gives the same numbers: a padding id within a target is read, too. Ids
    that the model never chooses cost what they would if it could choose them.

    Args:
        source: int32 tensor (B, S), padded; S is 0 without a source.
        target: int32 tensor (B, T), without the start id, padded.
        start_id: The id that the decoder reads first.
        head: Index of the head; None for the mean of all.

    Returns:
        log_probabilities: float32 tensor (B, T), of each id given the ids before.
        attention: float32 tensor (B, T, S), to the source when each id is chosen.
    """
    if isinstance(transformer.decoder, Encoder):
        logits = transformer(_decoder_input(target, start_id))
        attention = ops.zeros((*ops.shape(target), 0))
    else:
        x, weights = _attend(transformer, source, target, start_id)
        logits = transformer.target_embedding.logits(x)  # (B, T, V)
        head_weights = ops.cast(weights[layer], "float32")  # (B, H, T, S)
        attention = ops.mean(head_weights, axis=1) if head is None else head_weights[:, head]
    logits = ops.cast(logits, "float32")
    target_logit = ops.take_along_axis(logits, target[..., None], axis=-1)[..., 0]
    log_normalizer = ops.logsumexp(logits, axis=-1)
    bias = transformer.target_embedding.bias
    if bias is not None:
        # An id that the bias keeps from being chosen is scored without it, as if it could be.
        bias = ops.cast(gather(ops.convert_to_tensor(bias), target), "float32")
        free_logit = target_logit - bias
        refused = bias < NEVER_CHOSEN
        log_normalizer = ops.where(
            refused, ops.logaddexp(log_normalizer, free_logit), log_normalizer
        )
        target_logit = ops.where(refused, free_logit, target_logit)
    return target_logit - log_normalizer, attention


def attention_to_source(
    transformer: Transformer | TransformerDecoder, source: Any, target: Any, start_id: int
) -> Any:
    """Returns the attention of all layers and heads, float32 (B, L, H, T, S), as `likelihood`."""
    _, weights = _attend(transformer, source, target, start_id)
    return ops.cast(ops.stack(weights, axis=1), "float32")


def most_likely(
    transformers: Sequence, source: Any, target: Any, start_id: int, number: int
) -> tuple[Any, Any]:
    """Returns the most likely ids in place of each id of `target`.

    Returns:
        ids: int32 tensor (B, T, K), the most likely first.
        probabilities: float32 tensor (B, T, K), each given the source and the ids before.
    """
    inputs = source, _decoder_input(target, start_id)
    distributions = [
        ops.softmax(ops.cast(ops.convert_to_tensor(transformer(inputs)), "float32"))
        for transformer in transformers
    ]
    mean = sum(distributions) / len(distributions)
    for refusal in map(refusal_of, transformers):
        if refusal is not None:
            mean = ops.where(refusal < 0, 0.0, mean)
    probabilities, ids = ops.top_k(mean, number)
    return ops.cast(ids, "int32"), probabilities


def _attend(transformer, source, target, start_id):
    """Returns the decoder's output before each id of `target`, and its attention.

    Returns:
        x: float tensor (B, T, D).
        weights: tuple of L float tensors (B, H, T, S).
    """
    target_in = _decoder_input(target, start_id)
    x, weights = transformer.decoder.attend(
        transformer.positions(transformer.target_embedding(target_in)),  # (B, T, D)
        transformer.encode(source),
        cross_mask=transformer.source_mask(source),
    )
    return x, weights.decoder_cross


def _decoder_input(target, start_id):
    """Returns the ids that the decoder reads before it chooses each id of `target`."""
    return ops.concatenate([ops.full_like(target[:, :1], start_id), target[:, :-1]], axis=1)


class BatchLikelihood:
    """`likelihood` of any number of rows, in batches of about one length, one on each core.

    Args:
        transformer: `kformer.Transformer`.
        tokenizer: `kformer.Tokenizer` of the target.
    """

    def __init__(self, transformer: Transformer | TransformerDecoder, tokenizer: Any):
        self._transformer = transformer
        self._tokenizer = tokenizer
        self._graphs: dict = {}

    def __call__(
        self,
        sources: list,
        targets: list,
        progress: Callable | None = None,
        layer: int = -1,
        head: int | None = None,
    ) -> list[TargetScores]:
        """Returns the `TargetScores` of each pair of rows of ids, without padding."""
        results = [
            TargetScores(np.zeros(0, np.float32), np.zeros((0, len(s)), np.float32))
            for s in sources
        ]
        compute = functools.partial(likelihood, layer=layer, head=head)
        for i, (values, attention) in self._outputs(
            compute, (layer, head), sources, targets, progress
        ):
            t, s = len(targets[i]), len(sources[i])
            results[i] = TargetScores(values[:t], attention[:t, :s].copy())
        return results

    def attention(
        self, sources: list, targets: list, progress: Callable | None = None
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Yields the index of each pair, in any order, and its attention, float32 (L, H, T, S)."""
        for i, (weights,) in self._outputs(
            lambda *arguments: (attention_to_source(*arguments),), "all", sources, targets, progress
        ):
            yield i, weights[:, :, : len(targets[i]), : len(sources[i])]

    def most_likely(
        self, sources: list, targets: list, number: int, more_models: Sequence = ()
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yields the index of each pair, in any order, and its likeliest ids with probabilities.

        At each place of the target there are K, as the function `most_likely` returns them.
        """

        def compute(transformer, *arguments):
            return most_likely((transformer, *more_models), *arguments, number)

        name = "most likely", number, *map(id, more_models)
        for i, arrays in self._outputs(compute, name, sources, targets, None):
            yield i, *(array[: len(targets[i])] for array in arrays)

    def _outputs(self, function, name, sources, targets, progress):
        """Yields the index of each pair with a target, and a row of each output of `function`."""
        graph = self._graph(function, name)

        def compute(batch):
            source, target = (
                padded([rows[i] for i in batch], self._transformer.padding_id)
                for rows in (sources, targets)
            )
            return [*map(ops.convert_to_numpy, graph(source, target))]

        batches = list(self._batches([len(target) for target in targets]))
        outputs = each_batch(compute, batches)
        for batch, output in zip(batches, outputs, strict=True):
            for row, i in enumerate(batch):
                yield i, [array[row] for array in output]
            if progress:
                progress(len(batch))

    def _graph(self, function, name):
        key = name, form_of(self._transformer)
        if key not in self._graphs:

            def compute(source, target):
                return function(self._transformer, source, target, self._tokenizer.start_id)

            if is_tensorflow():
                ids = tf.TensorSpec([None, None], tf.int32)
                compute = tf.function(compute, input_signature=[ids, ids], autograph=False)
            self._graphs[key] = compute
        return self._graphs[key]

    def _batches(self, lengths):
        """Yields lists of indices, the longest first, without empty rows."""
        order = [i for i in longest_first(lengths) if lengths[i]]
        vocab_size = self._transformer.target_embedding.vocab_size
        while order:
            size = max(1, min(_MAX_ROWS, _MAX_LOGITS // (lengths[order[0]] * vocab_size)))
            yield order[:size]
            order = order[size:]
