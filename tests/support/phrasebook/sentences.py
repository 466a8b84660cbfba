"""Productions of sentences with one clause: statements and questions."""

from support.phrasebook.derivation import Nonsense, production
from support.phrasebook.events import opening, present_forms, with_object
from support.phrasebook.phrases.noun_phrases import NounPhrase, around_specific, described
from support.phrasebook.phrases.people import pronoun_phrase, subject_of
from support.phrasebook.states import being, specific_thing, whose_age
from support.phrasebook.word_order import (
    Clause,
    operator_first,
    subject_first,
    verb_first,
    verb_second,
)
from support.phrasebook.words.closed_classes import SUBJECT_PRONOUNS
from support.phrasebook.words.lexicon import NOUNS, NOUNS_OF, VERBS_OF
from support.phrasebook.words.phrase import NOTHING, Phrase, prefixed

WHO = NounPhrase("wer", "who")
# By verb, the objects that "which" and "how many" can ask for.
ASKABLE = {
    verb.name: tuple(n for n in NOUNS if n.plural and set(n.kinds) & set(verb.objects))
    for verb in VERBS_OF["transitive"]
}


def _question(asked: Phrase | NounPhrase, clause) -> Phrase:
    """Makes a question with the question word `asked`; a yes-no question if that is empty."""
    if clause.subject.german == "ich" and clause.verb.english.operator in ("do", "did"):
        raise Nonsense("Speakers ask about themselves only with modals: can i, should i, may i?")
    return Phrase(
        f"{asked.german} {verb_first(clause)} ?".lstrip(),
        f"{asked.english} {operator_first(clause)} ?".lstrip(),
    )


def not_denied(clause):
    if clause.negation:
        raise Nonsense("Questions for time and place are not negated.")
    return clause


# Statements


@production("Sentence", 30)
def statement(d):
    clause = d.derive("Clause")
    return Phrase(verb_second(clause), subject_first(clause))


def _fronted(clause):
    first, *others = clause.circumstances
    clause = clause._replace(circumstances=tuple(others))
    return Phrase(
        f"{first.german} {verb_first(clause)}", f"{first.english} {subject_first(clause)}"
    )


@production("Sentence", 7)
def statement_with_time_first(d):
    """heute trinke ich wein -> today i drink wine"""
    return _fronted(d.derive("Event", circumstances="TimeFirst"))


@production("Sentence", 2)
def statement_with_place_first(d):
    """im park spielt ein hund -> in the park a dog plays"""
    return _fronted(d.derive("Activity", circumstances="PlaceFirst"))


@production("Sentence", 2)
def statement_with_object_first(d):
    """den hut kaufe ich -> i buy the hat; "sie" as a subject would be ambiguous"""
    pronoun = d.pick([p for p in SUBJECT_PRONOUNS if p.name != "sie"])
    verb, clause = opening(d, VERBS_OF["transitive"], pronoun_phrase(pronoun))
    thing = around_specific(d, d.pick(NOUNS_OF[d.choose(verb.objects)]), "accusative")
    d.relate(verb, thing.nouns)
    return Phrase(
        f"{thing.german} {verb_first(clause)}",
        subject_first(with_object(clause, thing)),
    )


@production("Sentence", 1)
def clock(d):
    """es ist halb acht -> it is half past seven"""
    return prefixed("es ist", "it is", d.derive("ClockTime"))


@production("Sentence", 2)
def order(d):
    """ich möchte ein bier , bitte -> i want a beer , please"""
    pronoun = d.pick([p for p in SUBJECT_PRONOUNS if p.group == "speaker"])
    verb = next(v for v in VERBS_OF["state"] if v.name == "möchten")
    subject = pronoun_phrase(pronoun)
    thing = described(d, verb.objects, "accusative")
    d.relate(verb, thing.nouns)
    clause = with_object(Clause(subject, present_forms(verb, subject.person)), thing)
    return Phrase(f"{verb_second(clause)} , bitte", f"{subject_first(clause)} , please")


def this_is(phrase, denied=False):
    if phrase.german.startswith("dies"):
        raise Nonsense('"that is this ..." is not a sentence.')
    singular = phrase.person == "3s"
    own = "das ist" if singular else "das sind"
    foreign = "that is" if singular else "those are"
    if denied:
        own, foreign = f"{own} nicht", f"{foreign} not"
    return prefixed(own, foreign, phrase)


@production("Sentence", 2)
def introduction(d):
    """das ist mein bruder -> that is my brother"""
    kinds = ("person", "animal", "drink", "food", "ware", "readable", "building")
    return this_is(described(d, kinds, "nominative"))


@production("Sentence", 1)
def denied_introduction(d):
    """das ist nicht mein hund -> that is not my dog"""
    return this_is(specific_thing(d, ("person", "animal", "ware", "readable")), denied=True)


# Questions


@production("Sentence", 11)
def yes_no_question(d):
    """trinkst du tee ? -> do you drink tea ?"""
    return _question(NOTHING, d.derive("Clause"))


@production("Sentence", 4)
def why_question(d):
    """warum schläfst du nicht ? -> why do you not sleep ?"""
    return _question(Phrase("warum", "why"), d.derive("Clause"))


@production("Sentence", 3)
def when_question(d):
    """wann kommt der zug ? -> when does the train come ?"""
    clause = not_denied(d.derive("Event", circumstances="Unstated"))
    return _question(Phrase("wann", "when"), clause)


@production("Sentence", 2)
def where_question(d):
    """wo schläft die katze ? -> where does the cat sleep ?"""
    clause = not_denied(d.derive("Activity", circumstances="Unstated"))
    return _question(Phrase("wo", "where"), clause)


@production("Sentence", 2)
def where_is_question(d):
    """wo ist mein hut ? -> where is my hat ?"""
    kind = d.choose(("person", "animal", "portable"))
    subject = subject_of(d, ("person",)) if kind == "person" else specific_thing(d, (kind,))
    verb = VERBS_OF["copula"][0]
    clause = Clause(subject, present_forms(verb, subject.person))
    return _question(Phrase("wo", "where"), clause)


@production("Sentence", 2)
def where_to_question(d):
    """wohin gehst du ? -> where do you go ?"""
    _, clause = opening(d, VERBS_OF["motion"] + VERBS_OF["journey"])
    return _question(Phrase("wohin", "where"), clause)


@production("Sentence", 4)
def who_question(d):
    """wer hilft mir ? -> who helps me ?"""
    clause = d.derive("Conduct", subject=WHO)
    return Phrase(f"{verb_second(clause)} ?", f"{subject_first(clause)} ?")


@production("Sentence", 3)
def what_question(d):
    """was trinkst du ? -> what do you drink ?"""
    _, clause = opening(d, [v for v in VERBS_OF["transitive"] if v.objects != ("person",)])
    return _question(Phrase("was", "what"), clause)


@production("Sentence", 2)
def whom_question(d):
    """wen rufst du an ? -> who do you call ?"""
    _, clause = opening(d, [v for v in VERBS_OF["transitive"] if "person" in v.objects])
    return _question(Phrase("wen", "who"), clause)


@production("Sentence", 6)
def object_question(d):
    """welches buch liest du ? -> which book do you read ?"""
    verb, clause = opening(d, tuple(v for v in VERBS_OF["transitive"] if ASKABLE[v.name]))
    noun = d.pick(ASKABLE[verb.name], clause.subject.nouns)
    asked = d.derive("Asked", noun=noun, case="accusative")
    d.relate(verb, asked.nouns)
    return _question(asked, clause)


@production("Sentence", 1)
def price_question(d):
    """was kostet das brot ? -> how much does the bread cost ?"""
    verb = VERBS_OF["price"][0]
    subject = specific_thing(d, verb.subjects)
    d.relate(verb, subject.nouns)
    clause = Clause(subject, present_forms(verb, subject.person))
    return _question(Phrase("was", "how much"), clause)


@production("Sentence", 1)
def age_question(d):
    """wie alt ist dein hund ? -> how old is your dog ?"""
    subject, _ = whose_age(d)
    clause = being(d, subject)._replace(negation="")
    return _question(Phrase("wie alt", "how old"), clause)
