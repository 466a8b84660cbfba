"""Learns SentencePiece models from text files, and checks them, without TensorFlow.

The text is normalized here, by the table that becomes part of the model (`normalization`). All
models split text as unigram models do, into the pieces of the highest total score. A model of
characters, or of words, has pieces that leave no choice; so it works wherever a unigram model does.
"""

import collections
import functools
import io
import itertools
import math
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from kformer.arguments import check_choice, check_flag, check_integer, check_number
from kformer.text import normalization as rules
from kformer.text.long_lines import is_too_long, lines_of
from kformer.text.paragraphs.joining import SPACE
from kformer.text.text_files import as_list, decoded, opened

PADDING_ID, UNKNOWN_ID, START_ID, END_ID = range(4)
KINDS = ("unigram", "char", "word")  # Of pieces.
LINE_BREAK = "\n"
_LINE_SETTINGS = {
    "add_dummy_prefix": False,
    "remove_extra_whitespaces": False,
    "allow_whitespace_only_pieces": True,  # An indentation is one piece.
}
LONGEST_LINE = 4192  # Bytes; SentencePiece's trainer skips longer ones.
ASSET = "sentencepiece.model"  # The file of a tokenizer in a `.keras` archive.


def learn(
    files: str | Path | Sequence[str | Path],
    vocab_size: int = 8000,
    character_coverage: float = 0.9995,
    at_most: bool = False,
    pieces: str = "unigram",
    normalization: str = rules.NMT_NFKC,
    split_digits: bool = False,
    line_breaks: bool = False,
    long_lines: bool = True,
    languages: Collection[str] = (),
    characters: Sequence[str] = (),
) -> bytes:
    """Learns a model with byte fallback from text files.

    Args:
        character_coverage: Least share of the text's characters that get pieces of their own, at
            least 0.98; the rarest are spelled in bytes. Where ids are left, because the text does
            not support so many, they go to these characters.
        at_most: Whether to learn as many ids as the text supports where `vocab_size` is too
            large, instead of raising an error. The model is the same as with this number.
        pieces: Kind of pieces: "unigram", frequent parts of words; "char", single characters; or
            "word", frequent words. Text without a piece is spelled in bytes.
        split_digits: Whether each digit is a piece of its own.
        line_breaks: Whether the model keeps line breaks, each a piece of its own, and tabs and all
            spaces; then the lines are parts of longer texts.
        long_lines: Whether lines of more than `kformer.text.long_lines.LONGEST` bytes count, which
            are too long for a pair.
    """
    check_integer("vocab_size", vocab_size, least=1)
    check_number("character_coverage", character_coverage, least=0.98, most=1)
    check_choice("pieces", pieces, KINDS)
    check_choice("normalization", normalization, rules.RULES)
    check_flag("split_digits", split_digits)
    check_flag("line_breaks", line_breaks)
    normalize = rules.normalizer(normalization, line_breaks).normalize
    separators = LINE_BREAK * line_breaks
    if line_breaks and pieces == "word":
        separators += "\t"
    by_words = pieces == "word"
    text = functools.partial(_lines, as_list(files), normalize, separators, by_words, long_lines)
    settings = {"model_type": pieces, "split_digits": split_digits}
    symbols = [*map(language_symbol, languages)]
    if line_breaks:
        settings |= _LINE_SETTINGS
        if pieces != "word":
            settings["required_chars"] = SPACE  # Also of text without spaces.
    coverage, widened = character_coverage, False
    while True:
        try:
            model = _learn(text, vocab_size, coverage, settings, symbols, characters)
        except RuntimeError as error:
            supported = _supported(str(error))
            if supported is not None and not widened:
                coverage = _with_more_characters(text(), coverage, vocab_size - supported)
                widened = True
                if coverage > character_coverage:
                    continue
            if not at_most or supported is None:
                raise ValueError(_why_not_learned(str(error), vocab_size)) from error
            vocab_size = supported  # Less than before, so this loop ends.
        else:
            model.trainer_spec.character_coverage = character_coverage
            rules.set_rule(model, normalization, line_breaks)
            return model.SerializeToString()


def _with_more_characters(lines, coverage, count):
    """Returns the coverage that gives pieces to `count` characters more, at most to all."""
    counts = collections.Counter()
    for line in lines:
        counts.update(line)
    sums = [*itertools.accumulate(sorted(counts.values(), reverse=True))]
    covered = sum(count_sum < coverage * sums[-1] for count_sum in sums) + 1
    if covered >= len(sums):
        return coverage
    if covered + count >= len(sums):
        return 1.0
    return max(coverage, (sums[covered + count - 1] - 0.5) / sums[-1])


def _learn(text, vocab_size, character_coverage, settings, symbols, characters):
    """Returns a `ModelProto`."""
    kind = settings["model_type"]
    added = [*characters]  # Pieces that SentencePiece's trainer does not learn.
    if kind == "word":
        added.append(SPACE)
    if not settings.get("remove_extra_whitespaces", True):
        added.append(LINE_BREAK)
    further = len(added) + len(symbols)
    try:
        model = _trained(text(), vocab_size - further, character_coverage, settings)
    except RuntimeError as error:
        supported = _supported(str(error))
        raise RuntimeError(_too_large(supported + further) if supported else error) from error
    model.trainer_spec.model_type = model.trainer_spec.UNIGRAM
    model.pieces.extend(model.SentencePiece(piece=piece, score=-math.inf) for piece in added)
    lowest = min(piece.score for piece in model.pieces if piece.score > -math.inf)
    for piece in model.pieces:
        if piece.score == -math.inf:  # It is not in the lines.
            piece.score = lowest - 1
    _add_symbols(model, symbols)
    model.trainer_spec.vocab_size = len(model.pieces)
    if kind != "unigram" and len(model.pieces) < vocab_size:
        raise RuntimeError(_too_large(len(model.pieces)))
    return model


def language_symbol(code: str) -> str:
    """Returns the piece that stands before a source to choose the language of its translation."""
    return f">>{code}<<"


def with_languages(model: bytes, languages: Iterable[str]) -> bytes:
    """Returns a SentencePiece model with a symbol for each language, at the end of its ids.

    A symbol is a control piece: text is never split into it, and it has no text of its own.

    Args:
        model: The bytes of the model; symbols that it has already stay where they are.
    """
    proto = sentencepiece_model_pb2.ModelProto.FromString(model)
    if not _add_symbols(proto, map(language_symbol, languages)):
        return model
    proto.trainer_spec.vocab_size = len(proto.pieces)
    return proto.SerializeToString()


def _add_symbols(model, symbols):
    """Adds control pieces to a `ModelProto`; returns whether any was missing."""
    kinds = {piece.piece: piece.type for piece in model.pieces}
    control = model.SentencePiece.CONTROL
    added = [symbol for symbol in symbols if kinds.get(symbol) != control]
    if text := [symbol for symbol in added if symbol in kinds]:
        raise ValueError(
            "The symbol of a language must not be a piece of text. "
            f"Received: a SentencePiece model with the piece {text[0]!r}."
        )
    model.pieces.extend(
        model.SentencePiece(piece=symbol, score=0.0, type=control) for symbol in added
    )
    return bool(added)


def _trained(lines, vocab_size, character_coverage, settings):
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=lines,
        model_writer=written,
        vocab_size=vocab_size,
        character_coverage=character_coverage,
        normalization_rule_name=rules.IDENTITY,  # The lines are normalized.
        max_sentence_length=LONGEST_LINE,
        byte_fallback=True,
        pad_id=PADDING_ID,
        unk_id=UNKNOWN_ID,
        bos_id=START_ID,
        eos_id=END_ID,
        minloglevel=2,
        **settings,
    )
    return sentencepiece_model_pb2.ModelProto.FromString(written.getvalue())


@functools.lru_cache(maxsize=4)  # A run reads its one or two many times.
def read(model: bytes) -> sentencepiece.SentencePieceProcessor:
    """Reads a SentencePiece model, and checks that a Transformer can be trained with it.

    The result is shared by all callers, which must not change its settings.
    """
    library = sentencepiece.SentencePieceProcessor()
    try:
        library.LoadFromSerializedProto(model)
    except RuntimeError as error:
        raise ValueError(
            "A tokenizer needs the bytes of a SentencePiece model. "
            f"Received: {len(model)} bytes that are none."
        ) from error
    if "\0" in "".join(library.IdToPiece([*range(library.GetPieceSize())])):
        # TensorFlow's copy of the library would end the process.
        raise ValueError(
            "No piece of a SentencePiece model may have a NUL character. "
            f"Received: a model of {len(model)} bytes with one."
        )
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


def has_pieces(model: bytes, pieces: Sequence[str]) -> bool:
    """Returns whether a SentencePiece model has all of the given pieces."""
    library = read(model)
    return all(library.IdToPiece(library.PieceToId(piece)) == piece for piece in pieces)


def check_keeps_lines(model: bytes, **received: Any):
    """Raises ValueError if a SentencePiece model does not keep line breaks.

    Args:
        model: The bytes of the model.
    """
    library = read(model)
    text = "a\nb"
    if library.decode(library.encode(text)) != text:
        names = ", ".join(f"{name}={value!r}" for name, value in received.items())
        raise ValueError(
            "Documents of several lines need a vocabulary that keeps line breaks: `lm train` "
            "learns one without --tokenizer, with --warm-start by --new-vocabulary; in Python "
            f"`kformer.Tokenizer.train(files, line_breaks=True)` does. Received: {names}."
        )


def _lines(files, normalize, separators, single_spaces, long_lines):
    """Yields the normalized lines of files, the long ones in parts.

    Args:
        single_spaces: Whether several spaces count as one.
    """
    for file in files:
        with opened(file) as content:
            lines = decoded(lines_of(content, parts=long_lines), repr(file))
            if not long_lines:
                lines = itertools.filterfalse(is_too_long, lines)
            for line in map(normalize, lines):
                for part in re.split(f"[{separators}]", line) if separators else [line]:
                    yield from _parts(re.sub("  +", " ", part) if single_spaces else part)


def _parts(line):
    """Yields `line` in parts of at most `LONGEST_LINE` bytes, split at spaces where possible."""
    most = LONGEST_LINE // 4  # Characters that fit, whichever they are.
    while len(line) > most and len(line.encode()) > LONGEST_LINE:
        space = line.rfind(" ", 1, most + 1)
        part = line[: space if space > 0 else most]
        yield part
        line = line[len(part) :].lstrip(" ")
    yield line


def _too_large(supported):
    """Returns SentencePiece's message for a `vocab_size` that is too large."""
    return f"Vocabulary size too high: set it to a value <= {supported}."


def _supported(message):
    """Returns the number of ids that the text supports, if `message` is about too many ids."""
    match = re.search(r"value <= (\d+)\.", message)
    return int(match[1]) if match else None


def _why_not_learned(message, vocab_size):
    """Returns our error message for SentencePiece's, which may contain the right number."""
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
        rule = "A tokenizer can only be trained on text, and the files hold none."
    else:
        rule = f"SentencePiece could not train a tokenizer: {message}"
    return f"{rule} Received: vocab_size={vocab_size}."
