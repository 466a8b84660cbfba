"""Byte-fallback augmentation: a random share of the pieces is spelled in bytes.

Byte fallback spells characters without a piece, such as an emoji or a rare letter, by the ids of
their UTF-8 bytes. Training text has few of them, so the augmentation trains the byte ids.
"""

import re

from kformer.training.data.respelling import Respelling

BYTE = re.compile(r"<0x([0-9A-F]{2})>")  # Matches the piece of a byte.
SPACE = "▁"  # U+2581, which stands for a space in SentencePiece.


class ByteFallbackAugmentation(Respelling):
    """Replaces random pieces of rows of ids by the bytes that spell them.

    The spaces before a word are not spelled in bytes: neither does the tokenizer spell them so.

    Args:
        tokenizer: `kformer.Tokenizer` with ids for bytes.
        rate: Share of the pieces to spell in bytes, in [0, 1].
    """

    def __init__(self, tokenizer, rate: float):
        pieces = tokenizer.pieces(range(tokenizer.vocab_size))
        ids = {piece: i for i, piece in enumerate(pieces)}
        byte_ids = {int(m[1], 16): ids[m[0]] for m in map(BYTE.fullmatch, pieces) if m}
        special = {tokenizer.padding_id, tokenizer.unknown_id, tokenizer.start_id, tokenizer.end_id}

        def spell(i):
            word = pieces[i].lstrip(SPACE)
            space = pieces[i][: len(pieces[i]) - len(word)]
            possible = len(byte_ids) == 256 and word and (not space or space in ids)
            if i in special or i in byte_ids.values() or not possible:
                return [i]
            return [*(ids[c] for c in space), *(byte_ids[b] for b in word.encode("utf-8"))]

        super().__init__([spell(i) for i in range(len(pieces))], rate)
