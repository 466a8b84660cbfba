"""Runs a `.tflite` file of any kind with NumPy and ai-edge-litert, without TensorFlow.

Files of format 1 have their metadata and SentencePiece models beside them, and need the
sentencepiece library.
"""

import functools
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from kformer.arguments import as_texts, check_integer, check_text, one_or_many, stacklevel_of_user
from kformer.inference.facts import ModelFacts
from kformer.kinds import Kind
from kformer.pocket.held_file import HeldFile
from kformer.pocket.metadata import check_kind, check_whole, read_metadata
from kformer.pocket.pocket_text import TextBeside, TextInFile
from kformer.pocket.worker_team import Team
from kformer.threads import available_cores, batches_by_length, longest_first

SOURCE_CUT = 1  # A bit of the output `truncated`.
ENCODE = "encode_text"
# Texts from which the tokenizer outside of the graph pays for itself: 0.1 s to read its tables.
_MANY = 256


class PocketModel:
    """Base class of the runners of `.tflite` files; any number of threads may share one object.

    Args:
        path, workers: As for `kformer.pocket.PocketTranslator`.

    Attributes:
        manifest: dict, the metadata of the file.
    """

    kind: Kind
    signature = ""  # The first, from the bytes of a text.
    output = "translation"  # Name of the text that `detokenize` returns.
    bulk_signature: str | None = None  # From one row of ids, for many texts; None for never.

    def __init__(self, path: str | Path, workers: int | None = None):
        path = Path(path)
        if workers is not None:
            check_integer("workers", workers, least=1)
        self.manifest = metadata = read_metadata(path)
        check_kind(path, metadata, self.kind)
        held = HeldFile(path)
        check_whole(held, metadata)
        beside = TextBeside(path, metadata) if metadata["format"] == 1 else None
        signature = metadata["signature"] if beside else self.signature
        self._team = Team(held, signature, workers or available_cores())
        self._text = beside or TextInFile(held, metadata, self.output)
        shapes = metadata.get("batches", {})
        if beside:
            whole = (1, metadata["max_source_length"])
            shapes = metadata.get("signatures", {signature: whole})
        # Signatures from rows of ids. Without batches, the one from bytes is the fastest.
        self._shapes = {(batch, length): name for name, (batch, length) in shapes.items()}

    @functools.cached_property
    def facts(self) -> ModelFacts:
        """The facts about the model, as every saved form has them."""
        return ModelFacts(**self._own_facts())

    def _own_facts(self):
        shapes = self.manifest.get("batches", {}).values()
        return {
            "about": self.manifest,
            "encodes": ENCODE in self.manifest.get("signatures", ()),
            "batch_size": max([1, *(batch for batch, _ in shapes)]),
            "calls": available_cores(),
        }

    @one_or_many
    def encode(
        self, texts: Iterable[str], progress: Callable[[int], object] | None = None
    ) -> np.ndarray:
        """Returns a vector for each text, for comparing texts: the mean of the encoder's output.

        Args:
            texts: list of N strings, or another iterable of them; or one string.
            progress: Called with the number of texts done, after each of them.

        Returns:
            float32 array (N, D), where D is `manifest["d_model"]`; (D,) for one string.

        Raises:
            ValueError: The file has no such signature: kformer 0.1 wrote it, or it was exported
                without it.

        Warns:
            UserWarning: A text was too long; only its beginning was encoded.
        """
        if not self.facts.encodes:
            old = self.manifest["format"] == 1
            received = "a file of kformer 0.1" if old else "a file that was exported without it"
            raise ValueError(
                f"Only a file with the signature {ENCODE!r} encodes texts. Received: {received}."
            )
        texts = as_texts(texts, "texts")
        run, jobs = self._by_texts(ENCODE, texts, lambda outputs, over: outputs["vector"])
        vectors = self._map(run, jobs, texts, "encoded", progress)
        return np.array(vectors, np.float32).reshape(-1, self.manifest["d_model"])

    def tokenize(self, text: str) -> tuple[list[int], bool]:
        """Returns the ids of a text, the end id last, and whether they are complete."""
        ids, cut = self._text.encode(self._team.first, check_text("text", text))
        return ids, not cut

    def _answers(self, texts, did, progress):
        """Returns the answer of the first signature to each text, from bytes or from rows of ids.

        Args:
            did: A participle for the warning of texts that are too long, such as "translated"; None
                for no warning.
        """
        texts = as_texts(texts, "texts")
        if shapes := self._shapes or self._bulk_shapes(len(texts)):
            run, jobs = self._by_rows(texts, shapes)
        else:
            run, jobs = self._by_texts(self.signature, texts, self._read_text)
        check = self._check_answers
        return self._map(run, jobs, texts, did, progress, check)

    def _read_text(self, outputs, over):
        """Returns the answer in the outputs of the first signature.

        Args:
            outputs: dict of arrays by name.
            over: Whether the text has more bytes than the file takes.
        """
        raise NotImplementedError

    def _read_row(self, worker, outputs, source, cut, length):
        """Returns the answer to one row of ids, and whether its end is missing.

        Args:
            outputs: dict of arrays by name: the row's part of the outputs.
            source: list of its ids, the end id last.
            cut: Whether they are only the beginning of its text.
        """
        raise NotImplementedError

    def _check_answers(self, answers):
        """Raises an error if there is no answer to one of the texts."""

    def _map(self, run, jobs, texts, did, progress, check=None):
        """Returns an answer for each text; warns of texts that were cut.

        Args:
            run: (worker, job) -> list of (index of a text, its answer, whether it was cut).
        """
        answers, cuts = [None] * len(texts), []
        for done in self._team.map(run, jobs, len(texts)):
            for i, answer, cut in done:
                answers[i] = answer
                cuts += [i] if cut else []
            if progress:
                progress(len(done))
        if check:
            check(answers)
        for i in sorted(cuts if did else ()):
            why = self._text.why_cut(self._team.first, texts[i], did)
            warnings.warn(f"Sentence {i + 1} {why}", stacklevel=stacklevel_of_user())
        return answers

    def _by_texts(self, signature, texts, read):
        """Returns a function and its jobs: one text each, from bytes."""

        def run(worker, i):
            outputs = worker(signature, **self._text.inputs_of(texts[i]))
            over = self._text.too_long(texts[i])
            return [(i, read(outputs, over), over or int(outputs["truncated"][0]) > 0)]

        return run, longest_first([len(text) for text in texts])

    def _bulk_shapes(self, count):
        """Returns the shape of `bulk_signature` if it is the fastest for so many texts."""
        known = self.bulk_signature in self.manifest.get("signatures", ())
        if not known or not self._prepares_bulk(count):
            return {}
        return {(1, self.manifest["max_source_length"]): self.bulk_signature}

    def _prepares_bulk(self, count):
        """Prepares for so many texts; returns whether they are tokenized outside of the graph."""
        if count < _MANY or self.bulk_signature is None or self.manifest["format"] == 1:
            return False
        return self._text.prepare_bulk()

    def _by_rows(self, texts, shapes):
        """Returns a function and its jobs: rows of ids, with rows of similar length together."""
        self._prepares_bulk(len(texts))
        encoded = list(self._team.map(self._text.encode, texts, len(texts)))

        def run(worker, job):
            shape, chosen = job
            source = np.full(shape, self.manifest["padding_id"], np.int32)
            source[:, 0] = self.manifest["end_id"]  # For the rows that fill up the batch.
            for place, i in enumerate(chosen):
                row, _ = encoded[i]
                source[place, : len(row)] = row
            batch_outputs = worker(shapes[shape], source=source)
            results = []
            for place, i in enumerate(chosen):
                row, cut = encoded[i]
                outputs = {name: rows[place] for name, rows in batch_outputs.items()}
                answer, end_missing = self._read_row(worker, outputs, row, cut, shape[1])
                results.append((i, answer, cut or end_missing))
            return results

        return run, list(self._jobs(shapes, [len(row) for row, _ in encoded]))

    def _jobs(self, shapes, lengths):
        """Yields shapes and the texts to compute in them, longest first.

        A batch takes equally long however full it is, so texts that fill less than half of one are
        computed singly.
        """
        largest = max(batch for batch, _ in shapes)
        for chosen in batches_by_length(lengths, largest):
            groups = [chosen] if 2 * len(chosen) > largest else [[i] for i in chosen]
            for group in groups:
                batch = largest if len(group) > 1 else 1
                fitting = [
                    length
                    for size, length in shapes
                    if size == batch and length >= lengths[group[0]]
                ]
                yield (batch, min(fitting)), group
