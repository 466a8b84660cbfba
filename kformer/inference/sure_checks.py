"""Sure checks: faults of a translation that its text alone shows, whatever its probability.

Each of them names what a source has and its translation lacks: a number, an address, a
placeholder, brackets, characters of another script. A line that was copied, and a word that is
written again and again, are the two others. A check is silent where translators have a choice:
small numbers are also written as words, and dates and times in other ways.
"""

import itertools
import re
from collections import Counter
from collections.abc import Container, Iterable
from typing import Any

from kformer.text.numbers import MARKS, MOST_DECIMALS, SPACES, numbers_in, value_of
from kformer.text.numbers import NUMBER as A_NUMBER

NUMBER, ADDRESS, PLACEHOLDER = "number missed", "address missed", "placeholder missed"
BRACKET, UNKNOWN, COPIED, LOOP = "bracket missed", "unknown characters", "copied", "loop"
_SMALL = 13  # Whole numbers below it are also words, and hours, which other clocks count otherwise.
# Every repetition is bounded or ends at a character that it lacks: linear time.
_ADDRESS = re.compile(
    r"(?:https?|ftp)://[^\s<>\"'{}|\\^`]{0,1999}[\w/]|www\.[\w.-]{1,253}\.\w{2,63}"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"
)
_PLACEHOLDER = re.compile(
    r"\{\{[^{}]{0,99}\}\}|[$#%]?\{[^{}]{0,99}\}|%(?:\d{1,3}\$)?(?:\(\w{1,99}\))?[dsf@](?!\w)"
    r"|</?[A-Za-z][^<>]{0,999}>|`[^`]{1,999}`"
)
_BRACKETS = frozenset("([（［【")
# Of names, such as "H1N1" and "A-380", and of ordinals, such as "19th", which others write "XIX".
_OTHER_DIGITS = re.compile(
    r"(?<![^\W\d_])[^\W\d_]++[-\u2010\u2011]?+\d[\w.-]*+|(?<!\d)\d++(?=[^\W\d_])"
)
_NUMBERS, _DIGITS = re.compile(A_NUMBER), re.compile(r"\d+")
_WORDS = re.compile(r"[^\W\d_]+")
_MOST_IN_A_ROW = 3  # Times that a word may stand behind itself: "ha ha ha".
_LEAST_COPIED = 3  # Words in small letters; a title or a list of names is rightly copied.
_MANY, _MOSTLY = 5, 0.8  # A line of so many is copied, too, if it keeps this share of them.
_SCRIPTS = re.compile(
    "(?P<Han>[\u3005\u3400-\u9fff\U00020000-\U0003ffff])|(?P<Kana>[\u3041-\u30ff])"
    "|(?P<Hangul>[\u1100-\u11ff\uac00-\ud7af])|(?P<Cyrillic>[\u0400-\u052f])"
    "|(?P<Greek>[\u0386-\u03ff\u1f00-\u1fff])|(?P<Arabic>[\u0620-\u06ff])"
    "|(?P<Hebrew>[\u05d0-\u05ea])|(?P<Indic>[\u0900-\u0dff])|(?P<Thai>[\u0e01-\u0e5b])"
    "|(?P<Emoji>[\u2600-\u27bf\U0001f300-\U0001faff])"
    "|(?P<Latin>[A-Za-z\u00c0-\u024f\u1e00-\u1eff])|(?P<Other>[^\\W\\d_])"
)
# A script that a vocabulary can spell has so many letters, or this share of all of its letters: a
# few are signs, such as "π".
_LEAST_LETTERS, _LEAST_SHARE = 5, 0.1
_FIRST_FOREIGN = "\u0370"  # Characters before it are Latin.


def sure_flags(source: str, target: str) -> tuple[str, ...]:
    """Returns the flags of a translation that its text shows, usually none.

    "number missed", "address missed", "placeholder missed", "bracket missed": the source has one
    that the translation lacks. "unknown characters": the same for emoji, and for letters of a
    script in which neither of them is written. "copied": a sentence is its own translation.
    "loop": a word stands behind itself four times or more, and not in the source.
    """
    if not source.strip():
        return ()
    flags = []
    if _lacks_numbers(source, target):
        flags.append(NUMBER)
    if any(match[0] not in target for match in _ADDRESS.finditer(source)):
        flags.append(ADDRESS)
    if any(match[0] not in target for match in _PLACEHOLDER.finditer(source)):
        flags.append(PLACEHOLDER)
    if _brackets(source) > _brackets(target):
        flags.append(BRACKET)
    if _lacks_characters(source, target):
        flags.append(UNKNOWN)
    if _is_copied(source, target):
        flags.append(COPIED)
    if _in_a_row(target) > max(_MOST_IN_A_ROW, _in_a_row(source)):
        flags.append(LOOP)
    return tuple(flags)


def rules_of_checks() -> tuple[dict[str, str], dict[str, Any]]:
    """Returns the patterns and the limits of the checks, for runners that do not run Python."""
    scripts = _SCRIPTS.pattern
    for name in _SCRIPTS.groupindex:
        scripts = scripts.replace(f"?P<{name}>", "")
    patterns = {
        "white_space": r"\s",
        "address": _ADDRESS.pattern,
        "placeholder": _PLACEHOLDER.pattern,
        "other_digits": _OTHER_DIGITS.pattern,
        "digits": _DIGITS.pattern,
        "number": A_NUMBER,
        "space_in_number": f"[{SPACES}]",
        "mark_in_number": f"[{MARKS}]",
        "word": _WORDS.pattern,
        "scripts": scripts,  # It has a group for each name.
    }
    limits = {
        "scripts": [*_SCRIPTS.groupindex],
        "brackets": "".join(sorted(_BRACKETS)),
        "first_foreign": _FIRST_FOREIGN,
        "least_large": _SMALL,
        "most_decimals": MOST_DECIMALS,
        "most_in_a_row": _MOST_IN_A_ROW,
        "least_copied": _LEAST_COPIED,
        "many_words": _MANY,
        "mostly": _MOSTLY,
    }
    return patterns, limits


def scripts_of(pieces: Iterable[str]) -> list[str]:
    """Returns the scripts that a vocabulary can spell, such as "Latin", by name."""
    letters = {match[0] for piece in pieces for match in _SCRIPTS.finditer(piece)}
    counts = _by_script("".join(letters))
    least = min(_LEAST_LETTERS, _LEAST_SHARE * len(letters))
    return sorted(script for script, count in counts.items() if count >= least)


def is_foreign(text: str, scripts: Container[str]) -> bool:
    """Returns whether a text has letters, and none of them of some scripts, given by name."""
    counts = _by_script(text)
    return bool(counts) and not any(script in scripts for script in counts)


def is_wordless(text: str) -> bool:
    """Returns whether a text has nothing to translate: numbers, addresses and marks alone."""
    return not _WORDS.search(_PLACEHOLDER.sub("", _ADDRESS.sub("", text)))


def _lacks_numbers(source, target):
    if not any(character.isdecimal() for character in source):
        return False
    bare = _OTHER_DIGITS.sub(" ", _PLACEHOLDER.sub(" ", _ADDRESS.sub(" ", source)))
    parts = {*_DIGITS.findall(target)}  # "7.55" may be "7h55", and "380 000" two numbers.
    missed = [
        written
        for written in _NUMBERS.findall(bare)
        if not parts.issuperset(_DIGITS.findall(written))
    ]
    if not missed:
        return False
    values = numbers_in(target)
    return any(
        _is_large(value) and values.keys().isdisjoint(_ways_to_write(value))
        for value in map(value_of, missed)
    )


def _ways_to_write(value):
    """Yields the digits of a number as a translation may have them: 350000 is "350 thousand"."""
    yield value
    while value.endswith("000"):
        value = value[:-3]
        yield value


def _is_large(value):
    return "." in value or int(value) >= _SMALL


def _brackets(text):
    return sum(character in _BRACKETS for character in text)


def _lacks_characters(source, target):
    """Returns whether letters of a foreign script, or emoji, were lost."""
    if max(source) < _FIRST_FOREIGN:
        return False
    scripts = [_by_script(text) for text in (source, target)]
    known = {max(counts, key=counts.__getitem__) for counts in scripts if counts}
    known = known - {"Emoji"} | ({"Han", "Kana"} if known & {"Han", "Kana"} else set())
    foreign = {
        match[0] for match in _SCRIPTS.finditer(source) if match.lastgroup not in {*known, "Latin"}
    }
    return any(character not in target for character in foreign)


def _by_script(text):
    return Counter(match.lastgroup for match in _SCRIPTS.finditer(text))


def _is_copied(source, target):
    first, second = (_WORDS.findall(_ADDRESS.sub(" ", text)) for text in (source, target))
    small = [word for word in first if word.islower()]
    if len({*small}) < _LEAST_COPIED:
        return False
    known = {*second}
    kept = sum(word in known for word in small)
    return first == second or (len(small) >= _MANY and kept >= _MOSTLY * len(small))


def _in_a_row(text):
    """Returns how many times the most repeated word stands behind itself, at least 1."""
    groups = itertools.groupby(_WORDS.findall(text.lower()))
    return max((len([*group]) for _, group in groups), default=1)
