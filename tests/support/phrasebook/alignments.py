"""Which words of a sentence of the phrasebook, and of its translation, belong together.

The grammar translates word by word, so the words of its lexicon and their inflected forms tell. Of
several equal words, those that have the same distance to a word that is certain belong together.
"""

import functools
from collections import defaultdict
from importlib import resources
from typing import NamedTuple

from kformer.phrasebook import Pair
from support.phrasebook.words import english, german
from support.phrasebook.words.closed_classes import (
    CITIES,
    DAYS,
    FREQUENCIES,
    IRREGULAR,
    NAMES,
    NUMBERS,
    SENSATIONS,
    SPOTS,
    TENS,
)
from support.phrasebook.words.lexicon import ADJECTIVES, NOUNS, VERBS, Verb
from support.phrasebook.writing import tokens

_ENDINGS = ("", "e", "en", "er", "es", "em")  # Of German adjectives.
_ADVERBS = {word for words in (*DAYS.values(), FREQUENCIES, SPOTS[:2]) for word in words}
_HOURS = {NUMBERS[i].name: NUMBERS[i - 1].english for i in range(len(NUMBERS))}  # After "halb".


class Links(NamedTuple):
    """Pairs of places, from 0, of a German word and of an English word.

    Attributes:
        sure: Words that mean the same.
        possible: Those, and words of which one is a part of what the other means, as "habe" is of
            "drank" in "ich habe getrunken".
    """

    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]


def links(pair: Pair) -> Links:
    """Aligns the words of a sentence and of its translation: what spaces separate.

    The sentences are as the grammar has them, or as people write them. A punctuation mark is then a
    part of the word before it, which has the links of both.
    """
    source, target = (tokens(side).split() for side in pair)
    candidates = {(i, j): sure for i, j, sure in _candidates(source, target)}
    anchors = _unique(candidates)
    chosen = set()
    for (_, is_sure, _), group in _groups(candidates, source, target).items():
        chosen.update(_pick(group, anchors, is_sure))
    places = [_words_of_tokens(side) for side in pair]
    sure = {link for link in chosen if candidates[link]}
    return Links(*(frozenset(_moved(some, *places)) for some in (sure, chosen)))


def _words_of_tokens(text):
    """Returns, for each token of a text, the place of the word that it is a part of."""
    return [place for place, word in enumerate(text.split()) for _ in tokens(word).split()]


def _moved(links, source_places, target_places):
    return ((source_places[i], target_places[j]) for i, j in links)


def _candidates(source, target):
    """Yields (i, j, sure) for words that can belong together by their forms."""
    for i, word in enumerate(source):
        before = source[i - 1] if i else ""
        after = source[i + 1] if i + 1 < len(source) else ""
        partners = dict(_lexicon().get(word, {}))
        if (word, after) == ("ein", "uhr"):
            partners = {"one": True}
        if before == "halb" and word in _HOURS:
            partners = {_HOURS[word]: True}
        if word in _RELATIVES and before != ",":
            partners.pop("who", None)
        for j, other in enumerate(target):
            if other in partners:
                yield i, j, partners[other]


_RELATIVES = ("der", "die", "das")


def _unique(candidates):
    """Returns the sure links of words that have no other candidate."""
    of_source, of_target = defaultdict(list), defaultdict(list)
    for (i, j), sure in candidates.items():
        if sure:
            of_source[i].append(j)
            of_target[j].append(i)
    return sorted((i, js[0]) for i, js in of_source.items() if [of_target[j] for j in js] == [[i]])


def _groups(candidates, source, target):
    """Returns lists of candidates that compete for the same English word."""
    groups = defaultdict(list)
    for (i, j), sure in candidates.items():
        word = source[i] == "nicht" if target[j] == "cannot" else None  # It is two words in one.
        groups[target[j], sure, word].append((i, j))
    return groups


def _pick(group, anchors, once):
    """Yields the links of a group, the smallest differences of distance first.

    Each German word gets one; and each English word, if `once`.
    """

    def difference(link):
        i, j = link
        after = next(((k, m) for k, m in anchors if k >= i), None)
        before = next(((k, m) for k, m in reversed(anchors) if k < i), (-1, -1))
        k, m = after or before
        return abs((m - j) - (k - i)), i, j

    used = set(), set()
    for i, j in sorted(group, key=difference):
        if i not in used[0] and not (once and j in used[1]):
            used[0].add(i)
            used[1].add(j)
            yield i, j


@functools.cache
def _lexicon():
    """Returns, for each German form, its English forms and whether the link is sure."""
    found = defaultdict(dict)

    def add(word, other, sure=True):
        found[word][other] = found[word].get(other, False) or sure

    for noun in NOUNS:
        add(noun.name, noun.english)
        for case in german.CASES if noun.plural else ():
            add(german.noun(noun, "plural", case), noun.english_plural)
    for word in ADJECTIVES:
        for form in (word.name, *(word.stem + ending for ending in _ENDINGS)):
            add(form, word.english)
    for phrase in (*_ADVERBS, *NAMES, *CITIES, *NUMBERS, *TENS, *SENSATIONS):
        add(*phrase)
    for ten in TENS:
        for unit in NUMBERS[:9]:
            own = "ein" if unit.name == "eins" else unit.name
            add(f"{own}und{ten.name}", f"{ten.english}-{unit.english}")
    for verb in VERBS:
        _add_verb(verb, add)
    for word, other, sure in _function_words():
        add(word, other, sure)
    return found


def _add_verb(verb: Verb, add):
    forms = {german.present(verb, person) for person in german.PERSONS}
    forms |= {verb.particle + form for form in forms} | {verb.name, verb.participle} - {None}
    others = {verb.english, english.third_person(verb.english), verb.past} - {None}
    operators = ["do", "does", "did"]
    if verb.english.startswith("be "):  # "it is raining"
        others, operators = {verb.english.removeprefix("be ")}, ["is"]
    for other in others:
        head, *rest = other.split()
        for form in forms:
            add(form, head)
            for part in rest:
                add(form, part, sure=False)
        for part in other.split() if verb.particle else ():
            add(verb.particle, part, sure=False)
    for form in forms:
        for operator in operators:
            add(form, operator, sure=False)
    for form in IRREGULAR[verb.auxiliary] if verb.auxiliary else ():
        for other in (verb.past.split()[0], "did"):
            add(form, other, sure=False)


def _function_words():
    """Yields German and English words, and whether the link is sure, from the table of them."""
    table = resources.files("support.phrasebook.words") / "function_words.txt"
    for line in table.read_text("utf-8").splitlines()[1:]:  # After the names of the columns.
        words, *others = line.split()
        for word in words.split(",") if words != "," else ",":
            for other in others:
                sure = other == "?" or not other.endswith("?")
                yield word, other if other == "?" else other.removesuffix("?"), sure
