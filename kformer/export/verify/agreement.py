"""The signatures beside `serving_default` say what Python says, too.

Axes: B batch, N sequences a text.
"""

import warnings

import numpy as np
import tensorflow as tf

from kformer.decoding.options import SearchOptions

TIE = 1e-3  # Log-probabilities this close are a tie: float32 sums differ by 1e-4 between runtimes.
SENTENCES = 64  # Compared at most.


def agreement(translator, signatures, texts, n_best, length_penalty) -> dict:
    """Compares a translator's `beam`, `score`, `encode` and `tokenize` with Python.

    Args:
        translator: `kformer.Translator`, the one that was exported.
        signatures: Those of the SavedModel, callables by name.
        texts: Sentences.
        n_best, length_penalty: As the export has them.

    Returns:
        dict for the report: how many sentences were compared, for how many `tokenize` and all of
        `beam` are equal, and the largest differences of numbers.

    Raises:
        ValueError: Ids differ, or a number by more than rounding explains.
    """
    texts = list(texts)[:SENTENCES]
    if not texts:
        return {"sentences": 0}
    of_encoder = encoder_agreement(translator, signatures, texts)
    text = tf.constant(texts)
    beam = signatures["beam"](text=text)
    options = SearchOptions(n_best, length_penalty, n_best=n_best)
    expected = translator.translations(texts, options, details=False)
    said = [[one.text for one in row] for row in expected]
    found = [
        [text.decode("utf-8") for text in row[: len(wanted)]]
        for row, wanted in zip(beam["translation"].numpy(), said, strict=True)
    ]
    targets = [row[0] for row in said]
    scored = signatures["score"](source=text, target=tf.constant(targets))
    of_python = translator.score(texts, targets)
    lengths = np.array([len(one.tokens) for one in of_python])
    of_beam = [row[0].score for row in expected]
    of_score = [one.log_probability for one in of_python]
    differences = {
        "beam": _largest(beam["score"].numpy()[:, 0] - of_beam, lengths),
        "score": _largest(scored["log_probability"].numpy() - of_score, lengths),
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
        model: `kformer.Translator` or `kformer.TextClassifier`, the one that was exported.
        signatures, texts: See `agreement`.

    Returns:
        dict for the report: how many sentences were compared, for how many `tokenize` is equal, and
        the largest difference of `encode`.

    Raises:
        ValueError: See `agreement`.
    """
    texts = list(texts)[:SENTENCES]
    if not texts:
        return {"sentences": 0}
    text = tf.constant(texts)
    vectors = signatures["encode"](text=text)["vector"].numpy()
    differences = {"encode": _largest(vectors - _means(model, texts), 1)}
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
        model: `kformer.Translator` or `kformer.TextClassifier`, the one that was exported.
        form: `kformer.pocket.PocketTranslator` or `PocketClassifier` of it.
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
    difference = _largest(form.encode(same) - _means(model, same), 1)
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


def _means(model, texts):
    rows = model.source_rows(texts)
    return [np.mean(model.network.encode(np.array([row]))[0], axis=0) for row in rows]
