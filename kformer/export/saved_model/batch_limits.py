"""How much a request to a server may hold: a bound on the work that one request can ask for.

A server may merge several requests into one batch, and the graph sees only the batch. So the limits
fit the sizes of these batches: a merged batch is never over a limit, whatever its texts.
"""

from typing import NamedTuple

import tensorflow as tf

from kformer.arguments import check_integer
from kformer.decoding.options import EXTRA_LENGTH
from kformer.export.saved_model.compiled import BATCH_CLASSES
from kformer.text.rows import MAX_CHARACTERS

MAX_TEXTS = 1024  # In a request to a server that merges none.
BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64)  # Of merged batches, where nothing is compiled for them.


class BatchLimits(NamedTuple):
    """What a request, or a batch merged from several, may hold."""

    tokens: int  # Ids in all texts, padding not counted; of `score`, in sources and targets.
    batch_sizes: tuple[int, ...]  # Of merged batches, ascending.

    @property
    def batch_size(self) -> int:
        """The most texts of a merged batch: of any length, they have at most `tokens` ids."""
        return self.batch_sizes[-1]

    @property
    def characters(self) -> int:
        """Characters in all texts that are tokenized, of sources or of targets."""
        return self.batch_size * MAX_CHARACTERS


def batch_limits(max_source_length, max_batch_tokens=None, xla=False) -> BatchLimits:
    """Returns the limits of an export.

    Args:
        max_source_length: The most ids of a source.
        max_batch_tokens: The most ids of a request; by default the ids of 64 of the longest
            sources and targets.
        xla: Whether batches are compiled, so that only some sizes are allowed.

    Raises:
        ValueError: One source and target can have more ids.
    """
    longest = 2 * max_source_length + EXTRA_LENGTH
    sizes = BATCH_CLASSES if xla else BATCH_SIZES
    tokens = sizes[-1] * longest if max_batch_tokens is None else max_batch_tokens
    check_integer("max_batch_tokens", tokens)
    if tokens < longest:
        raise ValueError(
            f"`max_batch_tokens` must be at least {longest}, the ids of the longest source and its "
            f"target. Received: max_batch_tokens={tokens}."
        )
    return BatchLimits(tokens, tuple(size for size in sizes if size * longest <= tokens))


def at_most(limit: int, unit: str, number):
    """Returns an operation that refuses a request of a larger `number`, int32 ()."""
    message = f"A request may hold at most {limit} {unit}. Received:"
    return tf.debugging.Assert(number <= limit, [message, number])
