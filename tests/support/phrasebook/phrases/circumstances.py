"""Productions of adverbials: when, where, how often and with whom."""

from support.phrasebook.derivation import Nonsense, production, terminal, unit_production
from support.phrasebook.words.closed_classes import ALWAYS, DAYS, FREQUENCIES
from support.phrasebook.words.phrase import Circumstance, prefixed


def with_circumstances(d, clause, symbol):
    found = d.derive(symbol, tense=clause.verb.tense, subject=clause.subject)
    if clause.negation and any(c.slot in ("frequency", "habit") for c in found):
        raise Nonsense("It is ambiguous what is negated, the action or the habit.")
    return clause._replace(circumstances=found)


def _place(phrase) -> Circumstance:
    return Circumstance(phrase.german, phrase.english, "place")


# Circumstances: adverbials of an action


terminal("Circumstances", 9, "no_circumstance", ())


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
    return (Circumstance(*word, "frequency"),)


# ActivityCircumstances, Appointment, Outing: with company, with a clock time, or with both


unit_production("ActivityCircumstances", 4, "as_of_an_action", to="Circumstances")
unit_production("ActivityCircumstances", 1, "in_company", to="Company")
terminal("Appointment", 2, "no_appointment", ())


@production("Appointment", 3)
def appointment(d, tense, subject):
    return (d.derive("Time", tense=tense),)


unit_production("Outing", 5, "outing_alone", to="Appointment")
unit_production("Outing", 1, "outing_in_company", to="Company")


@production("Company")
def with_someone(d, tense, subject):
    """mit meinem bruder -> with my brother"""
    person = d.derive("Person", case="dative", subject=subject)
    return (_place(prefixed("mit", "with", person)),)


# TimeFirst, PlaceFirst: first elements of a statement; Unstated: what a question asks for


@production("TimeFirst")
def time_first(d, tense, subject):
    return (d.derive("Time", tense=tense),)


@production("PlaceFirst")
def place_first(d, tense, subject):
    return (_place(d.derive("Place")),)


terminal("Unstated", 1, "unstated", ())

# Skies: adverbials of the weather

terminal("Skies", 3, "skies_anywhere", ())


@production("Skies", 2)
def skies_today(d):
    return (Circumstance(*d.pick(DAYS["present"]), "day"),)


@production("Skies", 2)
def skies_somewhere(d):
    return (_place(d.derive("City")),)


# Surroundings: places of "there is"


@production("Surroundings")
def surroundings(d, kind):
    symbol = {"animal": "Outdoors", "person": "Place", "sight": "City"}[kind]
    return (_place(d.derive(symbol)),)
