"""Productions of places and destinations, with the case that the preposition takes."""

from kformer.phrasebook.derivation import production
from kformer.phrasebook.phrases.noun_phrases import around, around_specific
from kformer.phrasebook.phrases.times import Phrase
from kformer.phrasebook.words import german
from kformer.phrasebook.words.closed_classes import CITIES, SPOTS, SURFACES
from kformer.phrasebook.words.lexicon import NOUNS_OF


def _in(place) -> Phrase:
    return Phrase(german.contract("in", place.german), f"in {place.english}")


# Place: places of people and animals; Outdoors, City, Residence, Spot: some of them


@production("Place", 5)
def inside(d):
    """im alten haus -> in the old house"""
    return _in(around_specific(d, d.pick(NOUNS_OF["place"]), "dative"))


@production("Place", 2)
def spot(d):
    """zu hause -> at home"""
    word = d.pick(SPOTS)
    return Phrase(word.name, word.english)


@production("Place", 1)
def in_a_city(d):
    return d.derive("City")


@production("City")
def city(d):
    """in wien -> in vienna"""
    name = d.pick(CITIES)
    return Phrase(f"in {name.name}", f"in {name.english}")


@production("Outdoors", 2)
def in_the_open(d):
    """in diesem garten -> in this garden"""
    return _in(d.derive("Specific", noun=d.pick(NOUNS_OF["outdoors"]), case="dative"))


@production("Outdoors", 1)
def here_or_there(d):
    """hier -> here"""
    word = d.pick(SPOTS[:2])
    return Phrase(word.name, word.english)


@production("Residence", 1)
def in_town(d):
    return d.derive("City")


@production("Residence", 1)
def in_a_building(d):
    """in einem alten haus -> in an old house"""
    return _in(around(d, d.pick(NOUNS_OF["building"]), "dative"))


@production("Spot", 1)
def in_a_place(d):
    return d.derive("Place")


@production("Spot", 3)
def surface(d):
    """unter dem tisch -> under the table"""
    preposition = d.pick(SURFACES)
    thing = around_specific(d, d.pick(NOUNS_OF["furniture"]), "dative")
    return Phrase(f"{preposition.name} {thing.german}", f"{preposition.english} {thing.english}")


# Destination, Goal, Journey: destinations, with or without a vehicle


@production("Destination", 4)
def into_a_place(d):
    """in den park -> to the park"""
    place = around_specific(d, d.pick(NOUNS_OF["place"]), "accusative")
    return Phrase(german.contract("in", place.german), f"to {place.english}")


@production("Destination", 1)
def homeward(d):
    """nach hause -> home"""
    return Phrase("nach hause", "home")


@production("Goal", 1)
def to_a_destination(d):
    return d.derive("Destination")


@production("Goal", 1)
def to_a_city(d):
    """nach wien -> to vienna"""
    name = d.pick(CITIES)
    return Phrase(f"nach {name.name}", f"to {name.english}")


@production("Journey", 1)
def to_a_goal(d):
    return d.derive("Goal")


@production("Journey", 1)
def by_vehicle(d):
    """mit dem bus nach berlin -> to berlin by bus"""
    vehicle, goal = d.pick(NOUNS_OF["vehicle"]), d.derive("Goal")
    return Phrase(f"mit dem {vehicle.name} {goal.german}", f"{goal.english} by {vehicle.english}")
