"""Tokenizes texts for a `.tflite` file: in the file, or with models beside it."""

import contextlib
import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kformer.arguments import check_target_language, replace_lone_surrogates
from kformer.pocket.bulk_text import BulkText
from kformer.pocket.held_file import HeldFile


class TextInFile:
    """Tokenizes with signatures of the file.

    Its methods take an idle worker, callable (signature, **inputs) -> outputs.

    Args:
        path: The file.
        metadata: dict, its metadata.
        output: Name of the text that the signature `detokenize` returns.
    """

    def __init__(self, path: HeldFile, metadata: Mapping[str, Any], output: str):
        self._path, self._metadata = path, metadata
        self._end_id, self._most_bytes = metadata["end_id"], metadata.get("max_target_bytes", 0)
        self._bulk: BulkText | None = None
        self._output, self._padding_id = output, metadata["padding_id"]
        self._most, self._room = metadata["max_source_length"], metadata["max_source_bytes"]
        self._longest = metadata.get("max_target_length", 0)  # A classifier has none.
        self._languages = metadata.get("target_languages", {})
        self._language_input: dict = {}

    def prepare_bulk(self) -> bool:
        """Prepares for many texts; returns whether that is possible."""
        if self._bulk is None and "tables" in self._metadata and not self._languages:
            with contextlib.suppress(ImportError):
                self._bulk = BulkText(self._path, self._metadata)
        return self._bulk is not None

    def into(self, target_language: str) -> "TextInFile":
        """Returns a copy that tokenizes for one of the file's target languages."""
        text_into = copy.copy(self)
        language_id = self._languages[target_language]
        text_into._language_input = {"target_language": np.array([language_id], np.int32)}
        return text_into

    def inputs_of(self, text: str) -> dict:
        """Returns the inputs, by name, of a signature that reads a text."""
        if not self._language_input:
            check_target_language(None, self._languages)
        return {"source": self.bytes_of(text), **self._language_input}

    def bytes_of(self, text: str):
        """Returns uint8 (capacity,): as many whole characters as fit, then zeros."""
        source = np.zeros(self._room, np.uint8)
        content = _utf8(text)
        if len(content) > self._room:
            content = content[: self._room].decode("utf-8", "ignore").encode()
        source[: len(content)] = np.frombuffer(content, np.uint8)
        return source

    def too_long(self, text: str) -> bool:
        """Returns whether the text has more bytes than the file takes."""
        return len(text) * 4 > self._room and len(_utf8(text)) > self._room

    def encode(self, worker: Callable, text: str):
        """Returns the ids of a text, the end id last, and whether it was cut."""
        if self._bulk and not self.too_long(text):
            ids = self._bulk.encode(text)
            if ids is not None and len(ids) < self._most:
                return [*ids, self._end_id], False
        result = worker("tokenize", **self.inputs_of(text))
        count = min(int(result["count"][0]), self._most)
        cut = bool(result["truncated"][0]) or self.too_long(text)
        return result["ids"][0, :count].tolist(), cut

    def decode(self, worker: Callable, ids: np.ndarray):
        """Returns the text of at most T `ids`, and whether it was cut."""
        if self._bulk:
            text = self._bulk.decode(ids.tolist())
            if text is not None and len(text) <= self._most_bytes:
                return text.decode("utf-8", "replace"), False
        filled = np.full((1, self._longest), self._padding_id, np.int32)
        filled[0, : len(ids)] = ids
        result = worker("detokenize", ids=filled)
        return text_in(result[self._output]), bool(result["truncated"][0])

    def why_cut(self, worker: Callable, text: str, did: str) -> str:
        """Returns why the text or its translation was cut, for a warning."""
        result = worker("tokenize", **self.inputs_of(text))
        count = int(result["count"][0])
        if self.too_long(text):
            return _over(len(_utf8(text)), "bytes", self._room, self._room, did)
        if count > self._most:
            return _over(count, "ids", self._most, self._most - 1, did)
        return "has too long a translation: its end was cut off."


class TextBeside:
    """Tokenizes with SentencePiece models beside a file of format 1.

    Args:
        path: The `.tflite` file.
        metadata: dict, the metadata of the file.
    """

    def __init__(self, path: Path, metadata: Mapping[str, Any]):
        self._end_id, self._most = metadata["end_id"], metadata["max_source_length"]
        self._source = self._target = _read_model(path.parent / metadata["source_model"])
        if "target_model" in metadata:
            self._target = _read_model(path.parent / metadata["target_model"])

    def encode(self, worker: Callable, text: str):
        """Returns the ids of a text, the end id last, and whether it was cut."""
        pieces = self._source.encode(_utf8(text).decode())
        kept = pieces[: self._most - 1]
        return [*kept, self._end_id], len(kept) < len(pieces)

    def decode(self, worker: Callable, ids: np.ndarray):
        """Returns the text of `ids`, without the end and padding ids, and False: it is whole."""
        return self._target.decode(ids.tolist()).replace("\0", ""), False

    def why_cut(self, worker: Callable, text: str, did: str) -> str:
        """Returns why the text was cut, for a warning, like `TextInFile.why_cut`."""
        count = len(self._source.encode(_utf8(text).decode())) + 1
        return _over(count, "ids", self._most, self._most - 1, did)


def text_in(translation: np.ndarray) -> str:
    """Returns the text in `translation`, uint8 (capacity,): UTF-8, ended by a zero."""
    return translation.tobytes().partition(b"\0")[0].decode("utf-8", "replace")


def _over(count, unit, limit, kept, did):
    return f"has {count} {unit}, over the limit of {limit}: only its first {kept} were {did}."


def _utf8(text):
    """Returns the UTF-8 bytes of a text without U+0000 at its end."""
    return replace_lone_surrogates(text.rstrip("\0")).encode("utf-8")


def _read_model(path):
    import sentencepiece  # Files of format 2 do not need it.

    if not path.is_file():
        raise FileNotFoundError(
            "A .tflite translator of format 1 needs the tokenizer models that its metadata names "
            f"beside it. Received: no file {str(path)!r}."
        )
    try:
        return sentencepiece.SentencePieceProcessor(model_file=str(path))
    except RuntimeError as error:
        raise ValueError(
            f"The tokenizer must be a SentencePiece model. Received: {str(path)!r}."
        ) from error
