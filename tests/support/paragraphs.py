"""Texts and the sentences that are translated of them, for Python and for the web page.

A row is a language or None, a line, and its sentences; all else is kept as it is.
"""

import random

LINES = [
    # Marks of lists, headings and quotations.
    ("en", "1. Open the door. 2. Close it.", ["Open the door.", "Close it."]),
    ("de", "1. Öffnen Sie die Tür. 2. Gehen Sie.", ["Öffnen Sie die Tür.", "Gehen Sie."]),
    ("en", "  12) Open the door.", ["Open the door."]),
    ("en", "(3) Open the door.", ["Open the door."]),
    ("en", "a) Open the door.", ["Open the door."]),
    ("en", "b. Open the door.", ["Open the door."]),
    ("en", "IV. Open the door.", ["Open the door."]),
    ("en", "(iv) Open the door.", ["Open the door."]),
    ("en", "\tii. Open the door.", ["Open the door."]),
    ("en", "1.2. Open the door.", ["Open the door."]),
    ("en", "1.2.3 Results", ["Results"]),
    ("en", "- Open the door.", ["Open the door."]),
    ("en", "*  Open the door.", ["Open the door."]),
    ("en", "• Open the door.", ["Open the door."]),
    ("en", "•Open the door.", ["Open the door."]),
    ("en", "- [x] Open the door.", ["Open the door."]),
    ("en", "## 1. Open the door", ["Open the door"]),
    ("en", "> > - a) Yes. No.", ["Yes.", "No."]),
    ("fr", "— Oui, dit-il.", ["Oui, dit-il."]),
    ("ru", "а) Открой дверь.", ["Открой дверь."]),
    ("ar", "١. افتح الباب.", ["افتح الباب."]),
    ("ar", "1- افتح الباب.", ["افتح الباب."]),
    ("hi", "१) दरवाज़ा खोलो।", ["दरवाज़ा खोलो।"]),
    ("zh", "1、打开门。2、关上门。", ["打开门。", "关上门。"]),
    ("zh", "1.打开门。", ["打开门。"]),
    ("zh", "一、打开门。", ["打开门。"]),
    ("ja", "（1）本を読む。", ["本を読む。"]),
    ("ja", "①本を読む。", ["本を読む。"]),
    ("ja", "・りんご", ["りんご"]),
    # What looks like a mark.
    ("en", "A. Einstein was born.", ["A. Einstein was born."]),
    ("en", "3.5 kilos are enough.", ["3.5 kilos are enough."]),
    ("en", ">3 people came.", [">3 people came."]),
    ("de", "z. B. so.", ["z. B. so."]),
    ("de", "3. Mai ist Feiertag.", ["3. Mai ist Feiertag."]),
    ("de", "24.12. ist Weihnachten.", ["24.12. ist Weihnachten."]),
    ("cs", "3. května přišel.", ["3. května přišel."]),
    # What has no letter.
    *((None, line, []) for line in ("---", "***", "...", "…", "•", "1.", "12,5 % (2020)", "::")),
    *((None, line, []) for line in ("😀", "👩🏽‍🚀", "ℹ️", "1️⃣", "🇩🇪", "->", "१२३", "？！")),
    ("en", "Hi! 😀 How are you? 👍🏽", ["Hi!", "How are you?"]),
    ("en", "✅ Done. → Next", ["Done.", "Next"]),
    ("en", "Really? ... No!", ["Really?", "No!"]),
    # Abbreviations, initials and ordinals.
    ("en", "See Vol. 2. No. 5 is, e.g. Mr. X.", ["See Vol. 2.", "No. 5 is, e.g. Mr. X."]),
    ("en", "Is it? No. It is not.", ["Is it?", "No.", "It is not."]),
    ("en", "Plan B. Then the U.S. Navy came.", ["Plan B.", "Then the U.S. Navy came."]),
    ("fr", "M. Dupont, Mme. Petit. Dr. Roux.", ["M. Dupont, Mme. Petit.", "Dr. Roux."]),
    ("de", "Der 1. FC Köln siegt. Im 2. Spiel.", ["Der 1. FC Köln siegt.", "Im 2. Spiel."]),
    ("de", "Er ist 30. Sie ist 28.", ["Er ist 30.", "Sie ist 28."]),
    ("de", "Am 3. 5. 2024 um 8 Uhr. Gut.", ["Am 3. 5. 2024 um 8 Uhr.", "Gut."]),
    ("de", "Er wohnt in der Goethestr. 5. Gut.", ["Er wohnt in der Goethestr. 5.", "Gut."]),
    ("es", "La Sra. Díaz. Pág. 12.", ["La Sra. Díaz.", "Pág. 12."]),
    ("it", "L'avv. Neri. Pag. 12.", ["L'avv. Neri.", "Pag. 12."]),
    ("pt", "A Sra. Costa. Av. Brasil.", ["A Sra. Costa.", "Av. Brasil."]),
    ("pl", "Pan dr. Lis. O godz. 8.", ["Pan dr. Lis.", "O godz. 8."]),
    ("ru", "Г. Москва. Он прошёл 5 м. и упал.", ["Г. Москва.", "Он прошёл 5 м. и упал."]),
    ("hu", "2024. május 3-án jött. Jó.", ["2024. május 3-án jött.", "Jó."]),
    ("hi", "डॉ. शर्मा आए। ए. पी. जे. कलाम।", ["डॉ. शर्मा आए।", "ए. पी. जे. कलाम।"]),
    # Quotations and brackets.
    ("en", '"Never!" she said. (See p. 3.) Yes.', ['"Never!" she said.', "(See p. 3.)", "Yes."]),
    ("fr", "« Non ! » dit-il. Oui.", ["« Non ! » dit-il.", "Oui."]),
    ("fi", "Ks. luku 4. ”Ei!” hän huusi.", ["Ks. luku 4.", "”Ei!” hän huusi."]),
    ("ja", "「行く。」と言った。はい。", ["「行く。」と言った。", "はい。"]),
    ("ko", '"정말?" 하고 물었다. 네.', ['"정말?" 하고 물었다.', "네."]),
    # Text in small letters.
    ("de", "ein hund läuft. 😀 wo ist er?", ["ein hund läuft.", "wo ist er?"]),
    ("de", "ein hund läuft. wo? z. b. dr. meier!", ["ein hund läuft.", "wo?", "z. b. dr. meier!"]),
]


def random_texts(count, alphabet):
    """The same texts in each run, of up to 30 characters."""
    chance = random.Random(11)
    return ["".join(chance.choices(alphabet, k=chance.randint(0, 30))) for _ in range(count)]


WORDS = """
1. 2) 3 12. 1.2. a) b. (c) iv. IV. # > - — • Dr. z. B. No. Vol. M. am Mai FC hund läuft. Hund! « »
“ ” 「 」 。 、 好 これ と言う 하고 😀 👍🏽 ℹ️ → [x] 一、 ① 1️⃣ A. I. 5 XV. U.S. p.m. ... …
май г. т. е. május 2024. डॉ. ए. 24.12.
"""


def random_lines(count, seed):
    """Lines of marks, abbreviations and words, with and without spaces of several kinds."""
    chance = random.Random(seed)
    spaces = [" ", " ", "", "\u00a0", "\u3000", "\t"]
    for _ in range(count):
        chosen = chance.choices(WORDS.split(), k=chance.randint(1, 5))
        yield "".join(word + chance.choice(spaces) for word in chosen)
