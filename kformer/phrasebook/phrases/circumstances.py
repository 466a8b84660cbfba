"""Productions of adverbials: when, where, how often and with whom."""

from kformer.phrasebook.derivation import Nonsense, production
from kformer.phrasebook.phrases.times import Circumstance
from kformer.phrasebook.words.closed_classes import ALWAYS, DAYS, FREQUENCIES


def with_circumstances(d, clause, symbol):
    found = d.derive(symbol, tense=clause.verb.tense, subject=clause.subject)
    if clause.negation and any(c.slot in ("frequency", "habit") for c in found):
        raise Nonsense("It is ambiguous what is negated, the action or the habit.")
    return clause._replace(circumstances=found)


def _place(phrase) -> Circumstance:
    return Circumstance(phrase.german, phrase.english, "place")


# Circumstances: adverbials of an action


@production("Circumstances", 9)
def no_circumstance(d, tense, subject):
    return ()


@production("Circumstances", 5)
def when(d, tense, subject):
    return (d.derive("Time", tense=tense),)


@production("Circumstances", 2)
def where(d, tense, subject):
    return (_place(d.derive("Place")),)


@production("Circumstances", 1)
def when_and_where(d, tense, subject):
    return (d.derive("Time", tense=tense), _place(d.derive("Place")))


@production("Circumstances", 2)
def how_often(d, tense, subject):
    """nie -> never"""
    word = d.pick(FREQUENCIES, [ALWAYS] if tense == "past" else [])
    return (Circumstance(word.name, word.english, "frequency"),)


# ActivityCircumstances, Appointment, Outing: with company, with a clock time, or with both


@production("ActivityCircumstances", 4)
def as_of_an_action(d, tense, subject):
    return d.derive("Circumstances", tense=tense, subject=subject)


@production("ActivityCircumstances", 1)
def in_company(d, tense, subject):
    return d.derive("Company", subject=subject)


@production("Appointment", 2)
def no_appointment(d, tense, subject):
    return ()


@production("Appointment", 3)
def appointment(d, tense, subject):
    return (d.derive("Time", tense=tense),)


@production("Outing", 5)
def outing_alone(d, tense, subject):
    return d.derive("Appointment", tense=tense, subject=subject)


@production("Outing", 1)
def outing_in_company(d, tense, subject):
    return d.derive("Company", subject=subject)


@production("Company")
def with_someone(d, subject):
    """mit meinem bruder -> with my brother"""
    person = d.derive("Person", case="dative", subject=subject)
    return (
        _place(person._replace(german=f"mit {person.german}", english=f"with {person.english}")),
    )


# TimeFirst, PlaceFirst: first elements of a statement; Unstated: what a question asks for


@production("TimeFirst")
def time_first(d, tense, subject):
    return (d.derive("Time", tense=tense),)


@production("PlaceFirst")
def place_first(d, tense, subject):
    return (_place(d.derive("Place")),)


@production("Unstated")
def unstated(d, tense, subject):
    return ()


# Skies: adverbials of the weather


@production("Skies", 3)
def skies_anywhere(d):
    return ()


@production("Skies", 2)
def skies_today(d):
    word = d.pick(DAYS["present"])
    return (Circumstance(word.name, word.english, "day"),)


@production("Skies", 2)
def skies_somewhere(d):
    return (_place(d.derive("City")),)


# Surroundings: places of "there is"


@production("Surroundings")
def surroundings(d, kind):
    symbol = {"animal": "Outdoors", "person": "Place", "sight": "City"}[kind]
    return (_place(d.derive(symbol)),)
