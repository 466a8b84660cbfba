"""Words spelled in bytes now and then, so that the byte ids mean something.

A tokenizer spells what its pieces do not cover, an emoji or a rare letter, by the ids of its
UTF-8 bytes. Text for training hardly has any; a little of it is therefore spelled so on purpose.
"""

import re

import tensorflow as tf

_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
SPACE = "▁"  # U+2581, how SentencePiece writes a space.


class ByteSpelling:
    """Replaces random pieces of rows of ids by the bytes that spell them.

    The space at the head of a piece stays a piece, as the tokenizer itself has it.

    Args:
        tokenizer: `kformer.Tokenizer` with ids for bytes.
        rate: Share of the pieces that are spelled, in [0, 1].
        seed: Of the choice.
    """

    def __init__(self, tokenizer, rate: float, seed: int = 0):
        pieces = tokenizer.pieces(range(tokenizer.vocab_size))
        ids = {piece: i for i, piece in enumerate(pieces)}
        byte_ids = {int(m[1], 16): ids[m[0]] for m in map(_BYTE.fullmatch, pieces) if m}
        special = {tokenizer.padding_id, tokenizer.unknown_id, tokenizer.start_id, tokenizer.end_id}

        def spell(i):
            word = pieces[i].removeprefix(SPACE)
            space = pieces[i][: len(pieces[i]) - len(word)]
            possible = len(byte_ids) == 256 and word and (not space or space in ids)
            if i in special or i in byte_ids.values() or not possible:
                return [i]
            return [*(ids[c] for c in space), *(byte_ids[b] for b in word.encode("utf-8"))]

        unchanged = [[i] for i in range(len(pieces))]
        spelled = [spell(i) for i in range(len(pieces))]
        self._table = tf.ragged.constant([*unchanged, *spelled], tf.int32)  # (2 V, None)
        self._vocab_size = len(pieces)
        self._rate = rate
        self._seed = seed

    def __call__(self, rows, number):
        """Spells, in graph.

        Args:
            rows: int32 `tf.RaggedTensor` (B, None).
            number: scalar int64 tensor; the same number makes the same choice.

        Returns:
            int32 `tf.RaggedTensor` (B, None), as long or longer.
        """
        seed = tf.stack([tf.constant(self._seed, tf.int64), number])
        chance = tf.random.stateless_uniform(tf.shape(rows.flat_values), seed)
        shift = tf.where(chance < self._rate, self._vocab_size, 0)
        shifted = rows.with_flat_values(rows.flat_values + shift)
        return tf.gather(self._table, shifted).merge_dims(1, 2)
