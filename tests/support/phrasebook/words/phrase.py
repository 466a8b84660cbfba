"""What productions return: text in both languages."""

from typing import NamedTuple


class Phrase(NamedTuple):
    """A word or phrase that is not inflected any further."""

    german: str
    english: str

    @property
    def name(self) -> str:
        """The lemma, as for words of the lexicon."""
        return self.german


class Circumstance(NamedTuple):
    """An adverbial of time, place or frequency; its place differs between the languages."""

    german: str
    english: str
    slot: str  # "day", "habit", "clock", "frequency" or "place"


NOTHING = Phrase("", "")


def prefixed(german: str, english: str, phrase) -> Phrase:
    """Puts a word of each language before a phrase."""
    return Phrase(f"{german} {phrase.german}", f"{english} {phrase.english}")
