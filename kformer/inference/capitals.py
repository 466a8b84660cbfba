"""Sentences in capitals: a model that never read any reads them in lower case.

Of such a sentence a vocabulary has single letters and pieces that it never saw together. So its
letters become small, but for the first one; and the letters of the translation become capitals.
"""

from collections.abc import Iterable

ABOUT = "reads_capitals"  # In the metadata of a model; without it, nothing is known.
_LEAST_WORDS = 2  # A single word may be an acronym.
_LEAST_LETTERS = 6
_WHOLE = 0.05  # Share of the words in a vocabulary that it also has in capitals.
_SPACE = "\u2581"  # Before the first piece of a word.


def reads_capitals(pieces: Iterable[str]) -> bool:
    """Returns whether a vocabulary was learned from text with many sentences in capitals.

    It then has pieces for whole words of them.
    """
    known = {*pieces}
    words = [
        piece[1:]
        for piece in known
        if piece[:1] == _SPACE and len(piece) > 4 and piece[1:].isalpha() and piece.islower()
    ]
    upper = sum(_SPACE + word.upper() in known for word in words)
    return not words or upper > _WHOLE * len(words)


def is_in_capitals(sentence: str) -> bool:
    """Returns whether a sentence of several words has no small letter."""
    if not sentence.isupper():
        return False
    words = [word for word in sentence.split() if word.isupper()]
    letters = sum(character.isupper() for character in sentence)
    return len(words) >= _LEAST_WORDS and letters >= _LEAST_LETTERS


def in_small_letters(sentence: str) -> str:
    """Returns a sentence in small letters, with a capital at its beginning."""
    small = sentence.lower()
    first = next((i for i, character in enumerate(small) if character.isalpha()), 0)
    return small[:first] + small[first : first + 1].upper() + small[first + 1 :]
