"""The language of texts: scripts first, then the classifier of the package, `languages.tflite`.

Axes: C languages of the classifier.
"""

import functools
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from kformer.arguments import as_texts, check_choice, check_text, for_text_or_texts
from kformer.identification.scripts import (
    LANGUAGE_OF_SCRIPT,
    SHARED_SCRIPTS,
    letters_of,
    words_by_script,
)

UNKNOWN = "und"  # ISO 639-2: undetermined. Also the classifier's label for all other languages.
MIXED = "mul"  # ISO 639-2: multiple languages.
CLASSIFIER_FILE = Path(__file__).with_name("languages.tflite")
WINDOW = 100  # Most characters of a text that the classifier reads at once.
_SHORT = 40  # Characters of a sentence that shares a window with the next one.
_MOST_WINDOWS = 12  # Of a long text; they are spread over it.
_LEAST_CONFIDENCE = 0.25
_LEAST_PROBABILITY = 0.1  # Of a language that a text may be in.
_MOST_CANDIDATES = 5
_NEGLIGIBLE = 0.001
# A second language makes a text mixed if it has this share of the letters, and so many of them.
_MIXED_SHARE, _MIXED_LETTERS, _MIXED_CONFIDENCE = 0.2, 12, 0.9
# Names of products and people are Latin in text of every script.
_LATIN_AMONG_OTHERS = 0.25
_IDEOGRAPHS_OF_JAPANESE = 0.1  # The probability of Japanese for ideographs without kana.
_SENTENCE = re.compile(r"(?<=[.!?…。！？؟।\n])\s+|\n+")


class Identification(NamedTuple):
    """The language of a text.

    Attributes:
        language: Code of ISO 639, such as "de"; "und" for a text in no language that is known, or
            in too few letters to tell; "mul" for a text in several languages.
        confidence: Probability of `language`, from 0 to 1; for "mul", 1 less the share of the
            first candidate.
        candidates: list of (code, probability or share of the text), the best first, at most 5.

    Examples:
        >>> import kformer
        >>> kformer.identify("Ein Hund läuft über die Straße.").language
        'de'
    """

    language: str
    confidence: float
    candidates: list[tuple[str, float]]


@for_text_or_texts
def identify(
    texts: Iterable[str], languages: Collection[str] | None = None
) -> list[Identification]:
    """Tells the language of each text, without TensorFlow and without a network.

    A script that only one language of `kformer.identification.languages()` uses decides at once;
    Latin, Cyrillic, Arabic and Devanagari words are read by a classifier, whose languages and
    accuracy are in the guide of `kformer.identification`.

    Args:
        texts: list of N strings, or another iterable of them; or one string.
        languages: The codes that are possible, for example those of the models at hand; None for
            all. "und" is always possible.

    Returns:
        list of N `kformer.Identification`; for one string, an `Identification`.

    Raises:
        TypeError: `texts` is no list of strings.
        ValueError: One of `languages` is unknown, or there is none.

    Examples:
        >>> import kformer
        >>> [each.language for each in kformer.identify(["Guten Morgen!", "Как у вас дела?", "42"])]
        ['de', 'ru', 'und']
        >>> kformer.identify("Was ist das?", languages=["de", "fr"]).candidates[0][0]
        'de'
    """
    texts = as_texts(texts, "texts")
    possible = _possible(languages)
    windows = [_spread(_windows(text)) for text in texts]
    read = _read([words for each in windows for script, words in each if script in SHARED_SCRIPTS])
    return [_identification(each, read, possible) for each in windows]


@functools.cache
def languages() -> tuple[str, ...]:
    """Returns the codes of all languages that `kformer.identify` can tell, in order."""
    known = {*_classifier().labels, *LANGUAGE_OF_SCRIPT.values()} - {UNKNOWN}
    return tuple(sorted(known))


def check_identified(name: str, code: str) -> str:
    """Returns a code of `languages`; or "", for any language."""
    return check_choice(name, code, languages()) if check_text(name, code) else ""


def is_other(answer: Identification, language: str) -> bool:
    """Returns whether a text is hardly in a language: with a probability under a tenth."""
    likely = [code for code, part in answer.candidates if part >= _LEAST_PROBABILITY]
    return answer.language != UNKNOWN and language not in likely


def _possible(codes):
    if codes is None:
        return None
    known = languages()
    possible = {check_choice("languages", code, known) for code in codes}
    if not possible:
        raise ValueError(f"There must be a possible language. Received: languages={codes!r}.")
    return possible | {UNKNOWN}


@functools.cache
def _classifier():
    from kformer.pocket.pocket_classifier import PocketClassifier

    return PocketClassifier(CLASSIFIER_FILE)


def _windows(text):
    """Returns pairs of a script and words, each a part of a text that is read at once.

    Short sentences share a window, as more letters tell more; a longer one has its own, as its
    language may be another.
    """
    windows: list[tuple[str, list[str]]] = []
    last: dict[str, list[str]] = {}  # The window of each script that is not full.
    for sentence in _SENTENCE.split(text):
        for script, words in words_by_script(sentence).items():
            if _length(last.get(script, ())) >= _SHORT:
                del last[script]
            for word in words:
                window = last.get(script)
                if window is None or _length(window) + len(word) > WINDOW:
                    window = last[script] = []
                    windows.append((script, window))
                window.append(word[:WINDOW])
    return windows


def _length(words):
    return sum(map(len, words)) + len(words)


def _spread(windows):
    """Returns at most `_MOST_WINDOWS` windows, evenly spread."""
    step = max(1, len(windows) / _MOST_WINDOWS)
    return [windows[int(i * step)] for i in range(min(len(windows), _MOST_WINDOWS))]


def _read(windows):
    """Returns the probabilities of the C labels by window, as text; each is read once."""
    texts = [*dict.fromkeys(map(" ".join, windows))]
    if not texts:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # The end of a window of rare letters may be cut.
        return dict(zip(texts, _classifier().predict(texts).probabilities, strict=True))


def _identification(windows, read, possible):
    """Returns the answer for the windows of a text."""
    scripts = {script for script, _ in windows}
    shares: Counter[str] = Counter()
    sure: Counter[str] = Counter()
    for script, words in windows:
        letters = letters_of(script, words)
        if script == "Latn" and len(scripts) > 1:
            letters *= _LATIN_AMONG_OTHERS
        for language, probability in _language_probabilities(
            script, words, scripts, read, possible
        ).items():
            shares[language] += letters * probability
            if probability >= _MIXED_CONFIDENCE and language != UNKNOWN:
                sure[language] += letters
    total = sum(shares.values())
    least = max(_MIXED_LETTERS, _MIXED_SHARE * total)
    several = [(code, part / total) for code, part in sure.most_common() if part >= least]
    if len(several) > 1:
        return Identification(MIXED, 1 - several[0][1], several[:_MOST_CANDIDATES])
    shares.pop(UNKNOWN, None)
    candidates = [(code, part / total) for code, part in shares.most_common(_MOST_CANDIDATES)]
    language, confidence = candidates[0] if candidates else (UNKNOWN, 0.0)
    if confidence < _LEAST_CONFIDENCE:
        return Identification(UNKNOWN, 1 - confidence, candidates)
    return Identification(language, confidence, candidates)


def _language_probabilities(script, words, scripts, read, possible):
    """Returns the probability of each language that a part of a text may have."""
    if script in SHARED_SCRIPTS:
        probabilities = read[" ".join(words)].tolist()
        known = dict(zip(_classifier().labels, probabilities, strict=True))
    elif script == "Hani":
        japanese = 1.0 if "Kana" in scripts else _IDEOGRAPHS_OF_JAPANESE
        known = {"zh": 1 - japanese, "ja": japanese}
    else:
        known = {LANGUAGE_OF_SCRIPT.get(script, UNKNOWN): 1.0}
    if possible is not None:
        known = {code: part for code, part in known.items() if code in possible}
    total = sum(known.values())
    if not total:
        return {UNKNOWN: 1.0}
    return {code: part / total for code, part in known.items() if part > _NEGLIGIBLE * total}
