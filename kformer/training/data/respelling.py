"""Random respellings of training text: other ids that spell the same text.

Byte-fallback augmentation spells a random share of the pieces in bytes. Byte fallback spells
characters without a piece, such as an emoji or a rare letter, by the ids of their UTF-8 bytes.
Training text has few of them, so the augmentation trains the byte ids.

Subword regularization splits a random share of the pieces into smaller ones, so the model sees a
word in several segmentations ([Kudo, 2018](https://arxiv.org/abs/1804.10959); BPE-dropout,
[Provilkov et al., 2020](https://arxiv.org/abs/1910.13267)). SentencePiece's own sampling takes no
seed; this lookup table does.
"""

import re
from typing import Any

import tensorflow as tf
from sentencepiece import sentencepiece_model_pb2

from kformer.inference.source_marks import KINDS, symbols_of


class Respelling:
    """Replaces random ids of rows by their other spellings, in graph.

    Args:
        spellings: For each id of the vocabulary, the ids that replace it; a list of the id alone
            if there is no other spelling.
        rate: Share of the ids to replace, in [0, 1].
    """

    def __init__(self, spellings: list[list[int]], rate: float):
        unchanged = [[i] for i in range(len(spellings))]
        self._table = tf.ragged.constant([*unchanged, *spellings], tf.int32)  # (2 V, None)
        self._vocab_size = len(spellings)
        self._rate = rate

    def __call__(self, rows: Any, seed: Any):
        """Returns the rows with random ids replaced.

        Args:
            rows: int32 `tf.RaggedTensor` (B, None).
            seed: int64 tensor (2,); the same seed chooses the same ids.

        Returns:
            int32 `tf.RaggedTensor` (B, None), as long or longer.
        """
        chance = tf.random.stateless_uniform(tf.shape(rows.flat_values), seed)
        shift = tf.where(chance < self._rate, self._vocab_size, 0)
        shifted = rows.with_flat_values(rows.flat_values + shift)
        return tf.gather(self._table, shifted).merge_dims(1, 2)


BYTE = re.compile(r"<0x([0-9A-F]{2})>")  # Matches the piece of a byte.
SPACE = "▁"  # U+2581, which stands for a space in SentencePiece.


class ByteFallbackAugmentation(Respelling):
    """Replaces random pieces of rows of ids by the bytes that spell them.

    The spaces before a word are not spelled in bytes: neither does the tokenizer spell them so.

    Args:
        tokenizer: `kformer.Tokenizer` with ids for bytes.
        rate: Share of the pieces to spell in bytes, in [0, 1].
    """

    def __init__(self, tokenizer: Any, rate: float):
        pieces = tokenizer.pieces(range(tokenizer.vocab_size))
        ids = {piece: i for i, piece in enumerate(pieces)}
        byte_ids = {int(m[1], 16): ids[m[0]] for m in map(BYTE.fullmatch, pieces) if m}
        special = {tokenizer.padding_id, tokenizer.unknown_id, tokenizer.start_id, tokenizer.end_id}
        special |= tokenizer.symbol_ids

        def spell(i):
            word = pieces[i].lstrip(SPACE)
            space = pieces[i][: len(pieces[i]) - len(word)]
            possible = len(byte_ids) == 256 and word and (not space or space in ids)
            is_mark = pieces[i] in symbols_of(KINDS)
            if i in special or i in byte_ids.values() or is_mark or not possible:
                return [i]
            return [*(ids[c] for c in space), *(byte_ids[b] for b in word.encode("utf-8"))]

        super().__init__([spell(i) for i in range(len(pieces))], rate)


class SubwordRegularization(Respelling):
    """Replaces random pieces of rows of ids by two or more pieces that spell the same text.

    The split of a piece is always the one whose pieces have the highest sum of scores, which are
    log-probabilities in a unigram model. Pieces without a split, bytes, special ids and
    user-defined pieces do not change.

    Args:
        tokenizer: `kformer.Tokenizer`.
        rate: Share of the pieces to split, in [0, 1].
    """

    def __init__(self, tokenizer: Any, rate: float):
        super().__init__(best_splits(tokenizer), rate)


def best_splits(tokenizer: Any) -> list[list[int]]:
    """Returns the ids of the best split of each id; the id alone if there is no split."""
    model = sentencepiece_model_pb2.ModelProto.FromString(tokenizer.model)
    ids = {
        piece.piece: i
        for i, piece in enumerate(model.pieces)
        if piece.type == model.SentencePiece.NORMAL
    }
    scores = [piece.score for piece in model.pieces]
    splits = [[i] for i in range(len(scores))]
    for piece, i in ids.items():
        splits[i] = _best_split(piece, ids, scores) or [i]
    return splits


def _best_split(piece, ids, scores):
    """Returns the ids of the best split of `piece`, by Viterbi; None if there is none."""
    best = {0: (0.0, [])}  # end -> score and ids of the best split of piece[:end]
    for end in range(1, len(piece) + 1):
        ways = [
            (best[start][0] + scores[part], [*best[start][1], part])
            for start in best
            if (part := ids.get(piece[start:end])) is not None and end - start < len(piece)
        ]
        if ways:
            best[end] = max(ways)
    return best.get(len(piece), (0.0, None))[1]
