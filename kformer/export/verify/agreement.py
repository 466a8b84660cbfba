"""Comparison of the signatures beside `serving_default` with Python.

Axes: B batch, N sequences a text.
"""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import tensorflow as tf

TIE = 1e-3  # Log-probabilities this close are a tie: float32 sums differ by 1e-4 between runtimes.
SENTENCES = 64  # Compared at most.


class SearchAnswers(NamedTuple):
    """Answers of Python and of the signatures of a search to the same texts.

    Attributes:
        expected: For each text, the answers of Python, best first.
        outputs: The outputs of the signature of several answers: `score`, and the texts.
        texts: Name of the texts in `outputs`.
        scored: Python's `Scored` of each best answer.
        scores: The output `log_probability` of the signature `score` for the best answers.
    """

    expected: list
    outputs: dict
    texts: str
    scored: list
    scores: Any


def search_agreement(model: Any, signatures: Any, texts: Sequence[str], search: Any) -> dict:
    """Compares several answers, `score`, `encode` and `tokenize` with Python.

    Args:
        signatures: The SavedModel's signatures, callables by name.
    """
    texts = list(texts)[:SENTENCES]
    if not texts:
        return {"sentences": 0}
    encoder = encoder_agreement(model, signatures, texts)
    expected, outputs, name, scored, scores = search(texts)
    python_texts = [[answer.text for answer in row] for row in expected]
    export_texts = [
        [text.decode("utf-8") for text in row[: len(wanted)]]
        for row, wanted in zip(outputs[name].numpy(), python_texts, strict=True)
    ]
    lengths = np.array([len(translation.tokens) for translation in scored])
    beam_scores = [row[0].score for row in expected]
    log_probabilities = [translation.log_probability for translation in scored]
    differences = {
        "beam": _largest(outputs["score"].numpy()[:, 0] - beam_scores, lengths),
        "score": _largest(scores.numpy() - log_probabilities, lengths),
    }
    _check(differences)
    return {
        **encoder,
        "beam": sum(map(list.__eq__, export_texts, python_texts)),
        "largest_differences": {**differences, **encoder["largest_differences"]},
    }


def encoder_agreement(model: Any, signatures: Any, texts: Sequence[str]) -> dict:
    """Compares `encode` and `tokenize`, which every SavedModel has, with Python."""
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


class ReadsTexts(Protocol):
    """What `check_vectors` asks of a form."""

    def tokenize(self, text: str) -> tuple[list[int], bool]:
        """Returns the ids of a text, and whether they are all."""

    def encode(self, texts: list[str]) -> np.ndarray:
        """Returns the vectors of texts, float32 (B, D)."""


def check_vectors(model: Any, form: ReadsTexts, texts: Sequence[str]):
    """Compares the vectors of a form with Python's, of texts that both split into the same ids."""
    chosen = texts[:SENTENCES]
    with warnings.catch_warnings(
        action="ignore"
    ):  # Sentences over the limit were warned of before.
        rows = model.source_rows(chosen)
    same = [
        text for text, row in zip(chosen, rows, strict=True) if form.tokenize(text) == (row, True)
    ]
    if not same:
        return
    difference = _largest(form.encode(same) - model.encode(same), 1)
    if not difference <= TIE:
        raise ValueError(
            f"The vectors of an export must equal Python's. Received: a difference of {difference}."
        )


def _check(differences, other_ids=0):
    if other_ids or not all(difference <= TIE for difference in differences.values()):
        raise ValueError(
            "Every signature must answer as Python does. Received: largest differences "
            f"{differences}, and {other_ids} sentences with other ids."
        )


def _largest(differences, lengths) -> float:
    """Returns the largest difference, divided by the number of tokens in its sum."""
    return float(np.max(np.abs(differences) / lengths))
