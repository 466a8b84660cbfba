"""Limits of requests to a server, which bound the work of one request.

A server may merge several requests into one batch, and the graph sees only the batch. So the limits
fit the largest batch that it merges, whatever its texts.
"""

from typing import NamedTuple

from kformer.arguments import check_integer
from kformer.decoding.options import EXTRA_LENGTH
from kformer.export.saved_model.graph.compiled import BATCH_CLASSES
from kformer.text.rows import MAX_CHARACTERS

BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64)  # Sizes of merged batches without XLA.


class BatchLimits(NamedTuple):
    """Maximum size of a request, or of a batch merged from several."""

    tokens: int  # Ids of all texts without padding; `score` counts sources and targets.
    batch_sizes: tuple[int, ...]  # Allowed sizes of merged batches, ascending.

    @property
    def batch_size(self) -> int:
        """Maximum number of texts in a merged batch; it fits `tokens`, however long they are."""
        return self.batch_sizes[-1]

    @property
    def characters(self) -> int:
        """Maximum number of characters that are tokenized, of sources or of targets."""
        return self.batch_size * MAX_CHARACTERS


def batch_limits(
    max_source_length: int,
    max_batch_tokens: int | None = None,
    xla: bool = False,
    targets: bool = True,
) -> BatchLimits:
    """Returns the limits of an export.

    Args:
        max_source_length: Maximum number of ids of a text that the model reads.
        max_batch_tokens: Maximum number of ids of a request; by default those of 64 of the longest
            texts, and of their targets.
        xla: Whether the graph is compiled, so that only a few batch sizes are allowed.
        targets: Whether texts have targets, as those of a translator.

    Raises:
        ValueError: One text and its target can exceed `max_batch_tokens`.
    """
    longest = 2 * max_source_length + EXTRA_LENGTH if targets else max_source_length
    sizes = BATCH_CLASSES if xla else BATCH_SIZES
    tokens = sizes[-1] * longest if max_batch_tokens is None else max_batch_tokens
    check_integer("max_batch_tokens", tokens)
    if tokens < longest:
        raise ValueError(
            f"`max_batch_tokens` must be at least {longest}, the ids of the longest "
            f"{'source and its target' if targets else 'text'}. Received: "
            f"max_batch_tokens={tokens}."
        )
    return BatchLimits(tokens, tuple(size for size in sizes if size * longest <= tokens))
