"""The engine of a `.tflite` translator: its search in the graph, and terms step by step.

The signatures `encode` and `decode_step` give the log-probabilities of a translation, and go on
behind a given beginning by greedy search. A call of the graph for each id takes longer than a
search in the graph, but only sentences that lack a term need it.

Axes: S source length, T target length, V ids of the target, L layers, H heads, W width of a head.
"""

import dataclasses
import functools
import itertools
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kformer.inference.engine import Engine, Rated, SearchRequest
from kformer.inference.facts import ModelFacts
from kformer.inference.results import Translation
from kformer.inference.search_options import SearchOptions
from kformer.inference.source_marks import TERMS, reads_marks
from kformer.text.alignment import WordAlignment, align_words
from kformer.text.paragraphs.joining import SPACE

_STEPS = {"encode", "decode_step"}
_SEARCH = ("beam_size", "length_penalty", "length_offset")


class PocketEngine(Engine):
    """Searches with a `.tflite` file.

    Args:
        model: `kformer.pocket.PocketTranslator`.
    """

    def __init__(self, model: Any):
        self._model, self._manifest = model, model.manifest

    @functools.cached_property
    def facts(self) -> ModelFacts:
        """The facts about the model.

        To score translations, the file needs the signatures for steps, and one vocabulary, as it
        tokenizes by that of the source alone.
        """
        model, manifest = self._model, self._manifest
        names = manifest.get("signatures", ())
        scores = {*names} >= _STEPS and bool(manifest.get("one_vocabulary"))
        refusal = None
        if not scores and not reads_marks(manifest, TERMS):
            refusal = (
                "A glossary needs a .tflite file with the signatures `encode` and `decode_step` "
                "and with one vocabulary, or a model that was trained with terms. Received: "
                f"glossary with {names or 'a file without signatures'}."
            )
        return ModelFacts(
            **model._own_facts(),
            target_languages=model._languages,
            target_language=model._target_language,
            search=SearchOptions(**{name: manifest[name] for name in _SEARCH if name in manifest}),
            choices=frozenset({"n_best"} if scores else ()),
            scores=scores,
            continues=scores,
            aligns=scores and bool(manifest.get("aligns")),
            no_terms=refusal,
            quality_estimate=model.quality_estimate,
        )

    def options(self, chosen: Mapping[str, Any]) -> SearchOptions:
        """Returns the file's own options; with `n_best`, a search of at least as many beams."""
        facts, n_best = self.facts, chosen.get("n_best", 1)
        if n_best == 1 or not facts.choices:
            return facts.options(chosen)
        together = {"n_best", "beam_size"} if chosen.get("beam_size") == n_best else {"n_best"}
        options = facts.options({name: chosen[name] for name in chosen if name not in together})
        beams = max(options.beam_size, n_best)
        return dataclasses.replace(options, beam_size=beams, n_best=n_best)

    def search(self, sentences: list[str], request: SearchRequest) -> list[list[Translation]]:
        """Returns the best translation of each sentence, or as many as were asked for.

        The search in the graph has one answer; several are found step by step.
        """
        if request.options.n_best > 1:
            return self._several(sentences, request)
        answers = self._model._answers(sentences, request.did, request.progress)
        return [[answer] for answer in answers]

    def _several(self, sentences, request):
        """Returns the best translations of each sentence that differ in their texts."""
        options = request.options

        def searched(worker, number):
            source, cut = self._model._text.encode(worker, sentences[number])
            if len(source) == 1:  # A blank sentence.
                return number, [self._rated("", source, [], 0.0, options).candidate]
            steps = _Steps(worker, self._manifest, source)
            most = min(self._manifest["max_target_length"], options.limit(len(source)))
            best = steps.best(
                options,
                most,
                lambda ids: self._model._text.decode(worker, np.array(ids, np.int32))[0],
            )
            return number, [
                Translation(text, score, self._model._flags(source, cut, np.array(ids)))
                for text, (score, ids) in best.items()
            ]

        results: list[Any] = [None] * len(sentences)
        team = self._model._team
        for number, several in team.map(searched, [*range(len(sentences))], len(sentences)):
            results[number] = several
            if request.progress:
                request.progress(1)
        return results

    def rate(
        self, sentences: list[str], translations: list[str], request: SearchRequest
    ) -> list[Rated]:
        """Returns the probabilities of given translations."""

        def rated(steps, worker, source, text):
            ids = self._target_ids(worker, text)
            return self._rated(text, source, ids, steps.log_probability(ids), request.options)

        return self._each(sentences, translations, rated)

    def go_on(
        self, sentences: list[str], beginnings: list[str], request: SearchRequest
    ) -> list[Rated]:
        """Returns translations with given beginnings, by greedy search."""
        text_of = self._model._text

        def rated(steps, worker, source, beginning):
            ids, total = steps.go_on(self._target_ids(worker, beginning)[:-1])
            text, _ = text_of.decode(worker, np.array(ids, np.int32))
            return self._rated(text, source, ids, total, request.options)

        return self._each(sentences, beginnings, rated)

    def align(
        self,
        sentences: list[str],
        translations: list[str],
        progress: Callable[[int], object] | None = None,
    ) -> list[WordAlignment]:
        """Returns the links of the words of translations to those of their sources."""

        def aligned(worker, number):
            source, source_words = self._spelled(worker, sentences[number])
            target, target_words = self._spelled(worker, translations[number])
            skipped = len(source) - len(source_words)  # The id of a language.
            target = target[len(target) - len(target_words) :]
            steps = _Steps(worker, self._manifest, [*source, self._manifest["end_id"]])
            attention = steps.attention(target)[:, skipped : len(source)]
            return [(number, align_words(attention, source_words, target_words))]

        results: list[Any] = [None] * len(sentences)
        for several in self._model._team.map(aligned, [*range(len(sentences))], len(sentences)):
            for number, alignment in several:
                results[number] = alignment
            if progress:
                progress(len(several))
        return results

    def _spelled(self, worker, text):
        """Returns the ids of a text, and for each but that of a language its word.

        A word stands at its first piece. Where the tokenizer changed the words, they are empty.
        """
        text_inputs = self._model._text.inputs_of(text)
        outputs = worker("tokenize", **text_inputs)
        count = min(int(outputs["count"][0]), self._manifest["max_source_length"]) - 1
        ids, starts = outputs["ids"][0, :count], outputs["word_starts"][0, :count] > 0
        if count and ids[0] in self._manifest.get("target_languages", {}).values():
            starts = starts[1:]
        starts[:1] = True
        words = text.split()
        rest = iter(words if len(words) == starts.sum() else [""] * int(starts.sum()))
        return ids.tolist(), [SPACE + next(rest) if start else "" for start in starts.tolist()]

    def _each(self, sentences, texts, rate):
        """Returns `rate` of each text; those of one sentence are decoded together."""
        jobs = defaultdict(list)
        for place, sentence in enumerate(sentences):
            jobs[sentence].append(place)

        def run(worker, sentence):
            source, _ = self._model._text.encode(worker, sentence)
            steps = _Steps(worker, self._manifest, source)
            # In this order, equal beginnings are decoded once.
            places = sorted(jobs[sentence], key=lambda place: texts[place])
            return [(place, rate(steps, worker, source, texts[place])) for place in places]

        rated: list[Any] = [None] * len(texts)
        for several in self._model._team.map(run, [*jobs], len(jobs)):
            for place, each in several:
                rated[place] = each
        return rated

    def _rated(self, text, source, ids, total, options):
        score = options.normalized(total, len(ids)) if options.beam_size > 1 else total
        flags = self._model._flags(source, False, np.array(ids))
        return Rated(Translation(text, score, flags), total)

    def _target_ids(self, worker, text):
        """Returns the ids of a translation, the end id last; a language's id is not among them."""
        ids, _ = self._model._text.encode(worker, text)
        if ids[0] in self._manifest.get("target_languages", {}).values():
            ids = ids[1:]
        room = self._manifest["max_target_length"] - 1
        return [*ids[:-1][:room], self._manifest["target_end_id"]]


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
        self._attention: list[np.ndarray] = []  # (S,) when each of them was read.
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

    def attention(self, ids: Sequence[int]) -> np.ndarray:
        """Returns the attention to the source when each of `ids` is chosen, float (T, S)."""
        self._read(ids[:-1])
        size = self._manifest["max_source_length"]
        return np.array(self._attention[: len(ids)]).reshape(-1, size)[: len(ids)]

    def _read(self, ids):
        """Returns the log-probabilities behind the start id and each of `ids`."""
        wanted = [self._manifest["target_start_id"], *ids]
        same = 0
        while same < min(len(wanted), len(self._ids)) and wanted[same] == self._ids[same]:
            same += 1
        del self._ids[same:], self._after[same:], self._attention[same:]
        is_recurrent = "state" in self._states[0]
        if is_recurrent:
            del self._states[same + 1 :]
        for position in range(same, len(wanted)):
            after, state, weights = self._step(wanted[position], position, self._states[-1])
            if weights is not None:
                self._attention.append(weights)
            self._after.append(after)
            self._ids.append(wanted[position])
            # A cache of a later position holds all earlier ones; what is behind it is not visible.
            self._states = [*self._states, state] if is_recurrent else [state]
        return self._after[: len(wanted)]

    def _step(self, last, position, state):
        """Returns the log-probabilities behind an id, the state after it, and its attention."""
        outputs = self._worker(
            "decode_step",
            ids=np.array([[last]], np.int32),
            position=np.array([position], np.int32),
            **self._memory,
            **state,
        )
        weights = outputs.pop("weights", [None])[0]  # Older files lack it.
        logits = outputs.pop("logits")[0].astype(np.float64)
        most = logits.max()
        return logits - most - np.log(np.exp(logits - most).sum()), outputs, weights

    def best(
        self, options: SearchOptions, most: int, text_of: Callable[[Sequence[int]], str]
    ) -> dict[str, tuple[float, list[int]]]:
        """Returns the best `options.n_best` texts, each with its score and its ids, the best first.

        It searches and ends as `kformer.Beam`, by one call of the graph for each beam and position.

        Args:
            most: Number of ids of the longest translation.
            text_of: Function from ids to their text: of equal texts only the best counts.
        """
        beams, end = options.beam_size, self._manifest["target_end_id"]
        alive: list[Any] = [([], 0.0, self._beginning())]
        ended: dict[str, tuple[float, list[int]]] = {}

        def with_more(sequences):
            more = [
                (text_of(ids), (options.normalized(total, len(ids)), ids))
                for ids, total, _ in sequences
            ]
            by_score = sorted([*ended.items(), *more], key=lambda item: -item[1][0])
            best: dict[str, tuple[float, list[int]]] = {}
            for text, sequence in by_score:
                best.setdefault(text, sequence)
            return dict(itertools.islice(best.items(), beams))

        for position in range(most):
            candidates = []
            for ids, total, state in alive:
                last = ids[-1] if ids else self._manifest["target_start_id"]
                after, state, _ = self._step(last, position, state)
                likely = np.argpartition(-after, min(beams, len(after) - 1))[: beams + 1]
                candidates += [([*ids, int(i)], total + float(after[i]), state) for i in likely]
            candidates.sort(key=lambda candidate: -candidate[1])
            # As in `kformer.Beam`, a translation ends only among the best candidates, one per beam.
            ended = with_more([each for each in candidates[:beams] if each[0][-1] == end])
            alive = [candidate for candidate in candidates if candidate[0][-1] != end][:beams]
            if len(ended) >= options.n_best:
                lowest, _ = [*ended.values()][options.n_best - 1]
                length = position + 1 if len(ended) == beams else most
                if options.normalized(alive[0][1], length) <= lowest:
                    break
        else:
            ended = with_more(alive)
        return dict(itertools.islice(ended.items(), options.n_best))
