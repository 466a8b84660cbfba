"""Rows of text and what a server answers to them, as `kformer.export` names it."""

import re

from kformer.serving.answers import ServedScore, ServedTranslation, Tokenized

NEEDED = {  # Outputs of the signatures.
    "serving_default": ("translation", "score"),
    "beam": ("translation", "score", "flags"),
    "score": ("log_probability", "tokens"),
    "encode": ("vector",),
    "tokenize": ("ids", "length"),
}
_NONE = -1e8  # The score of no translation at all is below.
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")  # UTF-8 cannot hold them.


def checked(inputs: dict) -> dict[str, list[str]]:
    """Returns lists of text that UTF-8 can hold: half of a surrogate pair becomes U+FFFD.

    Args:
        inputs: lists of strings by name.

    Raises:
        TypeError: They are something else.
        ValueError: They are not as long as each other.
    """
    lists = {}
    for name, texts in inputs.items():
        lists[name] = [texts] if isinstance(texts, str) else list(texts)
        if isinstance(texts, str) or not all(isinstance(text, str) for text in lists[name]):
            raise TypeError(f"`{name}` must be a list of strings. Received: {name}={texts!r:.99}.")
    if len({len(texts) for texts in lists.values()}) > 1:
        numbers = ", ".join(f"{len(texts)} of {name}" for name, texts in lists.items())
        raise ValueError(f"There must be as many of each. Received: {numbers}.")
    return {
        name: [_LONE_SURROGATES.sub("\ufffd", text) for text in texts]
        for name, texts in lists.items()
    }


def rows_of(outputs: dict, number: int, needed) -> list[dict]:
    """Returns the outputs for each row, by name.

    Args:
        outputs: lists by name, an entry for each row.
        number: Of rows.
        needed: Names of outputs that there must be.

    Raises:
        ValueError: They are not there.
    """
    lists = [value for value in outputs.values() if isinstance(value, list)]
    whole = len(lists) == len(outputs) and {len(value) for value in lists} <= {number}
    if not whole or not {*needed} <= outputs.keys():
        raise ValueError(
            f"The model must be a kformer export, which answers {', '.join(needed)} for each text. "
            f"Received: {', '.join(outputs)}."
        )
    return [dict(zip(outputs, row, strict=True)) for row in zip(*lists, strict=True)]


def read_translation(row) -> ServedTranslation:
    """A row of the signature `serving_default`."""
    return ServedTranslation(row["translation"], row["score"], _flags(row))


def read_translations(row) -> list[ServedTranslation]:
    """A row of the signature `beam`; without those that the search did not find; one at least."""
    several = [
        ServedTranslation(text, score, _split(flags))
        for text, score, flags in zip(row["translation"], row["score"], row["flags"], strict=True)
    ]
    return several[:1] + [one for one in several[1:] if one.score > _NONE]


def read_score(row) -> ServedScore:
    """A row of the signature `score`."""
    return ServedScore(row["log_probability"], row["tokens"], _flags(row))


def read_vector(row) -> tuple[list[float], tuple[str, ...]]:
    """A row of the signature `encode`: the vector and flags."""
    return row["vector"], _flags(row)


def read_tokenized(row) -> Tokenized:
    """A row of the signature `tokenize`."""
    return Tokenized(tuple(row["ids"][: row["length"]]), _flags(row))


def _flags(row):
    """The flags of a row; exports of kformer 0.1.0 have one alone."""
    if "flags" not in row:
        return ("source cut",) if row.get("truncated") else ()
    return _split(row["flags"])


def _split(flags):
    return tuple(flags.split(", ")) if flags else ()
