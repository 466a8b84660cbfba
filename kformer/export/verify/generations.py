"""A language model's answers in Python, and the test whether a different answer is as good."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from kformer.decoding.search_ids import FixedSearch
from kformer.export.verify.agreement import SearchAnswers, search_agreement
from kformer.export.verify.translations import Translations, best_ids_finders
from kformer.inference.search_options import SearchOptions
from kformer.tasks.search_defaults import with_beams


class Generations(Translations):
    """A language model's continuations and their comparison, for `Verifier`.

    Args:
        model: `kformer.LanguageModel`, computing in float32.
        options: `SearchOptions`, as the exports have them.
        references, tokenize: For other kinds: no continuation is the right one.
    """

    measure = None

    def __init__(
        self,
        model: Any,
        options: SearchOptions,
        references: Sequence[str] | None = None,
        tokenize: str | None = None,
    ):
        self._model, self._languages = model, ()
        self._options, longest = options, model.max_length
        search = FixedSearch(options, model.tokenizer, longest, longest)
        self._best_ids, self._noisy_best_ids = best_ids_finders(model.network, search)

    def python_answers(self, texts: Sequence[str]) -> list[str]:
        return self._model.generate(texts, **dataclasses.asdict(self._options))

    def answers(self, model: Any, texts: Sequence[str]) -> list[str]:
        return model.generate(texts)

    def gives(self, rows: Any, answer: Any, exact: bool, noisy: bool = False) -> bool:
        tokenizer = self._model.tokenizer
        [[*pieces, _]] = rows
        ids = self._best_ids_for([[tokenizer.start_id, *pieces]], noisy)
        prompts = tf.fill([tf.shape(ids)[0], 1], 1) * tf.constant([pieces], tf.int32)
        whole = tokenizer.detokenize(tf.concat([prompts, ids], axis=1))
        return answer.encode("utf-8") in whole.numpy()

    def figures(self, answers: Any) -> dict:
        return {"bleu": None}

    def compare_signatures(self, served: Any, texts: Sequence[str]) -> dict:
        signatures = served.signatures
        options = with_beams(self._options)

        def search(texts):
            expected = self._model.generations(texts, options, details=False)
            best = [row[0].text for row in expected]
            scores = signatures["score"](text=tf.constant(best))["log_probability"]
            outputs = signatures["generate_beam"](text=tf.constant(texts))
            return SearchAnswers(expected, outputs, "generation", self._model.score(best), scores)

        return search_agreement(self._model, signatures, texts, search)
