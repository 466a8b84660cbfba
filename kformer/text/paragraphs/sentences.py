"""Splits texts into sentences.

The library is sentencex of the Wikimedia Foundation. It has rules and abbreviations for about 300
languages, is installed as a wheel, and needs no data. ICU's break iterator, which the web page and
phones have, does not know abbreviations such as "z. B." or "Dr."; for Python it must be compiled.
`tests/benchmarks/sentence_splitters/` compares the two.
"""

import re

from kformer.arguments import check_text, replace_lone_surrogates

FALLBACK = "en"  # Its rules end sentences of every script at the script's own full stops.
# sentencex 1.0.32 panics at white space beyond ASCII, as in "B\u00a0.", so it gets spaces.
_WHITE_SPACE = re.compile(r"\s")


def split_sentences(text: str, source_language: str | None = None) -> list[str]:
    """Returns the sentences of a text, with the white space around them: joined, they are the text.

    A line break always ends a sentence, so text that is wrapped within sentences should be joined
    before. White space before the first sentence of a line belongs to it; a blank line is an
    element of its own.

    Args:
        text: Any string.
        source_language: Its language, such as "de" or "pt-BR". By default, and if sentencex does
            not know it, the rules of English hold.

    Raises:
        ImportError: The package sentencex is not installed.
        TypeError: An argument is no string.
    """
    split = _splitter(source_language)
    return [
        sentence for line in check_text("text", text).splitlines(True) for sentence in split(line)
    ]


def _splitter(source_language):
    """Returns a function that splits a line."""
    try:
        import sentencex
    except ImportError as error:
        raise ImportError(
            "Splitting text into sentences needs the package sentencex: pip install sentencex. "
            f"Received: {error}."
        ) from error
    code = FALLBACK if source_language is None else check_text("source_language", source_language)
    code = re.split("[-_]", code.lower())[0]

    def split(line):
        # As many characters as in the line.
        plain = _WHITE_SPACE.sub(" ", replace_lone_surrogates(line))
        start, sentences = 0, []
        for sentence in sentencex.segment(code, plain):
            end = start + len(sentence)
            sentences.append(line[start:end])
            start = end
        return sentences

    return split
