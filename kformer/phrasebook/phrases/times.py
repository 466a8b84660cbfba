"""Productions of numbers, clock times and other times."""

from typing import NamedTuple

from kformer.phrasebook.derivation import production
from kformer.phrasebook.words.closed_classes import DAY_PARTS, DAYS, NUMBERS, TENS


class Phrase(NamedTuple):
    german: str
    english: str


class Circumstance(NamedTuple):
    """An adverbial of time, place or frequency; its place differs between the languages."""

    german: str
    english: str
    slot: str  # "day", "habit", "clock", "frequency" or "place"


# Number, Few


@production("Few")
def small_number(d):
    """acht -> eight"""
    number = d.pick(NUMBERS[1:])
    return Phrase(number.name, number.english)


@production("Number", 2)
def few(d):
    return d.derive("Few")


@production("Number", 1)
def tens(d):
    """zwanzig -> twenty"""
    number = d.pick(TENS)
    return Phrase(number.name, number.english)


@production("Number", 3)
def tens_and_units(d):
    """einundzwanzig -> twenty-one"""
    ten, unit = d.pick(TENS), d.pick(NUMBERS[:9])
    own = "ein" if unit.name == "eins" else unit.name
    return Phrase(f"{own}und{ten.name}", f"{ten.english}-{unit.english}")


# ClockTime: without "um" and "at"


@production("ClockTime", 3)
def full_hour(d):
    """ein uhr -> one o'clock"""
    hour = d.pick(NUMBERS)
    own = "ein" if hour.name == "eins" else hour.name
    return Phrase(f"{own} uhr", f"{hour.english} o'clock")


@production("ClockTime", 2)
def half_hour(d):
    """halb acht -> half past seven"""
    hour = d.choose(range(len(NUMBERS)))
    return Phrase(f"halb {NUMBERS[hour].name}", f"half past {NUMBERS[hour - 1].english}")


@production("ClockTime", 1)
def quarter_past(d):
    """viertel nach acht -> a quarter past eight"""
    hour = d.pick(NUMBERS)
    return Phrase(f"viertel nach {hour.name}", f"a quarter past {hour.english}")


@production("ClockTime", 1)
def quarter_to(d):
    """viertel vor acht -> a quarter to eight"""
    hour = d.pick(NUMBERS)
    return Phrase(f"viertel vor {hour.name}", f"a quarter to {hour.english}")


# Time


@production("Time", 4)
def day(d, tense):
    """gestern -> yesterday, with past tense only"""
    word = d.pick(DAYS[tense])
    return Circumstance(word.name, word.english, "day")


@production("Time", 2)
def part_of_day(d, tense):
    """am abend -> in the evening"""
    word = d.pick(DAY_PARTS)
    return Circumstance(word.name, word.english, "day")


@production("Time", 1)
def every_day(d, tense):
    """jeden tag -> every day"""
    return Circumstance("jeden tag", "every day", "habit")


@production("Time", 3)
def at_clock_time(d, tense):
    """um halb acht -> at half past seven"""
    time = d.derive("ClockTime")
    return Circumstance(f"um {time.german}", f"at {time.english}", "clock")
