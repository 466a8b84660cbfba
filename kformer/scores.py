"""How good a translation is, by sacreBLEU."""

from typing import NamedTuple

import sacrebleu


class Score(NamedTuple):
    """A score of a whole text."""

    value: float  # 0 to 100
    signature: str  # How it was measured: what makes two values comparable.


def bleu(translations: list[str], references: list[str]) -> Score:
    """Returns the BLEU of translations, line for line.

    [Papineni et al., 2002](https://aclanthology.org/P02-1040), as
    [Post, 2018](https://aclanthology.org/W18-6319) fixes it: cased, tokenised by 13a.
    """
    return _score(sacrebleu.BLEU(), translations, references)


def chrf(translations: list[str], references: list[str]) -> Score:
    """Returns the chrF2 of translations, line for line.

    [Popović, 2015](https://aclanthology.org/W15-3049).
    """
    return _score(sacrebleu.CHRF(), translations, references)


def exact(translations: list[str], references: list[str]) -> float:
    """Returns the share of translations, in percent, that are their reference to the letter."""
    _check(translations, references)
    right = sum(a == b for a, b in zip(translations, references, strict=True))
    return 100 * right / len(references)


def _score(metric, translations, references):
    _check(translations, references)
    value = metric.corpus_score(translations, [references]).score
    return Score(value, str(metric.get_signature()))


def _check(translations, references):
    if len(translations) != len(references) or not references:
        raise ValueError(
            "Every translation needs its reference. "
            f"Received: {len(translations)} translations, {len(references)} references."
        )
