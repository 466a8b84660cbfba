"""Texts that two tokenizers may split in two ways, neither of them wrong.

A unigram model picks the split of the highest score, and a text that repeats itself has several of
them: "aaa" as "a", "aa", or as "aa", "a". Which one is found depends on how sums are rounded, and
the SentencePiece library, which the byte codec follows, and tensorflow-text differ in that.
"""

import numpy as np

from kformer.export.tflite.byte_codec.piece_model import BYTE, UNKNOWN, read_piece_model

_ROUNDING = float(np.finfo(np.float32).eps) / 2  # Of one sum, for each unit of it, at most.


def are_tied(tokenizer, ids, others) -> bool:
    """Whether both spell one text, and float32 cannot tell which of them scores higher.

    Args:
        tokenizer: `kformer.Tokenizer`.
        ids, others: sequences of integers.

    Raises:
        ValueError: The model does something that the byte codec does not.
    """
    texts = {tokenizer.detokenize([row]).numpy()[0] for row in (ids, others)}
    if len(texts) > 1:
        return False
    model = read_piece_model(tokenizer.model)
    score, other = (sum(_score(model, i) for i in row) for row in (ids, others))
    # All scores are below zero, so that no sum on the way is larger than the last.
    most = _ROUNDING * (len(ids) + len(others)) * max(abs(score), abs(other))
    return abs(score - other) <= most


def _score(model, i) -> float:
    """What an id adds; of the bytes of an unknown character, the first has all of its score."""
    kind = model.types[i]
    if kind == BYTE and int(model.pieces[i][1:-1], 16) & 0xC0 == 0x80:  # Not the first.
        return 0.0
    return float(model.unknown_score if kind in (BYTE, UNKNOWN) else model.scores[i])
