"""Productions of noun phrases: determiners and adjectives around a noun.

The case is an argument; the result has the person that the verb agrees with.
"""

from functools import partial
from typing import NamedTuple

from support.phrasebook.derivation import production, unit_production
from support.phrasebook.words import english, german
from support.phrasebook.words.closed_classes import NUMBERS, POSSESSIVES, Pronoun
from support.phrasebook.words.lexicon import ADJECTIVES_FOR, NOUNS_OF, Noun


class NounPhrase(NamedTuple):
    german: str
    english: str
    person: str = "3s"
    nouns: tuple[Noun, ...] = ()
    pronoun: Pronoun | None = None
    relative: str = ""  # The relative pronoun, in the nominative.
    modified: bool = False  # Contains an adjective.


class Nominal(NamedTuple):
    german: str
    english: str
    modified: bool


def around(d, noun, case):
    """Derives a phrase around a noun, with a determiner that the noun allows."""
    symbol = "Kin" if "kin" in noun.kinds else "Mass" if "mass" in noun.kinds else "Count"
    return d.derive(symbol, noun=noun, case=case)


def around_specific(d, noun, case):
    """Derives a definite phrase around a noun, which "nicht" may follow: "das brot nicht"."""
    symbol = "Kin" if "kin" in noun.kinds else "Own" if "own" in noun.kinds else "Specific"
    return d.derive(symbol, noun=noun, case=case)


def described(d, kinds, case, but=()):
    """Picks a noun of one of the kinds, not in `but`, and derives a phrase around it."""
    return around(d, d.pick(NOUNS_OF[d.choose(kinds)], but), case)


def _phrase(d, noun, number, case, determiner, declension, english_determiner):
    """Joins a determiner to the noun; `determiner` is a function of gender and case."""
    gender = german.gender_of(noun, number)
    nominal = d.derive("Nominal", noun=noun, number=number, case=case, declension=declension)
    if english_determiner == "a":
        foreign = english.a(nominal.english)
    else:
        foreign = f"{english_determiner} {nominal.english}".lstrip()
    return NounPhrase(
        german=f"{determiner(gender, case)} {nominal.german}".lstrip(),
        english=foreign,
        person="3s" if number == "singular" else "p",
        nouns=(noun,),
        relative=german.the(gender, "nominative"),
        modified=nominal.modified,
    )


def _no_article(gender, case):
    return ""


_kein = partial(german.ein_word, "kein")


# Nominal: the noun, with or without an adjective


@production("Nominal", 7)
def bare_noun(d, noun, number, case, declension):
    return Nominal(german.noun(noun, number, case), english.noun(noun, number), False)


@production("Nominal", 3)
def adjective_and_noun(d, noun, number, case, declension):
    """rote hut -> red hat"""
    word = d.pick(ADJECTIVES_FOR[noun.name])
    d.relate(word, (noun,))
    adjective = german.adjective(word, declension, german.gender_of(noun, number), case)
    return Nominal(
        f"{adjective} {german.noun(noun, number, case)}",
        f"{word.english} {english.noun(noun, number)}",
        True,
    )


# Specific, Own, Kin: definite phrases; with an optional or a required possessive


@production("Specific", 5)
def definite(d, noun, case):
    """den alten hund -> the old dog"""
    return _phrase(d, noun, d.choose(noun.numbers), case, german.the, "weak", "the")


@production("Specific", 1)
def demonstrative(d, noun, case):
    """diese roten hüte -> these red hats"""
    number = d.choose(noun.numbers)
    this = "this" if number == "singular" else "these"
    return _phrase(d, noun, number, case, partial(german.der_word, "dies"), "weak", this)


unit_production("Own", 3, "not_possessed", to="Specific")
unit_production("Own", 2, "possessed", to="Kin")


@production("Kin")
def possessive(d, noun, case):
    """meinem alten bruder -> my old brother"""
    number, whose = d.choose(noun.numbers), d.pick(POSSESSIVES)
    my = partial(german.ein_word, whose.name)
    return _phrase(d, noun, number, case, my, "mixed", whose.english)


# Count: all phrases around a count noun; Some: only the indefinite ones


@production("Count", 5)
def specific(d, noun, case):
    return around_specific(d, noun, case)


@production("Count", 7)
def some(d, noun, case):
    return d.derive("Some" if noun.plural else "One", noun=noun, case=case)


unit_production("Some", 4, "one_of_many", to="One")


@production("One")
def indefinite(d, noun, case):
    """ein alter hund -> an old dog"""
    return _phrase(d, noun, "singular", case, partial(german.ein_word, "ein"), "mixed", "a")


@production("Some", 2)
def counted(d, noun, case):
    """zwei rote hüte -> two red hats"""
    number = d.pick(NUMBERS[1:])
    return _phrase(d, noun, "plural", case, lambda *_: number.name, "strong", number.english)


@production("Some", 1)
def many(d, noun, case):
    """viele rote hüte -> many red hats"""
    viele = partial(german.der_word, "viel")
    return _phrase(d, noun, "plural", case, viele, "strong", "many")


@production("Some", 1)
def plural_without_article(d, noun, case):
    """rote hüte -> red hats"""
    return _phrase(d, noun, "plural", case, _no_article, "strong", "")


# Mass: phrases around a mass noun, such as bread or coffee


@production("Mass", 4)
def mass_without_article(d, noun, case):
    """kalte milch -> cold milk"""
    return _phrase(d, noun, "singular", case, _no_article, "strong", "")


@production("Mass", 3)
def specific_mass(d, noun, case):
    return around_specific(d, noun, case)


@production("Mass", 2)
def serving(d, noun, case):
    """ein kaltes bier -> a cold beer"""
    if "serving" not in noun.kinds:
        return mass_without_article(d, noun, case)
    return d.derive("One", noun=noun, case=case)


# Generic: all of a kind, as the object of "like"


def _all_of(d, noun, case, determiner, declension):
    number = "singular" if "mass" in noun.kinds else "plural"
    return _phrase(d, noun, number, case, determiner, declension, "")


@production("Generic")
def generic(d, noun, case):
    """katzen -> cats, käse -> cheese"""
    return _all_of(d, noun, case, _no_article, "strong")


# Denied, DeniedGeneric: "kein" replaces the article and "nicht"


@production("Denied")
def denied(d, noun, case):
    """keinen roten hut -> (not) a red hat; kein brot -> (not) any bread"""
    number = d.choose(noun.numbers)
    one = number == "singular" and "mass" not in noun.kinds
    return _phrase(d, noun, number, case, _kein, "mixed", "a" if one else "any")


@production("DeniedGeneric")
def denied_generic(d, noun, case):
    """keine katzen -> (not) cats"""
    return _all_of(d, noun, case, _kein, "mixed")


# Asked: the object that a question asks for


@production("Asked", 1)
def which(d, noun, case):
    """welche alten hüte -> which old hats"""
    welch = partial(german.der_word, "welch")
    return _phrase(d, noun, d.choose(noun.numbers), case, welch, "weak", "which")


@production("Asked", 1)
def how_many(d, noun, case):
    """wie viele alte hüte -> how many old hats"""
    return _phrase(d, noun, "plural", case, lambda *_: "wie viele", "strong", "how many")
