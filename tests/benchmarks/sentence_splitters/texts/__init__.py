"""Texts whose sentences are known, and how well a splitter finds these."""

import itertools
from importlib import resources

UNSPACED = ("ja", "zh")


def texts_of_languages() -> dict[str, list[list[str]]]:
    """Returns the texts of each language, as lists of sentences."""
    files = resources.files(__name__).iterdir()
    return {
        file.name.removesuffix(".txt"): [
            text.splitlines() for text in file.read_text("utf-8").strip().split("\n\n")
        ]
        for file in sorted(files, key=lambda file: file.name)
        if file.name.endswith(".txt")
    }


def score(split, language, texts):
    """Counts the ends of sentences within texts.

    Args:
        split: callable (text, language) -> sentences; joined, they are the text.
        language: Its code, such as "de".
        texts: Lists of sentences.

    Returns:
        found: Number of ends found.
        number: Of all ends.
        wrong: Number of ends found where there are none.
    """
    found = number = wrong = 0
    for sentences in texts:
        space = "" if language in UNSPACED else " "
        text = space.join(sentences)
        expected = set(ends(f"{sentence}{space}" for sentence in sentences[:-1]))
        split_at = set(ends(split(text, language))) - {len(text)}
        found += len(split_at & expected)
        number += len(expected)
        wrong += len(split_at - expected)
    return found, number, wrong


def ends(sentences):
    """Yields the place of the end of each sentence."""
    return itertools.accumulate(len(sentence) for sentence in sentences)
