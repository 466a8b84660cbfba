"""A translator as a folder for CTranslate2, with the SentencePiece models beside it."""

from collections.abc import Callable
from pathlib import Path

from kformer.decoding.options import EXTRA_LENGTH
from kformer.export.ctranslate2.model import Vocabulary, check_precision, library, write_model
from kformer.files import Publication, check_writable, part_of
from kformer.tasks.translator import Translator

SIDES = ("source.spm", "target.spm")
_LONGEST = (
    1024  # CTranslate2 cuts longer sources by default; it must have positions for all others.
)


def export_ctranslate2(
    translator: Translator,
    folder: str | Path,
    precision: str = "float32",
    check: Callable[[Path], object] | None = None,
    publication: Publication | None = None,
) -> Path:
    """Writes a folder for `ctranslate2.Translator`; whole, or not at all.

    The folder holds model.bin, config.json, the vocabularies, whose tokens are pieces, and
    source.spm and target.spm, the SentencePiece models that split sources and join translations.
    CTranslate2 adds the end of a source itself, if the model reads one, and the piece of a target
    language that the translator was fixed to. How to search is said when it translates.

    Args:
        translator: The translator.
        folder: A new folder.
        precision: Of the weights: "float32", "float16" or "int8".
        check: Called with the folder before it gets its name; an error prevents the export.
        publication: `kformer.files.Publication` that the folder is part of; if None, its own.

    Returns:
        `Path` of the folder.

    Raises:
        IsADirectoryError: The folder exists.
        TypeError: `translator` is no `kformer.Translator`.
        ValueError: ctranslate2 is not installed, `precision` is another, or the two vocabularies
            write their unknown or end id differently, for which CTranslate2 has one name.
    """
    folder = Path(folder)
    check_ctranslate2(translator, folder, precision)
    tokenizers = translator.tokenizer, translator.target_tokenizer
    longest = max(_LONGEST, translator.max_source_length + EXTRA_LENGTH)
    with part_of(publication) as together, together.writing(folder) as temporary:
        temporary.mkdir()
        write_model(
            translator.transformer.copy(),
            temporary,
            *map(_vocabulary, tokenizers),
            longest,
            precision,
            translator.tokenizer.prefix,
        )
        for name, tokenizer in zip(SIDES, tokenizers, strict=True):
            (temporary / name).write_bytes(tokenizer.model)
        if check:
            check(temporary)
    return folder


def check_ctranslate2(translator, folder: Path, precision: str):
    """Raises what `export_ctranslate2` would, before minutes of work."""
    if not isinstance(translator, Translator):
        raise TypeError(
            f"`translator` must be a kformer.Translator. Received: translator={translator!r:.99}."
        )
    check_precision(precision)
    library()
    check_writable(folder)
    source, target = map(_vocabulary, (translator.tokenizer, translator.target_tokenizer))
    if (source.unknown, source.end) != (target.unknown, target.end):
        raise ValueError(
            "For CTranslate2, both vocabularies must write the unknown id and the end id alike. "
            f"Received: {source.unknown!r} and {source.end!r} of the source, {target.unknown!r} "
            f"and {target.end!r} of the target."
        )


def _vocabulary(tokenizer):
    tokens = tokenizer.pieces(range(tokenizer.vocab_size))
    special = (tokenizer.unknown_id, tokenizer.start_id, tokenizer.end_id)
    return Vocabulary(tokens, *(tokens[i] for i in special))
