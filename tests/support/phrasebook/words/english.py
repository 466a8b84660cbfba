"""English inflection: a and an, the verb with do, be and the modals."""

from functools import cache
from typing import NamedTuple

from support.phrasebook.words.lexicon import Noun
from support.phrasebook.words.phrase import Phrase

_BE = {"1s": "am", "2s": "are", "3s": "is", "p": "are"}


class VerbGroup(NamedTuple):
    """The verb of a clause, in the parts that questions and negation separate.

    `operator` precedes "not", and the subject of a question; `main` follows them. `plain` replaces
    both in affirmative statements: "drinks" instead of "does" and "drink".
    """

    operator: str
    main: str
    plain: str | None


def noun(word: Noun, number: str) -> str:
    return word.english if number == "singular" else word.english_plural


def a(phrase: str) -> str:
    return f"an {phrase}" if phrase[0] in "aeiou" else f"a {phrase}"


@cache
def third_person(verb: str) -> str:
    """Returns the third person, with the first word inflected: "look for" gives "looks for"."""
    head, *rest = verb.split()
    if head == "have":
        head = "has"
    else:
        head += "es" if head.endswith(("s", "sh", "ch", "x", "o")) else "s"
    return " ".join([head, *rest])


@cache
def present(verb: str, person: str) -> VerbGroup:
    head, _, rest = verb.partition(" ")
    if head == "be":
        return VerbGroup(_BE[person], rest, None)
    if person == "3s":
        return VerbGroup("does", verb, third_person(verb))
    return VerbGroup("do", verb, verb)


def past(verb: str, form: str) -> VerbGroup:
    return VerbGroup("did", verb, form)


@cache
def modal(word: Phrase, verb: str, person: str) -> VerbGroup:
    """Returns the verb group of a modal; "can" needs no "do", "want to" and "have to" do."""
    if word.english.endswith(" to"):
        return present(f"{word.english} {verb}", person)
    return VerbGroup(word.english, verb, None)
