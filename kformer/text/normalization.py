"""What becomes of the characters of a text before it is split into pieces.

The rule is a table in the SentencePiece model file, so that every form of a model follows it. The
tables in this package are made from SentencePiece's own by `tests/support/charsmaps.py`:

- `nmt_nfkc`: Unicode's NFKC ("ﬁ" becomes "fi", "Ａ" becomes "A", "e" and an accent become "é");
  line breaks, tabs and all other white space become a space; control characters are deleted.
- `nfkc`: the same, but line breaks, tabs and control characters stay as they are.

Both delete invisible characters: those that Unicode calls default ignorable, as its NFKC_Casefold
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
"""

import functools
import lzma
from pathlib import Path

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

NFKC, NMT_NFKC, IDENTITY = RULES = ("nfkc", "nmt_nfkc", "identity")


@functools.cache
def charsmap(rule: str) -> bytes:
    """Returns the table of a rule, one of `RULES`, as SentencePiece's `precompiled_charsmap`."""
    return lzma.decompress((Path(__file__).parent / f"{rule}.charsmap.xz").read_bytes())


def normalizer(rule: str) -> sentencepiece.SentencePieceNormalizer:
    """Returns an object whose `normalize` applies a rule, one of `RULES`, to a text."""
    model = sentencepiece_model_pb2.ModelProto()
    set_rule(model, rule)
    return sentencepiece.SentencePieceNormalizer(
        model_proto=model.SerializeToString(),
        add_dummy_prefix=False,
        escape_whitespaces=False,
        remove_extra_whitespaces=True,
    )


def set_rule(model: sentencepiece_model_pb2.ModelProto, rule: str):
    """Lets a SentencePiece model normalize text by a rule, one of `RULES`."""
    model.normalizer_spec.name = rule
    model.normalizer_spec.precompiled_charsmap = charsmap(rule)
