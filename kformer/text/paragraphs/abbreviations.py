"""Decides where a splitter ended a sentence too early: after an abbreviation, an initial, "3.".

The abbreviations and ordinals of each language are in `abbreviations.json`, in lower case, without
the full stop at their end and the space of "z. B.":

- "always": a sentence goes on after them, as after "Dr.";
- "number": it goes on if a number follows, as after "No."; "-str" stands for all words that end
  so;
- "ordinals": words that make the number before them an ordinal, as "3. Mai"; only in languages that
  write these with a full stop. "május-" stands for all words that begin so;
- "before_ordinals": words that make the number after them an ordinal, as "der 1.".

The web page does the same in `kformer/export/web/abbreviations.js`, from the same data.
"""

import functools
import json
import re
import unicodedata
from importlib import resources
from typing import NamedTuple

ALIASES = {"no": "nb", "nn": "nb", "bs": "hr", "sr": "hr", "lb": "de"}
NEAR = 60  # Characters before an end that may decide about it.
OPENING = "\"'«»„“”‘’‚‹›([{¿¡—–-"
QUOTES = "\"'«»„“”‘’‚‹›"
CLOSING = QUOTES + ")]}"
WHITE_SPACE = re.compile(r"\s*+")
_WORD_AT_BEGINNING = re.compile(r"[^\W\d_]*")
_LETTER = re.compile(r"[^\W\d_]\.")
NUMERAL = re.compile(r"[IVXLC]+\b")
# A letter after these is a name, such as "Plan B", and no initial.
LETTERED = frozenset(
    (
        "plan",
        "vitamin",
        "vitamina",
        "vitamine",
        "vitamín",
        "hepatitis",
        "type",
        "typ",
        "tipo",
        "class",
        "klasse",
        "classe",
        "clase",
        "group",
        "gruppe",
        "groupe",
        "grupo",
        "gruppo",
        "part",
        "teil",
        "grade",
        "option",
        "section",
        "appendix",
        "level",
        "team",
    )
)
# Words by which a sentence of Japanese or Korean goes on after a quotation.
AFTER_QUOTATION = re.compile(
    "と(?!ても|ころ|にか|りあ|もか|もだ|なり)|って|なんて|など|(?:하고|라고|이라고|라며|하며)(?!\\w)"
)


class Abbreviations(NamedTuple):
    """The abbreviations and ordinals of a language, by kind."""

    language: str
    always: frozenset[str]
    number: frozenset[str]
    ordinals: frozenset[str]
    before_ordinals: frozenset[str]
    number_ends: tuple[str, ...]  # Of compounds: "str" for "Goethestr. 5".
    ordinal_begins: tuple[str, ...]


def read_abbreviations() -> dict:
    """Returns the data of all languages as it is in the file: lists of words with spaces."""
    file = resources.files("kformer.text.paragraphs") / "abbreviations.json"
    return json.loads(file.read_text("utf-8"))


@functools.cache
def abbreviations_of(language: str) -> Abbreviations:
    """Returns the abbreviations of a language, such as "de"; none for an unknown language."""
    lists = read_abbreviations().get(ALIASES.get(language, language), {})
    kinds = ("always", "number", "ordinals", "before_ordinals")
    words = {kind: " ".join(lists.get(kind, [])).split() for kind in kinds}
    return Abbreviations(
        language,
        **{kind: frozenset(listed) for kind, listed in words.items()},
        number_ends=tuple(word[1:] for word in words["number"] if word.startswith("-")),
        ordinal_begins=tuple(word[:-1] for word in words["ordinals"] if word.endswith("-")),
    )


def goes_on(sentence: str, rest: str, known: Abbreviations) -> bool:
    """Returns whether `rest` belongs to the sentence that a splitter ended before it."""
    head = sentence[-NEAR:].rstrip()
    following = rest.lstrip()
    if not (head and following):
        return True  # White space alone.
    if _goes_on_after_quotation(head, following):
        return True
    if head[-1] != ".":
        return False
    following = following.lstrip(OPENING)[:NEAR]
    if unicodedata.category(following[:1] or " ") == "Ll":
        return True
    words = [_core(word) for word in head.split()]
    if _LETTER.fullmatch(words[-1]) and _LETTER.match(following):
        return True  # "z." of "z. B."
    if words[-1].removesuffix(".").isdecimal():
        return _is_ordinal(words[-1], " ".join(words[:-1]), following, known)
    return _is_abbreviation(words, following, known) or _is_initial(words, known)


def is_ordinal_before(following: str, known: Abbreviations) -> bool:
    """Returns whether a number before `following` is an ordinal, as in "3. Mai"."""
    word = next(_WORD_AT_BEGINNING.finditer(following))[0].lower()
    return word in known.ordinals or word.startswith(known.ordinal_begins)


def _goes_on_after_quotation(head, following):
    if head[-1] in "」』" + QUOTES and AFTER_QUOTATION.match(following):
        return True
    before = head.rstrip(CLOSING)
    is_closed = len(before) < len(head) and before.endswith(("!", "?", "…", "."))
    # In French, white space stands before the quotation mark: "« Non ! » dit-il".
    inside = following.lstrip("»›")
    is_closed_after = len(inside) < len(following) and inside[:1].isspace()
    first = inside.lstrip()[:1] if is_closed_after else following[0]
    return (is_closed or is_closed_after) and unicodedata.category(first or " ") == "Ll"


def _is_ordinal(number, before, following, known):
    if not known.ordinals:
        return False
    if following[:1].isdecimal():
        return True  # "3. 5. 2024"
    if len(number) > 3:  # "2024. május" is Hungarian.
        return known.language == "hu" and is_ordinal_before(following, known)
    word = before.rsplit(" ", 1)[-1]
    return is_ordinal_before(following, known) or word.lower() in known.before_ordinals


def _is_abbreviation(words, following, known):
    numbered = following[:1].isdecimal() or NUMERAL.match(following)
    joined = ""
    for place, word in enumerate(reversed(words[-4:]), start=1):
        if place > 1 and not word.endswith("."):
            break
        joined = (word + joined).lower()
        token = joined.removesuffix(".")
        if numbered and (token in known.number or token.endswith(known.number_ends)):
            return True
        if token in known.always:
            # "5 m." and "1799 г." are units.
            return place > 1 or len(token) > 2 or not words[-2:-1] or not words[-2].isdecimal()
    return False


def _is_initial(words, known):
    """Returns whether the last word is a capital and a full stop, as in "J. Bach" and "U.S."."""
    word = words[-1]
    before = words[-2] if len(words) > 1 else ""
    if len(word) > 2 and word[-3] == ".":
        return word[-2].isupper()
    if len(word) != 2 or unicodedata.category(word[0]) != "Lu":
        return False
    if before.lower() in LETTERED:
        return False
    return not (known.language == "en" and word == "I." and before.islower())


def _core(word):
    """Returns the end of a word that may be an abbreviation: "avv." of "l'avv."."""
    start = len(word)
    while start and (word[start - 1].isalnum() or _is_mark(word[start - 1])):
        start -= 1
    return word[start:]


def _is_mark(character):
    return character in ".:" or unicodedata.category(character).startswith("M")
