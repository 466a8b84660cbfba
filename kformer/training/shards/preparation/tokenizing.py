"""Text to ids, and rules on their lengths."""

import numpy as np

from kformer.text.tokenizer import Tokenizer
from kformer.training.data.dropped_pairs import REASONS, PairFilter
from kformer.training.shards.preparation.options import PreparationOptions
from kformer.training.shards.preparation.reading import Pairs
from kformer.training.shards.rows import Rows, of_sides


class Tokenizing:
    """Turns pairs into ids, and drops those that are too long or of unlike lengths.

    Pairs that are blank for the tokenizer, such as those of control characters alone, are dropped,
    too.

    Args:
        tokenizers: `kformer.Tokenizer` of source and of target.
        options: `PreparationOptions`.
    """

    def __init__(self, tokenizers: tuple[Tokenizer, Tokenizer], options: PreparationOptions):
        self._tokenizers = tokenizers
        self._filter = PairFilter(options.max_length, options.max_length_ratio or None)
        largest = max(side.vocab_size for side in tokenizers)
        self.dtype = np.uint16 if largest <= 2**16 else np.int32

    def __call__(self, pairs: Pairs) -> tuple[Rows, dict[str, int]]:
        """Returns the pairs that stay, and the number of those dropped for each reason."""
        rows, reasons = self.with_reasons(pairs)
        counts = {name: int(np.count_nonzero(reasons == name)) for name in REASONS[1:]}
        return rows, counts

    def with_reasons(self, pairs: Pairs) -> tuple[Rows, np.ndarray]:
        """Returns the pairs that stay, and why each is dropped, "" for none: str array (N,)."""
        sides = []
        most, has_long_side = self._filter.most_bytes, self._filter.has_long_side(*pairs)
        for tokenizer, texts in zip(self._tokenizers, pairs, strict=True):
            ids = tokenizer.tokenize([text[:most] for text in texts])
            sides.append((ids.row_lengths().numpy(), ids.flat_values.numpy().astype(self.dtype)))
        rows = of_sides(sides)
        reasons = self._filter(*(rows.lengths + 1).T, has_long_side)
        names = np.array(["", *REASONS[1:]])
        return rows.take(np.flatnonzero(reasons == 0)), names[reasons]
