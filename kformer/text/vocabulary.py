"""Learns SentencePiece models from text files, and checks them, without TensorFlow.

All of them split text as unigram models do, into the pieces of the highest total score. One of
characters, or of words, has pieces that leave no choice; so it works wherever a unigram model does.
"""

import io
import re

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from kformer.arguments import check_choice, check_integer, check_number
from kformer.text.text_files import as_list, decoded, opened

PADDING_ID, UNKNOWN_ID, START_ID, END_ID = range(4)
KINDS = ("unigram", "char", "word")  # Of pieces.
SPACE = "▁"  # As SentencePiece writes it.
ASSET = "sentencepiece.model"  # The file of a tokenizer in a `.keras` archive.


def learn(
    files,
    vocab_size: int = 8000,
    character_coverage: float = 0.9995,
    at_most: bool = False,
    pieces: str = "unigram",
) -> bytes:
    """Learns a model with byte fallback from text files.

    Args:
        files: A path or a list of paths of UTF-8 text, one sentence a line, plain or compressed.
        vocab_size: Number of ids.
        character_coverage: Share of the text's characters that get pieces of their own; the
            rarest are spelled in bytes.
        at_most: Whether to learn as many ids as the text supports where `vocab_size` is too
            large, instead of raising an error. The model is the one that this number gives.
        pieces: What they are: "unigram", frequent parts of words; "char", single characters; or
            "word", frequent words. What has no piece is spelled in bytes.

    Returns:
        The SentencePiece model file's content.

    Raises:
        FileNotFoundError: A file is missing.
        TypeError: An argument has the wrong type.
        ValueError: The text does not support so many ids (the message says how many it supports);
            a file is not UTF-8 (the message says which line); or the files hold no text.
    """
    check_integer("vocab_size", vocab_size, least=1)
    check_number("character_coverage", character_coverage, above=0, most=1)
    check_choice("pieces", pieces, KINDS)
    files = as_list(files)
    while True:
        try:
            return _learn(files, vocab_size, character_coverage, pieces)
        except RuntimeError as error:
            supported = _supported(str(error))
            if not at_most or supported is None:
                raise ValueError(_why_not_learned(str(error), vocab_size)) from error
            vocab_size = supported  # Less than before, so this loop ends.


def _learn(files, vocab_size, character_coverage, pieces):
    if pieces == "unigram":
        return _trained(files, vocab_size, character_coverage, pieces)
    spaces = 1 if pieces == "word" else 0  # A model of words has no piece for a space alone.
    try:
        model = _trained(files, vocab_size - spaces, character_coverage, pieces)
    except RuntimeError as error:
        supported = _supported(str(error))
        raise RuntimeError(_too_large(supported + spaces) if supported else error) from error
    proto = sentencepiece_model_pb2.ModelProto.FromString(model)
    proto.trainer_spec.model_type = proto.trainer_spec.UNIGRAM
    if spaces:
        lowest = min(one.score for one in proto.pieces)
        proto.pieces.add(piece=SPACE, score=lowest - 1)
    proto.trainer_spec.vocab_size = len(proto.pieces)
    if len(proto.pieces) < vocab_size:
        raise RuntimeError(_too_large(len(proto.pieces)))
    return proto.SerializeToString()


def _trained(files, vocab_size, character_coverage, pieces):
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=_lines(files),
        model_writer=written,
        model_type=pieces,
        vocab_size=vocab_size,
        character_coverage=character_coverage,
        byte_fallback=True,
        pad_id=PADDING_ID,
        unk_id=UNKNOWN_ID,
        bos_id=START_ID,
        eos_id=END_ID,
        minloglevel=2,
    )
    return written.getvalue()


def read(model: bytes) -> sentencepiece.SentencePieceProcessor:
    """Reads a SentencePiece model, and checks that a Transformer can be trained with it.

    Raises:
        ValueError: The bytes are not a SentencePiece model, or it lacks a special id.
    """
    library = sentencepiece.SentencePieceProcessor()
    try:
        library.LoadFromSerializedProto(model)
    except RuntimeError as error:
        raise ValueError(
            "A tokenizer needs the bytes of a SentencePiece model. "
            f"Received: {len(model)} bytes that are none."
        ) from error
    special = {
        "padding": library.pad_id(),
        "unknown": library.unk_id(),
        "start": library.bos_id(),
        "end": library.eos_id(),
    }
    if min(special.values()) < 0:
        raise ValueError(
            "The SentencePiece model must have ids for padding, unknown, start and end. "
            f"Received: {special} (-1: missing)."
        )
    return library


def _lines(files):
    for file in files:
        with opened(file) as lines:
            yield from decoded(lines, repr(file))


def _too_large(supported):
    """Returns SentencePiece's words for a `vocab_size` that is too large."""
    return f"Vocabulary size too high: set it to a value <= {supported}."


def _supported(message):
    """Returns the number of ids that the text supports, if `message` is that of too many ids."""
    found = re.search(r"value <= (\d+)\.", message)
    return int(found[1]) if found else None


def _why_not_learned(message, vocab_size):
    """Returns our error message for that of SentencePiece, which may contain the right number."""
    if most := _supported(message):
        rule = f"`vocab_size` must be at most {most}, which is what this text supports."
    elif least := re.search(r"required_chars\. \d+ vs (\d+)", message):
        rule = (
            f"`vocab_size` must be at least {least[1]}, so that every byte and every frequent "
            "character has an id."
        )
    elif "insert_id" in message or "(vocab_size) >= (0)" in message:
        rule = "`vocab_size` must be over 260: four special ids, and one for every byte."
    elif "sentences_.empty()" in message or "all_chars_count" in message:
        rule = (
            "A tokenizer can only be trained on text, and the files hold none (lines over 4192 "
            "bytes do not count)."
        )
    else:
        rule = f"SentencePiece could not train a tokenizer: {message}"
    return f"{rule} Received: vocab_size={vocab_size}."
