"""Text of every kind, to hold a tokenizer against another: scripts, spaces, emoji, broken bytes."""

import random

_RANGES = [
    *[(0x20, 0x7E)] * 6,
    (0x00, 0x1F),
    (0x7F, 0xA0),
    (0xA1, 0x24F),
    (0x300, 0x36F),
    (0x370, 0x52F),
    (0x590, 0x6FF),
    (0x900, 0x97F),
    (0xE00, 0xE7F),
    (0x1100, 0x11FF),
    (0x1E00, 0x1FFF),
    (0x2000, 0x206F),
    (0x2070, 0x218F),
    (0x2460, 0x24FF),
    (0x2580, 0x259F),
    (0x3000, 0x30FF),
    (0x3130, 0x318F),
    (0x3200, 0x33FF),
    (0x4E00, 0x4FFF),
    (0xAC00, 0xAD00),
    (0xE000, 0xE010),
    (0xF900, 0xFA00),
    (0xFB00, 0xFDFF),
    (0xFE00, 0xFE0F),
    (0xFF00, 0xFFEF),
    (0xFFF0, 0xFFFF),
    (0x1D400, 0x1D7FF),
    (0x1F1E6, 0x1F1FF),
    (0x1F300, 0x1F64F),
    (0x20000, 0x20010),
    (0xE0020, 0xE007F),
    (0x10FFF0, 0x10FFFF),
]
_OFTEN = list("\0 \t\n\r\u00a0\u2003\u3000\u200b\u200d\ufe0f\u2028\u2581\ufffd\ufeff\u0301\u0308")
_OFTEN += list("\0\0\xad\u200c\u200d\u2060\u2066\u2069\u180b\ufe0f\u0645\u0c4d\u1820👩🏽")
_RUNS = [
    "a",
    "aa",
    "ab",
    "!",
    "...",
    "-",
    "0",
    "ha",
    "e\u0301",
    "▁",
    "ﷺ",
    "👩‍👩‍👧‍👦",
    "می\u200cخواهم ",
    "ಕ್\u200d",
]


def texts(count, words, seed=0):
    """Yields `count` byte strings without a zero at the end, most of them UTF-8.

    Args:
        words: list of strings that the tokenizer knows.
    """
    chance = random.Random(seed)
    makers = [_characters, _sentence, _run, _script, _bytes, _broken]
    for _ in range(count):
        [make] = chance.choices(makers, weights=[30, 30, 15, 10, 8, 7])
        yield make(chance, words).rstrip(b"\0")


def _character(chance):
    if chance.random() < 0.15:
        return chance.choice(_OFTEN)
    return chr(chance.randint(*chance.choice(_RANGES)))


def _characters(chance, words):
    return "".join(_character(chance) for _ in range(chance.randint(0, 25))).encode()


def _sentence(chance, words):
    """Words, with spaces or anything else between them."""
    between = [" ", " ", " ", "  ", "", "\u3000"]
    parts = []
    for _ in range(chance.randint(0, 12)):
        parts += chance.choice(words), chance.choice([*between, _character(chance)])
    return "".join(parts).encode()


def _run(chance, words):
    """The same again and again: pieces of equal score in any order."""
    part = chance.choice([*_RUNS, chance.choice(words), _character(chance) + _character(chance)])
    return (part * chance.randint(1, 30)).encode() + chance.choice([b"", b" "])


def _script(chance, words):
    span = chance.choice(_RANGES)
    return "".join(chr(chance.randint(*span)) for _ in range(chance.randint(1, 20))).encode()


def _bytes(chance, words):
    return bytes(chance.randint(0, 255) for _ in range(chance.randint(0, 20)))


def _broken(chance, words):
    text = bytearray(_characters(chance, words)) or bytearray(b"a")
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(text))
        text[place : place + 1] = b"" if chance.random() < 0.5 else bytes([chance.randint(0, 255)])
        text = text or bytearray(b"a")
    return bytes(text)


def rows(count, vocab_size, longest=30, seed=0):
    """Yields `count` lists of ids, with many of the lowest, among which the bytes are."""
    chance = random.Random(seed)
    for _ in range(count):
        length = chance.randint(0, longest)
        yield [chance.randrange(chance.choice([vocab_size, 270, 6])) for _ in range(length)]
