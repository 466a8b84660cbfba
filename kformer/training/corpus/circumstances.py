"""Productions of what surrounds the action: numbers, clock times, days, places, company.

A circumstance knows its slot, because the two languages order them differently.
"""

from typing import NamedTuple

from kformer.training.corpus import german, lexicon
from kformer.training.corpus.derivation import production


class Phrase(NamedTuple):
    german: str
    english: str


class Circumstance(NamedTuple):
    german: str
    english: str
    slot: str  # "day", "clock", "frequency" or "place"


# Number


@production("Number", 1)
def small_number(d):
    number = d.pick(lexicon.HOURS[1:])
    return Phrase(number.name, number.english)


@production("Number", 1)
def tens(d):
    number = d.pick(lexicon.TENS)
    return Phrase(number.name, number.english)


@production("Number", 2)
def tens_and_units(d):
    """fünfundzwanzig -> twenty-five"""
    ten, unit = d.pick(lexicon.TENS), d.pick(lexicon.HOURS[:9])
    return Phrase(
        f"{unit.name.removesuffix('s') if unit.name == 'eins' else unit.name}und{ten.name}",
        f"{ten.english}-{unit.english}",
    )


# ClockTime: without "um" and "at"


@production("ClockTime", 3)
def full_hour(d):
    """sieben uhr -> seven o'clock"""
    hour = d.pick(lexicon.HOURS)
    one = "ein" if hour.name == "eins" else hour.name
    return Phrase(f"{one} uhr", f"{hour.english} o'clock")


@production("ClockTime", 2)
def half_hour(d):
    """halb acht -> half past seven"""
    hour = d.choose(range(len(lexicon.HOURS)), None)
    before, after = lexicon.HOURS[hour - 1], lexicon.HOURS[hour]
    return Phrase(f"halb {after.name}", f"half past {before.english}")


@production("ClockTime", 1)
def quarter_past(d):
    """viertel nach acht -> a quarter past eight"""
    hour = d.pick(lexicon.HOURS)
    return Phrase(f"viertel nach {hour.name}", f"a quarter past {hour.english}")


@production("ClockTime", 1)
def quarter_to(d):
    """viertel vor acht -> a quarter to eight"""
    hour = d.pick(lexicon.HOURS)
    return Phrase(f"viertel vor {hour.name}", f"a quarter to {hour.english}")


# Time


@production("Time", 4)
def day(d, tense):
    """gestern -> yesterday, but only of the past"""
    word = d.pick(lexicon.DAYS[tense])
    return Circumstance(word.name, word.english, "day")


@production("Time", 2)
def part_of_day(d, tense):
    """am abend -> in the evening"""
    word = d.pick(lexicon.DAY_PARTS)
    return Circumstance(word.name, word.english, "day")


@production("Time", 1)
def every_day(d, tense):
    return Circumstance("jeden tag", "every day", "day")


@production("Time", 3)
def at_clock_time(d, tense):
    """um halb acht -> at half past seven"""
    time = d.derive("ClockTime")
    return Circumstance(f"um {time.german}", f"at {time.english}", "clock")


# Place


@production("Place", 5)
def inside(d):
    """im alten haus -> in the old house"""
    place = place_phrase(d, "dative")
    return Circumstance(german.contract("in", place.german), f"in {place.english}", "place")


@production("Place", 2)
def spot(d):
    """zu hause -> at home"""
    word = d.pick(lexicon.SPOTS)
    return Circumstance(word.name, word.english, "place")


@production("Place", 1)
def in_city(d):
    """in wien -> in vienna"""
    city = d.pick(lexicon.CITIES)
    return Circumstance(f"in {city.name}", f"in {city.english}", "place")


def place_phrase(d, case):
    noun = d.pick(lexicon.NOUNS_OF["place"])
    return d.derive("Own" if "own" in noun.kinds else "Specific", noun=noun, case=case)


@production("Surface")
def surface(d):
    """unter dem tisch -> under the table"""
    preposition = d.pick(lexicon.SURFACES)
    noun = d.pick(lexicon.NOUNS_OF["furniture"])
    thing = d.derive("Own", noun=noun, case="dative")
    return Phrase(
        f"{preposition.name} {thing.german}",
        f"{preposition.english} {thing.english}",
    )


# Company


@production("Company")
def with_someone(d, subject):
    """mit meinem bruder -> with my brother"""
    person = d.derive("Person", case="dative", subject=subject)
    return Circumstance(f"mit {person.german}", f"with {person.english}", "place")


# Circumstances: of an action (with an object), or of an activity (without)


@production("Circumstances", 9)
def no_circumstance(d, tense, subject):
    return ()


@production("Circumstances", 5)
def when(d, tense, subject):
    return (d.derive("Time", tense=tense),)


@production("Circumstances", 3)
def where(d, tense, subject):
    return (d.derive("Place"),)


@production("Circumstances", 1)
def when_and_where(d, tense, subject):
    return (d.derive("Time", tense=tense), d.derive("Place"))


@production("ActivityCircumstances", 4)
def as_of_an_action(d, tense, subject):
    return d.derive("Circumstances", tense=tense, subject=subject)


@production("ActivityCircumstances", 1)
def in_company(d, tense, subject):
    return (d.derive("Company", subject=subject),)


@production("Frequency")
def how_often(d):
    """nie -> never"""
    word = d.pick(lexicon.FREQUENCIES)
    return Circumstance(word.name, word.english, "frequency")


# Destination and Journey: where one goes


@production("Destination", 4)
def into_a_place(d):
    """in den park -> to the park"""
    place = place_phrase(d, "accusative")
    return Phrase(german.contract("in", place.german), f"to {place.english}")


@production("Destination", 1)
def homeward(d):
    return Phrase("nach hause", "home")


@production("Journey", 2)
def to_a_destination(d):
    return d.derive("Destination")


@production("Journey", 2)
def to_a_city(d):
    """nach berlin -> to berlin"""
    city = d.pick(lexicon.CITIES)
    return Phrase(f"nach {city.name}", f"to {city.english}")


@production("Journey", 2)
def by_vehicle(d):
    """mit dem bus nach berlin -> to berlin by bus"""
    vehicle = d.pick(lexicon.NOUNS_OF["vehicle"])
    goal = d.derive("Journey")
    if " mit " in f" {goal.german}":
        return goal
    return Phrase(
        f"mit dem {vehicle.name} {goal.german}", f"{goal.english} by {vehicle.english}"
    )
