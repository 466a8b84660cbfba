"""SentencePiece models of vocabularies that were made without SentencePiece.

Transliterators split text into characters, and systems that turn letters into sounds split it at
spaces. A unigram model whose pieces leave no choice does the same, in every saved form.

Two things differ. Adjacent characters without a piece are one unknown id, not one each; and a word
without a piece that begins with another piece is this piece and an unknown id.
"""

import re
from collections.abc import Collection

from sentencepiece import sentencepiece_model_pb2

from kformer.text.vocabulary import SPACE

_PIECE = sentencepiece_model_pb2.ModelProto.SentencePiece
_MARKED = re.compile(r"<[^<>]*>|｟[^｠]*｠")  # Pieces of no text, such as <blank>.
_JOINERS = ("@@", "￭", "■", "##")  # Of subword-nmt, OpenNMT's tokenizer, WordPiece.


def needs_sentencepiece(pieces: list[str]) -> bool:
    """Returns whether pieces are those of SentencePiece: longer ones that begin with a space."""
    return any(piece.startswith(SPACE) and piece != SPACE for piece in pieces)


def plain_model(pieces: list[str], special: Collection[str], where: str) -> tuple:
    """Returns a SentencePiece model that splits text into `pieces`, and its names of them.

    Args:
        pieces: In the order of their ids. If all have a single character, text is split into
            characters; else at spaces.
        special: Pieces that are never text, such as the end.
        where: Path of the vocabulary, for messages.

    Returns:
        The `ModelProto`; and a list of pieces, which write a space as SentencePiece does.

    Raises:
        ValueError: The pieces are parts of words, which another tool has marked.
    """
    text = [one for one in pieces if one not in special and not _MARKED.fullmatch(one)]
    marked = [one for one in text if len(one) > 1 and any(mark in one for mark in _JOINERS)]
    if marked:
        raise ValueError(
            "Pieces must be those of SentencePiece, or characters, or words between spaces; other "
            "ways to split text, such as subword-nmt, fastBPE and OpenNMT's tokenizer, are not "
            f"read. Received: {', '.join(map(repr, marked[:3]))} in {where!r}."
        )
    are_characters = all(len(one) == 1 for one in text)
    if are_characters:
        names = [SPACE if one == " " else one for one in pieces]
    else:
        names = [one if one in special or one not in {*text} else SPACE + one for one in pieces]
    if len({*names}) < len(names):
        raise ValueError(f"The pieces of a vocabulary must differ. Received: {where!r}.")
    model = sentencepiece_model_pb2.ModelProto()
    kept = {*text}
    for piece, name in zip(pieces, names, strict=True):
        if piece in kept:
            model.pieces.add(piece=name, score=0.0, type=_PIECE.NORMAL)
    model.trainer_spec.model_type = model.trainer_spec.UNIGRAM
    normalizer = model.normalizer_spec
    normalizer.name = "identity"
    normalizer.add_dummy_prefix = normalizer.remove_extra_whitespaces = not are_characters
    normalizer.escape_whitespaces = True
    return model, names
