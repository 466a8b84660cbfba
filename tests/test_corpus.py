"""The built-in corpus: what it contains, how it is split, and that its German is German."""

import hashlib
import os
import random
import subprocess
import sys
from collections import Counter
from itertools import chain, islice

import pytest

from kformer.training.corpus import (
    PRODUCTIONS,
    RAREST,
    Pair,
    english,
    german,
    held_out,
    lexicon,
    phrasebook,
    sample,
    write,
)
from kformer.training.corpus.derivation import Derivation, Nonsense

NOUNS = {noun.name: noun for noun in lexicon.NOUNS}
VERBS = {verb.name: verb for verb in lexicon.VERBS}
ADJECTIVES = {adjective.name: adjective for adjective in lexicon.ADJECTIVES}


@pytest.fixture(scope="module")
def book():
    return phrasebook()


@pytest.fixture(scope="module")
def samples():
    return list(islice(sample(random.Random(0)), 25_000))


def words(pairs, side):
    return Counter(word for pair in pairs for word in pair[side].split())


def digest(book):
    return hashlib.sha256(repr(book).encode()).hexdigest()


# The corpus


def test_the_phrasebook_has_twenty_thousand_distinct_pairs(book):
    pairs = list(chain(*book))
    assert len(set(pairs)) == len(pairs) >= 20_000
    assert len(book.train) >= 20_000
    assert len(book.valid) == len(book.test) == 500
    assert len(book.unseen) >= 300


def test_no_source_sentence_occurs_twice_within_or_between_the_parts(book):
    sources = [pair.source for pair in chain(*book)]
    assert len(set(sources)) == len(sources)


def test_both_languages_have_more_than_two_hundred_words(book):
    for side in (0, 1):
        assert len([word for word in words(chain(*book), side) if word.isalpha()]) >= 200


def test_sentences_have_two_to_fifteen_words_on_both_sides(book):
    lengths = {len(side.split()) for pair in chain(*book) for side in pair}
    assert lengths == set(range(2, 16))


def test_text_is_lower_case_with_single_spaces_and_separate_punctuation(book):
    for side in chain.from_iterable(chain(*book)):
        assert side == " ".join(side.lower().split())
        assert all(word in ",?" or not set(word) & set(",.?!") for word in side.split())


def test_the_first_sentence_everybody_tries_is_in_training(book):
    assert Pair("ich möchte ein bier", "i want a beer") in book.train


def test_every_word_of_the_other_parts_is_known_from_training(book):
    for side in (0, 1):
        known = words(book.train, side)
        for part in (book.valid, book.test, book.unseen):
            assert all(known[word] >= RAREST for word in words(part, side))


def test_a_german_sentence_has_one_translation(book, samples):
    translations = {}
    for source, target in chain(*book, (pair for pair, _ in samples)):
        assert translations.setdefault(source, target) == target


def test_sentences_of_many_kinds_and_lengths_are_balanced(samples):
    kinds = Counter(derivation.productions[0] for _, derivation in samples)
    assert len(kinds) >= 20
    assert max(kinds.values()) < 0.4 * len(samples)


# The split


def forms_of_noun(noun):
    return {german.noun(noun, number, case) for number in noun.numbers for case in german.CASES}


def forms_of_other(name):
    if name in ADJECTIVES:
        endings = ("", "e", "en", "em", "er", "es")
        return {name} | {ADJECTIVES[name].stem + ending for ending in endings}
    verb = VERBS[name]
    return {verb.name, verb.participle} | {german.present(verb, p) for p in german.PERSONS}


def joint(pairs, noun, other):
    """The pairs whose source holds a form of both lemmas."""
    nouns, others = forms_of_noun(NOUNS[noun]), forms_of_other(other)
    split = ((pair, set(pair.source.split())) for pair in pairs)
    return {pair for pair, found in split if found & nouns and found & others}


def test_the_pairs_held_out_never_stand_together_outside_the_unseen_part(book):
    for noun, other in held_out():
        assert not joint(chain(book.train, book.valid, book.test), noun, other)


def test_every_unseen_sentence_joins_a_pair_that_was_held_out(book):
    joints = [joint(book.unseen, noun, other) for noun, other in held_out()]
    assert set().union(*joints) == set(book.unseen)
    assert min(len(found) for found in joints) >= 3


def test_the_pairs_held_out_are_of_nouns_with_verbs_and_of_nouns_with_adjectives():
    others = [other for _, other in held_out()]
    assert sum(other in VERBS for other in others) >= 10
    assert sum(other in ADJECTIVES for other in others) >= 10


def test_training_shows_the_words_of_every_held_out_pair_in_other_company(book):
    known = words(book.train, 0)
    for noun, other in held_out():
        assert sum(known[form] for form in forms_of_noun(NOUNS[noun])) >= 50
        assert sum(known[form] for form in forms_of_other(other)) >= 50


# Determinism


def test_the_same_seed_gives_the_same_phrasebook_and_another_seed_another(book):
    assert phrasebook() == book
    first, other = (next(sample(random.Random(seed)))[0] for seed in (0, 1))
    assert first != other
    assert held_out(0) != held_out(1)


def test_neither_hash_order_nor_heavy_imports_play_a_part(book):
    script = (
        "import hashlib, sys; from kformer.training.corpus import phrasebook;"
        "print({'numpy', 'tensorflow', 'keras'} & set(sys.modules));"
        "print(hashlib.sha256(repr(phrasebook()).encode()).hexdigest())"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.splitlines() == ["set()", digest(book)]


def test_write_leaves_parallel_files_and_nothing_else(tmp_path, book):
    paths = write(tmp_path / "data")
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == sorted(paths)
    assert sorted(paths) == sorted(f"{p}.{side}" for p in book._fields for side in ("de", "en"))
    for part, pairs in book._asdict().items():
        sources = paths[f"{part}.de"].read_bytes().decode().split("\n")
        targets = paths[f"{part}.en"].read_bytes().decode().split("\n")
        assert sources.pop() == targets.pop() == ""
        assert list(map(Pair, sources, targets)) == pairs


# The grammar


def test_the_grammar_has_sixty_productions_and_uses_them_all(samples):
    names = [production.name for production in PRODUCTIONS]
    assert len(set(names)) == len(names) >= 60
    assert set(names) == {name for _, d in samples for name in d.productions}


# What each phenomenon should look like, written by hand. Below each stand the productions
# that lead there, besides the plain ones.
PLAIN = {
    *("statement", "event", "transitive", "intransitive", "activity", "present", "affirmed"),
    *("affirmed_object", "subject_pronoun", "person_as_subject", "person_as_object"),
    *("bare_noun", "definite", "specific", "specific_mass", "not_possessed"),
    *("no_circumstance", "no_appointment", "outing_alone", "as_of_an_action"),
}
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
def test_the_grammar_says_what_a_person_would_say(source, target, productions):
    assert derivation_of(source, productions) == (source, target)


# Inflection, against tables written by hand


def row(inflect, cases=german.CASES):
    """Inflects masculine, feminine, neuter, plural, case by case."""
    return "; ".join(" ".join(inflect(gender, case) for gender in "mfnp") for case in cases)


def test_articles_and_their_like_follow_gender_and_case():
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
def test_adjectives_follow_article_gender_and_case(declension, table):
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


def test_english_verbs_have_a_third_person_and_call_for_do():
    assert english.present("look for", "3s") == ("does", "look for", "looks for")
    assert english.present("go", "3s") == ("does", "go", "goes")
    assert english.present("have", "3s").plain == "has"
    assert english.present("be raining", "3s") == ("is", "raining", None)
    assert english.present("drink", "p") == ("do", "drink", "drink")


def test_a_becomes_an_before_a_vowel():
    assert [english.a(w) for w in ("beer", "egg", "old hat")] == ["a beer", "an egg", "an old hat"]


def test_every_noun_can_be_described_and_every_kind_of_a_verb_has_nouns():
    assert all(lexicon.ADJECTIVES_FOR[name] for name in NOUNS)
    assert all(lexicon.NOUNS_OF[kind] for v in lexicon.VERBS for kind in v.subjects + v.objects)
