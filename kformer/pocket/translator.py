"""Runs a `.tflite` translator with numpy and ai-edge-litert: no TensorFlow, nothing beside it.

Files of format 1 have a manifest and SentencePiece models beside them; for these alone the
sentencepiece library is needed, too.
"""

import queue
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kformer.arguments import as_texts, check_integer, check_text
from kformer.decoding.parallel import (
    available_cores,
    batches_by_length,
    in_parallel,
    longest_first,
)
from kformer.pocket.metadata import read_manifest
from kformer.pocket.text import TextBeside, TextInFile, text_in
from kformer.pocket.workers import InterpreterWorker, ProcessWorker
from kformer.text.degenerate import runaway_flags

SOURCE_CUT, TRANSLATION_CUT = 1, 2  # What `truncated` of a file is the sum of.
SIGNATURE = "translate"
_FEW = 32  # Texts that a worker has done before others would have been started.
# Bytes of a file that is run in processes: with tiny in 8 bits, 5 MB, 1,000 captions take 1.5 s in
# threads and 1.6 s in processes; with base, 52 MB, 13.5 s and 3.7 GB, or 8.1 s and 1.6 GB. One text
# for base takes 2.1 s from the start, or 0.7 s.
_LARGE = 20_000_000


class PocketTranslation(NamedTuple):
    """A translation of a sentence, and what a file tells of it.

    Attributes:
        text: The translation.
        flags: What is wrong with it, nothing most of the time: "source cut", "length limit",
            "loop", "length ratio", as in `kformer.Translation`.
    """

    text: str
    flags: tuple[str, ...]


class PocketTranslator:
    """A `.tflite` translator, for one call at a time: threads of yours need one each.

    Args:
        path: The `.tflite` file, as `kformer.export.export_tflite` writes it.
        workers: Sentences or batches that are translated at the same time, unless there are few,
            each on one core; by default as many as there are cores. A large file is translated in
            processes, another one in threads.

    Attributes:
        manifest: dict, what the file says of itself.

    Raises:
        FileNotFoundError: A file is missing.
        TypeError: `workers` is no integer.
        ValueError: It is under 1; or a file is not what it should be, or of a newer format.
    """

    def __init__(self, path, workers: int | None = None):
        path = Path(path)
        if workers is not None:
            check_integer("workers", workers, least=1)
        self.manifest = manifest = read_manifest(path)
        beside = TextBeside(path, manifest) if manifest["format"] == 1 else None
        self._signature = manifest["signature"] if beside else SIGNATURE
        self._path = path
        self._most_workers = workers or available_cores()
        self._worker = InterpreterWorker(path, self._signature)
        self._team = []  # Who works side by side.
        self._large = path.stat().st_size >= _LARGE
        if not self._large:
            self._worker.load()
            self._team.append(self._worker)
        self._text = beside or TextInFile(manifest)
        shapes = manifest.get("batches", {})
        if beside:
            whole = (1, manifest["max_source_length"])
            shapes = manifest.get("signatures", {self._signature: whole})
        self._end_id = manifest.get("target_end_id", manifest["end_id"])
        # Of rows of ids. Where there are none, one signature from text to text is the fastest.
        self._shapes = {(batch, length): name for name, (batch, length) in shapes.items()}

    def translate(self, texts, progress=None) -> list[str]:
        """As `kformer.Translator.translate`; the search was chosen by the export."""
        return [translation.text for translation in self._translations(texts, progress)]

    def translations(self, texts, progress=None) -> list[PocketTranslation]:
        """As `translate`, but with what is wrong with each."""
        return self._translations(texts, progress)

    def tokenize(self, text: str):
        """Returns the ids of a text, the end id last, and whether that is all of it."""
        ids, cut = self._text.encode(self._worker, check_text("text", text))
        return ids, not cut

    def _translations(self, texts, progress):
        texts = as_texts(texts, "texts")
        self._staff(len(texts))
        run, jobs = self._by_rows(texts) if self._shapes else self._by_texts(texts)
        results, cuts = [None] * len(texts), []
        for done in self._run_all(run, jobs):
            for i, translation, flags, cut in done:
                results[i] = PocketTranslation(translation, flags)
                cuts += [i] if cut else []
            if progress:
                progress(len(done))
        for i in sorted(cuts):  # Only now, when no worker is busy.
            why = self._text.why_cut(self._worker, texts[i])
            warnings.warn(f"Sentence {i + 1} {why}", stacklevel=3)
        return results

    def _staff(self, count):
        """Sees to it that there are enough workers for so many texts."""
        for _ in range(len(self._team), self._most_workers if count > _FEW else 1):
            self._team.append(
                ProcessWorker(self._path)
                if self._large
                else InterpreterWorker(self._path, self._signature)
            )

    def _by_texts(self, texts):
        """Jobs of one text each, from bytes to bytes."""

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
        """Jobs of one or more rows of ids, those of one length together."""
        encoded = list(self._run_all(self._text.encode, texts))

        def run(worker, job):
            shape, chosen = job
            source = np.full(shape, self.manifest["padding_id"], np.int32)
            source[:, 0] = self.manifest["end_id"]  # Of rows that nobody wants.
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
        """What is wrong with the `ids` of a row, which may have `extra` more than its source."""
        flags = ["source cut"] if cut else []
        if len(source) == 1:  # Nobody translates nothing.
            return tuple(flags)
        ids = ids[: len(source) + extra].tolist()
        if self._end_id in ids:
            ids = ids[: ids.index(self._end_id)]
        else:
            flags.append("length limit")
        return (*flags, *runaway_flags(source[:-1], ids))

    def _jobs(self, lengths):
        """Yields shapes and the texts to be translated in them, those of one length together.

        A batch takes as long when half of it is empty: what does not fill a half goes alone.
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

    def _run_all(self, run, jobs):
        """Runs the jobs, the longest first, on all workers; yields their results in order."""
        free = queue.SimpleQueue()
        for worker in self._team:
            free.put(worker)

        def run_on_a_free_one(job):
            worker = free.get()
            try:
                return run(worker, job)
            finally:
                free.put(worker)

        try:
            yield from in_parallel(run_on_a_free_one, jobs, len(self._team))
        except ChildProcessError:
            self._team = []  # The next call gets a new one.
            raise
