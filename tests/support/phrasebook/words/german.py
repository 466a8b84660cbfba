"""German inflection: articles, adjective endings, noun forms, the present tense."""

from functools import cache

from support.phrasebook.words.closed_classes import IRREGULAR
from support.phrasebook.words.lexicon import Adjective, Noun, Verb

CASES = ("nominative", "accusative", "dative")
PERSONS = ("1s", "2s", "3s", "p")  # ich, du, er; wir and sie share a verb form

# Endings by gender, "p" for the plural; one column per case, "-" for none.
_DER_ENDINGS = {"m": "er en em", "f": "e e er", "n": "es es em", "p": "e e en"}
_EIN_ENDINGS = {"m": "- en em", "f": "e e er", "n": "- - em", "p": "e e en"}
_ADJECTIVE_ENDINGS = {
    "weak": {"m": "e en en", "f": "e e en", "n": "e e en", "p": "en en en"},  # der, dieser
    "mixed": {"m": "er en en", "f": "e e en", "n": "es es en", "p": "en en en"},  # ein, kein, mein
    "strong": {"m": "er en em", "f": "e e er", "n": "es es em", "p": "e e en"},  # no article
}
_THE = {"m": "der den dem", "f": "die die der", "n": "das das dem", "p": "die die den"}
_CONTRACTIONS = {"in dem": "im", "in das": "ins"}


def _cell(table, gender: str, case: str) -> str:
    return table[gender].split()[CASES.index(case)].strip("-")


@cache
def the(gender: str, case: str) -> str:
    return _cell(_THE, gender, case)


@cache
def der_word(stem: str, gender: str, case: str) -> str:
    """Inflects "dies", "welch" like "der": dieser, diese, dieses."""
    return stem + _cell(_DER_ENDINGS, gender, case)


@cache
def ein_word(stem: str, gender: str, case: str) -> str:
    """Inflects "ein", "kein", "mein" and the other possessives: ein, eine, einen."""
    return stem + _cell(_EIN_ENDINGS, gender, case)


@cache
def adjective(word: Adjective, declension: str, gender: str, case: str) -> str:
    """Inflects an adjective before its noun: "weak" after der, "mixed" after ein, else "strong"."""
    return word.stem + _cell(_ADJECTIVE_ENDINGS[declension], gender, case)


@cache
def noun(word: Noun, number: str, case: str) -> str:
    if number == "singular":
        return word.name
    return word.plural + ("n" if case == "dative" and word.plural[-1] not in "ns" else "")


def gender_of(word: Noun, number: str) -> str:
    """Returns the row of the tables for a noun: its gender, or "p" in the plural."""
    return word.gender if number == "singular" else "p"


@cache
def present(verb: Verb, person: str) -> str:
    """Returns the present tense without the particle: ich stehe, du stehst, er steht."""
    if verb.name in IRREGULAR:
        return irregular(verb.name, person)
    stem = verb.stem
    if person in ("1s", "p"):
        return stem + {"1s": "e", "p": "en"}[person]
    if verb.changed:
        stem = verb.changed
    elif stem[-1] in "dt" or stem.endswith("gn"):  # du wartest, es regnet
        stem += "e"
    if person == "3s":
        return stem + "t"
    return stem + ("t" if stem[-1] in "sßz" else "st")  # du liest


def irregular(infinitive: str, person: str) -> str:
    """Returns the present tense of an auxiliary, a modal, or another irregular verb."""
    return IRREGULAR[infinitive][PERSONS.index(person)]


def contract(preposition: str, phrase: str) -> str:
    """Joins a preposition to its phrase: "in" + "dem garten" is "im garten"."""
    article, _, rest = phrase.partition(" ")
    joined = f"{preposition} {article}"
    return f"{_CONTRACTIONS.get(joined, joined)} {rest}".rstrip()
