"""The labels of classifiers and taggers, and their predictions; NumPy is not needed.

Axes: N texts, C classes.
"""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar, cast, overload

from kformer.arguments import one_or_many, replace_lone_surrogates


class Predictions(NamedTuple):
    """The predictions of a classifier for N texts.

    Attributes:
        labels: list of N strings, the most probable label of each text.
        probabilities: float32 array (N, C), in the order of the classifier's labels.

    Examples:
        >>> import kformer
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> encoder = kformer.TransformerEncoder.from_transformer(translator.transformer)
        >>> classifier = kformer.TextClassifier(translator.tokenizer, encoder, ["bad", "good"])
        >>> labels, probabilities = classifier.predict(["Der Film war gut.", "Er war lang."])
        >>> print(len(labels), probabilities.shape)
        2 (2, 2)
    """

    labels: list[str]
    probabilities: Any


class Prediction(NamedTuple):
    """The prediction of a classifier for one text.

    Attributes:
        label: The most probable label.
        probabilities: float32 array (C,), in the order of the classifier's labels.

    Examples:
        >>> import kformer
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> encoder = kformer.TransformerEncoder.from_transformer(translator.transformer)
        >>> classifier = kformer.TextClassifier(translator.tokenizer, encoder, ["bad", "good"])
        >>> label, probabilities = classifier.predict("Der Film war gut.")
        >>> label in ("bad", "good"), probabilities.shape
        (True, (2,))
    """

    label: str
    probabilities: Any


Self = TypeVar("Self")
P = ParamSpec("P")


class _Predict(Protocol[P]):
    """A bound method that classifies one text or several; a string is also an iterable of some."""

    @overload
    def __call__(self, texts: str, *args: P.args, **kwargs: P.kwargs) -> Prediction: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, texts: Iterable[str], *args: P.args, **kwargs: P.kwargs) -> Predictions: ...


class _Method(Protocol[P]):
    """Such a method before it is bound."""

    def __get__(self, instance: Any, owner: type) -> _Predict[P]: ...


def predicts(method: Callable[Concatenate[Self, Iterable[str], P], Predictions]) -> _Method[P]:
    """Returns a method that answers several texts with `Predictions`, and one with `Prediction`."""

    def only(answer):
        return Prediction(answer.labels[0], answer.probabilities[0])

    return cast(_Method, one_or_many(method, only))


def predictions(labels: Sequence[str], probabilities: Any) -> Predictions:
    """Returns `Predictions`; of labels that are equally probable, the first is chosen.

    Args:
        probabilities: float32 array (N, C).
    """
    return Predictions([labels[i] for i in probabilities.argmax(axis=1)], probabilities)


def check_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """Returns the labels as a tuple."""
    if isinstance(labels, str) or not all(isinstance(label, str) for label in labels):
        raise TypeError(f"`labels` must be a list of strings. Received: labels={labels!r:.99}.")
    labels = tuple(labels)
    if len(labels) < 2:
        raise ValueError(f"A classifier needs two labels or more. Received: labels={labels!r:.99}.")
    for i, label in enumerate(labels):
        if label in labels[:i]:
            raise ValueError(f"Labels must be distinct. Received: {label!r} twice.")
        if label != " ".join(label.split()) or not label:
            raise ValueError(
                "A label must not be blank, begin or end with a space, or hold tabs, ends of lines "
                f"or double spaces. Received: {label!r}."
            )
        if "\0" in label or label != replace_lone_surrogates(label):
            raise ValueError(
                f"A label must not hold U+0000 or half of a surrogate pair. Received: {label!r}."
            )
    return labels


class Tagging(NamedTuple):
    """The words of a text with a label each.

    Attributes:
        words: list of W strings, between white space in the text.
        labels: list of W strings, "" for a word that was not read, because the text is too long.
        probabilities: list of W floats, the probability of each label; 0 without one.

    Examples:
        >>> import kformer
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> encoder = kformer.TransformerEncoder.from_transformer(translator.transformer)
        >>> tagger = kformer.TextTagger(translator.tokenizer, encoder, labels=["B-X", "I-X", "O"])
        >>> [tagging] = tagger.tag(["Tom fährt nach Ulm"])
        >>> tagging.words
        ['Tom', 'fährt', 'nach', 'Ulm']
    """

    words: list[str]
    labels: list[str]
    probabilities: list[float]


def tagging(text: str, labels: list[str], probabilities: list[float]) -> Tagging:
    """Returns the `Tagging` of a text, given the labels of the words that were read."""
    words = text.split()
    unread = len(words) - len(labels)
    return Tagging(words, labels + [""] * unread, probabilities + [0.0] * unread)


_SPACES = {0x2581: "_", 0xFFFD: "?"}  # Characters that tokenizers read as spaces.
_INVISIBLE = ("Cc", "Cf", "Cn", "Mn")  # Categories of characters that may be deleted.
_FILLERS = "\u115f\u1160\u3164\uffa0"  # Letters without a shape, which are deleted.


def tagger_text(text: str) -> str:
    """Returns a text as taggers read it, so that each of its words is a word for the tokenizer.

    Normalization makes two words of some words, such as "don\u00b4t", and none of others, such as
    a lone variation selector. So the spaces within the former are taken out, and "?" replaces the
    latter.
    """
    return " ".join(map(_one_word, text.split()))


def _one_word(word):
    parts = unicodedata.normalize("NFKC", word).split()
    word = (word if len(parts) == 1 else "".join(parts)).translate(_SPACES)
    is_visible = any(unicodedata.category(c) not in _INVISIBLE and c not in _FILLERS for c in word)
    return word if is_visible else "?"
