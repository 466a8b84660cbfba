"""The signatures beside `serving_default` say what Python says, too.

Axes: B batch, N sequences a text.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

TIE = 1e-3  # Log-probabilities this close are a tie: float32 sums differ by 1e-4 between runtimes.
SENTENCES = 64  # Compared at most.


class OfSearch(NamedTuple):
    """What Python and the signatures of a search say of the same texts.

    Attributes:
        expected: For each text, the answers of Python, best first.
        found: The outputs of the signature of several answers: `score`, and the texts.
        texts: Name of the texts in `found`.
        scored: Python's `Scored` of each best answer.
        scores: The output `log_probability` of the signature `score`, of the same.
    """

    expected: list
    found: dict
    texts: str
    scored: list
    scores: Any


def search_agreement(model, signatures, texts, of_search) -> dict:
    """Compares several answers, `score`, `encode` and `tokenize` with Python.

    Args:
        model: `kformer.Translator` or `kformer.LanguageModel`, the one that was exported.
        signatures: Those of the SavedModel, callables by name.
        texts: Sentences.
        of_search: Function of a list of texts that returns `OfSearch`.

    Returns:
        dict for the report: how many sentences were compared, for how many `tokenize` and all of
        `beam` are equal, and the largest differences of numbers.

    Raises:
        ValueError: Ids differ, or a number by more than rounding explains.
    """
    texts = list(texts)[:SENTENCES]
    if not texts:
        return {"sentences": 0}
    of_encoder = encoder_agreement(model, signatures, texts)
    expected, outputs, name, scored, scores = of_search(texts)
    said = [[one.text for one in row] for row in expected]
    found = [
        [text.decode("utf-8") for text in row[: len(wanted)]]
        for row, wanted in zip(outputs[name].numpy(), said, strict=True)
    ]
    lengths = np.array([len(one.tokens) for one in scored])
    of_beam = [row[0].score for row in expected]
    of_score = [one.log_probability for one in scored]
    differences = {
        "beam": _largest(outputs["score"].numpy()[:, 0] - of_beam, lengths),
        "score": _largest(scores.numpy() - of_score, lengths),
    }
    _check(differences)
    return {
        **of_encoder,
        "beam": sum(map(list.__eq__, found, said)),
        "largest_differences": {**differences, **of_encoder["largest_differences"]},
    }


def encoder_agreement(model, signatures, texts) -> dict:
    """Compares `encode` and `tokenize`, which every SavedModel has, with Python.

    Args:
        model: The one that was exported, of any kind.
        signatures, texts: See `search_agreement`.

    Returns:
        dict for the report: how many sentences were compared, for how many `tokenize` is equal, and
        the largest difference of `encode`.

    Raises:
        ValueError: See `search_agreement`.
    """
    texts = list(texts)[:SENTENCES]
    if not texts:
        return {"sentences": 0}
    text = tf.constant(texts)
    vectors = signatures["encode"](text=text)["vector"].numpy()
    differences = {"encode": _largest(vectors - model.encode(texts), 1)}
    ids = signatures["tokenize"](text=text)
    rows = model.source_rows(texts)
    same = [
        row[:length].tolist() == wanted
        for row, length, wanted in zip(ids["ids"].numpy(), ids["length"].numpy(), rows, strict=True)
    ]
    _check(differences, other_ids=same.count(False))
    return {
        "sentences": len(texts),
        "tokenize": same.count(True),
        "largest_differences": differences,
    }


def check_vectors(model, form, texts):
    """Compares the vectors of a form with Python's, of texts that both split into the same ids.

    Args:
        model: The one that was exported, of any kind.
        form: The class of `kformer.pocket` that runs its file.
        texts: Sentences.

    Raises:
        ValueError: A number differs by more than rounding explains.
    """
    chosen = texts[:SENTENCES]
    with warnings.catch_warnings(action="ignore"):  # Of sentences over the limit, again.
        rows = model.source_rows(chosen)
    same = [
        text for text, row in zip(chosen, rows, strict=True) if form.tokenize(text) == (row, True)
    ]
    if not same:
        return
    difference = _largest(form.encode(same) - model.encode(same), 1)
    if not difference <= TIE:
        raise ValueError(
            "The vectors of an export must be those of Python. Received: a difference of "
            f"{difference}."
        )


def _check(differences, other_ids=0):
    if other_ids or not all(difference <= TIE for difference in differences.values()):
        raise ValueError(
            "Every signature must say what Python says. Received: largest differences "
            f"{differences}, and {other_ids} sentences with other ids."
        )


def _largest(differences, lengths) -> float:
    """Of numbers, for each token that they are sums over."""
    return float(np.max(np.abs(differences) / lengths))
