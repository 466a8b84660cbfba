"""Splits texts into sentences, and a sentence that is too long for a model into halves.

The library for sentences is sentencex of the Wikimedia Foundation. It has rules for about 300
languages, is installed as a wheel, and needs no data. `abbreviations` and `marks` add further
rules. ICU's break iterator, which the web page and phones have, knows no abbreviations; for Python
it must be compiled. `tests/benchmarks/sentence_splitters/` compares them.

A long sentence is halved at a clause, a word or a character. The web page does the same in
`kformer/export/web/clauses.js`; a test compares the two.
"""

import itertools
import math
import re
import unicodedata

from kformer.arguments import check_text, replace_lone_surrogates
from kformer.text.paragraphs.abbreviations import NEAR, WHITE_SPACE, abbreviations_of, goes_on
from kformer.text.paragraphs.joining import Piece, with_sources
from kformer.text.paragraphs.marks import mark_end, piece_of

_PART = 10_000  # Characters that sentencex reads at once.
FALLBACK = "en"  # Its rules end sentences of every script at the script's own full stops.
# sentencex 1.0.32 panics at white space beyond ASCII, as in "B\u00a0.", so it gets spaces.
_WHITE_SPACE = re.compile(r"\s")
_OF_CODE = re.compile("[-_]")
# It does not end sentences at "(Yes.) No", nor always before the numbers of a list within a line.
_MORE_ENDS = re.compile(
    r"[.!?…][)\]][\"”’»]?\s+(?=[^\W\d_])|[.!?…]\s+(?=[(\[]?\d{1,3}[.)\]]\s)"
    r"|[。！？](?:[」』”’]*\s*(?=[A-Za-z\d])|）\s*)"
)
# Words, with commas between them: of most sentences nothing else must be known.
_ONE_SENTENCE = re.compile(r"[^\W\d_]{2,}(?:,? [^\W_]+)*[.!?]?")
# Where a splitter takes a mark that opens a quotation for one that closes the sentence before.
_MOST_MARKS = 4
OPENED = re.compile(r"(?:(?<=\s)[\"'«»„“”‘’(\[{¿¡]|[「『（《〈【])+\Z")
BEGINNING = re.compile(r"(?<=[.!?…][\s\"'”’»)\]])(?:[(\[]?\d{1,3}[.)\]]\s)?[^\w.!?…,;:]*[^\W\d_]")
# Ends of clauses and then of words, each with the white space behind it. Punctuation of full width
# needs no white space.
CLAUSE_END = re.compile(
    r"[,;:!?…–—\u060c\u061b\u0964][\"'”’»)\]]?\s+|[\u3001\u3002\uff0c\uff1a\uff1b]\s*"
)
WORD_END = re.compile(r"\s+")
# What no sentence begins with, unless white space is before it.
_OF_WORDS = {*"%*+,`$#&=/\\_|~^>{}@;:", *"abcdefghijklmnopqrstuvwxyz"}
_IDEOGRAPHIC = "\u3000"  # Scripts from here on have no spaces between sentences.
_JOINER = "\u200d"
_SKIN_TONES = range(0x1F3FB, 0x1F400)


def split_sentences(text: str, source_language: str | None = None) -> list[str]:
    """Returns the sentences of a text, with the white space around them: joined, they are the text.

    A line break always ends a sentence, so text that is wrapped within sentences should be joined
    before. White space and list marks before the first sentence of a line belong to it; a blank
    line is an element of its own.
    """
    code = _code(source_language)
    return [sentence for line in _lines(text) for sentence in _sentences(line, code)]


def split_pieces(text: str, source_language: str | None = None) -> list[Piece]:
    """Returns the sentences to translate, each with the text around it that is kept.

    A sentence has neither list marks such as "1." nor emoji at its ends, and text without letters
    is no sentence. Joined, the pieces are the text. Each piece has a source; a text without
    sentences has one piece, or none if it is empty. Arguments and errors are as for
    `split_sentences`.
    """
    code = _code(source_language)
    if _ONE_SENTENCE.fullmatch(check_text("text", text)):
        return [Piece("", text, "")]
    known = abbreviations_of(code)
    return with_sources(
        piece_of(sentence, place == 0, known)
        for line in _lines(text)
        for place, sentence in enumerate(_sentences(line, code))
    )


def _code(source_language):
    code = FALLBACK if source_language is None else check_text("source_language", source_language)
    return _OF_CODE.split(code.lower())[0]


def _lines(text):
    return check_text("text", text).splitlines(True)


def _sentences(line, code):
    """Splits a line."""
    known = abbreviations_of(code)
    plain = _with_capitals(_WHITE_SPACE.sub(" ", replace_lone_surrogates(line)))
    first = mark_end(plain, True, known)
    ends = {first + end for end in _ends(plain[first:], code)} - {first}
    ends = {end for end in ends if not _is_within_word(plain, end)}
    start, sentences = 0, []
    for end in sorted(ends | {len(line)}):
        if end == len(line) or not _goes_on(plain, max(start, first), end, known):
            sentences.append(line[start:end])
            start = end
    return sentences


def _is_within_word(text, end):
    """Returns whether a place has no white space, but code such as `%s.%s` or `a.* b` around it."""
    before, following = text[end - 1 : end], text[end : end + 1]
    return before < _IDEOGRAPHIC and not before.isspace() and following in _OF_WORDS


def _goes_on(text, start, end, known):
    """Returns `goes_on` of a sentence and what follows it; only what is near to its end counts."""
    following = WHITE_SPACE.match(text, end).end()
    rest = text[following : following + 2 * NEAR]
    return goes_on(text[max(start, end - NEAR) : end], rest, known)


def _ends(text, code):
    """Yields where sentencex and `_MORE_ENDS` end sentences."""
    for end in _ends_of_library(text, code):
        opened = OPENED.search(text, max(0, end - _MOST_MARKS), end)
        yield opened.start() if opened else end
    for match in _MORE_ENDS.finditer(text):
        if not (match[0][-1].isspace() and text[match.end()].islower()):
            yield match.end()


def _ends_of_library(text, code):
    """Yields where sentencex ends sentences.

    It takes quadratic time for a quotation without an end, so it reads a long text in parts. Each
    part begins with the last sentence of the one before it, unless that has no end in sight.
    """
    try:
        import sentencex
    except ImportError as error:
        raise ImportError(
            "Splitting text into sentences needs the package sentencex: pip install sentencex. "
            f"Received: {error}."
        ) from error
    start = 0
    while start < len(text):
        part = text[start : start + _PART]
        ends = [*itertools.accumulate(map(len, sentencex.segment(code, part)), initial=start)]
        is_last = start + len(part) == len(text)
        yield from ends[1:] if is_last else ends[1:-1]
        begun = ends[-2]  # Of the last sentence.
        start = begun if not is_last and begun - start > _PART // 2 else start + len(part)


def _with_capitals(line):
    """Returns a line without capitals with one at the beginning of each sentence, of equal length.

    A small letter after a full stop is else a sign that the sentence goes on.
    """
    if next((letter for letter in line if letter.isupper() or letter.islower()), "A").isupper():
        return line
    return BEGINNING.sub(lambda match: _capital(match[0]), line)


def _capital(text):
    upper = text.upper()
    return upper if len(upper) == len(text) else text


def halves(sentence: str) -> tuple[str, str] | None:
    """Returns the two parts of a sentence, which joined are the sentence; None if it has none.

    The first part ends in the middle half of the sentence, as near to its middle as it can: with a
    clause; if no clause ends there, with a word; else with a character as users count them.
    """
    middle = len(sentence) / 2
    most = middle / 2  # Characters from the middle.
    for pattern in (CLAUSE_END, WORD_END):
        ends = [match.end() for match in pattern.finditer(sentence)]
        ends = [end for end in ends if abs(end - middle) <= most]
        if ends:
            return _parted(sentence, _nearest(ends, middle)[0])
    ends = range(max(1, math.ceil(middle - most)), math.floor(middle + most) + 1)
    for end in _nearest(ends, middle):
        if not _is_joined(sentence, end):
            return _parted(sentence, end)
    return None


def _nearest(ends, middle):
    return sorted(ends, key=lambda end: abs(end - middle))


def _parted(sentence, end):
    return sentence[:end], sentence[end:]


def _is_joined(sentence, end):
    """Returns whether the characters before and at `end` are one for users."""
    before, after = sentence[end - 1], sentence[end]
    is_mark = unicodedata.category(after).startswith("M") or ord(after) in _SKIN_TONES
    return is_mark or _JOINER in (before, after)
