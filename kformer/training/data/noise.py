"""Noise: training text as people type it, in capitals, in a hurry, with errors and emoji.

A model that was trained on clean text alone fails on such text: a few typos cost several BLEU, a
line of capitals most of it ([Belinkov and Bisk, 2018](https://arxiv.org/abs/1711.02173);
[Berard et al., 2019](https://aclanthology.org/D19-5617)). Synthetic noise in training wins much of
it back, even where people's errors are of other kinds
([Karpukhin et al., 2019](https://aclanthology.org/D19-5506)). Each kind of noise changes a random
share of the sentences, its rate, and each pass changes others. Several kinds may meet in one
sentence, in the order of `kformer.training.recipes.noise_rates.NOISES`.

The target changes, too, where a reader expects to find in the translation what the writer did on
purpose, as in OpusTrainer ([Bogoychev et al., 2023](https://arxiv.org/abs/2311.14838)), with which
Firefox's translators are trained:

- `upper`, `title`: a headline or a shout stays one.
- `punctuation`: a heading or the label of a button has no full stop, and its translation gets none;
  "!!" stays "!!".
- `symbols`: they are copied.
- `join`, `repeat`: a translation has as many sentences as its source. Models that never saw two
  short sentences in a line, or the same one twice, translate some short sentences twice.

The target stays as it is where the writer made an error or was in a hurry, because the translation
should have none of it:

- `typos`: in each word of four letters or more with a probability of 0.1, and in one at least, a
  letter behind the first becomes its neighbour on the keyboard, changes places with the next, or
  is left out.
- `accents`: "schon" for "schön" and "strasse" for "straße", of Latin and Greek letters. Marks of
  other scripts are letters of their own.
- `lower`: "ein hund läuft" is "A dog is running", with the capitals of the target language.

Everything works on text, before the tokenizer. It does without TensorFlow.
"""

import functools
import random
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Self

from kformer.training.recipes.noise_rates import NOISES, noise_rates

SHORT = 60  # Characters of the longer side of a pair that may be joined or repeated.
_TYPO_RATE = 0.1  # Of words.
_KEYBOARDS = (  # Rows of letters.
    ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    ("qwertzuiopü", "asdfghjklöä", "yxcvbnm"),
    ("йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю"),
)
_MARKS = ".!?…。！？؟।"
_FINAL_MARK = re.compile(rf"(?<=[^\s{_MARKS}])\s?[{_MARKS}]+$")
_OPENING_MARK = re.compile(r"^[¿¡]+")
_FIRST_LETTER = re.compile(r"(?<![\w'’])[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]{4,}")
_SIGNS = "•▪►▶✓✔✗★☆♥♦→←↑↓⇒©®§¶†°€£$¥₹#*~^|×±≈≤≥∞"
_EMOJI = (  # Ranges of code points that fonts have had for years.
    (0x1F300, 0x1F321),
    (0x1F32D, 0x1F394),
    (0x1F3A0, 0x1F3CB),
    (0x1F400, 0x1F4FD),
    (0x1F600, 0x1F650),
    (0x1F680, 0x1F6C6),
    (0x1F910, 0x1F93B),
    (0x1F940, 0x1F946),
    (0x1F950, 0x1F96C),
)
_EMOJIS = "".join(chr(code) for start, end in _EMOJI for code in range(start, end))
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\uffef]$")
_WITHOUT_ACCENT = {
    "ß": "ss",
    "ẞ": "SS",
    "æ": "ae",
    "œ": "oe",
    "ø": "o",
    "đ": "d",
    "ł": "l",
    "ı": "i",
}
_WITHOUT_ACCENT |= {"Æ": "AE", "Œ": "OE", "Ø": "O", "Đ": "D", "Ł": "L"}

Pair = tuple[str, str]


def upper(source: str, target: str, rng: random.Random) -> Pair:
    """Writes both sides in upper case; a German ß becomes SS."""
    return source.upper(), target.upper()


def title(source: str, target: str, rng: random.Random) -> Pair:
    """Begins each word of both sides with a capital letter; the other letters stay."""
    return _title(source), _title(target)


def lower(source: str, target: str, rng: random.Random) -> Pair:
    """Writes the source in lower case."""
    return source.lower(), target


def accents(source: str, target: str, rng: random.Random) -> Pair:
    """Replaces the accented Latin and Greek letters of the source by the bare ones."""
    return source.translate(_bare_letters()), target


def punctuation(source: str, target: str, rng: random.Random) -> Pair:
    """Drops the final mark of both sides, or writes it twice; a full stop three times."""
    if rng.random() < 0.5 or not all(map(_FINAL_MARK.search, (source, target))):
        return _without_mark(source), _without_mark(target)
    return _marked_again(source), _marked_again(target)


def symbols(source: str, target: str, rng: random.Random) -> Pair:
    """Puts the same one to three symbols before or after both sides."""
    signs = rng.choice(_SIGNS if rng.random() < 0.4 else _EMOJIS)
    signs *= 1 if rng.random() < 0.8 else rng.randrange(2, 4)
    space = "" if rng.random() < 0.2 else " "
    if rng.random() < 0.4:
        return f"{signs}{space}{source}", f"{signs}{space}{target}"
    return f"{source}{space}{signs}", f"{target}{space}{signs}"


def repeat(source: str, target: str, rng: random.Random) -> Pair:
    """Writes a short pair twice; a long one stays."""
    pair = source, target
    return joined(pair, pair) if is_short(*pair) else pair


def typos(source: str, target: str, rng: random.Random) -> Pair:
    """Puts typing errors into words of the source, one at least if a word is long enough."""
    words = [match.span() for match in _WORD.finditer(source) if source[match.start()] < "\u2e80"]
    if not words:
        return source, target
    chosen = [word for word in words if rng.random() < _TYPO_RATE] or [rng.choice(words)]
    for start, end in reversed(chosen):
        source = source[:start] + _mistyped(source[start:end], rng) + source[end:]
    return source, target


def is_short(source: str, target: str) -> bool:
    """Returns whether a pair is short enough to be joined with another one, or repeated."""
    return max(len(source), len(target)) <= SHORT


def joined(first: Pair, second: Pair) -> Pair:
    """Returns two pairs as one: a space joins sentences in scripts that have spaces."""
    source, target = (
        f"{begin}{'' if _UNSPACED.search(begin) else ' '}{end}"
        for begin, end in zip(first, second, strict=True)
    )
    return source, target


_CHANGES: dict[str, Callable[[str, str, random.Random], Pair]] = {
    "repeat": repeat,
    "symbols": symbols,
    "lower": lower,
    "title": title,
    "upper": upper,
    "accents": accents,
    "punctuation": punctuation,
    "typos": typos,
}


class Noise:
    """Random changes of pairs of sentences.

    Args:
        rates: Share of the pairs that get each kind of noise, in [0, 1], by the names in
            `kformer.training.recipes.noise_rates.NOISES`. `join` and `repeat` change short pairs
            alone, of at most `SHORT` characters on each side.
    """

    def __init__(self, rates: Mapping[str, float]):
        self._rates = {name: rates[name] for name in NOISES if name in rates}

    @classmethod
    def of(cls, text: str, among: Collection[str] = tuple(NOISES)) -> Self | None:
        """Returns the noise of a recipe; None where it has none.

        The arguments and errors are those of `kformer.training.recipes.noise_rates.noise_rates`.
        """
        rates = noise_rates(text, among)
        return cls(rates) if rates else None

    def __call__(
        self,
        source: Sequence[str],
        target: Sequence[str],
        seed: int,
        groups: Sequence[int] | None = None,
    ) -> dict[int, Pair]:
        """Returns the pairs that changed, by their places, ascending.

        Args:
            source, target: N texts each.
            seed: The same seed changes the same pairs.
            groups: N numbers, such as those of directions of translation: pairs of one number may
                be joined. By default all pairs may be.
        """
        groups = [0] * len(source) if groups is None else groups
        rng = random.Random(seed)
        kinds: dict[int, list[str]] = {}  # Of each chosen place.
        for name, rate in self._rates.items():
            for i in range(len(source)):
                if rng.random() < rate:
                    kinds.setdefault(i, []).append(name)
        short: dict[int, list[int]] = {}  # Of each group, the pairs that others are joined with.
        if "join" in self._rates:
            for i, pair in enumerate(zip(source, target, strict=True)):
                if is_short(*pair):
                    short.setdefault(groups[i], []).append(i)
        changed = {}
        for i in sorted(kinds):
            usual = pair = source[i], target[i]
            for name in kinds[i] if all(map(str.strip, usual)) else ():
                if name != "join":
                    pair = _CHANGES[name](*pair, rng)
                elif is_short(*pair):
                    partner = rng.choice(short.get(groups[i]) or [i])
                    pair = joined(pair, (source[partner], target[partner]))
            if pair != usual and all(map(str.strip, pair)):
                changed[i] = pair
        return changed


def noisy_text(
    name: str, source: Sequence[str], target: Sequence[str], seed: int = 0
) -> tuple[list[str], list[str]]:
    """Returns a text and its translation, each pair with one kind of noise where it can be."""
    changed = Noise({name: 1.0})(source, target, seed)
    pairs = [changed.get(i, pair) for i, pair in enumerate(zip(source, target, strict=True))]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


class TextNoise(Noise):
    """Random changes of labelled texts, whose labels stay."""

    def __call__(
        self,
        source: Sequence[str],
        target: Sequence[str],
        seed: int,
        groups: Sequence[int] | None = None,
    ) -> dict[int, Pair]:
        changed = super().__call__(source, source, seed, groups)
        return {i: (text, target[i]) for i, (text, _) in changed.items()}


def _title(text):
    return _FIRST_LETTER.sub(lambda match: match[0].upper(), text)


def _without_mark(text):
    """Returns a text without its final mark, and without a Spanish one that opens it."""
    bare = _FINAL_MARK.sub("", text)
    return text if bare == text else _OPENING_MARK.sub("", bare)


def _marked_again(text):
    mark = text[-1]
    return text + mark * (2 if mark == "." and not text.endswith("..") else 1)


def _mistyped(word, rng):
    """Returns a word of at least four letters with one typing error behind its first letter."""
    i = rng.randrange(1, len(word) - 1)
    kind = rng.randrange(3)
    if kind == 0 and (near := _NEIGHBOURS.get(word[i].lower())):
        letter = rng.choice(near)
        return word[:i] + (letter.upper() if word[i].isupper() else letter) + word[i + 1 :]
    if kind == 1 and word[i] != word[i + 1]:
        return word[:i] + word[i + 1] + word[i] + word[i + 2 :]
    return word[:i] + word[i + 1 :]


def _neighbours():
    """Returns, for each letter, the letters next to it on any of the keyboards."""
    near: dict[str, dict[str, None]] = {}
    for rows in _KEYBOARDS:
        places = {letter: (x, y) for y, row in enumerate(rows) for x, letter in enumerate(row)}
        for letter, (x, y) in places.items():
            for neighbour, (column, row) in places.items():
                # Each row lies half a key to the right of the row above.
                across = column - x + (row - y) / 2
                if letter != neighbour and abs(row - y) <= 1 and abs(across) <= 1:
                    near.setdefault(letter, {})[neighbour] = None
    return {letter: "".join(neighbours) for letter, neighbours in near.items()}


_NEIGHBOURS = _neighbours()


@functools.cache
def _bare_letters():
    """Returns the table for `str.translate` that drops accents of Latin and Greek letters."""
    table = {}
    for code in (*range(0xC0, 0x250), *range(0x370, 0x400), *range(0x1E00, 0x2000)):
        base = unicodedata.normalize("NFD", chr(code))[0]
        if base.isalpha() and ord(base) != code:
            table[code] = base
    return table | {ord(letter): bare for letter, bare in _WITHOUT_ACCENT.items()}
