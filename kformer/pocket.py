"""Runs a `.tflite` translator with numpy, sentencepiece and ai-edge-litert: no TensorFlow."""

import json
import warnings
from pathlib import Path

import numpy as np
import sentencepiece
from ai_edge_litert.interpreter import Interpreter

FORMAT = 1  # Of the manifest; readers refuse what is newer than they are.
SIGNATURE = "translate_ids"
NEEDED = ("signature", "source_model", "padding_id", "end_id", "max_source_length")


class PocketTranslator:
    """A `.tflite` translator, with the manifest and the tokenizer models beside it.

    Args:
        path: The `.tflite` file, as `kformer.export.export_tflite` writes it.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: A file is not what it should be, or of a newer format.
    """

    def __init__(self, path):
        path = Path(path)
        self.manifest = _read_manifest(path)
        self._source = _read_tokenizer(path.parent / self.manifest["source_model"])
        self._target = self._source
        if "target_model" in self.manifest:
            self._target = _read_tokenizer(path.parent / self.manifest["target_model"])
        self._run = _read_model(path, self.manifest["signature"])

    def translate(self, texts, progress=None) -> list[str]:
        """As `kformer.Translator.translate`; the search was chosen by the export."""
        if isinstance(texts, str):
            raise TypeError(f"`texts` must be a list of strings. Received: texts={texts!r}.")
        translations = []
        for i, text in enumerate(texts):
            pieces = self._source.encode(text)
            most = self.manifest["max_source_length"] - 1  # And the end id.
            if len(pieces) > most:
                warnings.warn(
                    f"Sentence {i + 1} has {len(pieces) + 1} ids, over the limit of {most + 1}: "
                    f"only its first {most} were translated.",
                    stacklevel=2,
                )
            translations.append(self._target.decode(self._translate_ids(pieces[:most])))
            if progress:
                progress(1)
        return translations

    def _translate_ids(self, pieces):
        """Translates the ids of one sentence; end and padding, in the answer, spell nothing."""
        manifest = self.manifest
        source = np.full((1, manifest["max_source_length"]), manifest["padding_id"], np.int32)
        source[0, : len(pieces) + 1] = [*pieces, manifest["end_id"]]
        return self._run(source=source)["ids"][0].tolist()


def _read_manifest(path):
    if not path.is_file():
        raise FileNotFoundError(f"There is no such file. Received: {str(path)!r}.")
    beside = path.with_name(f"{path.name}.json")
    if not beside.is_file():
        raise FileNotFoundError(
            "Beside a .tflite translator stands its manifest, of the same name. "
            f"Received: {str(path)!r}, without {beside.name!r}."
        )
    try:
        manifest = json.loads(beside.read_text("utf-8"))
        newer = manifest["format"] > FORMAT
        lacking = [] if newer else [key for key in NEEDED if key not in manifest]
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(
            "The manifest of a .tflite translator must be JSON with a format. "
            f"Received: {str(beside)!r}."
        ) from error
    if newer:
        raise ValueError(
            f"This kformer reads manifests up to format {FORMAT}; update it. "
            f"Received: format={manifest['format']} in {str(beside)!r}."
        )
    if lacking:
        raise ValueError(
            f"The manifest of a .tflite translator must have {', '.join(NEEDED)}. "
            f"Received: {str(beside)!r}, without {', '.join(lacking)}."
        )
    return manifest


def _read_tokenizer(path):
    if not path.is_file():
        raise FileNotFoundError(
            "Beside a .tflite translator stand the tokenizer models that its manifest names. "
            f"Received: no file {str(path)!r}."
        )
    try:
        return sentencepiece.SentencePieceProcessor(model_file=str(path))
    except RuntimeError as error:
        raise ValueError(
            f"The tokenizer must be a SentencePiece model. Received: {str(path)!r}."
        ) from error


def _read_model(path, signature):
    try:
        interpreter = Interpreter(model_path=str(path))
        interpreter.allocate_tensors()  # Now, so that what is wrong with it shows now.
        return interpreter.get_signature_runner(signature)
    except (ValueError, RuntimeError) as error:
        raise ValueError(
            f"The file must be a TFLite model with a signature {signature!r}. "
            f"Received: {str(path)!r}."
        ) from error
