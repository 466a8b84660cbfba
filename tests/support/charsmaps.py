"""Makes the tables of `kformer.text.normalization` from those of SentencePiece.

`PYTHONPATH=tests python -m support.charsmaps` writes them. It takes SentencePiece 0.2.3 or newer,
whose Unicode version becomes that of the tables.
"""

import collections
import io
import lzma
import tempfile
import unicodedata
from pathlib import Path

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from kformer.text import normalization

ZWNJ, ZWJ, TEXT_STYLE_EMOJI = "\u200c", "\u200d", "\ufe0f"
# Unicode's DerivedCoreProperties.txt: Default_Ignorable_Code_Point. The last range is that of the
# interlinear annotation marks.
INVISIBLE = (
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x61C, 0x61C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
    (0xFFF9, 0xFFFB),
)
CURSIVE_AND_INDIC = ((0x600, 0x8FF), (0x900, 0xDFF))
MONGOLIAN = (0x1820, 0x18AA)
MONGOLIAN_SELECTORS = "\u180b\u180c\u180d\u180e\u180f"
LINE_ENDS = ("\r\n", "\r", "\x85", "\u2028", "\u2029")  # Besides U+000A.
SKIN_TONES = (0x1F3FB, 0x1F3FF)
# The symbols that a ZWJ follows in Unicode's emoji-zwj-sequences.txt, and others of their kind.
EMOJI = (
    (0x2640, 0x2640),
    (0x2642, 0x2642),
    (0x26D3, 0x26D3),
    (0x26F9, 0x26F9),
    (0x2764, 0x2764),
    (0x1F344, 0x1F344),
    (0x1F34B, 0x1F34B),
    (0x1F3C3, 0x1F3CC),
    (0x1F3F3, 0x1F3F4),
    (0x1F408, 0x1F408),
    (0x1F415, 0x1F415),
    (0x1F426, 0x1F426),
    (0x1F43B, 0x1F43B),
    (0x1F441, 0x1F441),
    (0x1F466, 0x1F48B),
    (0x1F575, 0x1F575),
    (0x1F62E, 0x1F62E),
    (0x1F635, 0x1F636),
    (0x1F642, 0x1F64F),
    (0x1F6A3, 0x1F6A3),
    (0x1F6B4, 0x1F6B6),
    (0x1F91D, 0x1F93E),
    (0x1F9AF, 0x1F9BD),
    (0x1F9CD, 0x1F9DF),
)
# SentencePiece compiles no rule that changes nothing, such as that a letter and a ZWNJ stay. So
# these stand for what follows the letter: private characters of as many bytes.
_STAND_INS = {kept: chr(0xE000 + i) for i, kept in enumerate((ZWNJ, ZWJ, *MONGOLIAN_SELECTORS))}
_LAST = "\U0010ffff"
_STAND_INS[_LAST] = "\U000f0000"


def replacements(table: str) -> dict[str, str]:
    """Returns one of `normalization.TABLES`: what becomes of each sequence of characters."""
    if table == normalization.NMT_NFKC_LINES:
        found = replacements(normalization.NMT_NFKC)
        del found["\n"], found["\t"]
        return found | dict.fromkeys(LINE_ENDS, "\n")
    if table == normalization.IDENTITY:
        return {_LAST: _LAST}  # SentencePiece would log a warning for an empty table.
    found = dict(sentencepiece.SentencePieceNormalizer(rule_name=table).decompile())
    if table == normalization.NMT_NFKC:
        found |= {chr(code): "" for code in range(0x80, 0xA0)}
        found |= {"\v": " ", "\x85": " "}
    by_last = collections.defaultdict(dict)  # The keys, by their last character.
    for key, text in found.items():
        by_last[key[-1]][key] = text
    found |= dict.fromkeys(_characters(*INVISIBLE), "")
    for letter, joiners in _before_joiners().items():
        ways = {letter: letter} | {key: text for key, text in by_last[letter].items() if text}
        found |= {key + one: text + one for key, text in ways.items() for one in joiners}
    for symbol in _characters(*EMOJI, SKIN_TONES):
        found[symbol + ZWJ] = found[symbol + TEXT_STYLE_EMOJI + ZWJ] = symbol + ZWJ
    return found


def _characters(*ranges):
    return [chr(code) for first, last in ranges for code in range(first, last + 1)]


def _before_joiners():
    """Returns which invisible characters stay after a letter or a mark, by that."""
    found = {}
    for code in range(0x20000):
        character = chr(code)
        letter = unicodedata.category(character)[0] in "LM"
        if letter and MONGOLIAN[0] <= code <= MONGOLIAN[1]:
            found[character] = (ZWNJ, ZWJ, *MONGOLIAN_SELECTORS)
        elif unicodedata.combining(character) == 9 or (
            letter and any(first <= code <= last for first, last in CURSIVE_AND_INDIC)
        ):
            found[character] = (ZWNJ, ZWJ)
    return found


def compiled(table: dict[str, str]) -> bytes:
    """Returns the `precompiled_charsmap` of a table."""
    lines = []
    for key, text in table.items():
        if key == text:
            text = key[:-1] + _STAND_INS[key[-1]]
        lines.append(f"{_codes(key)}\t{_codes(text)}\n")
    written = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder) / "rules.tsv"
        rules.write_text("".join(lines), "utf-8")
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(["ein Text"]),
            model_writer=written,
            model_type="char",
            vocab_size=99,
            hard_vocab_limit=False,
            normalization_rule_tsv=str(rules),
            minloglevel=2,
        )
    model = sentencepiece_model_pb2.ModelProto.FromString(written.getvalue())
    blob = model.normalizer_spec.precompiled_charsmap
    automaton = 4 + int.from_bytes(blob[:4], "little")
    texts = blob[automaton:]
    for kept, stand_in in _STAND_INS.items():
        texts = texts.replace(stand_in.encode(), kept.encode())
    return blob[:automaton] + texts


def _codes(text):
    return " ".join(f"{ord(character):X}" for character in text)


if __name__ == "__main__":
    for name in normalization.TABLES:
        path = Path(normalization.__file__).parent / f"{name}.charsmap.xz"
        path.write_bytes(lzma.compress(compiled(replacements(name)), preset=9))
