"""Word order of a clause in both languages: as a statement, a question or a subordinate clause."""

from typing import NamedTuple

from support.phrasebook.phrases.noun_phrases import NounPhrase
from support.phrasebook.words.english import VerbGroup
from support.phrasebook.words.phrase import NOTHING, Circumstance, Phrase


class VerbForms(NamedTuple):
    """The German verb in the parts that word order moves, and the English verb group.

    In main clauses `finite` is the second element, and `bracket` (particle, participle or
    infinitive) the last: "steht ... auf". In subordinate clauses `final` is the last: "aufsteht".
    """

    finite: str
    bracket: str
    final: str
    english: VerbGroup
    tense: str = "present"


class Clause(NamedTuple):
    """The parts of a clause, in both languages."""

    subject: NounPhrase
    verb: VerbForms
    pronoun: Phrase | NounPhrase = NOTHING
    objects: Phrase | NounPhrase = NOTHING
    negation: str = ""  # "nicht", "kein" (then the object contains it), or ""
    complement: Phrase = NOTHING
    circumstances: tuple[Circumstance, ...] = ()


def _join(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _in_slots(clause: Clause, language: str, *slots: str) -> list[str]:
    return [getattr(c, language) for c in clause.circumstances if c.slot in slots]


def _middle(clause: Clause) -> str:
    """Returns the German middle field; "nicht" follows the object and precedes what it negates."""
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
    """Returns a German statement."""
    verb = clause.verb
    return _join(clause.subject.german, verb.finite, _middle(clause), verb.bracket)


def verb_first(clause: Clause) -> str:
    """Returns a German yes-no question, or the rest of a sentence with another first element."""
    verb = clause.verb
    return _join(verb.finite, clause.subject.german, _middle(clause), verb.bracket)


def verb_last(clause: Clause) -> str:
    """Returns a German subordinate clause, without its conjunction."""
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
    """Returns an English statement."""
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
    """Returns an English question, without its question word."""
    return _join(
        clause.verb.english.operator,
        clause.subject.english,
        "not" if clause.negation else "",
        *_in_slots(clause, "english", "frequency"),
        clause.verb.english.main,
        _tail(clause),
    )
