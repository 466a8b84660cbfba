"""Nouns, adjectives and verbs, in both languages, with their grammatical properties.

A kind says what a word can be combined with, so that one drinks beer and reads books: a verb
lists the kinds of its subjects and objects, an adjective the kinds of the nouns it describes.
"""

from importlib import resources
from typing import NamedTuple


class Noun(NamedTuple):
    name: str
    plural: str | None
    gender: str  # "m", "f" or "n"
    english: str
    english_plural: str | None
    kinds: tuple[str, ...]

    @property
    def numbers(self) -> tuple[str, ...]:
        return ("singular", "plural") if self.plural else ("singular",)


class Adjective(NamedTuple):
    name: str
    stem: str
    english: str
    kinds: tuple[str, ...]


class Verb(NamedTuple):
    """A verb; `changed` is the stem of du and er. Verbs without a participle are states."""

    name: str
    particle: str
    stem: str
    changed: str | None
    participle: str | None
    auxiliary: str | None
    english: str
    past: str | None
    frame: str
    subjects: tuple[str, ...]
    objects: tuple[str, ...]


def _rows(table: str):
    """Yields the cells of each row of a table: "-" for none, "_" for a space."""
    text = (resources.files("support.phrasebook.words") / f"{table}.txt").read_text("utf-8")
    for line in text.splitlines()[1:]:  # After the names of the columns.
        yield [None if cell == "-" else cell.replace("_", " ") for cell in line.split()]


def _kinds(cell: str | None) -> tuple[str, ...]:
    return tuple(cell.split(",")) if cell else ()


def _verb(infinitive, changed, participle, auxiliary, english, past, frame, subjects, objects):
    particle, _, simple = infinitive.rpartition("|")
    return Verb(
        name=particle + simple,
        particle=particle,
        stem=simple.removesuffix("n").removesuffix("e"),
        changed=changed,
        participle=participle,
        auxiliary=auxiliary,
        english=english,
        past=past,
        frame=frame,
        subjects=_kinds(subjects),
        objects=_kinds(objects),
    )


# Four kinds govern determiners: `mass` nouns have no plural, `serving` ones may have "ein" (a
# beer), `own` ones may have a possessive, and `kin` ones always have one.
NOUNS = tuple(Noun(*row, kinds=_kinds(kinds)) for *row, kinds in _rows("nouns"))

ADJECTIVES = tuple(
    Adjective(name, stem or name, english, _kinds(kinds))
    for name, stem, english, kinds in _rows("adjectives")
)

VERBS = tuple(_verb(*row) for row in _rows("verbs"))


def _grouped(words, keys_of):
    """Returns the words by key; `keys_of` returns the keys of a word."""
    keys = sorted({key for word in words for key in keys_of(word)})
    return {key: tuple(word for word in words if key in keys_of(word)) for key in keys}


NOUNS_OF = _grouped(NOUNS, lambda noun: noun.kinds)
VERBS_OF = _grouped(VERBS, lambda verb: [verb.frame])
ADJECTIVES_FOR = {
    noun.name: tuple(a for a in ADJECTIVES if set(a.kinds) & set(noun.kinds)) for noun in NOUNS
}
