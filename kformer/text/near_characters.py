"""Characters that a vocabulary lacks: each is read as the nearest that the vocabulary can spell.

A pretrained vocabulary without byte fallback knows the characters of its training text alone. That
text was often cleaned: it has no typographic quotes and dashes, though every web page has them. The
nearest characters are rules of the SentencePiece model itself, so every form of a translator has
them.

- A typographic mark becomes a plain one: "“" a quotation mark, "–" a hyphen.
- A letter loses its accents, or becomes the letters that it is written with instead: "ü" is "u",
  "ß" is "ss".
- A digit of another script becomes one of ASCII; the sign of a currency becomes its code.

What has no such neighbour stays, and is unknown, such as "中" to a vocabulary of English.
"""

import functools
import unicodedata
from collections.abc import Iterator

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

_PIECE = sentencepiece_model_pb2.ModelProto.SentencePiece
_TEXT_TYPES = (_PIECE.NORMAL, _PIECE.USER_DEFINED)
_SPACE = "\u2581"  # As a vocabulary writes it.
# Ways to write a character, the best first.
_WAYS = {
    character: tuple(ways.split())
    for characters, ways in {
        "“”„‟«»″〝〞＂": "\" ''",
        "‘’‚‛′ʼ`´‹›": "'",
        "–—―‒‐‑−⁃": "-",
        "•‣◦∙·▪●○■": "- *",
        "…": "...",
        "{": "[ (",
        "}": "] )",
        "[": "(",
        "]": ")",
        "\\": "/",
        "|": "/",
        "~": "-",
        "×": "x *",
        "÷∕⁄": "/",
        "±": "+/-",
        "→": "->",
        "≥": ">=",
        "≤": "<=",
        "©": "(C)",
        "®": "(R)",
        "€": "EUR",
        "£": "GBP",
        "¥": "JPY",
        "₹": "INR",
        "₽": "RUB",
        "ß": "ss",
        "ẞ": "SS",
        "æ": "ae",
        "Æ": "AE",
        "œ": "oe",
        "Œ": "OE",
        "ø": "o",
        "Ø": "O",
        "ł": "l",
        "Ł": "L",
        "đð": "d",
        "ĐÐ": "D",
        "þ": "th",
        "Þ": "Th",
        "ı": "i",
        "ħ": "h",
        "Ħ": "H",
        "ŋ": "n",
        "Ŋ": "N",
        "ŧ": "t",
        "Ŧ": "T",
        "ƒ": "f",
        "ſ": "s",
        "ĸ": "k",
        "ё": "е",  # Both Cyrillic.
        "Ё": "Е",
        "ґ": "г",
        "Ґ": "Г",
    }.items()
    for character in characters
}
_SIGNS = "€£¥₹₽"  # Their codes are words, which do not touch the number beside them.
_MOST = 0x20000  # Characters behind it have no nearest ones.


def spell_near(model: sentencepiece_model_pb2.ModelProto):
    """Adds rules to a SentencePiece model for the characters that it cannot spell.

    A model with byte fallback spells all characters, so it stays as it is.
    """
    if model.trainer_spec.byte_fallback:
        return
    known = {" "}.union(*(entry.piece for entry in model.pieces if entry.type in _TEXT_TYPES))
    spec = model.normalizer_spec
    if table := _table(spec.precompiled_charsmap, frozenset(known)):
        spec.precompiled_charsmap = table


@functools.lru_cache(maxsize=8)  # Both sides of a model often have one vocabulary.
def _table(charsmap: bytes, known: frozenset[str]) -> bytes | None:
    """Returns the table of a normalization with rules for characters that are not `known`.

    Args:
        charsmap: The table without them; empty for no normalization.

    Returns:
        The table; None if there is nothing to add.
    """
    rules = _rules_of(charsmap)
    near = dict(_near_characters(known, rules))
    nearest = str.maketrans(near)
    changed = {key: text.translate(nearest) for key, text in rules.items()}
    changed |= {character: text for character, text in near.items() if character not in rules}
    for sign in near.keys() & {*_SIGNS}:
        changed |= {f"{sign}{digit}": f"{near[sign]} {digit}" for digit in "0123456789"}
        changed |= {f"{digit}{sign}": f"{digit} {near[sign]}" for digit in "0123456789"}
    if changed == rules:
        return None
    sentencepiece.set_min_log_level(1)  # It would print the size of the table.
    try:
        compiled = sentencepiece.SentencePieceNormalizer(norm_map=[*changed.items()])
    finally:
        sentencepiece.set_min_log_level(0)
    spec = sentencepiece_model_pb2.NormalizerSpec.FromString(compiled.serialized_normalizer_spec())
    return spec.precompiled_charsmap


@functools.lru_cache(maxsize=2)
def _rules_of(charsmap: bytes) -> dict[str, str]:
    """Returns the characters of a normalization's table, with their replacement."""
    if not charsmap:
        return {}
    model = sentencepiece_model_pb2.ModelProto()
    model.normalizer_spec.precompiled_charsmap = charsmap
    normalizer = sentencepiece.SentencePieceNormalizer(model_proto=model.SerializeToString())
    return dict(normalizer.decompile())


def _near_characters(known: frozenset[str], rules: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yields each character that a vocabulary lacks, with the nearest text that it can spell."""
    for character, ways in _all_ways().items():
        if character in known or len(rules.get(character, character)) != 1:
            continue
        for way in ways:
            if known.issuperset(way):
                yield character, way
                break


@functools.cache
def _all_ways() -> dict[str, tuple[str, ...]]:
    """Returns the ways to write each character that has any, the best first."""
    all_ways = {}
    for character in map(chr, range(0x21, _MOST)):
        if ways := tuple(way for way in _ways(character) if way != character):
            all_ways[character] = ways
    return all_ways


def _ways(character):
    """Yields ways to write a character, the best first."""
    yield from _WAYS.get(character, ())
    category = unicodedata.category(character)
    if category == "Nd":
        yield str(unicodedata.decimal(character))
    elif category == "Mn" and unicodedata.combining(character) == 230:  # An accent above a letter.
        yield ""
    elif category in ("Lu", "Ll", "Lt"):
        bare = "".join(
            part
            for part in unicodedata.normalize("NFD", character)
            if unicodedata.category(part) != "Mn"
        )
        yield bare
        yield "".join(way for part in bare for way in _WAYS.get(part, (part,))[:1])
    elif category == "Pd":
        yield "-"
    elif category in ("Pi", "Pf"):
        yield '"'
        yield "'"
