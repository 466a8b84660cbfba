"""The SentencePiece models beside a pretrained network."""

from pathlib import Path

from kformer.tasks.pretrained.id_table import read_model

_SOURCE, _TARGET = "source.spm", "target.spm"
_WORD = "▁"


def read_models(
    folder: Path, source: str | Path | None, target: str | Path | None, whose: str
) -> list:
    """Returns the `ModelProto`s of the sources and of the translations.

    Args:
        folder: Where they are by default: source.spm; and target.spm if there is one, else that of
            the sources.
        source, target: Paths of other files; or None.
        whose: What the folder is, for messages: "A folder of CTranslate2" for instance.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: A file is no unigram model of SentencePiece.
    """
    if source is None and not (folder / _SOURCE).is_file():
        raise FileNotFoundError(
            f"{whose} must hold {_SOURCE}, or give the SentencePiece model of its sources as "
            f"`source_model`, --source-model. Received: {str(folder)!r}, which does not."
        )
    source = Path(source or folder / _SOURCE)
    if target is None:
        target = folder / _TARGET if (folder / _TARGET).exists() else source
    return [read_model(Path(path).read_bytes(), str(path)) for path in (source, target)]


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
    if not any(piece.startswith(_WORD) for piece in pieces):
        raise ValueError(
            f"The pieces must be those of SentencePiece, where words begin with {_WORD}; other "
            "ways to split text, such as subword-nmt and fastBPE, are not read. "
            f"Received: {', '.join(map(repr, pieces[-3:]))} in {where!r}."
        )
