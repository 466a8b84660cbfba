"""Pairs with nouns that the phrasebook lacks: a translator of the phrasebook is adapted to them."""

from typing import NamedTuple

from kformer.phrasebook import Pair

_ARTICLES = {  # Nominative; accusative, definite and indefinite.
    "m": ("der", "den", "einen"),
    "f": ("die", "die", "eine"),
    "n": ("das", "das", "ein"),
}
_TERMS = """
    m akku battery, m anker anchor, m balkon balcony, m bohrer drill, m drucker printer,
    m dübel dowel, m eimer bucket, m filter filter, m hammer hammer, m hebel lever,
    m helm helmet, m kolben piston, m kran crane, m magnet magnet, m mantel coat,
    m motor engine, m nagel nail, m pinsel paintbrush, m rahmen frame, m schalter switch,
    m schlauch hose, m spaten spade, m spiegel mirror, m stecker plug, m teppich carpet,
    f achse axle, f brücke bridge, f bürste brush, f düse nozzle, f feder spring,
    f feile file, f flasche bottle, f fliese tile, f weste vest, f kamera camera,
    f klammer clamp, f klinge blade, f kurbel crank, f lampe lamp, f leiter ladder,
    f pumpe pump, f kelle trowel, f schaufel shovel, f schraube screw, f zange wrench,
    n gerüst scaffold, n getriebe gearbox, n kabel cable, n lager bearing, n ventil valve
"""
_TRAINING = (  # Two of the three forms of the article each, so that all are seen.
    ("Wo ist {nominative} {noun}?", "Where is the {term}?"),
    ("Ist {nominative} {noun} alt?", "Is the {term} old?"),
    ("Ich suche {accusative} {noun}.", "I look for the {term}."),
    ("Wir kaufen {indefinite} {noun}.", "We buy {a} {term}."),
)
_TEST = ("Du kaufst heute {accusative} {noun}.", "You buy the {term} today.")


class NewTerms(NamedTuple):
    """Pairs of new terms.

    Attributes:
        train: 200 pairs, four of each term.
        test: A pair of each term, in a sentence that `train` has of no term.
        terms: The English terms, in the order of `test`.
    """

    train: list[Pair]
    test: list[Pair]
    terms: list[str]


def new_terms() -> NewTerms:
    """Returns pairs of 50 German nouns of tools, and their English translations."""
    train, test, terms = [], [], []
    for line in _TERMS.replace("\n", " ").split(","):
        gender, noun, term = line.split()
        words = dict(
            zip(("nominative", "accusative", "indefinite"), _ARTICLES[gender], strict=True)
        )
        words |= {"noun": noun.capitalize(), "term": term, "a": "an" if term[0] in "aeiou" else "a"}
        train += [Pair(*(side.format(**words) for side in pair)) for pair in _TRAINING]
        test.append(Pair(*(side.format(**words) for side in _TEST)))
        terms.append(term)
    return NewTerms(train, test, terms)
