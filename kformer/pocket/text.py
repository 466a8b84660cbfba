"""Text to ids and back for a `.tflite` translator: by the file itself, or by models beside it."""

import re

import numpy as np

_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


class TextInFile:
    """Text of a file that tokenizes by itself.

    Its methods take a worker, callable (signature, inputs) -> outputs, that is not busy.

    Args:
        manifest: That of the file.
    """

    def __init__(self, manifest):
        self._most, self._room = manifest["max_source_length"], manifest["max_source_bytes"]
        self._longest = manifest["max_target_length"]

    def bytes_of(self, text: str):
        """Returns uint8 (room,), the text up to where it fits, no character cut, and zeros."""
        source = np.zeros(self._room, np.uint8)
        content = _utf8(text)
        if len(content) > self._room:
            content = content[: self._room].decode("utf-8", "ignore").encode()
        source[: len(content)] = np.frombuffer(content, np.uint8)
        return source

    def too_long(self, text: str) -> bool:
        """Whether the text has more bytes than the file takes."""
        return len(text) * 4 > self._room and len(_utf8(text)) > self._room

    def encode(self, worker, text: str):
        """Returns the ids of a text, the end id last, and whether they are only its beginning."""
        result = worker("tokenize", source=self.bytes_of(text))
        count = min(int(result["count"][0]), self._most)
        cut = bool(result["truncated"][0]) or self.too_long(text)
        return result["ids"][0, :count].tolist(), cut

    def decode(self, worker, ids):
        """Returns the text of `ids`, int32 (T,) or fewer, and whether it is only the beginning."""
        filled = np.zeros((1, self._longest), np.int32)
        filled[0, : len(ids)] = ids
        result = worker("detokenize", ids=filled)
        return text_in(result["translation"]), bool(result["truncated"][0])

    def why_cut(self, worker, text: str) -> str:
        """Says why only the beginning of the text, or of its translation, is there."""
        result = worker("tokenize", source=self.bytes_of(text))
        count = int(result["count"][0])
        if self.too_long(text):
            return _over(len(_utf8(text)), "bytes", self._room, self._room)
        if count > self._most:
            return _over(count, "ids", self._most, self._most - 1)
        return "was translated in part: there was no room for more."


class TextBeside:
    """Text of a file of format 1, with SentencePiece models beside it.

    Args:
        path: That of the file.
        manifest: That of the file.
    """

    def __init__(self, path, manifest):
        self._end_id, self._most = manifest["end_id"], manifest["max_source_length"]
        self._source = self._target = _read_model(path.parent / manifest["source_model"])
        if "target_model" in manifest:
            self._target = _read_model(path.parent / manifest["target_model"])

    def encode(self, worker, text: str):
        """As `TextInFile.encode`."""
        pieces = self._source.encode(_utf8(text).decode())
        kept = pieces[: self._most - 1]
        return [*kept, self._end_id], len(kept) < len(pieces)

    def decode(self, worker, ids):
        """As `TextInFile.decode`; end and padding spell nothing."""
        return self._target.decode(ids.tolist()).replace("\0", ""), False

    def why_cut(self, worker, text: str) -> str:
        """As `TextInFile.why_cut`."""
        count = len(self._source.encode(_utf8(text).decode())) + 1
        return _over(count, "ids", self._most, self._most - 1)


def text_in(translation) -> str:
    """Returns the text in `translation`, uint8 (room,): UTF-8, and a zero ends it."""
    return translation.tobytes().partition(b"\0")[0].decode("utf-8")


def _over(count, unit, limit, kept):
    return f"has {count} {unit}, over the limit of {limit}: only its first {kept} were translated."


def _utf8(text):
    """The bytes of a text without U+0000 at its end; half of a surrogate pair is U+FFFD."""
    return _LONE_SURROGATES.sub("\ufffd", text.rstrip("\0")).encode("utf-8")


def _read_model(path):
    import sentencepiece  # Not where the file tokenizes by itself.

    if not path.is_file():
        raise FileNotFoundError(
            "Beside a .tflite translator of format 1 stand the tokenizer models that its manifest "
            f"names. Received: no file {str(path)!r}."
        )
    try:
        return sentencepiece.SentencePieceProcessor(model_file=str(path))
    except RuntimeError as error:
        raise ValueError(
            f"The tokenizer must be a SentencePiece model. Received: {str(path)!r}."
        ) from error
