"""Terms of a glossary in the translations of a `.tflite` file, searched step by step.

The signatures `encode` and `decode_step` give the log-probabilities of a translation, and go on
behind a given beginning by greedy search. A call of the graph for each id takes longer than a
search in the graph, but only sentences that lack a term need it.

Axes: S source length, T target length, V ids of the target, L layers, H heads, W width of a head.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kformer.text.forced_terms import Draft, Forced, force_terms
from kformer.text.glossary import Glossary

_STEPS = {"encode", "decode_step"}


def can_search_terms(manifest: Mapping[str, Any]) -> bool:
    """Returns whether a file can score translations.

    It needs the signatures, and one vocabulary, as it tokenizes by that of the source alone.
    """
    return {*manifest.get("signatures", ())} >= _STEPS and bool(manifest.get("one_vocabulary"))


class TermSearch:
    """Searches translations that contain the terms of a glossary.

    Args:
        team: `kformer.pocket.worker_team.WorkerTeam`.
        text: The tokenizer, such as `TextInFile`.
        manifest: The metadata of the file.
        texts: The sentences as the model reads them.
        new_answer: (text, ids of its source, its ids, score) -> an answer.
    """

    def __init__(
        self,
        team: Any,
        text: Any,
        manifest: Mapping[str, Any],
        texts: Sequence[str],
        new_answer: Callable,
    ):
        self._team, self._text, self._manifest = team, text, manifest
        self._texts, self._new_answer = texts, new_answer
        self._longest = manifest["max_target_length"]

    def forced(
        self, glossary: Glossary, sentences: Sequence[str], translations: Sequence[str]
    ) -> dict[int, Forced]:
        """Returns the `Forced` of each sentence with terms, as `force_terms`."""
        if not can_search_terms(self._manifest):  # The model was trained with terms.
            return force_terms(glossary, sentences, translations, _none)
        return force_terms(glossary, sentences, translations, self._score, self._go_on)

    def _score(self, numbers, texts):
        def draft(steps, worker, source, text):
            ids = self._target_ids(worker, text)
            return self._draft(text, source, ids, steps.log_probability(ids))

        return self._drafts(numbers, texts, draft)

    def _go_on(self, numbers, beginnings):
        def draft(steps, worker, source, beginning):
            ids, total = steps.go_on(self._target_ids(worker, beginning)[:-1])
            text, _ = self._text.decode(worker, np.array(ids, np.int32))
            return self._draft(text, source, ids, total)

        return self._drafts(numbers, beginnings, draft)

    def _drafts(self, numbers, texts, draft):
        """Returns a `Draft` for each text; those of one sentence are decoded together."""
        jobs = defaultdict(list)
        for place, number in enumerate(numbers):
            jobs[number].append(place)

        def run(worker, number):
            source, _ = self._text.encode(worker, self._texts[number])
            steps = _Steps(worker, self._manifest, source)
            # In this order, equal beginnings are decoded once.
            places = sorted(jobs[number], key=lambda place: texts[place])
            return [(place, draft(steps, worker, source, texts[place])) for place in places]

        drafts: list = [None] * len(texts)
        for several in self._team.map(run, [*jobs], len(jobs)):
            for place, best in several:
                drafts[place] = best
        return drafts

    def _draft(self, text, source, ids, total):
        score, search = total, self._manifest
        if search["beam_size"] > 1:
            offset = search["length_offset"]
            score /= ((offset + len(ids)) / (offset + 1)) ** search["length_penalty"]
        return Draft(text, total, self._new_answer(text, source, ids, score))

    def _target_ids(self, worker, text):
        """Returns the ids of a translation, the end id last; a language's id is not among them."""
        ids, _ = self._text.encode(worker, text)
        if ids[0] in self._manifest.get("target_languages", {}).values():
            ids = ids[1:]
        return [*ids[:-1][: self._longest - 1], self._manifest["target_end_id"]]


def _none(numbers, texts):
    """Returns drafts that lack every term."""
    return [Draft("", 0.0, None) for _ in numbers]


class _Steps:
    """A decoder that has read some ids of a translation.

    Args:
        worker: An idle worker.
        manifest: The metadata of the file.
        source: The ids of the source, the end id last.
    """

    def __init__(self, worker: Callable, manifest: Mapping[str, Any], source: Sequence[int]):
        self._worker, self._manifest = worker, manifest
        padded = np.full((1, manifest["max_source_length"]), manifest["padding_id"], np.int32)
        padded[0, : len(source)] = source
        self._memory = worker("encode", source=padded)
        del self._memory["memory"]
        self._ids: list[int] = []  # That were read, the start id first.
        self._after: list[np.ndarray] = []  # Log-probabilities (V,) of the id behind each of them.
        self._states = [self._beginning()]  # Recurrent ones before each of them; or one cache.

    def _beginning(self):
        manifest = self._manifest
        layers, d_model = manifest["num_decoder_layers"], manifest["d_model"]
        if manifest["decoder_cell"] == "ssru":
            return {"state": np.zeros((layers, d_model), np.float32)}
        heads = manifest["num_heads"]
        shape = layers, heads, manifest["max_target_length"], d_model // heads  # (L, H, T, W)
        return {name: np.zeros(shape, np.float32) for name in ("cache_keys", "cache_values")}

    def log_probability(self, ids: Sequence[int]) -> float:
        """Returns the log-probability of a translation, the end id last."""
        after = self._read(ids[:-1])
        return float(sum(row[i] for row, i in zip(after, ids, strict=True)))

    def go_on(self, ids: Sequence[int]) -> tuple[list[int], float]:
        """Returns the translation that begins with `ids`, by greedy search, and its score."""
        ids, end = [*ids], self._manifest["target_end_id"]
        while len(ids) < self._manifest["max_target_length"]:
            ids.append(int(self._read(ids)[-1].argmax()))
            if ids[-1] == end:
                break
        return ids, self.log_probability(ids)

    def _read(self, ids):
        """Returns the log-probabilities behind the start id and each of `ids`."""
        wanted = [self._manifest["target_start_id"], *ids]
        same = 0
        while same < min(len(wanted), len(self._ids)) and wanted[same] == self._ids[same]:
            same += 1
        del self._ids[same:], self._after[same:]
        is_recurrent = "state" in self._states[0]
        if is_recurrent:
            del self._states[same + 1 :]
        for position in range(same, len(wanted)):
            outputs = self._worker(
                "decode_step",
                ids=np.array([[wanted[position]]], np.int32),
                position=np.array([position], np.int32),
                **self._memory,
                **self._states[-1],
            )
            logits = outputs.pop("logits")[0].astype(np.float64)
            most = logits.max()
            self._after.append(logits - most - np.log(np.exp(logits - most).sum()))
            self._ids.append(wanted[position])
            # A cache of a later position holds all earlier ones; what is behind it is not visible.
            self._states = [*self._states, outputs] if is_recurrent else [outputs]
        return self._after[: len(wanted)]
