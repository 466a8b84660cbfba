"""Productions of numbers, clock times and other times."""

from support.phrasebook.derivation import production, terminal, unit_production
from support.phrasebook.words.closed_classes import DAY_PARTS, DAYS, NUMBERS, TENS
from support.phrasebook.words.phrase import Circumstance, Phrase, prefixed

# Number, Few


@production("Few")
def small_number(d):
    """acht -> eight"""
    return d.pick(NUMBERS[1:])


unit_production("Number", 2, "few", to="Few")


@production("Number", 1)
def tens(d):
    """zwanzig -> twenty"""
    return d.pick(TENS)


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
    return prefixed("viertel nach", "a quarter past", d.pick(NUMBERS))


@production("ClockTime", 1)
def quarter_to(d):
    """viertel vor acht -> a quarter to eight"""
    return prefixed("viertel vor", "a quarter to", d.pick(NUMBERS))


# Time


@production("Time", 4)
def day(d, tense):
    """gestern -> yesterday, with past tense only"""
    return Circumstance(*d.pick(DAYS[tense]), "day")


@production("Time", 2)
def part_of_day(d, tense):
    """am abend -> in the evening"""
    return Circumstance(*d.pick(DAY_PARTS), "day")


terminal("Time", 1, "every_day", Circumstance("jeden tag", "every day", "habit"))


@production("Time", 3)
def at_clock_time(d, tense):
    """um halb acht -> at half past seven"""
    return Circumstance(*prefixed("um", "at", d.derive("ClockTime")), "clock")
