"""Word order: how one clause is said in German and in English, as a statement, a question, or
after a conjunction. No choices are made here."""

from typing import NamedTuple

from kformer.phrasebook.phrases.noun_phrases import NounPhrase
from kformer.phrasebook.phrases.times import Circumstance, Phrase
from kformer.phrasebook.words.english import VerbGroup


class VerbForms(NamedTuple):
    """The German verb in the pieces that word order moves, and the English group.

    `finite` stands second and leaves `bracket` (particle, participle, infinitive) at the end; where
    the verb stands last, `final` is all of it: "steht" ... "auf", but "aufsteht".
    """

    finite: str
    bracket: str
    final: str
    english: VerbGroup
    tense: str = "present"


NOTHING = Phrase("", "")


class Clause(NamedTuple):
    subject: NounPhrase
    verb: VerbForms
    pronoun: Phrase = NOTHING
    objects: Phrase = NOTHING
    negation: str = ""  # "nicht", "kein" (then the object holds it), or ""
    complement: Phrase = NOTHING
    circumstances: tuple[Circumstance, ...] = ()


def _join(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _in_slots(clause: Clause, language: str, *slots: str) -> list[str]:
    return [getattr(c, language) for c in clause.circumstances if c.slot in slots]


def _middle(clause: Clause) -> str:
    """The German middle field; what "nicht" denies follows it, a definite object does not."""
    denied = clause.negation == "nicht"
    clock = _in_slots(clause, "german", "clock")
    return _join(
        clause.pronoun.german,
        *_in_slots(clause, "german", "day", "habit", "frequency"),
        *([] if denied else clock),
        clause.objects.german,
        *(["nicht", *clock] if denied else []),
        *_in_slots(clause, "german", "place"),
        clause.complement.german,
    )


def verb_second(clause: Clause) -> str:
    verb = clause.verb
    return _join(clause.subject.german, verb.finite, _middle(clause), verb.bracket)


def verb_first(clause: Clause) -> str:
    """A yes-no question; or what follows when something else than the subject opens a sentence."""
    verb = clause.verb
    return _join(verb.finite, clause.subject.german, _middle(clause), verb.bracket)


def verb_last(clause: Clause) -> str:
    return _join(clause.subject.german, _middle(clause), clause.verb.final)


def _tail(clause: Clause) -> str:
    return _join(
        clause.pronoun.english,
        clause.objects.english,
        clause.complement.english,
        *_in_slots(clause, "english", "place"),
        *_in_slots(clause, "english", "day", "habit", "clock"),
    )


def subject_first(clause: Clause) -> str:
    """An English statement."""
    operator, main, plain = clause.verb.english
    often = _join(*_in_slots(clause, "english", "frequency"))
    if clause.negation:
        group = _join("cannot" if operator == "can" else f"{operator} not", main)
    elif plain:
        group = _join(often, plain)
    else:
        group = _join(operator, often, main)
    return _join(clause.subject.english, group, _tail(clause))


def operator_first(clause: Clause) -> str:
    """An English question, without what may stand before it."""
    return _join(
        clause.verb.english.operator,
        clause.subject.english,
        "not" if clause.negation else "",
        *_in_slots(clause, "english", "frequency"),
        clause.verb.english.main,
        _tail(clause),
    )
