"""Scores of translations, computed by sacreBLEU."""

import importlib.metadata
from collections.abc import Callable
from typing import NamedTuple

import sacrebleu

from kformer.arguments import as_texts, check_choice


class Score(NamedTuple):
    """The score of a whole text."""

    value: float  # 0 to 100
    signature: str  # How it was measured; only values of equal signatures are comparable.


def bleu(translations: list[str], references: list[str]) -> Score:
    """Returns the BLEU of translations, line for line.

    [Papineni et al., 2002](https://aclanthology.org/P02-1040), as
    [Post, 2018](https://aclanthology.org/W18-6319) defines it: cased, tokenised by 13a.
    """
    return _score(sacrebleu.BLEU(), translations, references)


def chrf(translations: list[str], references: list[str]) -> Score:
    """Returns the chrF2 of translations, line for line.

    [Popović, 2015](https://aclanthology.org/W15-3049).
    """
    return _score(sacrebleu.CHRF(), translations, references)


def moses_bleu(translations: list[str], references: list[str], language: str) -> Score:
    """Returns the BLEU of lowercased text that Moses tokenised, as many papers report it.

    Compare it with these papers only: it is higher than `bleu` for the same text.

    Args:
        translations, references: Untokenized text, line for line.
        language: Language code of both, such as "de".

    Raises:
        ImportError, ValueError: See `moses_tokenizer`.
    """
    tokenize = moses_tokenizer(language)
    metric = sacrebleu.BLEU(lowercase=True, tokenize="none", force=True)  # Already tokenised.
    translations, references = _checked(translations, references)
    value, signature = _score(
        metric, [tokenize(line) for line in translations], [tokenize(line) for line in references]
    )
    version = importlib.metadata.version("sacremoses")
    return Score(value, signature.replace("tok:none", f"tok:moses-{language}-{version}"))


def moses_tokenizer(language: str):
    """Returns a function that lowercases a line and puts spaces between its tokens.

    Raises:
        ImportError: The package sacremoses is not installed.
        ValueError: It has no rules for `language`.
    """
    try:
        from sacremoses import MosesTokenizer
        from sacremoses.corpus import NonbreakingPrefixes
    except ImportError as error:
        raise ImportError(
            "Moses's tokenizer needs the package sacremoses: pip install 'kformer[moses]'. "
            f"Received: {error}."
        ) from error
    known = sorted(set(NonbreakingPrefixes().available_langs.values()))
    check_choice("language", language, known)  # sacremoses would use English rules.
    tokenizer = MosesTokenizer(language)
    return lambda line: tokenizer.tokenize(line.lower(), escape=False, return_str=True)


def exact(translations: list[str], references: list[str]) -> float:
    """Returns the share of translations, in percent, that are identical to their reference."""
    translations, references = _checked(translations, references)
    right = sum(a == b for a, b in zip(translations, references, strict=True))
    return 100 * right / len(references)


def sentence_scorer(metric: str) -> Callable[[str, str], float]:
    """Returns a function (translation, reference) -> score, from 0 to 100, for single sentences.

    Args:
        metric: "bleu", which counts only n-grams that so short a text can have; or "chrf".
    """
    check_choice("metric", metric, ("bleu", "chrf"))
    scorer = sacrebleu.BLEU(effective_order=True) if metric == "bleu" else sacrebleu.CHRF()
    return lambda translation, reference: scorer.sentence_score(translation, [reference]).score


def _score(metric, translations, references):
    translations, references = _checked(translations, references)
    value = metric.corpus_score(translations, [references]).score
    return Score(value, str(metric.get_signature()))


def _checked(translations, references):
    """Returns both as lists of strings, of one length that is not 0."""
    translations = as_texts(translations, "translations")
    references = as_texts(references, "references")
    if len(translations) != len(references) or not references:
        raise ValueError(
            "Every translation needs its reference. "
            f"Received: {len(translations)} translations, {len(references)} references."
        )
    return translations, references
