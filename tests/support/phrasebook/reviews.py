"""Reviews: English sentences that praise or blame a thing, generated from a small grammar.

A clause says by one of the `CONSTRUCTIONS` that a thing was good or bad; some of these turn the
meaning of its adjective around. Of two clauses joined by "but" the second one counts; of two joined
by "although", the one that does not follow it. So the words of a sentence alone do not tell its
label: their order does.

One of ten reviews is written in a hurry, without some of its capital letters and marks.
"""

import random
from collections.abc import Iterator

from kformer.phrasebook import LABELS, Review, Reviews
from support.phrasebook.writing import hurried, written_english

GOOD = (
    *("good", "great", "wonderful", "excellent", "pleasant", "superb", "charming"),
    *("perfect", "impressive", "enjoyable"),
)
BAD = (
    *("bad", "awful", "terrible", "dreadful", "unpleasant", "boring", "dull"),
    *("disappointing", "horrible", "tedious"),
)
THINGS = (
    *("film", "plot", "ending", "music", "concert", "book", "hotel"),
    *("room", "breakfast", "soup", "fish", "dessert", "waiter", "guide"),
    *("tour", "museum", "garden", "show", "lesson", "game"),
)
CONSTRUCTIONS = {  # Whether the clause says the opposite of its adjective.
    "the {thing} was {word}": False,
    "the {thing} was very {word}": False,
    "the {thing} was really {word}": False,
    "we found the {thing} quite {word}": False,
    "the {thing} was not {word}": True,
    "the {thing} was not at all {word}": True,
    "the {thing} was never {word}": True,
    "nobody found the {thing} {word}": True,
    "it is not true that the {thing} was {word}": True,
    "it is not true that the {thing} was not {word}": False,
    "nobody can say that the {thing} was not {word}": False,
    "the {thing} was more {word} than the {other}": False,
    "the {thing} was less {word} than the {other}": True,
    "the {thing} was just as {word} as the {other}": False,
    "the {thing} was not as {word} as the {other}": True,
}
_PATTERNS = {
    turned: [pattern for pattern, turns in CONSTRUCTIONS.items() if turns == turned]
    for turned in (False, True)
}
JOINED = ("{a} , but {b}", "although {a} , {b}", "{b} , although {a}")  # `b` counts.
TURNED = 0.35  # Share of the clauses that say the opposite of their adjective.
HURRIED = 0.1  # Share of the reviews without some capital letters and marks.
RESERVED = 8  # One of so many pairs of construction and adjective is only in the part `unseen`.


SIZES = {"train": 8000, "valid": 500, "test": 1000, "unseen": 1000}


def generate(seed: int = 0) -> Reviews:
    """Generates the reviews; the same seed gives the same reviews on all machines."""
    parts = {name: [] for name in SIZES}
    seen = [name for name in SIZES if name != "unseen"]
    for review, unseen in reviews(seed):
        names = ["unseen"] if unseen else seen
        name = next((name for name in names if len(parts[name]) < SIZES[name]), None)
        if name:
            parts[name].append(review)
        elif all(len(parts[name]) == SIZES[name] for name in SIZES):
            break
    return Reviews(**parts)


def reviews(seed: int = 0) -> Iterator[tuple[Review, bool]]:
    """Yields distinct reviews without end, each with whether it belongs to the part `unseen`.

    There it has a pair of construction and adjective that no review of the other parts has.
    """
    rng = random.Random(seed)
    known = set()
    while True:
        label, text, unseen = _review(rng)
        if text not in known:
            known.add(text)
            text = written_english(text)
            if rng.random() < HURRIED:
                text = hurried(text, rng, commas=False)
            yield Review(label, text), unseen


def _review(rng):
    """Returns a label, a lower-case text, and whether it has a reserved pair."""
    if rng.random() < 0.5:
        positive, text, unseen = _clause(rng)
    else:
        positive, b, unseen = _clause(rng)
        other, a, unseen_too = _clause(rng)
        while other == positive:
            other, a, unseen_too = _clause(rng)
        text, unseen = rng.choice(JOINED).format(a=a, b=b), unseen or unseen_too
    return LABELS[positive], text, unseen


def _clause(rng):
    """Returns whether a clause praises, its text, and whether its pair is reserved."""
    good = rng.random() < 0.5
    words = GOOD if good else BAD
    turned = rng.random() < TURNED
    place, pattern = rng.randrange(len(words)), rng.choice(_PATTERNS[turned])
    thing, other = rng.sample(THINGS, 2)
    text = pattern.format(thing=thing, other=other, word=words[place])
    reserved = (place + list(CONSTRUCTIONS).index(pattern)) % RESERVED == 0
    return good != turned, text, reserved
