"""Nouns, adjectives and verbs, in both languages, with their grammatical properties.

A kind says what a word can be combined with, so that one drinks beer and reads books: a verb
lists the kinds of its subjects and objects, an adjective the kinds of the nouns it describes.
"""

from typing import NamedTuple


class Noun(NamedTuple):
    name: str
    plural: str | None
    gender: str  # "m", "f" or "n"
    english: str
    english_plural: str | None
    kinds: tuple[str, ...]

    @property
    def numbers(self) -> tuple[str, ...]:
        return ("singular", "plural") if self.plural else ("singular",)


class Adjective(NamedTuple):
    name: str
    stem: str
    english: str
    kinds: tuple[str, ...]


class Verb(NamedTuple):
    """A verb; `changed` is the stem of du and er. Verbs without a participle are states."""

    name: str
    particle: str
    stem: str
    changed: str | None
    participle: str | None
    auxiliary: str | None
    english: str
    past: str | None
    frame: str
    subjects: tuple[str, ...]
    objects: tuple[str, ...]


def _rows(table: str):
    for line in table.strip().splitlines():
        yield [None if cell == "-" else cell.replace("_", " ") for cell in line.split()]


def _kinds(cell: str | None) -> tuple[str, ...]:
    return tuple(cell.split(",")) if cell else ()


def _verb(infinitive, changed, participle, auxiliary, english, past, frame, subjects, objects):
    particle, _, simple = infinitive.rpartition("|")
    return Verb(
        name=particle + simple,
        particle=particle,
        stem=simple.removesuffix("n").removesuffix("e"),
        changed=changed,
        participle=participle,
        auxiliary=auxiliary,
        english=english,
        past=past,
        frame=frame,
        subjects=_kinds(subjects),
        objects=_kinds(objects),
    )


# Four kinds govern determiners: `mass` nouns have no plural, `serving` ones may have "ein" (a
# beer), `own` ones may have a possessive, and `kin` ones always have one.
NOUNS = tuple(
    Noun(*row, kinds=_kinds(kinds))
    for *row, kinds in _rows("""
mann       männer      m  man        men         person,grown,stranger
frau       frauen      f  woman      women       person,grown,stranger
mädchen    mädchen     n  girl       girls       person,little,stranger
kind       kinder      n  child      children    person,little,own
freund     freunde     m  friend     friends     person,grown,skilled,stranger,own
lehrer     lehrer      m  teacher    teachers    person,grown,skilled,stranger,own
arzt       ärzte       m  doctor     doctors     person,grown,skilled,stranger,own
vater      -           m  father     -           person,grown,kin
mutter     -           f  mother     -           person,grown,kin
bruder     brüder      m  brother    brothers    person,grown,kin
schwester  schwestern  f  sister     sisters     person,grown,kin
hund       hunde       m  dog        dogs        animal,own
katze      katzen      f  cat        cats        animal,own
pferd      pferde      n  horse      horses      animal,own
vogel      vögel       m  bird       birds       animal
kaffee     -           m  coffee     -           drink,hot,own,mass,serving
tee        -           m  tea        -           drink,hot,own,mass,serving
bier       -           n  beer       -           drink,own,mass,serving
wein       -           m  wine       -           drink,own,mass
wasser     -           n  water      -           drink,hot,mass
milch      -           f  milk       -           drink,hot,fresh,mass
brot       -           n  bread      -           food,fresh,own,mass
käse       -           m  cheese     -           food,fresh,mass
fleisch    -           n  meat       -           food,fresh,mass
suppe      suppen      f  soup       soups       food,dish,own
apfel      äpfel       m  apple      apples      food,fresh,fruit,own
ei         eier        n  egg        eggs        food,fresh,own
kuchen     kuchen      m  cake       cakes       food,fresh,own
buch       bücher      n  book       books       readable,text,portable,own
brief      briefe      m  letter     letters     readable,text,portable,own
zeitung    zeitungen   f  newspaper  newspapers  readable,portable,own
schlüssel  schlüssel   m  key        keys        ware,portable,own
tasche     taschen     f  bag        bags        ware,portable,coloured,feature,own
hut        hüte        m  hat        hats        ware,portable,coloured,feature,own
jacke      jacken      f  jacket     jackets     ware,portable,coloured,feature,own
hemd       hemden      n  shirt      shirts      ware,portable,coloured,own
auto       autos       n  car        cars        ware,coloured,own
fahrrad    fahrräder   n  bicycle    bicycles    ware,coloured,own
tisch      tische      m  table      tables      ware,furniture,own
stuhl      stühle      m  chair      chairs      ware,furniture,coloured,own
tür        türen       f  door       doors       opening,coloured
fenster    fenster     n  window     windows     opening
haus       -           n  house      -           place,building,sight,own
garten     -           m  garden     -           place,outdoors,own
küche      -           f  kitchen    -           place,own
büro       -           n  office     -           place,own
park       -           m  park       -           place,outdoors,sight
schule     -           f  school     -           place,sight
stadt      -           f  city       -           place,outdoors
kino       -           n  cinema     -           place,sight
film       filme       m  film       films       event
konzert    konzerte    n  concert    concerts    event
zug        züge        m  train      trains      vehicle
bus        busse       m  bus        buses       vehicle
""")
)

ADJECTIVES = tuple(
    Adjective(name, stem or name, english, _kinds(kinds))
    for name, stem, english, kinds in _rows("""
alt     -     old        grown,animal,ware,readable,building,opening,vehicle
neu     -     new        ware,readable,event,opening,vehicle
groß    -     big        animal,ware,place,opening
klein   -     small      animal,ware,place,little,opening
schön   -     beautiful  animal,coloured,place,event
rot     -     red        coloured,fruit,vehicle
blau    -     blue       coloured,vehicle
teuer   teur  expensive  ware,food,drink
kalt    -     cold       drink,dish
heiß    -     hot        hot,dish
frisch  -     fresh      fresh
gut     -     good       skilled,food,drink,readable,event
müde    müd   tired      person,animal
krank   -     sick       person,animal
nett    -     nice       person
""")
)

VERBS = tuple(
    _verb(*row)
    for row in _rows("""
trinken     -       getrunken    haben  drink      drank       transitive    person  drink
essen       iss     gegessen     haben  eat        ate         transitive    person  food
lesen       lies    gelesen      haben  read       read        transitive    person  readable
schreiben   -       geschrieben  haben  write      wrote       transitive    person  text
kaufen      -       gekauft      haben  buy        bought      transitive    person  drink,food,readable,ware
suchen      -       gesucht      haben  look_for   looked_for  transitive    person  person,animal,ware,readable
finden      -       gefunden     haben  find       found       transitive    person  person,animal,ware,readable
sehen       sieh    gesehen      haben  see        saw         transitive    person  person,animal,ware,event
besuchen    -       besucht      haben  visit      visited     transitive    person  person
an|rufen    -       angerufen    haben  call       called      transitive    person  person
ein|laden   läd     eingeladen   haben  invite     invited     transitive    person  person
auf|machen  -       aufgemacht   haben  open       opened      transitive    person  opening
zu|machen   -       zugemacht    haben  close      closed      transitive    person  opening
geben       gib     gegeben      haben  give       gave        ditransitive  person  food,portable
zeigen      -       gezeigt      haben  show       showed      ditransitive  person  animal,ware,readable
helfen      hilf    geholfen     haben  help       helped      dative        person  person
schlafen    schläf  geschlafen   haben  sleep      slept       rest          person,animal  -
spielen     -       gespielt     haben  play       played      intransitive  person,animal  -
laufen      läuf    gelaufen     sein   run        ran         intransitive  person,animal  -
warten      -       gewartet     haben  wait       waited      intransitive  person,animal  -
arbeiten    -       gearbeitet   haben  work       worked      intransitive  person  -
tanzen      -       getanzt      haben  dance      danced      intransitive  person  -
auf|stehen  -       aufgestanden sein   get_up     got_up      timed         person  -
an|kommen   -       angekommen   sein   arrive     arrived     timed         person,vehicle  -
kommen      -       gekommen     sein   come       came        timed         person,vehicle  -
an|fangen   fäng    angefangen   haben  begin      began       timed         event   -
gehen       -       gegangen     sein   go         went        motion        person  -
fahren      fähr    gefahren     sein   travel     travelled   journey       person  -
bleiben     -       geblieben    sein   stay       stayed      remaining     person  -
wohnen      -       -            -      live       -           residence     person  -
kennen      -       -            -      know       -           state         person  person
haben       -       -            -      have       -           state         person  animal,ware,readable
brauchen    -       -            -      need       -           state         person  drink,food,ware
möchten     -       -            -      want       -           state         person  drink,food,ware
mögen       -       -            -      like       -           liking        person  drink,food,animal,event
gehören     -       -            -      belong_to  -           belonging     animal,ware,portable  person
kosten      -       -            -      cost       -           price         drink,food,ware,readable  -
sein        -       -            -      be         -           copula        person,animal  -
wissen      -       -            -      know       -           thought       person  -
glauben     -       -            -      think      -           thought       person  -
hoffen      -       -            -      hope       -           thought       person  -
regnen      -       -            -      be_raining -           weather       -       -
schneien    -       -            -      be_snowing -           weather       -       -
""")  # noqa: E501
)


def _grouped(words, keys_of):
    """Returns the words by key; `keys_of` returns the keys of a word."""
    keys = sorted({key for word in words for key in keys_of(word)})
    return {key: tuple(word for word in words if key in keys_of(word)) for key in keys}


NOUNS_OF = _grouped(NOUNS, lambda noun: noun.kinds)
VERBS_OF = _grouped(VERBS, lambda verb: [verb.frame])
ADJECTIVES_FOR = {
    noun.name: tuple(a for a in ADJECTIVES if set(a.kinds) & set(noun.kinds)) for noun in NOUNS
}
