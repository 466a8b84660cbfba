"""The generator of `kformer/phrasebook.xz`: a grammar of German and English sentences, and reviews.

`PYTHONPATH=tests python -m support.phrasebook` writes the file anew. The modules, from words to
sentences:

    lexicon, closed_classes           the words, in both languages
    german, english                   inflection
    phrase, derivation                what a production returns; the derivation of one sentence
    noun_phrases, people              productions of subjects and objects
    times, places, circumstances      productions of adverbials
    word_order                        a clause as statement, question or subordinate clause
    events, states                    productions of clauses
    sentences, joined                 productions of sentences with one clause, with two
    parsing                           which English sentences the grammar can derive
    alignments                        which words of a sentence and its translation belong together
    writing                           the sentences as people write them; everyday sentences
    reviews                           reviews with labels, from a small grammar of their own
    __main__                          the command

German is the source language. Every German sentence has exactly one translation, which follows
from its parts, so that a perfect model makes no mistakes. In the grammar, text is lower case,
single spaces separate words and punctuation marks, and statements have no full stop; `writing`
adds capital letters and marks.
"""

import random
from collections import Counter
from collections.abc import Iterator

from kformer.phrasebook import Pair, Phrasebook
from support.phrasebook import joined  # noqa: F401  It registers productions.
from support.phrasebook.derivation import PRODUCTIONS, Derivation, Nonsense
from support.phrasebook.phrases import places, times  # noqa: F401  They register productions.
from support.phrasebook.words.lexicon import ADJECTIVES, ADJECTIVES_FOR, NOUNS, VERBS_OF
from support.phrasebook.writing import everyday, hurried, tokens, written

__all__ = ["LENGTHS", "PRODUCTIONS", "RAREST", "generate", "held_out", "sample"]

SIZES = {"train": 20_500, "valid": 500, "test": 500, "unseen": 400}
LENGTHS = range(2, 16)  # Words per side, punctuation marks included.
RAREST = 8  # Words of the other parts occur at least this often in training.
OFTEN_ENOUGH = 20  # Maximum number of sentences in `unseen` per pair of lemmas.
HURRIED = 0.1  # Share of the sources without some capital letters and punctuation marks.


def held_out(seed: int = 0) -> frozenset[tuple[str, str]]:
    """Returns the pairs of lemmas, (noun, verb) and (noun, adjective), that only `unseen` combines.

    Some nouns are held out from each verb and adjective that combines with at least six, so that
    training has all words in other combinations. Verbs with a particle are left out, because
    "macht" alone does not tell "aufmachen" (open) from "zumachen" (close).
    """
    rng = random.Random(seed)
    pairs: set[tuple[str, str]] = set()
    free = {noun.name: 2 for noun in NOUNS}  # How many more pairs may have this noun.

    def hold_out(nouns, other: str, number: int) -> None:
        candidates = [n.name for n in nouns if free[n.name]]
        for name in rng.sample(candidates, number):
            free[name] -= 1
            pairs.add((name, other))

    for verb in VERBS_OF["transitive"]:
        nouns = [noun for noun in NOUNS if set(noun.kinds) & set(verb.objects)]
        if len(nouns) >= 6 and not verb.particle:
            hold_out(nouns, verb.name, 1 if len(nouns) < 10 else 3)
    for adjective in ADJECTIVES:
        nouns = [noun for noun in NOUNS if adjective in ADJECTIVES_FOR[noun.name]]
        if len(nouns) >= 6:
            hold_out(nouns, adjective.name, 1)
    return frozenset(pairs)


def sample(rng: random.Random) -> Iterator[tuple[Pair, Derivation]]:
    """Yields random sentences endlessly, each with its derivation; sentences may repeat."""

    def choose(options, cumulative_weights=None):
        if cumulative_weights is None:
            return rng.choice(options)
        return rng.choices(options, cum_weights=cumulative_weights)[0]

    while True:
        derivation = Derivation(choose)
        try:
            pair = Pair(*derivation.derive("Sentence"))
        except Nonsense:
            continue
        if all(len(side.split()) in LENGTHS for side in pair):
            yield pair, derivation


def generate(seed: int = 0) -> Phrasebook:
    """Generates the pairs; the same seed gives the same pairs on all machines."""
    rng = random.Random(seed)
    known, unseen = _draw(rng, held_out(seed))
    rng.shuffle(known)
    train, others = _set_aside(known, SIZES["valid"] + SIZES["test"])
    count = Counter(word for pair in train for word in _words(pair))
    rng.shuffle(unseen)
    unseen = [pair for pair in unseen if all(count[word] >= RAREST for word in _words(pair))]
    train = [*_as_written(rng, train), *everyday()]
    rng.shuffle(train)
    return Phrasebook(
        train=train,
        valid=_as_written(rng, others[: SIZES["valid"]]),
        test=_as_written(rng, others[SIZES["valid"] :]),
        unseen=_as_written(rng, unseen[: SIZES["unseen"]]),
    )


def _as_written(rng, pairs: list[Pair]) -> list[Pair]:
    """Returns the pairs as people write them, some of the sources in a hurry."""
    pairs = [written(pair) for pair in pairs]
    return [
        Pair(hurried(source, rng), target) if rng.random() < HURRIED else Pair(source, target)
        for source, target in pairs
    ]


def _draw(rng, separate) -> tuple[list[Pair], list[Pair]]:
    """Samples distinct sentences: those without, and those with, a lemma pair of `separate`."""
    known, unseen = {}, {}
    other = {tokens(pair.source) for pair in everyday()}  # These are in `train` anyway.
    room = Counter(dict.fromkeys(separate, OFTEN_ENOUGH))
    sentences_wanted = SIZES["train"] + SIZES["valid"] + SIZES["test"]
    for (source, target), derivation in sample(rng):
        if len(known) == sentences_wanted:
            break
        if source in other:
            continue
        if not _together(derivation.lemmas, separate):
            known[source] = target
            continue
        shown = derivation.pairs & separate
        if shown and all(room[pair] for pair in shown) and source not in unseen:
            unseen[source] = target
            room.subtract(shown)
    return [Pair(*item) for item in known.items()], [Pair(*item) for item in unseen.items()]


def _together(lemmas: set[str], separate) -> bool:
    return any(noun in lemmas and other in lemmas for noun, other in separate)


def _words(pair: Pair) -> list[str]:
    """Returns the words of both sides; a word of both languages counts as two."""
    return [f"de {w}" for w in pair.source.split()] + [f"en {w}" for w in pair.target.split()]


def _set_aside(pairs: list[Pair], number: int) -> tuple[list[Pair], list[Pair]]:
    """Sets `number` pairs aside, so that the rest still has each of their words `RAREST` times."""
    left = Counter(word for pair in pairs for word in _words(pair))
    rest, aside = [], []
    for pair in pairs:
        words = Counter(_words(pair))
        enough = all(left[word] - words[word] >= RAREST for word in words)
        if len(aside) < number and enough:
            left.subtract(words)
            aside.append(pair)
        else:
            rest.append(pair)
    return rest, aside
