"""Runs a `.tflite` translator with NumPy and ai-edge-litert, without TensorFlow.

Files of format 1 have their metadata and SentencePiece models beside them, and need the
sentencepiece library.
"""

import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kformer.arguments import as_texts, check_integer, check_text
from kformer.decoding.parallel import available_cores, batches_by_length, longest_first
from kformer.pocket.metadata import read_metadata
from kformer.pocket.team import Team
from kformer.pocket.text import TextBeside, TextInFile, text_in
from kformer.text.degenerate import degenerate_flags

SOURCE_CUT, TRANSLATION_CUT = 1, 2  # Bits of the output `truncated`.
SIGNATURE = "translate"
ENCODE = "encode_text"


class PocketTranslation(NamedTuple):
    """A translation of a sentence.

    Attributes:
        text: The translation.
        flags: Its problems, usually none: "source cut", "length limit", "loop", "length ratio",
            as in `kformer.Translation`.
    """

    text: str
    flags: tuple[str, ...]


class PocketTranslator:
    """A `.tflite` translator, for one call at a time: each thread needs its own.

    Args:
        path: The `.tflite` file, as `kformer.export.export_tflite` writes it.
        workers: Number of sentences or batches translated at the same time, each on one core, if
            there are many; by default the number of cores. Large files run in processes, others
            in threads.

    Attributes:
        manifest: dict, the metadata of the file.

    Raises:
        FileNotFoundError: A file is missing.
        TypeError: `workers` is no integer.
        ValueError: `workers` is under 1; or a file is malformed or of a newer format.
    """

    def __init__(self, path, workers: int | None = None):
        path = Path(path)
        if workers is not None:
            check_integer("workers", workers, least=1)
        self.manifest = metadata = read_metadata(path)
        beside = TextBeside(path, metadata) if metadata["format"] == 1 else None
        signature = metadata["signature"] if beside else SIGNATURE
        self._team = Team(path, signature, workers or available_cores())
        self._text = beside or TextInFile(metadata)
        shapes = metadata.get("batches", {})
        if beside:
            whole = (1, metadata["max_source_length"])
            shapes = metadata.get("signatures", {signature: whole})
        self._end_id = metadata.get("target_end_id", metadata["end_id"])
        # Signatures from ids to ids. Without batches, the one from text to text is the fastest.
        self._shapes = {(batch, length): name for name, (batch, length) in shapes.items()}

    def translate(self, texts, progress=None) -> list[str]:
        """See `kformer.Translator.translate`; the export chose the search."""
        return [best.text for [best] in self._translations(texts, progress)]

    def translations(self, texts, progress=None) -> list[list[PocketTranslation]]:
        """As `translate`, but with flags: for each text a list of its one translation."""
        return self._translations(texts, progress)

    def encode(self, texts, progress=None) -> np.ndarray:
        """Returns a vector for each text, for comparing texts: the mean of the encoder's output.

        Args:
            texts: list of N strings, or another iterable of them.
            progress: Called with the number of texts done, after each of them.

        Returns:
            float32 array (N, D), where D is `manifest["d_model"]`.

        Raises:
            ValueError: The file is of kformer 0.1 and has no such signature.

        Warns:
            UserWarning: A text was too long; only its beginning was encoded.
        """
        if ENCODE not in self.manifest.get("signatures", ()):
            raise ValueError(
                f"Only a file with the signature {ENCODE!r} encodes texts: kformer 0.2 exports "
                f"it. Received: a file of kformer {self.manifest.get('kformer', '0.1')}."
            )
        texts = as_texts(texts, "texts")
        self._team.prepare(len(texts))
        vectors = np.empty((len(texts), self.manifest["d_model"]), np.float32)
        cuts = []

        def run(worker, i):
            result = worker(ENCODE, source=self._text.bytes_of(texts[i]))
            cut = self._text.too_long(texts[i]) or bool(result["truncated"][0])
            return i, result["vector"], cut

        for i, vector, cut in self._team.map(run, longest_first([len(text) for text in texts])):
            vectors[i] = vector
            cuts += [i] if cut else []
            if progress:
                progress(1)
        self._warn_of_cut(texts, cuts, "encoded")
        return vectors

    def tokenize(self, text: str) -> tuple[list[int], bool]:
        """Returns the ids of a text, the end id last, and whether they are complete."""
        ids, cut = self._text.encode(self._team.first, check_text("text", text))
        return ids, not cut

    def _translations(self, texts, progress):
        texts = as_texts(texts, "texts")
        self._team.prepare(len(texts))
        run, jobs = self._by_rows(texts) if self._shapes else self._by_texts(texts)
        results, cuts = [None] * len(texts), []
        for done in self._team.map(run, jobs):
            for i, translation, flags, cut in done:
                results[i] = [PocketTranslation(translation, flags)]
                cuts += [i] if cut else []
            if progress:
                progress(len(done))
        self._warn_of_cut(texts, cuts, "translated", stacklevel=4)
        return results

    def _warn_of_cut(self, texts, cuts, did, stacklevel=3):
        for i in sorted(cuts):  # Not before, because the worker was busy.
            why = self._text.why_cut(self._team.first, texts[i], did)
            warnings.warn(f"Sentence {i + 1} {why}", stacklevel=stacklevel)

    def _by_texts(self, texts):
        """Returns a function and its jobs: one text each, from bytes to bytes."""

        def run(worker, i):
            result = worker(SIGNATURE, source=self._text.bytes_of(texts[i]))
            truncated = int(result["truncated"][0])
            over = self._text.too_long(texts[i])
            source, ids = result["source_ids"], result["ids"]
            row = source[source != self.manifest["padding_id"]].tolist()
            cut = over or bool(truncated & SOURCE_CUT)
            flags = self._flags(row, cut, ids, len(ids) - len(source))
            return [(i, text_in(result["translation"]), flags, over or truncated > 0)]

        return run, longest_first([len(text) for text in texts])

    def _by_rows(self, texts):
        """Returns a function and its jobs: rows of ids, those of similar length together."""
        encoded = list(self._team.map(self._text.encode, texts))

        def run(worker, job):
            shape, chosen = job
            source = np.full(shape, self.manifest["padding_id"], np.int32)
            source[:, 0] = self.manifest["end_id"]  # Of rows that fill up the batch.
            for place, i in enumerate(chosen):
                row, _ = encoded[i]
                source[place, : len(row)] = row
            found = worker(self._shapes[shape], source=source)["ids"]
            results = []
            for i, ids in zip(chosen, found, strict=False):
                row, cut = encoded[i]
                flags = self._flags(row, cut, ids, len(ids) - shape[1])
                text, no_room = self._text.decode(worker, ids)
                results.append((i, text, flags, cut or no_room))
            return results

        return run, list(self._jobs([len(row) for row, _ in encoded]))

    def _flags(self, source, cut, ids, extra):
        """Returns the flags of `ids`, which may be `extra` longer than their source."""
        flags = ["source cut"] if cut else []
        if len(source) == 1:  # Blank input gets no further flags.
            return tuple(flags)
        ids = ids[: len(source) + extra].tolist()
        if self._end_id in ids:
            ids = ids[: ids.index(self._end_id)]
        else:
            flags.append("length limit")
        return (*flags, *degenerate_flags(source[:-1], ids))

    def _jobs(self, lengths):
        """Yields shapes and the texts to translate in them, longest first.

        A batch takes equally long however full it is, so texts that fill less than half of one
        are translated singly.
        """
        largest = max(batch for batch, _ in self._shapes)
        for chosen in batches_by_length(lengths, largest):
            groups = [chosen] if 2 * len(chosen) > largest else [[i] for i in chosen]
            for group in groups:
                batch = largest if len(group) > 1 else 1
                fitting = [
                    length
                    for size, length in self._shapes
                    if size == batch and length >= lengths[group[0]]
                ]
                yield (batch, min(fitting)), group
