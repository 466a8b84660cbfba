"""A translator's answers in Python, and the test whether a different answer is as good."""

import dataclasses
import warnings
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from kformer.decoding.batch_decoder import sequential
from kformer.decoding.decoder_step import DecoderStep
from kformer.decoding.search_ids import FixedSearch
from kformer.decoding.shortlist import Selection
from kformer.export.verify.agreement import TIE, SearchAnswers, search_agreement
from kformer.inference.capitals import in_small_letters, is_in_capitals
from kformer.inference.quality_estimate import doubt_of
from kformer.inference.search_options import SearchOptions
from kformer.tasks.search_defaults import with_beams
from kformer.text.scores import bleu_metric, score_with, sentence_scorer

_SHORTLIST_COST = 0.3  # BLEU, from which on a shortlist gives a warning.
_COPIES = 64  # Copies of a sentence, each with its own noise; some of them swap a tie.


class Translations:
    """A translator's answers and their comparison, for `Verifier`.

    `Classifications` and `Generations` have the same methods for their kinds.

    Args:
        translator: `kformer.Translator`, computing in float32.
        options: `SearchOptions`, as the exports have them.
        references: The right translations of all texts, or None.
        tokenize: Tokenizer of BLEU, as for `kformer.bleu`; by default the tokenizer for
            `translator.target_language`.

    Attributes:
        measure: Field of `Report` for the quality of answers; None if there is none.
    """

    measure: str | None = "bleu"

    def __init__(
        self,
        translator: Any,
        options: SearchOptions,
        references: Sequence[str] | None = None,
        tokenize: str | None = None,
    ):
        self._translator, self._languages = translator, translator.target_languages
        self._options = options
        longest = translator.max_source_length
        search = FixedSearch(options, translator.target_tokenizer, longest)
        transformer, shortlist = translator.transformer, translator.shortlist
        select = shortlist and Selection(shortlist, transformer.padding_id)
        self._best_ids, self._noisy_best_ids = best_ids_finders(transformer, search, select=select)
        self._references = references
        self._without_shortlist: float | None = None
        if references:
            language = translator.target_language
            self._bleu = bleu_metric(tokenize, language, references=references, stacklevel=3)

    def for_text(self, model: Any, number: int):
        """Returns a form of the model for text `number`: into each of its languages in turn."""
        if not self._languages:
            return model
        return model.into(self._languages[number % len(self._languages)])

    def python_answers(self, texts: Sequence[str]) -> list[str]:
        """Returns the translations of Python."""
        shortlist = self._translator.shortlist
        if shortlist and self._references:
            self._translator.shortlist = None
            among_all = self._translated(texts)
            self._translator.shortlist = shortlist
            self._without_shortlist = score_with(self._bleu, among_all, self._references).value
        answers = self._translated(texts)
        if self._without_shortlist is not None and self._references:
            score = score_with(self._bleu, answers, self._references).value
            if self._without_shortlist - score >= _SHORTLIST_COST:
                warnings.warn(
                    "The shortlist leaves out words of these translations: export without it, or "
                    f"learn a larger one. Received: BLEU {score:.2f} with it, "
                    f"{self._without_shortlist:.2f} without.",
                    stacklevel=3,
                )
        return answers

    def _translated(self, texts):
        options = SearchOptions(**dataclasses.asdict(self._options))  # All of them explicit.
        return self._in_turn(
            self._translator,
            texts,
            lambda form, texts: form.translations(texts, options, details=False, split=False),
        )

    def answers(self, model: Any, texts: Sequence[str]) -> list[str]:
        """Returns the answers of another form."""
        return self._in_turn(
            model, texts, lambda form, texts: form.translations(texts, split=False)
        )

    def _in_turn(self, model, texts, translate):
        """Returns translations, and keeps their qualities for `figures`."""
        number = max(1, len(self._languages))
        best: list[Any] = [None] * len(texts)
        for i in range(min(number, len(texts))):
            answers = translate(self.for_text(model, i), texts[i::number])
            best[i::number] = [several[0] for several in answers]
        self._qualities = [translation.quality for translation in best]
        return [translation.text for translation in best]

    def equal(self, expected: Any, answer: Any, exact: bool) -> bool:
        """Returns whether an answer equals Python's."""
        return answer == expected

    def gives(self, rows: Any, answer: Any, exact: bool, noisy: bool = False) -> bool:
        """Returns whether Python gives this answer for rows of ids, or does with noise below `TIE`.

        Args:
            exact: Whether numbers in the answer must agree, too.
        """
        ids = self._best_ids_for(rows, noisy)
        return answer.encode("utf-8") in self._translator.target_tokenizer.detokenize(ids).numpy()

    def _best_ids_for(self, rows, noisy):
        """Returns the best ids of rows; if `noisy`, of many copies."""
        if noisy:
            return self._noisy_best_ids(tf.constant(rows * _COPIES))
        return self._best_ids(tf.constant(rows))

    def shown(self, answer: Any) -> str:
        """Returns an answer for a message."""
        return repr(answer)

    def figures(self, answers: Any) -> dict:
        """Returns fields of `Report` by name, for the last answers to all texts."""
        if not self._references:
            return {self.measure: None}
        score = score_with(self._bleu, answers, self._references)
        figures = {self.measure: score.value, "signature": score.signature}
        figures["bleu_without_shortlist"] = self._without_shortlist
        if estimate := self._translator.quality_estimate:
            scores = map(sentence_scorer("chrf"), answers, self._references)
            shares = [score / 100 for score in scores]
            figures["doubt"] = doubt_of(self._qualities, shares, estimate.threshold)
        return figures

    def compare_signatures(self, served: Any, texts: Sequence[str]) -> dict:
        """Compares the other signatures of a `ServedTranslator` with Python, for the report."""
        signatures = served.signatures
        options = with_beams(self._options)
        translator = self.for_text(self._translator, 0)
        if translator.facts.lowers_capitals:  # A signature reads text as it is.
            texts = [in_small_letters(text) if is_in_capitals(text) else text for text in texts]
        if self._languages:
            signatures = {
                name: _into(signature, self._languages[0]) for name, signature in signatures.items()
            }

        def search(texts):
            expected = translator.translations(texts, options, details=False, split=False)
            best, text = [row[0].text for row in expected], tf.constant(texts)
            scores = signatures["score"](source=text, target=tf.constant(best))["log_probability"]
            scored = translator.score(texts, best)
            outputs = signatures["beam"](text=text)
            return SearchAnswers(expected, outputs, "translation", scored, scores)

        return search_agreement(translator, signatures, texts, search)


def _into(signature, language):
    """Returns a signature that is called without a target language."""

    def call(**inputs):
        number = len(next(iter(inputs.values())))
        return signature(**inputs, target_language=tf.fill([number], language))

    return call


def best_ids_finders(network: keras.Model, search: Any, select: Any = None):
    """Returns two functions from rows int32 (B, S) to the best ids (B, T): exact, and noisy."""

    def finder(step_class):
        def find(rows):
            real = tf.not_equal(rows, network.padding_id)
            lengths = tf.math.count_nonzero(real, axis=1, dtype=tf.int32)
            return search(network, rows, lengths, step_class=step_class, select=select).ids[:, 0]

        return sequential(find, [tf.TensorSpec([None, None], tf.int32)])

    return finder(DecoderStep), finder(NoisyStep)


class NoisyStep(DecoderStep):
    """A decoder step with noise below half of `TIE` in its logits, different for each row."""

    def __call__(self, ids: Any, position: Any, visible: Any, cache: Any):
        output = super().__call__(ids, position, visible, cache)
        noise = tf.random.stateless_uniform(
            tf.shape(output.logits), (0, position), -TIE / 2, TIE / 2
        )
        return output._replace(logits=output.logits + noise)
