"""Closed word classes: pronouns, modals, numbers and days; also names."""

from typing import NamedTuple


class Pronoun(NamedTuple):
    name: str
    english: str
    person: str  # The form of the verb: "1s", "2s", "3s" or "p".
    group: str  # Subject and object are never of the same group.


class Word(NamedTuple):
    """A word or fixed phrase without inflection."""

    name: str
    english: str


# Irregular present forms of ich, du, er, wir.
IRREGULAR = {
    "sein": ("bin", "bist", "ist", "sind"),
    "haben": ("habe", "hast", "hat", "haben"),
    "wissen": ("weiß", "weißt", "weiß", "wissen"),
    "mögen": ("mag", "magst", "mag", "mögen"),
    "möchten": ("möchte", "möchtest", "möchte", "möchten"),
    "können": ("kann", "kannst", "kann", "können"),
    "müssen": ("muss", "musst", "muss", "müssen"),
    "wollen": ("will", "willst", "will", "wollen"),
    "sollen": ("soll", "sollst", "soll", "sollen"),
    "dürfen": ("darf", "darfst", "darf", "dürfen"),
}
# "müssen" is "have to": "must not" would be "nicht dürfen".
MODALS = (
    Word("möchten", "want to"),
    Word("wollen", "want to"),
    Word("können", "can"),
    Word("müssen", "have to"),
    Word("sollen", "should"),
    Word("dürfen", "may"),
)

MODALS_OF_THINGS = tuple(m for m in MODALS if m.name in ("können", "müssen", "sollen"))

# No "ihr": it could be you, her or their. The verb tells what "sie" is.
SUBJECT_PRONOUNS = (
    Pronoun("ich", "i", "1s", "speaker"),
    Pronoun("du", "you", "2s", "hearer"),
    Pronoun("er", "he", "3s", "other"),
    Pronoun("sie", "she", "3s", "other"),
    Pronoun("wir", "we", "p", "speaker"),
    Pronoun("sie", "they", "p", "other"),
)
# No "sie" as an object: it could be her or them.
OBJECT_PRONOUNS = {
    "accusative": (
        Pronoun("mich", "me", "1s", "speaker"),
        Pronoun("dich", "you", "2s", "hearer"),
        Pronoun("ihn", "him", "3s", "third"),
        Pronoun("uns", "us", "p", "speaker"),
    ),
    "dative": (
        Pronoun("mir", "me", "1s", "speaker"),
        Pronoun("dir", "you", "2s", "hearer"),
        Pronoun("ihm", "him", "3s", "third"),
        Pronoun("uns", "us", "p", "speaker"),
    ),
}
POSSESSIVES = (
    Word("mein", "my"),
    Word("dein", "your"),
    Word("sein", "his"),
    Word("unser", "our"),
)
NAMES = (Word("anna", "anna"), Word("paul", "paul"), Word("maria", "maria"))
CITIES = (Word("berlin", "berlin"), Word("hamburg", "hamburg"), Word("wien", "vienna"))

# One to twelve, which also serve as hours.
NUMBERS = (
    Word("eins", "one"),
    Word("zwei", "two"),
    Word("drei", "three"),
    Word("vier", "four"),
    Word("fünf", "five"),
    Word("sechs", "six"),
    Word("sieben", "seven"),
    Word("acht", "eight"),
    Word("neun", "nine"),
    Word("zehn", "ten"),
    Word("elf", "eleven"),
    Word("zwölf", "twelve"),
)
TENS = (Word("zwanzig", "twenty"), Word("dreißig", "thirty"))

DAYS = {
    "present": (Word("heute", "today"), Word("jetzt", "now")),
    "modal": (Word("heute", "today"), Word("morgen", "tomorrow")),
    "past": (Word("gestern", "yesterday"), Word("heute", "today")),
}
DAY_PARTS = (Word("am morgen", "in the morning"), Word("am abend", "in the evening"))
ALWAYS = Word("immer", "always")
FREQUENCIES = (
    ALWAYS,
    Word("oft", "often"),
    Word("manchmal", "sometimes"),
    Word("nie", "never"),
)
SPOTS = (Word("hier", "here"), Word("dort", "there"), Word("zu hause", "at home"))
SURFACES = (Word("auf", "on"), Word("unter", "under"), Word("neben", "next to"))
# German "hunger haben" (have hunger) is English "be hungry".
SENSATIONS = (Word("hunger", "hungry"), Word("durst", "thirsty"))
