"""How a language model in Python answers, and whether other answers are as good."""

import dataclasses

import tensorflow as tf

from kformer.decoding.search_ids import FixedSearch
from kformer.decoding.search_options import SearchOptions
from kformer.export.verify.agreement import OfSearch, search_agreement
from kformer.export.verify.translations import Translations, ids_found
from kformer.tasks.kinds import of_several


class Generations(Translations):
    """What `Verifier` needs to know of a language model; see `Translations`.

    Args:
        model: `kformer.LanguageModel`, computing in float32.
        options: `SearchOptions`, as the exports have them.
    """

    measure = None

    def __init__(self, model, options: SearchOptions):
        self._model, self._languages = model, ()
        self._options, longest = options, model.max_length
        search = FixedSearch(options, model.tokenizer, longest, longest)
        self._found, self._found_with_noise = ids_found(model.network, search)

    def of_python(self, texts) -> list[str]:
        return self._model.generate(texts, **dataclasses.asdict(self._options))

    def of(self, model, texts) -> list[str]:
        return model.generate(texts)

    def says(self, rows, answer, exact, noisy=False) -> bool:
        tokenizer = self._model.tokenizer
        [[*pieces, _]] = rows
        found = self._found_for([[tokenizer.start_id, *pieces]], noisy)
        prompts = tf.fill([tf.shape(found)[0], 1], 1) * tf.constant([pieces], tf.int32)
        whole = tokenizer.detokenize(tf.concat([prompts, found], axis=1))
        return answer.encode("utf-8") in whole.numpy()

    def figures(self, answers, references) -> dict:
        return {"bleu": None}

    def of_other_signatures(self, served, texts) -> dict:
        signatures = served.signatures
        options = of_several(self._options)

        def of_search(texts):
            expected = self._model.generations(texts, options, details=False)
            best = [row[0].text for row in expected]
            scores = signatures["score"](text=tf.constant(best))["log_probability"]
            found = signatures["generate_beam"](text=tf.constant(texts))
            return OfSearch(expected, found, "generation", self._model.score(best), scores)

        return search_agreement(self._model, signatures, texts, of_search)
