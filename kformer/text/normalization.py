"""Normalization: the rules that change the characters of a text before it is split into pieces.

The rule is a table in the SentencePiece model file, so that every form of a model follows it. The
tables in this package are made from SentencePiece's own by `tests/support/charsmaps.py`:

- `nmt_nfkc`: Unicode's NFKC ("ﬁ" becomes "fi", "Ａ" becomes "A", "e" and an accent become "é");
  line breaks, tabs and all other white space become a space; control characters are deleted.
- `nfkc`: the same, but line breaks, tabs and control characters stay as they are.

Both delete invisible characters: all that Unicode calls default ignorable, as its NFKC_Casefold
does, such as the soft hyphen, the word joiner, the zero width space, the marks and isolates of
bidirectional text, the variation selectors and the byte order mark; and the interlinear annotation
marks. So a line of invisible characters alone is blank, and "Hund" with a soft hyphen in it is
"Hund". Some of these characters matter, and stay where they do:

- ZWNJ (U+200C) and ZWJ (U+200D) directly after a letter or a mark of the cursive scripts from
  U+0600 to U+08FF (such as Arabic and Persian), of the Indic ones from U+0900 to U+0DFF (such as
  Telugu and Kannada) and of Mongolian, and after the virama of any script;
- ZWJ directly after a symbol that begins emoji sequences, such as a person, or after a skin tone;
- the variation selectors and the vowel separator of Mongolian, directly after its letters.

A third rule, `identity`, changes nothing: all characters stay as they are. With every rule,
spaces at the ends of a text are removed, and several spaces become one.

A vocabulary that keeps line breaks, for language models of documents, keeps all spaces, and puts
none before a text. Its table for `nmt_nfkc` keeps U+000A and tabs, and makes U+000A of all other
line ends: "\\r\\n", "\\r" alone, U+0085, U+2028 and U+2029. The tables of the other rules keep line
ends as they are.
"""

import functools
import lzma
from pathlib import Path

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

NFKC, NMT_NFKC, IDENTITY = RULES = ("nfkc", "nmt_nfkc", "identity")
NMT_NFKC_LINES = "nmt_nfkc_lines"  # The table of `NMT_NFKC` that keeps line breaks.
TABLES = (*RULES, NMT_NFKC_LINES)


@functools.cache
def charsmap(table: str) -> bytes:
    """Returns one of `TABLES` as SentencePiece's `precompiled_charsmap`."""
    return lzma.decompress((Path(__file__).parent / f"{table}.charsmap.xz").read_bytes())


def normalizer(rule: str, line_breaks: bool = False) -> sentencepiece.SentencePieceNormalizer:
    """Returns an object whose `normalize` applies a rule of `set_rule` to a text."""
    model = sentencepiece_model_pb2.ModelProto()
    set_rule(model, rule, line_breaks)
    return sentencepiece.SentencePieceNormalizer(
        model_proto=model.SerializeToString(),
        add_dummy_prefix=False,
        escape_whitespaces=False,
        remove_extra_whitespaces=not line_breaks,
    )


def set_rule(model: sentencepiece_model_pb2.ModelProto, rule: str, line_breaks: bool = False):
    """Sets the rule by which a SentencePiece model normalizes text.

    Args:
        line_breaks: Whether line breaks, tabs and all spaces are kept.
    """
    table = NMT_NFKC_LINES if line_breaks and rule == NMT_NFKC else rule
    spec = model.normalizer_spec
    spec.name, spec.precompiled_charsmap = table, charsmap(table)
    if line_breaks:
        spec.add_dummy_prefix = spec.remove_extra_whitespaces = False
