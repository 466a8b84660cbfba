"""How a translator in Python answers, and whether other answers are as good."""

import tensorflow as tf

from kformer.decoding.options import SearchOptions
from kformer.decoding.search_ids import make_search, search_ids
from kformer.decoding.sequential import sequential
from kformer.decoding.step import DecoderStep
from kformer.export.verify.agreement import TIE, agreement
from kformer.text.scores import bleu

_COPIES = 64  # Of a sentence, each with noise of its own; a tie goes either way in some of them.


class Translations:
    """What `Verifier` needs to know of a translator; `Classifications` has the same.

    Args:
        translator: `kformer.Translator`, computing in float32.
        options: `SearchOptions` of beam size and length penalty, as the exports have them.

    Attributes:
        measure: Field of `Report` for the quality of answers.
    """

    measure = "bleu"

    def __init__(self, translator, options: SearchOptions):
        self._translator = translator
        self._settings = options.beam_size, options.length_penalty
        search = make_search(translator.target_tokenizer, *self._settings)
        transformer = translator.transformer
        self._found = _ids_found(transformer, search)
        self._found_with_noise = _ids_found(transformer, search, NoisyStep)

    def of_python(self, texts) -> list[str]:
        """Returns the answers of Python: translations."""
        return self._translator.translate(texts, *self._settings)

    def of(self, model, texts) -> list[str]:
        """Returns the answers of another form."""
        return model.translate(texts)

    def equal(self, expected, answer, exact) -> bool:
        """Returns whether an answer is that of Python."""
        return answer == expected

    def says(self, rows, answer, exact, noisy=False) -> bool:
        """Returns whether Python gives this answer for rows of ids, or does with noise below `TIE`.

        Args:
            rows: list of one list of ids.
            exact: Whether numbers in the answer must agree, too.
        """
        if noisy:
            ids = self._found_with_noise(tf.constant(rows * _COPIES))
        else:
            ids = self._found(tf.constant(rows))
        return answer.encode("utf-8") in self._translator.target_tokenizer.detokenize(ids).numpy()

    def shown(self, answer) -> str:
        """Returns an answer for a message."""
        return repr(answer)

    def figures(self, answers, references, speed) -> dict:
        """Returns fields of `Report` by name.

        Args:
            answers: Of all texts.
            references: What they should be, or None.
            speed: Texts per second.
        """
        tokens = self._translator.target_tokenizer.tokenize(answers).row_lengths().numpy().mean()
        return {
            self.measure: bleu(answers, references).value if references else None,
            "tokens_per_second": speed * float(tokens),
        }

    def of_other_signatures(self, served, texts) -> dict:
        """Compares the other signatures of a `ServedTranslator` with Python, for the report."""
        _, length_penalty = self._settings
        n_best = served.signatures["beam"].structured_outputs["score"].shape[1]
        return agreement(self._translator, served.signatures, texts, n_best, length_penalty)


def _ids_found(transformer, search, step_class=DecoderStep):
    """Returns the function from `source`, int32 (B, S), to the best ids of each row, (B, T)."""
    return sequential(
        lambda source: search_ids(transformer, source, search, step_class=step_class).ids[:, 0],
        [tf.TensorSpec([None, None], tf.int32)],
    )


class NoisyStep(DecoderStep):
    """The real step, whose logits are off by less than half of `TIE`; other noise each time."""

    def __call__(self, ids, position, visible, cache):
        output = super().__call__(ids, position, visible, cache)
        noise = tf.random.stateless_uniform(
            tf.shape(output.logits), (0, position), -TIE / 2, TIE / 2
        )
        return output._replace(logits=output.logits + noise)
