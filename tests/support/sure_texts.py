"""Texts with translations that lack something, or do not; and odd ones, made by chance."""

import random

from kformer.inference.facts import ModelFacts
from kformer.inference.readings import Readings
from kformer.inference.results import Translation

LOST = [  # A text, its translation, and the flag that it shows.
    ("We saw 3,500 birds.", "Vimos 350 aves.", "number missed"),
    ("An act of 2017.", "Uma lei.", "number missed"),
    ("It has 7.5 points.", "Tem pontos.", "number missed"),
    ("Write to jane@example.org.", "Escreva para jane-example.org.", "address missed"),
    ("See https://example.org/a.", "Veja https://example.org.", "address missed"),
    ("Hello {name}!", "Olá [nome]!", "placeholder missed"),
    ("Copied %1$s of %2$d.", "Copiado %1$s.", "placeholder missed"),
    ("Press `Enter` now.", "Prima agora.", "placeholder missed"),
    ("It is near (20 miles).", "Fica perto.", "bracket missed"),
    ("He likes 🎉 parties.", "Ele gosta de festas.", "unknown characters"),
    ("The word 中文 is old.", "A palavra é antiga.", "unknown characters"),
    ("Il ne faut pas le faire ici.", "Il ne faut pas le faire ici.", "copied"),
    ("Il ne faut pas le faire tous ici.", "Il ne faut pas le faire ici.", "copied"),
    ("Ha, so it is.", "O o o o o.", "loop"),
]
FREE = [  # A text and a translation without a flag.
    ("Three or 3 or 12 birds.", "Três ou três ou doze aves."),
    ("It was 3,500 then 1.50.", "Foram 3.500 e depois 1,5."),
    ("It costs $350,000.", "Custa 350 mil dólares."),
    ("Mais de 380 000 habitantes.", "More than 380,000 inhabitants."),
    ("At 7.55am in the 19th century.", "Às 7h55 no século XIX."),
    ("The H1N1 and the A-380.", "O vírus e o avião."),
    ("On 05/12/2026.", "Em 5 de dezembro de 2026."),
    ("See www.example.org/a, please.", "Por favor, veja www.example.org/a."),
    ("Hello {{name}} and %s.", "Olá %s e {{name}}."),
    ("50 % of it.", "50% disso."),
    ("It is (very) near.", "Fica（muito）perto."),
    ("“Very” – naïve …", '"Muito" - ingénuo...'),
    ("Новый дом 🎉.", "A new house 🎉."),
    ("New York Times", "New York Times"),
    ("jane@example.org", "jane@example.org"),
    ("Ha ha ha ha ha!", "Ha ha ha ha ha!"),
    ("日本語は難しい。", "Japanese is difficult."),
    ("Japanese is difficult.", "日本語は難しい。"),
    ("", "12"),
    (" \n", ""),
]
# Numbers and marks between their digits; addresses, placeholders and brackets; words: small, in
# capitals, with two forms in one letter, without forms, of other scripts.
_WORDS = """
0 1 5 12 13 007 350 380 000 1000 2017 350000 ٣٥٠ ३५ 𝟙𝟛 ½ ² Ⅻ 99999999999999999999999
. , ' ’ ٫ - \u2011 _
https:// http:// ftp:// www. a@b.org x.y@z-1.co.uk @ .org example / . , 1 2017 350
{ } {{ }} {name} ${a} #{b} % %s %d %1$s %(n)s %@ %so <b> </b> <a < > ` `x`
( ) [ ] （ ） ［ 【 】 " ^ | \\ + $ #
the dog dog dog runs runs to H1N1 A- the THE DOG Dog RUNS ß ẞ STRASSE ǅ ǆ ª Ⓐ ⓐ İ ı ΟΔΟΣ οδος ς
дом ДОМ Дом 中文 〇 の カ 한국 السلام שלום हिन्दी ไทย 🎉 ☀ ❤️ 🏽 π Ა Ꭰ e\u0301
"""
_SPACES = (" ", " ", " ", "\u00a0", "\u202f", "\t", "\n", "\x1c", "\x85", "\u2028", "\u3000")
_PARTS = (*_WORDS.split(), *_SPACES, "\u200b", "\ufeff", "\u200d", "\x00")


def odd_pairs(count):
    """Returns texts with translations, which share most of their parts."""
    chance = random.Random(11)
    pairs = []
    for _ in range(count):
        parts = chance.choices(_PARTS, k=chance.choice((1, 3, 8, 20)))
        parts = [part + chance.choice(("", "", " ")) for part in parts]
        target = [part for part in parts if chance.random() < 0.85]
        target += chance.choices(_PARTS, k=chance.choice((0, 0, 1, 3)))
        if chance.random() < 0.2:
            target += (target[-1:] or ["a "]) * 5
        pairs.append(("".join(parts), "".join(target)))
    return pairs


def odd_capitals(count):
    """Returns texts, about half of them in capitals."""
    texts = [text for pair in odd_pairs(count // 2) for text in pair]
    return [text.upper() if place % 2 else text for place, text in enumerate(texts)]


def checked_answers(count):
    """Returns texts with what is known of a model, its answer, and what a translator answers.

    An answer is {text, flags, quality}, without the last if there is no estimate.
    """
    chance = random.Random(13)
    facts = [
        {},
        {"reads_capitals": True, "scripts": ["Cyrillic", "Latin"]},
        {"reads_capitals": False},
        {"reads_capitals": False, "scripts": ["Latin"]},
    ]
    rows = [(text, target) for text, target, _ in LOST] + FREE + odd_pairs(count)
    rows += [("12 {a} — 2026", "12 {a} — 2026"), ("ÖDE STRASSE, 12", "empty street, 12")]
    rows += zip(odd_capitals(count), odd_capitals(count), strict=True)
    for text, target in rows:
        about = chance.choice(facts)
        flags = chance.choice(([], ["loop"], ["unsure"], ["length ratio", "unsure"]))
        quality = None if "unsure" not in flags and chance.random() < 0.5 else 0.25
        readings = Readings.of([text], ModelFacts(about=about))
        answer = Translation(target, 0.0, tuple(flags), quality=quality)
        expected = readings.checked(0, answer)
        known = {} if quality is None else {"quality": quality}
        yield (
            text,
            about,
            {"text": target, "flags": flags, **known},
            [readings.read[0], expected.text, [*expected.flags], expected.quality],
        )


# Parts that are repeated, of texts that take long with a quadratic pattern.
_HOSTILE = (
    "a A é 中 🎉 a@ a. a- 1 0 1. a1 www. www.a http:// http://a { {{ {a %( %1 %(a <a ` `a ( '"
)
HOSTILE = [*_HOSTILE.split(), " ", "a ", "1 000 "]
HOSTILE_LENGTH = 50_000  # Characters.
