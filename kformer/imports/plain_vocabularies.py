"""SentencePiece models of pretrained networks: read from files, or made from a plain vocabulary.

Transliterators split text into characters, and systems that turn letters into sounds split it at
spaces. A unigram model whose pieces leave no choice does the same, in every saved form. Two things
differ. Adjacent characters without a piece are one unknown id, not one each; and a word without a
piece that begins with another piece becomes this piece and an unknown id.
"""

import re
from collections import Counter
from collections.abc import Collection
from pathlib import Path

from sentencepiece import sentencepiece_model_pb2

from kformer.files import check_file
from kformer.imports.id_table import read_model
from kformer.imports.packed_folder import SUFFIXES
from kformer.json_files import MOST_BYTES
from kformer.text.paragraphs.joining import SPACE

SOURCE_MODEL, _TARGET = "source.spm", "target.spm"
_PIECE = sentencepiece_model_pb2.ModelProto.SentencePiece
_MARKED = re.compile(r"<[^<>]*>|｟[^｠]*｠")  # Pieces of no text, such as <blank>.
_JOINERS = ("@@", "￭", "■", "##")  # Of subword-nmt, OpenNMT's tokenizer, WordPiece.


def pieces_in_lines(path: Path) -> list[str]:
    """Returns the pieces of a vocabulary, one a line, in the order of their ids."""
    check_file(path)
    size = path.stat().st_size
    try:
        if size > MOST_BYTES:
            raise ValueError(f"{size:,} bytes, more than {MOST_BYTES:,}")
        pieces = path.read_bytes().decode("utf-8").split("\n")
        pieces = pieces[:-1] if pieces[-1] == "" else pieces
        if all(piece.endswith("\r") for piece in pieces):
            pieces = [piece[:-1] for piece in pieces]
        odd = next((piece for piece, number in Counter(pieces).items() if number > 1), None)
        if odd is not None or "" in pieces:
            raise ValueError("an empty line" if odd is None else f"{odd!r} twice")
    except ValueError as error:  # UnicodeDecodeError is one.
        raise ValueError(
            "A vocabulary must have one piece a line, in UTF-8, each once. "
            f"Received: {str(path)!r} ({error})."
        ) from error
    return pieces


def needs_sentencepiece(pieces: list[str]) -> bool:
    """Returns whether pieces were made by SentencePiece: longer ones that begin with a space."""
    return any(piece.startswith(SPACE) and piece != SPACE for piece in pieces)


def plain_model(pieces: list[str], special: Collection[str], where: str) -> tuple:
    """Returns a SentencePiece model that splits text into `pieces`, and its names of them."""
    text = [piece for piece in pieces if piece not in special and not _MARKED.fullmatch(piece)]
    marked = [piece for piece in text if len(piece) > 1 and any(j in piece for j in _JOINERS)]
    if marked:
        raise ValueError(
            "Pieces must be those of SentencePiece, or characters, or words between spaces; other "
            "ways to split text, such as subword-nmt, fastBPE and OpenNMT's tokenizer, are not "
            f"read. Received: {', '.join(map(repr, marked[:3]))} in {where!r}."
        )
    are_characters = all(len(piece) == 1 for piece in text)
    if are_characters:
        names = [SPACE if piece == " " else piece for piece in pieces]
    else:
        words = {*text} - {*special}
        names = [SPACE + piece if piece in words else piece for piece in pieces]
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


def read_models(
    folder: Path, source: str | Path | None, target: str | Path | None, whose: str
) -> list:
    """Returns the `ModelProto`s of the sources and of the translations.

    Args:
        folder: Their folder by default: source.spm; and target.spm if it exists, else the model of
            the sources.
        source, target: Paths of other files; or None.
    """
    if source is None and not (folder / SOURCE_MODEL).is_file():
        raise FileNotFoundError(
            f"{whose} must hold {SOURCE_MODEL}, or give the SentencePiece model of its sources as "
            f"`source_model`, --source-model. Received: {str(folder)!r}, which does not."
        )
    source = Path(source or folder / SOURCE_MODEL)
    if target is None:
        target = folder / _TARGET if (folder / _TARGET).exists() else source
    for path in (source, target):
        check_file(path)
    return [read_model(Path(path).read_bytes(), str(path)) for path in (source, target)]


def check_folder(path: Path):
    """Raises a NotADirectoryError for a file."""
    if path.is_file():
        raise NotADirectoryError(
            f"A folder is needed, or an archive of one ({', '.join(SUFFIXES)}), not another file. "
            f"Received: {str(path)!r}."
        )


def existing(folder: Path, name: str, whose: str) -> Path:
    """Returns the path of a file in `folder`; raises a FileNotFoundError if it is not there."""
    if not (folder / name).is_file():
        raise FileNotFoundError(
            f"{whose} must hold {name}. Received: {str(folder)!r}, which does not."
        )
    return folder / name


def check_pieces(pieces: list[str], where: str):
    """Raises a ValueError unless a vocabulary consists of different pieces of SentencePiece."""
    if len({*pieces}) < len(pieces):
        raise ValueError(f"The pieces of a vocabulary must differ. Received: {where!r}.")
    if not any(piece.startswith(SPACE) for piece in pieces):
        raise ValueError(
            f"The pieces must be those of SentencePiece, where words begin with {SPACE}; other "
            "ways to split text, such as subword-nmt and fastBPE, are not read. "
            f"Received: {', '.join(map(repr, pieces[-3:]))} in {where!r}."
        )
