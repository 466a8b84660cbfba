"""Writes a translator as a package of Argos Translate, which LibreTranslate installs, too.

It is a ZIP archive of one folder: metadata.json, the SentencePiece model of both languages, a
folder of CTranslate2, and, if one was chosen, what splits sentences there.
"""

import shutil
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from sentencepiece import SentencePieceProcessor

from kformer.export.ctranslate2_folder import check_ctranslate2, export_ctranslate2
from kformer.export.model_card import CARD
from kformer.files import Publication, check_file, part_of, write_json
from kformer.imports.packed_folder import unpacked
from kformer.near_names import with_near_names
from kformer.tasks.translator import Translator
from kformer.text.language_names import language_name

SUFFIX = ".argosmodel"
_SPLITTERS = ("minisbd", "stanza")  # Folders in a package, the first that is there counts.


@with_near_names
def export_argos_package(
    translator: Translator,
    path: str | Path,
    sentences: str | Path | None = None,
    precision: str = "float32",
    check: Callable[[Path], object] | None = None,
    publication: Publication | None = None,
) -> Path:
    """Writes a package for Argos Translate and LibreTranslate; whole, or not at all.

    Argos Translate searches with 4 beams and a length penalty of 0.2, whatever the translator's own
    search is. It splits sentences before it translates: with the `sentences` of the package, or
    with a model that it downloads when it translates for the first time.

    Args:
        translator: The translator; `translator.about` names source_language and target_language.
        path: The file to write, .argosmodel.
        sentences: What splits sentences: a model of MiniSBD, .onnx, or another package from the
            same language, whose `minisbd` or `stanza` is copied. None for none.
        precision: Of the weights: "float32", "float16" or "int8".
        check: Called with the folder of CTranslate2 before; an error prevents the export.
        publication: `kformer.files.Publication` that the file is part of; if None, its own.

    Returns:
        `Path` of the file.

    Raises:
        FileNotFoundError: `sentences` is not there.
        ValueError: The name does not end in .argosmodel, a language is not known, `sentences` are
            of another kind, a piece of a translation is written otherwise by the source's
            tokenizer; and as for `export_ctranslate2`.

    Examples:
        >>> import kformer
        >>> from kformer.export import export_argos_package
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> translator.about |= {"source_language": "de", "target_language": "en"}
        >>> path = export_argos_package(translator, "de-en.argosmodel", precision="int8")
    """
    path = Path(path)
    check_argos(translator, path, sentences, precision)
    source, target = _languages(translator)
    facts = {
        "package_version": "1.0",
        "argos_version": "1.9.0",
        "from_code": source,
        "from_name": language_name(source),
        "to_code": target,
        "to_name": language_name(target),
    }
    with part_of(publication) as together, tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / f"kformer-{source}_{target}"
        export_ctranslate2(translator, folder / "model", precision, check)
        write_json(folder / "metadata.json", facts)
        (folder / "sentencepiece.model").write_bytes(translator.tokenizer.model)
        if (card := folder / "model" / CARD).exists():
            card.rename(folder / "README.md")
        if sentences is not None:
            _copy_splitter(Path(sentences), folder)
        with (
            together.writing(path) as output,
            zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            for file in sorted(folder.rglob("*")):
                archive.write(file, file.relative_to(temporary))
    return path


def check_argos(translator: Translator, path: Path, sentences: str | Path | None, precision: str):
    """Raises the errors of `export_argos_package` before minutes of work."""
    if path.suffix != SUFFIX:
        raise ValueError(f"The file's name must end in {SUFFIX}. Received: {str(path)!r}.")
    check_ctranslate2(translator, path, precision)
    _languages(translator)
    if sentences is not None:
        check_file(sentences)
        if Path(sentences).suffix not in (".onnx", SUFFIX):
            raise ValueError(
                "Sentences are split by a model of MiniSBD, .onnx, or as in another package, "
                f"{SUFFIX}. Received: {str(sentences)!r}."
            )
    # Argos Translate joins translations with the SentencePiece model that splits sources.
    source, target = (
        SentencePieceProcessor(model_proto=tokenizer.model)
        for tokenizer in (translator.tokenizer, translator.target_tokenizer)
    )
    for i in range(target.get_piece_size()):
        pieces = [target.id_to_piece(i)] * 2
        is_text = not (target.is_control(i) or target.is_unknown(i) or target.is_unused(i))
        if is_text and source.decode_pieces(pieces) != target.decode_pieces(pieces):
            raise ValueError(
                "Argos Translate has one SentencePiece model for both languages, so the source's "
                "must write all pieces of translations as the target's does. "
                f"Received: the piece {pieces[0]!r}, which it writes otherwise."
            )


def _languages(translator):
    codes = [translator.about.get(f"{side}_language") for side in ("source", "target")]
    if None in codes:
        raise ValueError(
            "A package of Argos Translate is of a source and a target language: give "
            "--source-language and --target-language, which `translator.about` keeps. "
            f"Received: source_language={codes[0]!r}, target_language={codes[1]!r}."
        )
    return codes


def _copy_splitter(sentences, folder):
    """Copies what splits sentences into the folder of a package."""
    if sentences.suffix == ".onnx":
        (folder / _SPLITTERS[0]).mkdir()
        shutil.copyfile(sentences, folder / _SPLITTERS[0] / sentences.name)
        return
    with unpacked(sentences) as package:
        names = [name for name in _SPLITTERS if (package / name).is_dir()]
        if not names:
            raise ValueError(
                "The package must hold `minisbd` or `stanza`, which split sentences. "
                f"Received: {str(sentences)!r}."
            )
        shutil.copytree(package / names[0], folder / names[0])
