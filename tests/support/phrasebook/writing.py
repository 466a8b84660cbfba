"""How people write the sentences of the grammar: capital letters, punctuation marks, or neither."""

import random
import re
from importlib import resources

from kformer.phrasebook import Pair
from support.phrasebook.words import german
from support.phrasebook.words.closed_classes import CITIES, NAMES, SENSATIONS
from support.phrasebook.words.lexicon import NOUNS

_MARK = re.compile(r"[.!?]$")
_GERMAN_CAPITALS = {
    *(german.noun(n, number, case) for n in NOUNS for number in n.numbers for case in german.CASES),
    *(phrase.german for phrase in (*NAMES, *CITIES, *SENSATIONS)),
    *("abend", "euro", "hause", "jahre", "tag", "uhr", "viertel"),
}
_ENGLISH_CAPITALS = {"i", *(phrase.english for phrase in (*NAMES, *CITIES))}


def written(pair: Pair) -> Pair:
    """Returns a pair with capital letters and without spaces before punctuation marks.

    Each side then ends in a full stop or a question mark.
    """
    source = re.sub(r"\bam morgen\b", "am Morgen", pair.source)  # "morgen" alone is "tomorrow".
    return Pair(_written(source, _GERMAN_CAPITALS), written_english(pair.target))


def written_english(text: str) -> str:
    """Returns an English sentence with capital letters, and with its marks as people write them."""
    return _written(text, _ENGLISH_CAPITALS)


def _written(text, capitals):
    words = [word.capitalize() if word in capitals else word for word in text.split()]
    text = re.sub(r" ([,?])", r"\1", " ".join(words))
    return text[0].upper() + text[1:] + ("" if text.endswith("?") else ".")


def hurried(text: str, rng: random.Random, commas: bool = True) -> str:
    """Returns a sentence in lower case, without its last mark, or both.

    Args:
        text: The sentence as `written` returns it.
        rng: Chooses what is left out.
        commas: Whether commas may be left out, too.
    """
    changed = text
    while changed == text:
        if rng.random() < 0.7:
            changed = changed.lower()
        if rng.random() < 0.7:
            changed = _MARK.sub("", changed)
        if commas and rng.random() < 0.3:
            changed = changed.replace(",", "")
    return changed


def everyday() -> list[Pair]:
    """Returns greetings and other everyday sentences, each in several ways of writing it.

    Without its mark, a sentence is translated as with a full stop or a question mark.
    """
    table = resources.files("support.phrasebook") / "everyday.txt"
    pairs = {}
    for line in table.read_text("utf-8").splitlines():
        source, target = line.split(" | ")
        calm = Pair(*(re.sub("!$", ".", side) for side in (source, target)))
        bare = _MARK.sub("", source)
        pairs |= {source: target, calm.source: calm.target}
        pairs |= {bare: calm.target, bare.lower(): calm.target}
    return [Pair(*item) for item in pairs.items()]


def tokens(text: str) -> str:
    """Returns a written sentence as the grammar has it: in lower case, with marks as words."""
    return re.sub(r"([,?])", r" \1", text.lower().removesuffix("."))
