"""Productions of noun phrases: determiners, adjectives, pronouns, names, numbers.

A noun phrase gets its case from above and hands up the person that the verb agrees with.
"""

from typing import NamedTuple

from kformer.training.corpus import english, german, lexicon
from kformer.training.corpus.derivation import production


class NounPhrase(NamedTuple):
    german: str
    english: str
    person: str = "3s"
    nouns: tuple[lexicon.Noun, ...] = ()
    pronoun: lexicon.Pronoun | None = None
    relative: str = ""  # The relative pronoun that fits, in the nominative.


def described(d, kinds, case, but=()):
    """Picks a noun of one of the kinds and derives the phrase that its own kind allows."""
    kind = kinds[0] if len(kinds) == 1 else d.choose(kinds, None)
    return around(d, d.pick(lexicon.NOUNS_OF[kind], but), case)


def around(d, noun, case):
    symbol = "Kin" if "kin" in noun.kinds else "Mass" if "mass" in noun.kinds else "Count"
    return d.derive(symbol, noun=noun, case=case)


def _specific(d, noun, case):
    return d.derive("Own" if "own" in noun.kinds else "Specific", noun=noun, case=case)


def _phrase(d, noun, number, case, determiner, declension, english_determiner):
    """Joins a determiner and the noun with its adjective; `determiner` is called with the gender."""
    gender = german.gender_of(noun, number)
    own, foreign = d.derive(
        "Nominal", noun=noun, number=number, case=case, declension=declension
    )
    if english_determiner == "a":
        foreign = english.a(foreign)
    elif english_determiner:
        foreign = f"{english_determiner} {foreign}"
    return NounPhrase(
        german=f"{determiner(gender, case)} {own}".lstrip(),
        english=foreign,
        person="3s" if number == "singular" else "p",
        nouns=(noun,),
        relative=german.the(gender, "nominative"),
    )


def _no_article(gender, case):
    return ""


# Nominal: the noun, with or without an adjective -> (German, English)


def _english_noun(noun, number):
    return noun.english if number == "singular" else noun.english_plural


@production("Nominal", 6)
def bare_noun(d, noun, number, case, declension):
    return german.noun(noun, number, case), _english_noun(noun, number)


@production("Nominal", 4)
def adjective_and_noun(d, noun, number, case, declension):
    """der rote hut -> the red hat"""
    adjective = d.pick(lexicon.ADJECTIVES_FOR[noun.name])
    d.relate(adjective, (noun,))
    own = german.adjective(adjective, declension, german.gender_of(noun, number), case)
    return (
        f"{own} {german.noun(noun, number, case)}",
        f"{adjective.english} {_english_noun(noun, number)}",
    )


# Specific: phrases that "nicht" may follow


@production("Specific", 5)
def definite(d, noun, case):
    """den alten hund -> the old dog"""
    number = d.choose(noun.numbers, None)
    return _phrase(d, noun, number, case, german.the, "weak", "the")


@production("Specific", 1)
def demonstrative(d, noun, case):
    """diese roten hüte -> these red hats"""
    number = d.choose(noun.numbers, None)

    def this(gender, case):
        return german.der_word("dies", gender, case)

    return _phrase(
        d, noun, number, case, this, "weak", "this" if number == "singular" else "these"
    )


@production("Own", 3)
def not_possessed(d, noun, case):
    return d.derive("Specific", noun=noun, case=case)


@production("Own", 2)
def possessed(d, noun, case):
    return possessive(d, noun, case)


@production("Kin")
def possessive(d, noun, case):
    """meinem kleinen bruder -> my little brother"""
    number = d.choose(noun.numbers, None)
    whose = d.pick(lexicon.POSSESSIVES)

    def my(gender, case):
        return german.ein_word(whose.name, gender, case)

    return _phrase(d, noun, number, case, my, "mixed", whose.english)


# Count: any phrase around a noun that can be counted


@production("Count", 5)
def specific(d, noun, case):
    return _specific(d, noun, case)


@production("Count", 4)
def indefinite(d, noun, case):
    """ein alter hund -> an old dog"""

    def one(gender, case):
        return german.ein_word("ein", gender, case)

    return _phrase(d, noun, "singular", case, one, "mixed", "a")


@production("Count", 2)
def counted(d, noun, case):
    """zwei rote hüte -> two red hats"""
    if not noun.plural:
        return _specific(d, noun, case)
    number = d.pick(lexicon.HOURS[1:])
    return _phrase(
        d, noun, "plural", case, lambda *_: number.name, "strong", number.english
    )


@production("Count", 1)
def many(d, noun, case):
    """viele rote hüte -> many red hats"""
    if not noun.plural:
        return _specific(d, noun, case)

    def viele(gender, case):
        return german.der_word("viel", gender, case)

    return _phrase(d, noun, "plural", case, viele, "strong", "many")


@production("Count", 1)
def plural_without_article(d, noun, case):
    """rote hüte -> red hats"""
    if not noun.plural:
        return _specific(d, noun, case)
    return _phrase(d, noun, "plural", case, _no_article, "strong", "")


# Mass: bread, coffee


@production("Mass", 4)
def mass_without_article(d, noun, case):
    """kalte milch -> cold milk"""
    return _phrase(d, noun, "singular", case, _no_article, "strong", "")


@production("Mass", 3)
def specific_mass(d, noun, case):
    return _specific(d, noun, case)


@production("Mass", 2)
def serving(d, noun, case):
    """ein kaltes bier -> a cold beer"""
    if "serving" not in noun.kinds:
        return mass_without_article(d, noun, case)
    return indefinite(d, noun, case)


# Denied: "kein" takes the place of "nicht" and the article


@production("Denied")
def denied(d, noun, case):
    """keinen roten hut -> not a red hat; kein brot -> not any bread"""
    number = d.choose(noun.numbers, None)

    def no(gender, case):
        return german.ein_word("kein", gender, case)

    one = number == "singular" and "mass" not in noun.kinds
    return _phrase(d, noun, number, case, no, "mixed", "a" if one else "any")


# Generic: all of a kind, as one likes it


@production("Generic", 1)
def generic(d, noun, case):
    """ich mag katzen -> i like cats"""
    number = "singular" if "mass" in noun.kinds else "plural"
    return _phrase(d, noun, number, case, _no_article, "strong", "")


@production("DeniedGeneric", 1)
def denied_generic(d, noun, case):
    """ich mag keine katzen -> i do not like cats"""
    number = "singular" if "mass" in noun.kinds else "plural"

    def no(gender, case):
        return german.ein_word("kein", gender, case)

    return _phrase(d, noun, number, case, no, "mixed", "")


# Person: whoever can be spoken of without a noun


def other_than(subject, case):
    """The object pronouns that do not mean the subject itself."""
    group = subject.pronoun.group if subject and subject.pronoun else None
    return [p for p in lexicon.OBJECT_PRONOUNS[case] if p.group != group]


@production("Person", 5)
def object_pronoun(d, case, subject):
    """mir -> me"""
    pronoun = d.pick(other_than(subject, case))
    return NounPhrase(pronoun.name, pronoun.english, pronoun.person, pronoun=pronoun)


@production("Person", 2)
def name_as_object(d, case, subject):
    name = d.pick([n for n in lexicon.NAMES if n.name not in subject.german])
    return NounPhrase(name.name, name.english)


@production("Person", 7)
def person_as_object(d, case, subject):
    noun = d.pick(lexicon.NOUNS_OF["person"], subject.nouns)
    return _specific(d, noun, case) if "kin" not in noun.kinds else around(d, noun, case)


# Subject: in the nominative; people may be pronouns, names, or two


@production("PersonSubject", 11)
def subject_pronoun(d):
    pronoun = d.pick(lexicon.SUBJECT_PRONOUNS)
    return NounPhrase(pronoun.name, pronoun.english, pronoun.person, pronoun=pronoun)


@production("PersonSubject", 2)
def name_as_subject(d):
    name = d.pick(lexicon.NAMES)
    return NounPhrase(name.name, name.english)


@production("PersonSubject", 7)
def person_as_subject(d):
    return described(d, ("person",), "nominative")


@production("PersonSubject", 1)
def two_people(d):
    """anna und mein bruder -> anna and my brother"""
    name = d.pick(lexicon.NAMES)
    other = around(d, d.pick(lexicon.NOUNS_OF["kin"]), "nominative")
    return NounPhrase(
        german=f"{name.name} und {other.german}",
        english=f"{name.english} and {other.english}",
        person="p",
        nouns=other.nouns,
    )


@production("PersonSubject", 1)
def person_with_something(d):
    """die frau mit dem hut -> the woman with the hat"""
    noun = d.pick(lexicon.NOUNS_OF["person"])
    person = around(d, noun, "nominative")
    thing = described(d, ("portable",), "dative")
    return person._replace(
        german=f"{person.german} mit {thing.german}",
        english=f"{person.english} with {thing.english}",
        nouns=person.nouns + thing.nouns,
    )


def subject_of(d, kinds):
    kind = kinds[0] if len(kinds) == 1 else d.choose(kinds, None)
    if kind == "person":
        return d.derive("PersonSubject")
    return described(d, (kind,), "nominative")
