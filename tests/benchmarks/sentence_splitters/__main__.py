"""Compares sentencex, which splits text in Python, with ICU's break iterator, the browser's rules.

For each language: how many of the ends of sentences within the texts below each of them finds, and
how many ends it finds where there are none; and characters a second on one core.

    pip install PyICU  # Is compiled, and needs the headers of ICU, such as Debian's libicu-dev.
    PYTHONPATH=tests python -m benchmarks.sentence_splitters
"""

import itertools
import time

import icu

from kformer.text.paragraphs.sentences import split_sentences

TEXTS = {
    "en": [
        "Dr. Smith moved to Washington, D.C. in May.",
        "He paid $3.50 for Mr. Brown's map, i.e. too much!",
        "Was it worth it?",
        "J. R. R. Tolkien would have said so.",
        "“Never!” she said.",
        "The talk begins at 9 a.m. in St. Paul's hall.",
        "See fig. 3 on p. 12.",
        "Version 2.0 of example.org is out...",
        "Nobody noticed.",
    ],
    "de": [
        "Das kostet z. B. 3,50 Euro.",
        "Am 3. Oktober kommt Herr Dr. Meier, d. h. bald!",
        "Wirklich?",
        "Die Nr. 7 fährt bis zur Hauptstr. und zurück.",
        "Im 19. Jahrhundert war das bzw. blieb das so.",
        "„Nein!“, rief sie.",
        "Er wohnt seit 1990 hier, u. a. wegen der Luft.",
    ],
    "fr": [
        "M. Dupont arrive à 8 h 30.",
        "Combien coûte-t-il\u00a0?",
        "Env. 3,5 millions, p. ex. en 2020.",
        "Mme Martin a dit «\u00a0Non\u00a0!\u00a0» hier.",
        "C'est le plan B\u00a0!",
        "J.-P. Durand l'a vu, cf. p. 12.",
    ],
    "es": [
        "El Sr. López vive en EE. UU. desde 1990.",
        "¿Cuánto cuesta?",
        "¡Mucho!",
        "La Dra. Ruiz pagó 3.500 pesos, p. ej. ayer.",
        "Véase la pág. 12.",
    ],
    "ru": [
        "А. С. Пушкин родился в 1799 г. в Москве.",
        "Это стоит 3,5 млн. рублей!",
        "Правда?",
        "Он жил на ул. Ленина, т. е. рядом.",
    ],
    "ja": [
        "これは本です。",
        "いくらですか？",
        "高い！",
        "彼は「行く。」と言った。",
        "3.5キロです。",
    ],
    "zh": ["这是一本书。", "多少钱？", "太贵了！", "他说：“好。”", "重3.5公斤。"],
    "hi": ["यह एक किताब है।", "इसका दाम क्या है?", "डॉ. शर्मा ने 3.50 रुपये दिए।", "सच!"],
    "ar": ["هذا كتاب.", "كم ثمنه؟", "وصل د. أحمد في 3.5 ساعات.", "حقا!"],
}
UNSPACED = ("ja", "zh")


def main():
    """Prints a row for each language."""
    counts = {splitter: [0, 0, 0] for splitter in SPLITTERS}  # Found, all, wrong.
    print("language  " + "".join(f"{name:>22}" for name in SPLITTERS))
    for language, sentences in TEXTS.items():
        space = "" if language in UNSPACED else " "
        expected = set(ends(f"{sentence}{space}" for sentence in sentences))
        text = space.join(sentences)
        row = f"{language:10}"
        for name, split in SPLITTERS.items():
            # What a translator would be given: white space at a piece's end does not matter.
            found = set(ends(split(text, language))) - {len(text)}
            wanted = expected - {len(text) + len(space)}
            hits, wrong = len(found & wanted), len(found - wanted)
            counts[name] = [
                a + b for a, b in zip(counts[name], (hits, len(wanted), wrong), strict=True)
            ]
            row += f"{hits:3} of {len(wanted)}, {wrong} wrong".rjust(22)
        print(row)
    print("all       ", end="")
    for hits, all_, wrong in counts.values():
        print(f"{hits:3} of {all_}, {wrong} wrong".rjust(22), end="")
    print()
    for name, speeds in measured().items():
        print(f"{name}: {sorted(speeds)[len(speeds) // 2] / 1e6:.1f} million characters a second")


def by_icu(text, language):
    """Returns the sentences that ICU finds."""
    iterator = icu.BreakIterator.createSentenceInstance(icu.Locale(language))
    content = icu.UnicodeString(text)
    iterator.setText(content)
    ends = [0, *iterator]
    return [str(content[start:end]) for start, end in itertools.pairwise(ends)]


SPLITTERS = {"sentencex": split_sentences, f"ICU {icu.ICU_VERSION}": by_icu}


def ends(sentences):
    """Yields the place of the end of each sentence."""
    return itertools.accumulate(len(sentence) for sentence in sentences)


def measured(rounds=5):
    """Returns the characters a second of each round, by splitter, in turn."""
    text = "\n".join(" ".join(TEXTS["de"]) for _ in range(2000))
    speeds = {name: [] for name in SPLITTERS}
    for _ in range(rounds):
        for name, split in SPLITTERS.items():
            start = time.perf_counter()
            split(text, "de")
            speeds[name].append(len(text) / (time.perf_counter() - start))
    return speeds


if __name__ == "__main__":
    main()
