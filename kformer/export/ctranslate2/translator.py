"""Runs a folder of `export_ctranslate2`, by CTranslate2 and SentencePiece alone."""

from collections import defaultdict
from pathlib import Path
from typing import TypedDict

import sentencepiece

from kformer.decoding.options import EXTRA_LENGTH
from kformer.export.ctranslate2.model import library
from kformer.export.ctranslate2.writer import SIDES
from kformer.json_files import read_json

_BATCH = 32


class _Config(TypedDict):
    add_source_bos: bool


class CTranslate2Translator:
    """Translates as `kformer.Translator` does by default: greedily, up to 50 ids over the source.

    CTranslate2 has one limit of length for a batch, so sentences of one length make a batch.

    Args:
        folder: What `export_ctranslate2` wrote.
    """

    def __init__(self, folder: str | Path):
        folder = Path(folder)
        self._translator = library().Translator(str(folder))
        rule = "A folder of CTranslate2 must have its settings."
        config = read_json(folder / "config.json", _Config, rule=rule)
        self._added = config["add_source_bos"] + 1  # Lengths count the end, also an ignored one.
        self._source, self._target = (
            sentencepiece.SentencePieceProcessor(model_file=str(folder / name)) for name in SIDES
        )

    def translate(self, texts) -> list[str]:
        """Returns a translation for each of `texts`; a blank one for a blank one."""
        by_length = defaultdict(list)
        rows = self._source.encode(list(texts))
        for i, ids in enumerate(rows):
            by_length[len(ids)].append(i)
        translations = [""] * len(rows)
        for length, places in by_length.items():
            sources = [self._source.id_to_piece(rows[i]) for i in places]
            results = self._translator.translate_batch(
                sources,
                max_batch_size=_BATCH,
                beam_size=1,
                max_input_length=0,
                min_decoding_length=0,
                max_decoding_length=length + self._added + EXTRA_LENGTH,
            )
            for i, result in zip(places, results, strict=True):
                ids = self._target.piece_to_id(result.hypotheses[0])
                translations[i] = self._target.decode(ids)
        return translations
