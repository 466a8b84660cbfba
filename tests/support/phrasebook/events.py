"""Productions of events: tense, polarity, objects and verb frames.

Events have adverbials of place, time and frequency, and may have a past tense or a modal verb.
States, in `states`, have neither.
"""

from support.phrasebook.derivation import production, terminal, unit_production
from support.phrasebook.phrases.circumstances import with_circumstances
from support.phrasebook.phrases.noun_phrases import around_specific, described
from support.phrasebook.phrases.people import subject_of
from support.phrasebook.word_order import Clause, VerbForms
from support.phrasebook.words import english, german
from support.phrasebook.words.closed_classes import MODALS, MODALS_OF_THINGS
from support.phrasebook.words.lexicon import NOUNS_OF, VERBS_OF
from support.phrasebook.words.phrase import NOTHING, Phrase

# Tense


def present_forms(verb, person):
    finite = german.present(verb, person)
    return VerbForms(
        finite=finite,
        bracket=verb.particle,
        final=verb.particle + finite,
        english=english.present(verb.english, person),
    )


@production("Tense", 5)
def present(d, verb, subject):
    """ich stehe auf -> i get up"""
    return present_forms(verb, subject.person)


@production("Tense", 2)
def perfect(d, verb, subject):
    """ich bin aufgestanden -> i got up"""
    auxiliary = german.irregular(verb.auxiliary, subject.person)
    return VerbForms(
        finite=auxiliary,
        bracket=verb.participle,
        final=f"{verb.participle} {auxiliary}",
        english=english.past(verb.english, verb.past),
        tense="past",
    )


@production("Tense", 3)
def modal(d, verb, subject):
    """ich muss aufstehen -> i have to get up"""
    thing = any({"vehicle", "event"} & set(noun.kinds) for noun in subject.nouns)
    word = d.pick(MODALS_OF_THINGS if thing else MODALS)
    finite = german.irregular(word.name, subject.person)
    return VerbForms(
        finite=finite,
        bracket=verb.name,
        final=f"{verb.name} {finite}",
        english=english.modal(word, verb.english, subject.person),
        tense="modal",
    )


# Polarity of clauses without an object that "kein" could negate

terminal("Polarity", 5, "affirmed", "")
terminal("Polarity", 1, "negated", "nicht")

# Object -> (noun phrase, negation)


@production("Object", 6)
def affirmed_object(d, kind, subject, case):
    if kind == "person":
        return d.derive("Person", case=case, subject=subject), ""
    return described(d, (kind,), case, subject.nouns), ""


@production("Object", 1)
def object_with_kein(d, kind, subject, case):
    """ich kaufe kein brot -> i do not buy any bread"""
    noun = d.pick([n for n in NOUNS_OF[kind] if "kin" not in n.kinds], subject.nouns)
    return d.derive("Denied", noun=noun, case=case), "kein"


@production("Object", 1)
def object_with_nicht(d, kind, subject, case):
    """ich kaufe das brot nicht -> i do not buy the bread"""
    if kind == "person":
        return d.derive("Person", case=case, subject=subject), "nicht"
    noun = d.pick(NOUNS_OF[kind], subject.nouns)
    return around_specific(d, noun, case), "nicht"


def object_of(d, verb, subject, case="accusative"):
    kind = d.choose(verb.objects)
    phrase, negation = d.derive("Object", kind=kind, subject=subject, case=case)
    d.relate(verb, phrase.nouns)
    return phrase, negation


def with_object(clause, phrase):
    """Sets the object; a pronoun or a name goes to its own place, before the day."""
    return clause._replace(objects=phrase) if phrase.nouns else clause._replace(pronoun=phrase)


# Event


def opening(d, verbs, subject=None):
    """Picks a verb, its subject and its tense."""
    verb = d.pick(verbs)
    subject = subject or subject_of(d, verb.subjects)
    d.relate(verb, subject.nouns)
    return verb, Clause(subject, d.derive("Tense", verb=verb, subject=subject))


def _acting_on(d, frame, case, subject, circumstances):
    """Derives an event with one object."""
    verb, clause = opening(d, VERBS_OF[frame], subject)
    phrase, negation = object_of(d, verb, clause.subject, case)
    clause = with_object(clause._replace(negation=negation), phrase)
    return with_circumstances(d, clause, circumstances)


@production("Event", 10)
def transitive(d, subject=None, circumstances="Circumstances"):
    """ich lese heute das buch -> i read the book today"""
    return _acting_on(d, "transitive", "accusative", subject, circumstances)


@production("Event", 2)
def helping(d, subject=None, circumstances="Circumstances"):
    """ich helfe dem kind -> i help the child"""
    return _acting_on(d, "dative", "dative", subject, circumstances)


@production("Event", 2)
def ditransitive(d, subject=None, circumstances="Circumstances"):
    """ich gebe dem kind einen apfel -> i give the child an apple"""
    verb, clause = opening(d, VERBS_OF["ditransitive"], subject)
    receiver = d.derive("Person", case="dative", subject=clause.subject)
    clause = with_object(clause, receiver)
    given, negation = object_of(d, verb, clause.subject)
    objects = Phrase(
        f"{clause.objects.german} {given.german}".lstrip(),
        f"{clause.objects.english} {given.english}".lstrip(),
    )
    clause = clause._replace(objects=objects, negation=negation)
    return with_circumstances(d, clause, circumstances)


unit_production("Event", 5, "activity", to="Activity")


def _acting(d, verbs, subject, circumstances, complement=NOTHING):
    """Derives an event without an object."""
    _, clause = opening(d, verbs, subject)
    clause = clause._replace(complement=complement, negation=d.derive("Polarity"))
    return with_circumstances(d, clause, circumstances)


@production("Activity", 5)
def intransitive(d, subject=None, circumstances=None):
    """das kind spielt mit mir -> the child plays with me"""
    verbs = VERBS_OF["intransitive"]
    return _acting(d, verbs, subject, circumstances or "ActivityCircumstances")


@production("Activity", 1)
def resting(d, subject=None, circumstances=None):
    """die katze schläft hier -> the cat sleeps here"""
    return _acting(d, VERBS_OF["rest"], subject, circumstances or "Circumstances")


@production("Event", 3)
def timed(d, subject=None, circumstances="Appointment"):
    """der film fängt um acht uhr an -> the film begins at eight o'clock"""
    verbs = VERBS_OF["timed"]
    if subject:  # The subject is then a person.
        verbs = [v for v in verbs if "person" in v.subjects]
    return _acting(d, verbs, subject, circumstances)


@production("Event", 3)
def motion(d, subject=None, circumstances="Outing"):
    """wir gehen in den park -> we go to the park"""
    goal = d.derive("Destination")
    return _acting(d, VERBS_OF["motion"], subject, circumstances, goal)


@production("Event", 2)
def journey(d, subject=None, circumstances="Outing"):
    """wir fahren mit dem zug nach wien -> we travel to vienna by train"""
    goal = d.derive("Journey")
    return _acting(d, VERBS_OF["journey"], subject, circumstances, goal)


@production("Event", 2)
def remaining(d, subject=None, circumstances="Outing"):
    """wir bleiben zu hause -> we stay at home"""
    place = d.derive("Place")
    return _acting(d, VERBS_OF["remaining"], subject, circumstances, place)
