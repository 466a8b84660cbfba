"""Closed word classes: pronouns, modals, numbers and days; also names."""

from typing import NamedTuple

from support.phrasebook.words.phrase import Phrase


class Pronoun(NamedTuple):
    name: str
    english: str
    person: str  # The form of the verb: "1s", "2s", "3s" or "p".
    group: str  # Subject and object are never of the same group.


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
    Phrase("möchten", "want to"),
    Phrase("wollen", "want to"),
    Phrase("können", "can"),
    Phrase("müssen", "have to"),
    Phrase("sollen", "should"),
    Phrase("dürfen", "may"),
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
    Phrase("mein", "my"),
    Phrase("dein", "your"),
    Phrase("sein", "his"),
    Phrase("unser", "our"),
)
NAMES = (Phrase("anna", "anna"), Phrase("paul", "paul"), Phrase("maria", "maria"))
CITIES = (Phrase("berlin", "berlin"), Phrase("hamburg", "hamburg"), Phrase("wien", "vienna"))

# One to twelve, which also serve as hours.
NUMBERS = (
    Phrase("eins", "one"),
    Phrase("zwei", "two"),
    Phrase("drei", "three"),
    Phrase("vier", "four"),
    Phrase("fünf", "five"),
    Phrase("sechs", "six"),
    Phrase("sieben", "seven"),
    Phrase("acht", "eight"),
    Phrase("neun", "nine"),
    Phrase("zehn", "ten"),
    Phrase("elf", "eleven"),
    Phrase("zwölf", "twelve"),
)
TENS = (Phrase("zwanzig", "twenty"), Phrase("dreißig", "thirty"))

DAYS = {
    "present": (Phrase("heute", "today"), Phrase("jetzt", "now")),
    "modal": (Phrase("heute", "today"), Phrase("morgen", "tomorrow")),
    "past": (Phrase("gestern", "yesterday"), Phrase("heute", "today")),
}
DAY_PARTS = (Phrase("am morgen", "in the morning"), Phrase("am abend", "in the evening"))
ALWAYS = Phrase("immer", "always")
FREQUENCIES = (
    ALWAYS,
    Phrase("oft", "often"),
    Phrase("manchmal", "sometimes"),
    Phrase("nie", "never"),
)
SPOTS = (Phrase("hier", "here"), Phrase("dort", "there"), Phrase("zu hause", "at home"))
SURFACES = (Phrase("auf", "on"), Phrase("unter", "under"), Phrase("neben", "next to"))
# German "hunger haben" (have hunger) is English "be hungry".
SENSATIONS = (Phrase("hunger", "hungry"), Phrase("durst", "thirsty"))
