"""What a student learns of a sentence: the best translation of its teachers.

This is distillation by sequences, [Kim & Rush, 2016](https://arxiv.org/abs/1606.07947): a
translator is consistent where people are not, so a small model learns its translations better.
Where there is a reference, the student learns the one of several translations that is most like it
(section 3.3).
"""

from collections.abc import Callable, Sequence

from kformer.decoding.options import SearchOptions
from kformer.tasks.ensemble import Ensemble
from kformer.tasks.translation import Translation
from kformer.tasks.translator import Translator
from kformer.text.scores import sentence_scorer
from kformer.training.distillation.options import DistillationOptions

_NOTHING = Translation("", 0.0, (), (), ())  # A blank line: training drops the pair.


class Teaching:
    """Translates sources for a student.

    Args:
        teacher: `kformer.Translator` or `kformer.Ensemble`.
        options: `DistillationOptions`.
    """

    def __init__(self, teacher: Translator | Ensemble, options: DistillationOptions):
        self._teacher = teacher
        self._search = {"beam_size": options.beam_size}
        if options.length_penalty is not None:
            self._search["length_penalty"] = options.length_penalty
        self._score = sentence_scorer(options.metric, options.tokenize)

    def __call__(
        self, pairs: Sequence[tuple[str, str]], progress: Callable | None = None
    ) -> list[list[Translation]]:
        """Returns for each pair a list of the one translation that the student learns.

        It is blank where no translation is fit for that: all are degenerate, or of a source that
        was cut.

        Args:
            pairs: Sources, each with its reference, "" for none.
            progress: Called with the number of sources done, after each batch.

        Warns:
            UserWarning: A source was cut.
        """
        several = any(reference for _, reference in pairs)
        number = self._search["beam_size"] if several else 1
        options = SearchOptions(**self._search, n_best=number)
        sources = [source for source, _ in pairs]
        found = self._teacher.translations(sources, options, progress=progress, details=False)
        references = [reference for _, reference in pairs]
        return [[self._best(*one)] for one in zip(found, references, strict=True)]

    def _best(self, translations, reference):
        fit = [one for one in translations if not one.flags]
        if not reference or not fit:
            return fit[0] if fit else _NOTHING
        return max(fit, key=lambda one: self._score(one.text, reference))
