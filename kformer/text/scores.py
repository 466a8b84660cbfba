"""Scores of translations by sacreBLEU, with bootstrap intervals and paired tests of systems.

Intervals and tests follow [Koehn, 2004](https://aclanthology.org/W04-3250): the lines are
drawn again and again, with replacement, and each such text is scored.
"""

import importlib.metadata
from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import sacrebleu
from sacrebleu.metrics.base import Metric
from sacrebleu.significance import PairedTest, Result

from kformer.arguments import as_texts, check_choice, single_text
from kformer.text.bleu_tokenizers import bleu_tokenizer, warn_of_tokenized, warn_without_words

_RESAMPLES = 1000


class Score(NamedTuple):
    """The score of a whole text."""

    value: float  # 0 to 100
    signature: str  # The way of measuring; only values of equal signatures are comparable.


def bleu(
    translations: list[str] | str,
    references: list[str] | str,
    tokenize: str | None = None,
    language: str | None = None,
) -> Score:
    """Returns the BLEU of translations, line for line.

    [Papineni et al., 2002](https://aclanthology.org/P02-1040), as
    [Post, 2018](https://aclanthology.org/W18-6319) defines it: cased, tokenised by 13a or a
    tokenizer that fits the language.

    Args:
        translations, references: list of strings each, untokenised; or one string each.
        tokenize: sacreBLEU's tokenizer: "13a", "intl", "zh", "ja-mecab", "ko-mecab", "char" or
            "none"; None for the tokenizer of the language.
        language: Code of the language of the references, such as "ja" or "zh-Hans", which chooses
            the tokenizer, by `kformer.text.bleu_tokenizers.bleu_tokenizer`.

    Raises:
        ValueError: There is no such tokenizer, or it needs a package or a download; or there are
            not as many translations as references.

    Warns:
        UserWarning: The references have no spaces between words, and the tokenizer needs them;
            or they look tokenized.

    Examples:
        >>> import kformer
        >>> score = kformer.bleu(["A dog runs to our house."], ["A dog runs to the house."])
        >>> round(score.value, 1)
        48.9
    """
    translations, references = _checked(translations, references)
    metric = bleu_metric(tokenize, language, references=references, stacklevel=2)
    return score_with(metric, translations, references)


def chrf(translations: list[str] | str, references: list[str] | str) -> Score:
    """Returns the chrF2 of translations, line for line.

    [Popović, 2015](https://aclanthology.org/W15-3049).

    Examples:
        >>> import kformer
        >>> round(kformer.chrf("A dog runs.", "A cat runs.").value, 1)
        35.5
    """
    return score_with(chrf_metric(), translations, references)


def moses_bleu(translations: list[str], references: list[str], language: str) -> Score:
    """Returns the BLEU of lowercased text that Moses tokenised, as many papers report it.

    Compare it with these papers only: it is higher than `bleu` for the same text.
    """
    return score_with(moses_metric(language), translations, references)


def bleu_metric(
    tokenize: str | None = None,
    language: str | None = None,
    *,
    effective_order: bool = False,
    lowercase: bool = False,
    references: Sequence[str] = (),
    stacklevel: int = 1,
) -> sacrebleu.BLEU:
    """Returns sacreBLEU's BLEU with the tokenizer of the text, for all of kformer.

    Args:
        effective_order: Whether to leave out n-grams that are longer than a text.
        lowercase: Whether case is ignored.
    """
    tokenizer = bleu_tokenizer(tokenize, language)
    warn_without_words(references, tokenizer, stacklevel + 1)
    warn_of_tokenized(references, tokenizer, stacklevel + 1)
    return sacrebleu.BLEU(
        tokenize=tokenizer, lowercase=lowercase, effective_order=effective_order, force=True
    )


def chrf_metric() -> sacrebleu.CHRF:
    """Returns sacreBLEU's chrF2."""
    return sacrebleu.CHRF()


def moses_metric(language: str) -> sacrebleu.BLEU:
    """Returns the metric of `moses_bleu`: BLEU of lowercased text with Moses's tokenizer."""
    metric = sacrebleu.BLEU(lowercase=True, tokenize="none", force=True)
    metric.tokenizer = moses_tokenizer(language)
    version = importlib.metadata.version("sacremoses")
    metric.tokenizer_signature = f"moses-{language}-{version}"
    return metric


def score_with(metric: Metric, translations: Sequence[str], references: Sequence[str]) -> Score:
    """Returns the score of a metric of sacreBLEU, line for line."""
    translations, references = _checked(translations, references)
    value = metric.corpus_score(translations, [references]).score
    return Score(value, str(metric.get_signature()))


def moses_tokenizer(language: str):
    """Returns a function that lowercases a line and puts spaces between its tokens."""
    try:
        from sacremoses import MosesTokenizer
        from sacremoses.corpus import NonbreakingPrefixes
    except ImportError as error:
        raise ImportError(
            "Moses's tokenizer needs the package sacremoses: pip install 'kformer[moses]'. "
            f"Received: {error}."
        ) from error
    languages = sorted(set(NonbreakingPrefixes().available_langs.values()))
    check_choice("language", language, languages)  # sacremoses would use English rules.
    tokenizer = MosesTokenizer(language)
    return lambda line: tokenizer.tokenize(line.lower(), escape=False, return_str=True)


def exact(translations: list[str], references: list[str]) -> float:
    """Returns the share of translations, in percent, that are identical to their reference."""
    translations, references = _checked(translations, references)
    right = sum(a == b for a, b in zip(translations, references, strict=True))
    return 100 * right / len(references)


def signature_of(metric: Metric) -> str:
    """Returns the signature of a metric of sacreBLEU with one reference a line."""
    metric.num_refs = 1
    return str(metric.get_signature())


def sentence_scorer(
    metric: str, tokenize: str | None = None, language: str | None = None
) -> Callable[[str, str], float]:
    """Returns a function (translation, reference) -> score, from 0 to 100, for single sentences."""
    check_choice("metric", metric, ("bleu", "chrf"))
    scorer = chrf_metric()
    if metric == "bleu":
        scorer = bleu_metric(tokenize, language, effective_order=True)
    return lambda translation, reference: scorer.sentence_score(translation, [reference]).score


def _checked(translations, references):
    """Returns both as lists of strings, of one length that is not 0."""
    translations = _as_list("translations", translations)
    references = _as_list("references", references)
    if len(translations) != len(references) or not references:
        raise ValueError(
            "Every translation needs its reference. "
            f"Received: {len(translations)} translations, {len(references)} references."
        )
    return translations, references


def _as_list(name, texts):
    text = single_text(name, texts)
    return as_texts(texts, name) if text is None else [text]


class Estimate(NamedTuple):
    """The score of one system.

    Attributes:
        value: The score, 0 to 100.
        interval: Half the width of the interval that has 95 % of the scores of resampled texts.
        p_value: Probability that chance alone makes such a difference to the first system; 1 if
            the two translate alike, None for the first system.
    """

    value: float
    interval: float
    p_value: float | None


def bootstrap(
    metric: Metric, systems: Sequence[Sequence[str]], references: Sequence[str]
) -> tuple[list[Estimate], str]:
    """Scores systems, each with an interval, and compares each with the first one.

    Returns:
        estimates: `Estimate` of each system. The first p-value is None.
        signature: Signature of the metric and the test, the seed included.
    """
    named: list[tuple[str, Sequence[str]]]
    named = [(str(number), list(lines)) for number, lines in enumerate(systems)]
    test = PairedTest(named, {"": metric}, [list(references)], "bs", _RESAMPLES)
    signatures, scores = test()
    [(name, signature)] = signatures.items()
    results = cast(list[Result], scores[name])  # Only the other key has names of systems.
    estimates = []
    for (_, lines), result in zip(named, results, strict=True):
        assert result.ci is not None  # The bootstrap estimates it.
        p_value = result.p_value
        if p_value is not None and lines == named[0][1]:
            p_value = 1.0  # sacreBLEU gives equal systems the least p-value, to point them out.
        estimates.append(Estimate(result.score, float(result.ci), p_value))
    return estimates, str(signature)
