"""Compares splitters of sentences: kformer's, sentencex alone, and ICU, the browser's rules.

For each language: how many of the ends of sentences within the texts of `texts/` each of them
finds, and how many ends it finds where there are none; and characters a second on one core. In
`texts/LANGUAGE.txt` a line is a sentence, and a blank line separates texts.

    pip install PyICU  # Is compiled, and needs the headers of ICU, such as Debian's libicu-dev.
    PYTHONPATH=tests python -m benchmarks.sentence_splitters
"""

import itertools
import time

import icu
import sentencex

from benchmarks.sentence_splitters.texts import ends, score, texts_of_languages
from kformer.text.paragraphs.sentence_splitting import split_sentences


def main():
    """Prints a row for each language."""
    total = {splitter: [0, 0, 0] for splitter in SPLITTERS}  # Found, all, wrong.
    print("language  " + "".join(f"{name:>22}" for name in SPLITTERS))
    for language, texts in texts_of_languages().items():
        row = f"{language:10}"
        for name, split in SPLITTERS.items():
            counts = score(split, language, texts)
            total[name] = [a + b for a, b in zip(total[name], counts, strict=True)]
            row += _cell(*counts)
        print(row)
    print("all       " + "".join(_cell(*counts) for counts in total.values()))
    for name, speeds in measured().items():
        print(f"{name}: {sorted(speeds)[len(speeds) // 2] / 1e6:.1f} million characters a second")


def _cell(found, all_, wrong):
    return f"{found:3} of {all_}, {wrong} wrong".rjust(22)


def by_icu(text, language):
    """Returns the sentences that ICU finds."""
    iterator = icu.BreakIterator.createSentenceInstance(icu.Locale(language))
    content = icu.UnicodeString(text)
    iterator.setText(content)
    return [str(content[start:end]) for start, end in itertools.pairwise([0, *iterator])]


def by_sentencex(text, language):
    """Returns the sentences of sentencex alone, which panics at some white space."""
    found = sentencex.segment(language, text.replace("\u00a0", " "))
    places = [0, *ends(found)]
    return [text[start:end] for start, end in itertools.pairwise(places)]


SPLITTERS = {
    "kformer": split_sentences,
    "sentencex": by_sentencex,
    f"ICU {icu.ICU_VERSION}": by_icu,
}


def measured(rounds=5):
    """Returns the characters a second of each round, by splitter, in turn."""
    [first, *_] = texts_of_languages()["de"]
    text = "\n".join(" ".join(first) for _ in range(2000))
    speeds = {name: [] for name in SPLITTERS}
    for _ in range(rounds):
        for name, split in SPLITTERS.items():
            start = time.perf_counter()
            split(text, "de")
            speeds[name].append(len(text) / (time.perf_counter() - start))
    return speeds


if __name__ == "__main__":
    main()
