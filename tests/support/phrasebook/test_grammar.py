"""The grammar of the built-in corpus: inflection and word order of both languages."""

import random

import pytest

from support.phrasebook.derivation import Derivation, Nonsense
from support.phrasebook.words import english, german, lexicon

NOUNS = {noun.name: noun for noun in lexicon.NOUNS}
VERBS = {verb.name: verb for verb in lexicon.VERBS}
ADJECTIVES = {adjective.name: adjective for adjective in lexicon.ADJECTIVES}


PLAIN = {
    *("statement", "event", "transitive", "intransitive", "activity", "present", "affirmed"),
    *("affirmed_object", "subject_pronoun", "person_as_subject", "person_as_object"),
    *("bare_noun", "definite", "specific", "specific_mass", "not_possessed"),
    *("no_circumstance", "no_appointment", "outing_alone", "as_of_an_action"),
}
# What each phenomenon should look like, written by hand. Below each stand the productions
# that lead there, besides the plain ones.
EXAMPLES = """
# articles follow gender and case
der mann sieht den hund | the man sees the dog
    transitive person_as_subject
die frau hilft dem kind | the woman helps the child
    helping person_as_subject
das buch gehört den frauen | the book belongs to the women
    state belonging
# adjectives take their ending from article, gender and case
der kleine hund schläft | the small dog sleeps
    resting adjective_and_noun
ein kleiner hund schläft | a small dog sleeps
    resting adjective_and_noun some one_of_many
ich sehe den kleinen hund | i see the small dog
    transitive adjective_and_noun
ich trinke kaltes wasser | i drink cold water
    transitive mass_without_article adjective_and_noun
er hilft den kranken kindern | he helps the sick children
    helping adjective_and_noun
wir wohnen in einem alten haus | we live in an old house
    state residence in_a_building some only adjective_and_noun
# the verb stands second
heute trinke ich tee | today i drink tea
    statement_with_time_first transitive day mass_without_article
um acht uhr kommt der zug | at eight o'clock the train comes
    statement_with_time_first timed at_clock_time full_hour
im park spielt ein hund | in the park a dog plays
    statement_with_place_first inside some one_of_many
den hut kaufe ich | i buy the hat
    statement_with_object_first
# the infinitive stands last after a modal
ich will ein buch lesen | i want to read a book
    transitive modal some one_of_many
er muss heute arbeiten | he has to work today
    modal when day
wir müssen nicht arbeiten | we do not have to work
    modal negated
du darfst das bier nicht trinken | you may not drink the beer
    transitive modal object_with_nicht
sie kann nicht schlafen | she cannot sleep
    resting modal negated
# the verb stands last in a subordinate clause
ich glaube , dass der hund müde ist | i think that the dog is tired
    that state quality
er schläft , weil er krank ist | he sleeps because he is sick
    because state event resting feeling
wenn es regnet , bleibe ich hier | when it is raining , i stay here
    when_first state weather skies_anywhere remaining spot
ich weiß nicht , ob er kommt | i do not know whether he comes
    whether not_known timed
ich kenne die frau , die hier arbeitet | i know the woman who works here
    doing where spot object_with_relative_clause
# separable verbs part in a main clause only
ich stehe um sieben uhr auf | i get up at seven o'clock
    timed appointment at_clock_time full_hour
ich rufe dich an | i call you
    transitive object_pronoun
du sollst die tür zumachen | you should close the door
    transitive modal
wir wissen , dass der film anfängt | we know that the film begins
    that timed
er hat das fenster aufgemacht | he opened the window
    transitive perfect
# kein denies what has no article, nicht the rest
ich habe kein auto | i do not have a car
    state holding having object_with_kein
er trinkt keinen kaffee | he does not drink any coffee
    transitive object_with_kein
ich lese das buch nicht | i do not read the book
    transitive object_with_nicht
wir wohnen nicht in berlin | we do not live in berlin
    state residence in_town negated
ich bin nicht müde | i am not tired
    state feeling negated
# questions begin with the verb or a question word
trinkst du tee ? | do you drink tea ?
    yes_no_question transitive mass_without_article
was kostet das brot ? | how much does the bread cost ?
    price_question
wer hilft mir ? | who helps me ?
    who_question doing helping object_pronoun
wo ist mein hut ? | where is my hat ?
    where_is_question possessed
wohin gehst du ? | where do you go ?
    where_to_question
wann kommt der bus ? | when does the bus come ?
    when_question timed
warum schläfst du nicht ? | why do you not sleep ?
    why_question resting negated
welches buch liest du ? | which book do you read ?
    object_question which
wie viele äpfel isst du ? | how many apples do you eat ?
    object_question how_many
# numbers
er ist zwölf jahre alt | he is twelve years old
    state age few
der hut kostet einundzwanzig euro | the hat costs twenty-one euros
    state price tens_and_units
ich sehe zwei hunde | i see two dogs
    transitive some counted
# clock times
es ist ein uhr | it is one o'clock
    clock full_hour
es ist halb acht | it is half past seven
    clock half_hour
es ist halb eins | it is half past twelve
    clock half_hour
er kommt um viertel nach drei | he comes at a quarter past three
    timed appointment at_clock_time quarter_past
sie kommt um viertel vor vier | she comes at a quarter to four
    timed appointment at_clock_time quarter_to
# the perfect is told in the simple past
ich habe ein bier getrunken | i drank a beer
    transitive perfect serving
er ist nach hause gegangen | he went home
    motion homeward perfect
hast du getanzt ? | did you dance ?
    yes_no_question perfect
ich möchte ein bier | i want a beer
    state holding having serving
"""


def examples():
    lines = [line for line in EXAMPLES.strip().splitlines() if not line.startswith("#")]
    for pair, productions in zip(lines[::2], lines[1::2], strict=True):
        source, target = pair.split(" | ")
        yield source, target, set(productions.split())


def derivation_of(source, productions):
    """Searches for a derivation of `source`, led by the names of productions and by its words."""
    rng = random.Random(0)
    beginnings = {word[:3] for word in source.split()}

    def choose(options, cumulative_weights=None):
        if cumulative_weights:
            led = [o for o in options if o.name in productions]
            led = led or [o for o in options if o.name in PLAIN]
        else:
            led = [o for o in options if getattr(o, "name", "-")[:3] in beginnings]
        return rng.choice(led if led and rng.random() < 0.9 else options)

    for _ in range(20_000):
        derivation = Derivation(choose)
        try:
            pair = derivation.derive("Sentence")
        except Nonsense:
            continue
        if pair.german == source:
            return pair
    return None


@pytest.mark.parametrize(("source", "target", "productions"), list(examples()))
def test_sentences_are_correct_in_both_languages(source, target, productions):
    assert derivation_of(source, productions) == (source, target)


# Inflection, against tables written by hand


def row(inflect, cases=german.CASES):
    """Inflects masculine, feminine, neuter, plural, case by case."""
    return "; ".join(" ".join(inflect(gender, case) for gender in "mfnp") for case in cases)


def test_determiners_follow_gender_and_case():
    assert row(german.the) == "der die das die; den die das die; dem der dem den"
    assert row(lambda g, c: german.der_word("dies", g, c)) == (
        "dieser diese dieses diese; diesen diese dieses diese; diesem dieser diesem diesen"
    )
    assert row(lambda g, c: german.ein_word("kein", g, c)) == (
        "kein keine kein keine; keinen keine kein keine; keinem keiner keinem keinen"
    )


@pytest.mark.parametrize(
    ("declension", "table"),
    [
        ("weak", "rote rote rote roten; roten rote rote roten; roten roten roten roten"),
        ("mixed", "roter rote rotes roten; roten rote rotes roten; roten roten roten roten"),
        ("strong", "roter rote rotes rote; roten rote rotes rote; rotem roter rotem roten"),
    ],
)
def test_adjectives_follow_declension_gender_and_case(declension, table):
    red = ADJECTIVES["rot"]
    assert row(lambda gender, case: german.adjective(red, declension, gender, case)) == table


def test_some_adjectives_lose_a_letter_before_an_ending():
    assert german.adjective(ADJECTIVES["teuer"], "weak", "m", "nominative") == "teure"
    assert german.adjective(ADJECTIVES["müde"], "mixed", "m", "nominative") == "müder"


def test_the_dative_plural_ends_in_n_unless_the_plural_ends_in_n_or_s():
    def dative(name):
        return german.noun(NOUNS[name], "plural", "dative")

    names = ("hund", "kind", "frau", "lehrer", "apfel", "auto", "garten")
    plurals = [dative(name) for name in names if NOUNS[name].plural]
    assert plurals == ["hunden", "kindern", "frauen", "lehrern", "äpfeln", "autos"]


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        ("kaufen", "kaufe kaufst kauft kaufen"),
        ("warten", "warte wartest wartet warten"),
        ("tanzen", "tanze tanzt tanzt tanzen"),
        ("essen", "esse isst isst essen"),
        ("lesen", "lese liest liest lesen"),
        ("laufen", "laufe läufst läuft laufen"),
        ("geben", "gebe gibst gibt geben"),
        ("einladen", "lade lädst lädt laden"),
        ("aufstehen", "stehe stehst steht stehen"),
        ("regnen", "regne regnest regnet regnen"),
        ("sein", "bin bist ist sind"),
        ("haben", "habe hast hat haben"),
        ("möchten", "möchte möchtest möchte möchten"),
    ],
)
def test_verbs_are_conjugated(name, forms):
    assert [german.present(VERBS[name], person) for person in german.PERSONS] == forms.split()


def test_prepositions_contract_with_the_article():
    assert german.contract("in", "dem park") == "im park"
    assert german.contract("in", "das haus") == "ins haus"
    assert german.contract("in", "der stadt") == "in der stadt"


def test_english_verbs_have_a_third_person_and_do_support():
    assert english.present("look for", "3s") == ("does", "look for", "looks for")
    assert english.present("go", "3s") == ("does", "go", "goes")
    assert english.present("have", "3s").plain == "has"
    assert english.present("be raining", "3s") == ("is", "raining", None)
    assert english.present("drink", "p") == ("do", "drink", "drink")


def test_a_becomes_an_before_a_vowel():
    assert [english.a(w) for w in ("beer", "egg", "old hat")] == ["a beer", "an egg", "an old hat"]


def test_every_noun_has_adjectives_and_every_kind_of_a_verb_has_nouns():
    assert all(lexicon.ADJECTIVES_FOR[name] for name in NOUNS)
    assert all(lexicon.NOUNS_OF[kind] for v in lexicon.VERBS for kind in v.subjects + v.objects)
