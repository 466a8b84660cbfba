"""Productions of states, in the present tense: having, liking, being, belonging."""

from support.phrasebook.derivation import Nonsense, production, unit_production
from support.phrasebook.events import object_of, present_forms, with_object
from support.phrasebook.phrases.noun_phrases import NounPhrase, around_specific
from support.phrasebook.phrases.people import subject_of
from support.phrasebook.word_order import Clause, VerbForms
from support.phrasebook.words import english, german
from support.phrasebook.words.closed_classes import SENSATIONS
from support.phrasebook.words.lexicon import ADJECTIVES, ADJECTIVES_FOR, NOUNS_OF, VERBS_OF
from support.phrasebook.words.phrase import Phrase

IT = NounPhrase("es", "it")

unit_production("Clause", 7, "event", to="Event")
unit_production("Clause", 5, "state", to="State")

# Conduct: clauses with a person as subject, for "who" and for relative clauses

unit_production("Conduct", 3, "doing", to="Event")
unit_production("Conduct", 1, "owning", to="Holding")

# State


def opening(d, frame, subject=None):
    verb = d.pick(VERBS_OF[frame])
    subject = subject or subject_of(d, verb.subjects)
    d.relate(verb, subject.nouns)
    return verb, Clause(subject, present_forms(verb, subject.person))


def being(d, subject):
    """Derives a clause with "sein" (be), without its complement."""
    verb = VERBS_OF["copula"][0]
    forms = present_forms(verb, subject.person)
    return Clause(subject, forms, negation=d.derive("Polarity"))


def specific_thing(d, kinds):
    noun = d.pick(NOUNS_OF[d.choose(kinds)])
    return around_specific(d, noun, "nominative")


unit_production("State", 4, "holding", to="Holding")


@production("Holding", 1)
def having(d, subject=None):
    """ich möchte ein bier -> i want a beer"""
    verb, clause = opening(d, "state", subject)
    phrase, negation = object_of(d, verb, clause.subject)
    return with_object(clause._replace(negation=negation), phrase)


@production("State", 2)
def liking(d):
    """ich mag kaffee -> i like coffee"""
    verb, clause = opening(d, "liking")
    noun = d.pick(NOUNS_OF[d.choose(verb.objects)])
    phrase, negation = d.derive("Liked", noun=noun)
    d.relate(verb, phrase.nouns)
    return with_object(clause._replace(negation=negation), phrase)


@production("Liked", 3)
def a_kind(d, noun):
    return d.derive("Generic", noun=noun, case="accusative"), ""


@production("Liked", 1)
def not_a_kind(d, noun):
    """ich mag keine hunde -> i do not like dogs"""
    return d.derive("DeniedGeneric", noun=noun, case="accusative"), "kein"


@production("Liked", 1)
def a_certain_one(d, noun):
    """ich mag deinen hund -> i like your dog"""
    return around_specific(d, noun, "accusative"), d.derive("Polarity")


def _being_of_quality(d, subject, adjectives):
    if subject.modified:
        raise Nonsense("A noun with one adjective as predicate has no other.")
    adjective = d.pick(adjectives)
    d.relate(adjective, subject.nouns)
    return being(d, subject)._replace(complement=Phrase(adjective.name, adjective.english))


@production("State", 3)
def feeling(d):
    """ich bin müde -> i am tired"""
    subject = subject_of(d, ("person",))
    return _being_of_quality(d, subject, [a for a in ADJECTIVES if "person" in a.kinds])


@production("State", 3)
def quality(d):
    """die suppe ist heiß -> the soup is hot"""
    kinds = ("animal", "drink", "food", "ware", "readable", "building", "vehicle", "event")
    subject = specific_thing(d, kinds)
    return _being_of_quality(d, subject, ADJECTIVES_FOR[subject.nouns[0].name])


@production("State", 2)
def where_someone_is(d):
    """mein bruder ist in der küche -> my brother is in the kitchen"""
    subject = subject_of(d, ("person", "person", "animal"))
    return being(d, subject)._replace(complement=d.derive("Place"))


@production("State", 2)
def where_something_is(d):
    """der brief ist auf dem tisch -> the letter is on the table"""
    subject = specific_thing(d, ("portable",))
    return being(d, subject)._replace(complement=d.derive("Spot"))


@production("State", 2)
def residence(d):
    """ich wohne in wien -> i live in vienna"""
    _, clause = opening(d, "residence")
    where = d.derive("Residence")
    return clause._replace(complement=where, negation=d.derive("Polarity"))


@production("State", 2)
def belonging(d):
    """das auto gehört mir -> the car belongs to me"""
    verb = d.pick(VERBS_OF["belonging"])
    subject = specific_thing(d, verb.subjects)
    owner = d.derive("Person", case="dative", subject=subject)
    d.relate(verb, subject.nouns + owner.nouns)
    clause = Clause(subject, present_forms(verb, subject.person), negation=d.derive("Polarity"))
    return with_object(clause, owner)


def whose_age(d):
    """Derives the subject of a statement or question about its age."""
    kind = d.choose(("person", "person", "animal"))
    subject = d.derive("PersonSubject") if kind == "person" else specific_thing(d, (kind,))
    if subject.modified or (subject.nouns and subject.person == "p"):
        raise Nonsense('Neither "the old dog" nor a group has a stated age.')
    d.relate(next(a for a in ADJECTIVES if a.name == "alt"), subject.nouns)
    return subject, kind


@production("State", 3)
def age(d):
    """paul ist zwölf jahre alt -> paul is twelve years old"""
    subject, kind = whose_age(d)
    number = d.derive("Number" if kind == "person" else "Few")
    years = Phrase(f"{number.german} jahre alt", f"{number.english} years old")
    return being(d, subject)._replace(complement=years)


@production("State", 3)
def price(d):
    """der hut kostet zwanzig euro -> the hat costs twenty euros"""
    verb = d.pick(VERBS_OF["price"])
    subject = specific_thing(d, verb.subjects)
    d.relate(verb, subject.nouns)
    number = d.derive("Number")
    sum_ = Phrase(f"{number.german} euro", f"{number.english} euros")
    return Clause(subject, present_forms(verb, subject.person), objects=sum_)


@production("State", 1)
def sensation(d):
    """ich habe keinen hunger -> i am not hungry"""
    subject = subject_of(d, ("person",))
    word = d.pick(SENSATIONS)
    negation = d.derive("Polarity")
    finite = german.irregular("haben", subject.person)
    return Clause(
        subject,
        VerbForms(finite, "", finite, english.present("be", subject.person)),
        objects=Phrase(f"keinen {word.german}", word.english) if negation else word,
        negation="kein" if negation else "",
    )


@production("State", 1)
def weather(d):
    """es regnet -> it is raining"""
    verb = d.pick(VERBS_OF["weather"])
    return Clause(
        IT,
        present_forms(verb, IT.person),
        negation=d.derive("Polarity"),
        circumstances=d.derive("Skies"),
    )


@production("State", 2)
def existence(d):
    """es gibt viele vögel im park -> there are many birds in the park"""
    kind = d.choose(("animal", "person", "sight"))
    noun = d.pick([n for n in NOUNS_OF[kind] if "kin" not in n.kinds])
    found, negation = d.derive("Found", noun=noun)
    return Clause(
        NounPhrase("es", "there"),
        VerbForms("gibt", "", "gibt", english.present("be", found.person)),
        objects=found,
        negation=negation,
        circumstances=d.derive("Surroundings", kind=kind),
    )


@production("Found", 4)
def found(d, noun):
    return d.derive("Some" if noun.plural else "One", noun=noun, case="accusative"), ""


@production("Found", 1)
def not_found(d, noun):
    """es gibt hier kein kino -> there is not a cinema here"""
    return d.derive("Denied", noun=noun, case="accusative"), "kein"
