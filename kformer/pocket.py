"""Runs a `.tflite` translator with numpy, sentencepiece and ai-edge-litert: no TensorFlow."""

import json
import os
import queue
import warnings
from concurrent.futures import ThreadPoolExecutor
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
        workers: Sentences or batches that are translated at the same time, each on one core; by
            default as many as there are cores. Each worker needs memory for the model.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: A file is not what it should be, or of a newer format.
    """

    def __init__(self, path, workers: int | None = None):
        path = Path(path)
        self.manifest = _read_manifest(path)
        self._source = _read_tokenizer(path.parent / self.manifest["source_model"])
        self._target = self._source
        if "target_model" in self.manifest:
            self._target = _read_tokenizer(path.parent / self.manifest["target_model"])
        whole = (1, self.manifest["max_source_length"])
        shapes = self.manifest.get("signatures", {self.manifest["signature"]: whole})
        self._shapes = {(batch, length): name for name, (batch, length) in shapes.items()}
        self._path = path
        self._most_workers = workers or _cores()
        self._workers = [_Worker(path, self.manifest["signature"])]

    def translate(self, texts, progress=None) -> list[str]:
        """As `kformer.Translator.translate`; the search was chosen by the export."""
        if isinstance(texts, str):
            raise TypeError(f"`texts` must be a list of strings. Received: texts={texts!r}.")
        rows = [self._row(i, text) for i, text in enumerate(texts)]
        translations = [""] * len(rows)
        jobs = list(self._jobs([len(row) for row in rows]))

        def run(worker, job):
            shape, chosen = job
            source = np.full(shape, self.manifest["padding_id"], np.int32)
            source[:, 0] = self.manifest["end_id"]  # Of rows that nobody wants.
            for place, i in enumerate(chosen):
                source[place, : len(rows[i])] = rows[i]
            ids = worker(self._shapes[shape], source)
            for place, i in enumerate(chosen):  # End and padding spell nothing.
                translations[i] = self._target.decode(ids[place].tolist())
            return len(chosen)

        for done in self._run_all(run, jobs):
            if progress:
                progress(done)
        return translations

    def _row(self, i, text):
        """The ids of a text, and the end id."""
        pieces = self._source.encode(text)
        most = self.manifest["max_source_length"] - 1  # And the end id.
        if len(pieces) > most:
            warnings.warn(
                f"Sentence {i + 1} has {len(pieces) + 1} ids, over the limit of {most + 1}: "
                f"only its first {most} were translated.",
                stacklevel=3,
            )
        return [*pieces[:most], self.manifest["end_id"]]

    def _jobs(self, lengths):
        """Yields shapes and the texts to be translated in them, those of one length together.

        A batch takes as long when half of it is empty: what does not fill a half goes alone.
        """
        largest = max(batch for batch, _ in self._shapes)
        order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
        for start in range(0, len(order), largest):
            chosen = order[start : start + largest]
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
        """Runs the jobs, the longest first, on as many workers as that is worth."""
        count = min(self._most_workers, len(jobs))
        if count < 2:
            yield from (run(self._workers[0], job) for job in jobs)
            return
        while len(self._workers) < count:
            self._workers.append(_Worker(self._path, self.manifest["signature"]))
        free = queue.SimpleQueue()
        for worker in self._workers:
            free.put(worker)

        def run_on_a_free_one(job):
            worker = free.get()
            try:
                return run(worker, job)
            finally:
                free.put(worker)

        with ThreadPoolExecutor(count) as pool:
            yield from pool.map(run_on_a_free_one, jobs)


class _Worker:
    """An interpreter of its own, for one thread at a time."""

    def __init__(self, path, signature):
        self._path = path
        try:
            self._interpreter = Interpreter(model_path=str(path), num_threads=1)
            self._interpreter.allocate_tensors()  # Now, so that what is wrong shows now.
        except (ValueError, RuntimeError) as error:
            raise self._error(signature) from error
        self._runners = {}
        self._runner(signature)

    def __call__(self, signature, source):
        """Returns the ids (B, T) of the translations of `source` (B, S)."""
        return self._runner(signature)(source=source)["ids"]

    def _runner(self, signature):
        if signature not in self._runners:
            try:
                self._runners[signature] = self._interpreter.get_signature_runner(signature)
            except (ValueError, RuntimeError) as error:
                raise self._error(signature) from error
        return self._runners[signature]

    def _error(self, signature):
        return ValueError(
            f"The file must be a TFLite model with a signature {signature!r}. "
            f"Received: {str(self._path)!r}."
        )


def _cores():
    """How many this process may use."""
    if hasattr(os, "sched_getaffinity"):  # Not on macOS.
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
