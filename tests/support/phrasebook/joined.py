"""Productions of sentences with two clauses: subordinate, relative and coordinate ones."""

from support.phrasebook.derivation import Nonsense, production
from support.phrasebook.events import present_forms, with_object
from support.phrasebook.phrases.noun_phrases import NounPhrase
from support.phrasebook.sentences import not_denied, this_is
from support.phrasebook.word_order import (
    Clause,
    operator_first,
    subject_first,
    verb_first,
    verb_last,
    verb_second,
)
from support.phrasebook.words.lexicon import NOUNS_OF, VERBS_OF
from support.phrasebook.words.phrase import Phrase


def _statement(clause) -> Phrase:
    return Phrase(verb_second(clause), subject_first(clause))


def _subordinate(main: Phrase, german: str, english: str, clause, ending: str = "") -> Phrase:
    return Phrase(
        f"{main.german} , {german} {verb_last(clause)}{ending}",
        f"{main.english} {english} {subject_first(clause)}{ending}",
    )


def _thought(d, verb, negation=""):
    """Derives a main clause of knowing or believing, without its subordinate clause."""
    subject = d.derive("PersonSubject")
    return Clause(subject, present_forms(verb, subject.person), negation=negation)


@production("Sentence", 5)
def because(d):
    """er schläft , weil er müde ist -> he sleeps because he is tired"""
    main = _statement(d.derive("Clause"))
    return _subordinate(main, "weil", "because", d.derive("Clause"))


@production("Sentence", 6)
def that(d):
    """ich glaube , dass der hund müde ist -> i think that the dog is tired"""
    verb = d.pick(VERBS_OF["thought"])
    main = _statement(_thought(d, verb))
    return _subordinate(main, "dass", "that", d.derive("Clause"))


def _timeless(clause):
    if clause.verb.tense == "past":
        raise Nonsense('German "wenn" has no past tense for a single event, which needs "als".')
    return clause


def _unknown(d):
    """ "i do not know" or "do you know", and the final punctuation mark."""
    return d.derive("Unknown", verb=next(v for v in VERBS_OF["thought"] if v.name == "wissen"))


@production("Unknown", 3)
def not_known(d, verb):
    return _statement(_thought(d, verb, "nicht")), ""


@production("Unknown", 2)
def asked(d, verb):
    clause = _thought(d, verb)
    if clause.subject.person == "1s":
        raise Nonsense("Speakers do not ask whether they know something themselves.")
    return Phrase(verb_first(clause), operator_first(clause)), " ?"


@production("Sentence", 3)
def whether(d):
    """ich weiß nicht , ob er kommt -> i do not know whether he comes"""
    main, ending = _unknown(d)
    return _subordinate(main, "ob", "whether", d.derive("Clause"), ending)


@production("Sentence", 1)
def indirect_why(d):
    """weißt du , warum er schläft ? -> do you know why he sleeps ?"""
    main, ending = _unknown(d)
    return _subordinate(main, "warum", "why", d.derive("Clause"), ending)


@production("Sentence", 2)
def indirect_when(d):
    """wir wissen nicht , wann der zug ankommt -> we do not know when the train arrives"""
    main, ending = _unknown(d)
    clause = not_denied(d.derive("Event", circumstances="Unstated"))
    return _subordinate(main, "wann", "when", clause, ending)


@production("Sentence", 3)
def when_first(d):
    """wenn es regnet , bleibe ich hier -> when it is raining , i stay here"""
    condition, main = _timeless(d.derive("Clause")), _timeless(d.derive("Event"))
    return Phrase(
        f"wenn {verb_last(condition)} , {verb_first(main)}",
        f"when {subject_first(condition)} , {subject_first(main)}",
    )


@production("Sentence", 3)
def when_last(d):
    """ich bleibe hier , wenn es regnet -> i stay here when it is raining"""
    main = _statement(_timeless(d.derive("Event")))
    return _subordinate(main, "wenn", "when", _timeless(d.derive("Clause")))


@production("Sentence", 4)
def both(d):
    """ich lese und er schläft -> i read and he sleeps"""
    first, second = _statement(d.derive("Clause")), _statement(d.derive("Clause"))
    return Phrase(f"{first.german} und {second.german}", f"{first.english} and {second.english}")


@production("Sentence", 3)
def contrast(d):
    """ich arbeite , aber er schläft -> i work , but he sleeps"""
    first, second = _statement(d.derive("Clause")), _statement(d.derive("Clause"))
    return Phrase(
        f"{first.german} , aber {second.german}", f"{first.english} , but {second.english}"
    )


def _who(d, phrase):
    """Derives a relative clause with the person as its subject."""
    subject = NounPhrase(phrase.relative, "who", phrase.person, phrase.nouns)
    return d.derive("Conduct", subject=subject)


def _with_relative_clause(main: Phrase, relative) -> Phrase:
    return Phrase(
        f"{main.german} , {verb_last(relative)}", f"{main.english} {subject_first(relative)}"
    )


@production("Sentence", 3)
def object_with_relative_clause(d):
    """ich kenne die frau , die hier arbeitet -> i know the woman who works here"""
    verb = d.pick(VERBS_OF["state"][:1])
    subject = d.derive("PersonSubject")
    d.relate(verb, subject.nouns)
    clause = Clause(subject, present_forms(verb, subject.person))
    noun = d.pick(NOUNS_OF["stranger"], subject.nouns)
    person = d.derive("Specific", noun=noun, case="accusative")
    d.relate(verb, person.nouns)
    main, relative = _statement(with_object(clause, person)), _who(d, person)
    return _with_relative_clause(main, relative)


@production("Sentence", 2)
def introduction_with_relative_clause(d):
    """das ist der arzt , der mir hilft -> that is the doctor who helps me"""
    noun = d.pick(NOUNS_OF["stranger"])
    person = d.derive("Specific", noun=noun, case="nominative")
    relative = _who(d, person)
    return _with_relative_clause(this_is(person), relative)
