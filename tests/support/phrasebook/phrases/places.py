"""Productions of places and destinations, with the case that the preposition takes."""

from support.phrasebook.derivation import production, terminal, unit_production
from support.phrasebook.phrases.noun_phrases import around, around_specific
from support.phrasebook.words import german
from support.phrasebook.words.closed_classes import CITIES, SPOTS, SURFACES
from support.phrasebook.words.lexicon import NOUNS_OF
from support.phrasebook.words.phrase import Phrase, prefixed


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
    return d.pick(SPOTS)


unit_production("Place", 1, "in_a_city", to="City")


@production("City")
def city(d):
    """in wien -> in vienna"""
    return prefixed("in", "in", d.pick(CITIES))


@production("Outdoors", 2)
def in_the_open(d):
    """in diesem garten -> in this garden"""
    return _in(d.derive("Specific", noun=d.pick(NOUNS_OF["outdoors"]), case="dative"))


@production("Outdoors", 1)
def here_or_there(d):
    """hier -> here"""
    return d.pick(SPOTS[:2])


unit_production("Residence", 1, "in_town", to="City")


@production("Residence", 1)
def in_a_building(d):
    """in einem alten haus -> in an old house"""
    return _in(around(d, d.pick(NOUNS_OF["building"]), "dative"))


unit_production("Spot", 1, "in_a_place", to="Place")


@production("Spot", 3)
def surface(d):
    """unter dem tisch -> under the table"""
    preposition = d.pick(SURFACES)
    return prefixed(*preposition, around_specific(d, d.pick(NOUNS_OF["furniture"]), "dative"))


# Destination, Goal, Journey: destinations, with or without a vehicle


@production("Destination", 4)
def into_a_place(d):
    """in den park -> to the park"""
    place = around_specific(d, d.pick(NOUNS_OF["place"]), "accusative")
    return Phrase(german.contract("in", place.german), f"to {place.english}")


terminal("Destination", 1, "homeward", Phrase("nach hause", "home"))
unit_production("Goal", 1, "to_a_destination", to="Destination")


@production("Goal", 1)
def to_a_city(d):
    """nach wien -> to vienna"""
    return prefixed("nach", "to", d.pick(CITIES))


unit_production("Journey", 1, "to_a_goal", to="Goal")


@production("Journey", 1)
def by_vehicle(d):
    """mit dem bus nach berlin -> to berlin by bus"""
    vehicle, goal = d.pick(NOUNS_OF["vehicle"]), d.derive("Goal")
    return Phrase(f"mit dem {vehicle.name} {goal.german}", f"{goal.english} by {vehicle.english}")
