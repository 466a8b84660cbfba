"""Productions of people as subjects and objects: pronouns, names and nouns; any subject."""

from support.phrasebook.derivation import Nonsense, production, terminal
from support.phrasebook.phrases.noun_phrases import (
    NounPhrase,
    around,
    around_specific,
    described,
)
from support.phrasebook.words.closed_classes import NAMES, OBJECT_PRONOUNS, SUBJECT_PRONOUNS
from support.phrasebook.words.lexicon import NOUNS_OF


def subject_of(d, kinds):
    kind = d.choose(kinds)
    if kind == "person":
        return d.derive("PersonSubject")
    return described(d, (kind,), "nominative")


def pronoun_phrase(pronoun) -> NounPhrase:
    return NounPhrase(pronoun.name, pronoun.english, pronoun.person, pronoun=pronoun)


# Person: objects, in any case but the nominative


@production("Person", 5)
def object_pronoun(d, case, subject):
    """mir -> me, unless the subject is "ich\""""
    group = subject.pronoun and subject.pronoun.group
    return pronoun_phrase(d.pick([p for p in OBJECT_PRONOUNS[case] if p.group != group]))


@production("Person", 2)
def name_as_object(d, case, subject):
    return NounPhrase(*d.pick([name for name in NAMES if name.german not in subject.german]))


@production("Person", 7)
def person_as_object(d, case, subject):
    return around_specific(d, d.pick(NOUNS_OF["person"], subject.nouns), case)


# PersonSubject


@production("PersonSubject", 12)
def subject_pronoun(d):
    group = d.derive("Group")
    return pronoun_phrase(d.pick([p for p in SUBJECT_PRONOUNS if p.group == group]))


@production("PersonSubject", 2)
def name_as_subject(d):
    return NounPhrase(*d.pick(NAMES))


@production("PersonSubject", 7)
def person_as_subject(d):
    return described(d, ("person",), "nominative")


@production("PersonSubject", 1)
def two_people(d):
    """anna und mein bruder -> anna and my brother"""
    name, other = d.pick(NAMES), around(d, d.pick(NOUNS_OF["kin"]), "nominative")
    return NounPhrase(
        german=f"{name.name} und {other.german}",
        english=f"{name.english} and {other.english}",
        person="p",
        nouns=other.nouns,
    )


@production("PersonSubject", 1)
def person_with_something(d):
    """die frau mit einem hut -> the woman with a hat"""
    person = around_specific(d, d.pick(NOUNS_OF["stranger"]), "nominative")
    if person.person == "p":
        raise Nonsense("Several people do not share one thing.")
    thing = d.derive("One", noun=d.pick(NOUNS_OF["feature"]), case="dative")
    return person._replace(
        german=f"{person.german} mit {thing.german}",
        english=f"{person.english} with {thing.english}",
        modified=True,
    )


# Group: the first and second person are more frequent

terminal("Group", 6, "speaker", "speaker")
terminal("Group", 4, "hearer", "hearer")
terminal("Group", 4, "other", "other")
