"""Glossaries: which terms a sentence has, and which of them its translation lacks."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer import Glossary
from kformer.inference.glossary import check_glossary, missed_terms

WORDS = st.sampled_from(["a", "b", "ab", "A", "Ab", "AB", "-", ".", "_", "1"])
TEXTS = st.lists(st.tuples(WORDS, st.sampled_from(["", " ", "  "]))).map(
    lambda pairs: "".join(word + gap for word, gap in pairs).strip()
)
TERMS = st.sets(TEXTS.filter(lambda text: text and "  " not in text), min_size=1, max_size=4)


def found(glossary, sentence):
    return [occurrence.term for occurrence in glossary.find(sentence)]


def terms_by_regular_expressions(terms, text):
    """Tries every term at every place, the longest first."""
    patterns = [
        (
            term,
            re.compile(
                r"(?<![^\W_])(?<![^\W_]-)" * term[0].isalnum()
                + re.escape(term).replace(r"\ ", r"\s+")
                + r"(?![^\W_])(?!-[^\W_])" * term[-1].isalnum(),
                re.IGNORECASE if term == term.lower() else 0,
            ),
        )
        for term in terms
    ]
    place, result = 0, []
    while place < len(text):
        matches = [(pattern.match(text, place), term) for term, pattern in patterns]
        matches = [(match.end(), term != term.lower(), term) for match, term in matches if match]
        if matches:
            place, _, term = max(matches)
            result.append(term)
        else:
            place += 1
    return result


@given(TERMS, TEXTS)
def test_terms_are_found_as_by_regular_expressions(terms, text):
    glossary = Glossary(dict.fromkeys(terms, "x"))
    expected = terms_by_regular_expressions(terms, text)
    assert [term.casefold() for term in found(glossary, text)] == [
        term.casefold() for term in expected
    ]


def test_a_term_without_capitals_matches_any_case_and_others_only_their_own():
    glossary = Glossary({"polish": "polieren", "Polish": "polnisch", "US": "USA"})
    assert found(glossary, "polish, Polish, POLISH; us, US, Us") == [
        *("polish", "Polish", "polish", "US"),
    ]


def test_the_longest_term_matches():
    glossary = Glossary([("dog", "Hund"), ("hot dog", "Hotdog"), ("hot dog stand", "Stand")])
    assert found(glossary, "A hot  dog, a dog, a hot dog stand.") == [
        *("hot dog", "dog", "hot dog stand"),
    ]
    places = [occurrence.place for occurrence in glossary.find("dog, dog.")]
    assert places == [1.5 / 9, 6.5 / 9]


def test_languages_without_spaces_match_anywhere_but_letters_of_others_are_words():
    glossary = Glossary({"犬": "dog", "GPU": "graphics card", "หมา": "dog"})
    assert found(glossary, "黒い犬とGPUを") == ["犬", "GPU"]
    assert found(glossary, "GPUs") == []
    assert found(glossary, "ฉันรักหมา") == ["หมา"]


def test_a_part_of_a_word_with_hyphens_is_no_term():
    glossary = Glossary({"election": "Wahl", "well-known": "bekannt", "team": "equipa"})
    assert found(glossary, "re-election, election-day, re\u2010election") == []
    assert found(glossary, "a well-known election - the team's, -team") == [
        *("well-known", "election", "team", "team"),
    ]
    occurrences = glossary.find("The team matched it.")
    for translation in ("Equiparou-o.", "a equipamento", "pré-equipa", "equipa-lo"):
        assert missed_terms(occurrences, translation) == occurrences
    assert missed_terms(occurrences, "As equipas, sim.") == []


def test_combining_marks_and_compatible_characters_are_one_text():
    assert found(Glossary({"caf\u00e9": "Café"}), "Ein Cafe\u0301.") == ["caf\u00e9"]
    assert found(Glossary({"cafe": "Café"}), "Ein Cafe\u0301.") == []
    assert found(Glossary({"fish": "Fisch"}), "ｆｉsh, \ufb01sh") == ["fish", "fish"]
    assert found(Glossary({"का": "of"}), "काम का") == ["का"]


def test_a_text_that_is_ignored_has_no_terms():
    glossary = Glossary({"dog": "Hund"})
    text = "{dog} dog https://dog.example"
    assert len(glossary.find(text)) == 3
    [occurrence] = glossary.outside(re.compile(r"\{\w+\}|https:\S+")).find(text)
    assert occurrence.place == pytest.approx(7.5 / len(text))


@pytest.mark.parametrize(
    ("translation", "has_it"),
    [
        ("Der Hund bellt", True),
        ("Die Hunde bellen", True),
        ("des Hundes.", True),
        ("DER HUND", True),
        ("DIE HUNDE", True),
        ("Der hund", False),
        ("Hundehütte", False),
        ("Windhund", False),
        ("Hund2", False),
        ("", False),
    ],
)
def test_a_word_may_have_an_ending_of_up_to_half_of_its_letters(translation, has_it):
    occurrences = Glossary({"dog": "Hund"}).find("the dog")
    assert missed_terms(occurrences, translation) == ([] if has_it else occurrences)


def test_the_translation_of_a_term_may_begin_a_sentence_and_its_words_may_have_endings():
    occurrences = Glossary({"Apfel": "apple pie"}).find("Apfel")
    assert missed_terms(occurrences, "Apple pies.") == []
    assert missed_terms(occurrences, "An apple in a pie.") == occurrences
    occurrences = Glossary({"red light": "rote Ampel"}).find("a red light")
    assert missed_terms(occurrences, "an der roten Ampel") == []


def test_each_occurrence_counts_and_the_farthest_is_missed():
    occurrences = Glossary({"dog": "Hund", "hound": "Hund"}).find("The dog barks at the hound.")
    assert missed_terms(occurrences, "Der Hund bellt ihn an.") == [occurrences[1]]
    assert missed_terms(occurrences, "Er wird angebellt vom Hund.") == [occurrences[0]]
    assert missed_terms(occurrences, "Der Hund bellt den Hund an.") == []


def test_a_longer_term_does_not_count_as_a_shorter_one():
    occurrences = Glossary({"dog": "Hund", "new dog": "neuer Hund"}).find("a new dog, a dog")
    assert missed_terms(occurrences, "ein neuer Hund, ein Tier") == [occurrences[1]]


def test_a_file_has_terms_comments_and_blank_lines(written):
    content = "\ufeff# Animals\r\nDog\tHund\r\n\r\n#1\tNr. 1\n  cat \t Katze\t\nDog\tHund\n"
    glossary = Glossary.load(written("terms.tsv", content))
    assert len(glossary) == 3 and repr(glossary) == "Glossary(3 terms)"
    assert [term.translation for term in glossary.find("Dog #1, Cats and a CAT")] == [
        *("Hund", "Nr. 1", "Katze"),
    ]


@pytest.mark.parametrize(
    ("content", "received"),
    [
        ("a\tb\n\nc d\n", "line 3 has 1 columns"),
        ("a\tb\tc\n", "line 1 has 3 columns"),
        ("a\t\t\n", "line 1 has 1 columns"),
        ("a\tb\na\tc\n", "'a' with 'b' and 'c' in .*, line 2"),
        ("a\t\u2003\u3000\tb\n", "line 1 has 3 columns"),
        ("# none\n", "none in "),
    ],
)
def test_a_malformed_line_is_refused_with_its_number(written, content, received):
    with pytest.raises(ValueError, match=f"Received: .*{received}"):
        Glossary.load(written("terms.tsv", content))


def test_what_is_no_glossary_is_refused():
    assert check_glossary(None, n_best=True) is None
    assert len(check_glossary({"a": "b"})) == 1
    with pytest.raises(TypeError, match=r"`glossary` must be .* glossary='a.tsv'"):
        check_glossary("a.tsv")
    with pytest.raises(TypeError, match=r"`translation` must be a string. Received: .*=1"):
        Glossary({"a": 1})
    with pytest.raises(ValueError, match=r"must not be blank. Received: 'a' and ''"):
        Glossary({"a": " "})
    with pytest.raises(ValueError, match=r"must have a term. Received: none"):
        Glossary({})
    with pytest.raises(ValueError, match="Received: glossary, n_best, prefixes"):
        check_glossary({"a": "b"}, n_best=True, sample=False, prefixes=True)
