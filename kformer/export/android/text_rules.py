"""The rules by which Python splits and joins texts and finds faults of translations, as JSON.

The Kotlin files read them from an asset, so that no table and no pattern is written twice.
"""

from typing import Any

from kformer.inference import degenerate
from kformer.inference.sure_checks import rules_of_checks
from kformer.text.paragraphs import abbreviations, joining, marks, sentence_splitting

# For Python's classes, with the same meaning in Java's and in ICU's regular expressions.
_LETTER, _PORTABLE_LETTER = r"[^\W\d_]", r"[\p{L}\p{Nl}\p{No}]"
_CLASSES = {"d": r"\p{Nd}", "w": r"\p{L}\p{N}_", "s": r"\t-\r\x1c-\x20\x85\p{Z}"}
_PUNCTUATION = frozenset("""!"#$%&'()*+,./:;<=>?@[`{|}~""")


def text_rules() -> dict[str, Any]:
    """Returns the content of the asset `text_rules.json`."""
    patterns, limits = rules_of_checks()
    return {
        "languages": abbreviations.read_abbreviations(),
        "aliases": abbreviations.ALIASES,
        "near": abbreviations.NEAR,
        "lettered": sorted(abbreviations.LETTERED),
        "characters": {
            "opening": abbreviations.OPENING,
            "quotes": abbreviations.QUOTES,
            "closing": abbreviations.CLOSING,
        },
        "patterns": {
            "after_quotation": portable(abbreviations.AFTER_QUOTATION.pattern),
            "numeral": portable(abbreviations.NUMERAL.pattern),
            "opened": portable(sentence_splitting.OPENED.pattern),
            "beginning": portable(sentence_splitting.BEGINNING.pattern),
            "clause_end": portable(sentence_splitting.CLAUSE_END.pattern),
            "word_end": portable(sentence_splitting.WORD_END.pattern),
            "list_mark": portable(marks.LIST_MARK.pattern),
            "number_mark": portable(marks.NUMBER_MARK.pattern),
            "letter_mark": portable(marks.LETTER_MARK.pattern),
            "inner_mark": portable(marks.INNER_MARK.pattern),
            "dots": portable(marks.DOTS.pattern),
            "unspaced": portable(joining.UNSPACED.pattern),
            "unspaced_words": portable(joining.UNSPACED_WORDS.pattern),
            "spaces": portable(joining.SPACES.pattern),
            **{name: portable(pattern) for name, pattern in patterns.items()},
        },
        "sure": limits,
        "degenerate": {
            "min_echoes": degenerate.MIN_ECHOES,
            "min_times": degenerate.MIN_TIMES,
            "max_ratio": degenerate.MAX_RATIO,
            "slack": degenerate.SLACK,
        },
    }


def portable(pattern: str) -> str:
    r"""Returns a pattern of Python's `re` for Java and ICU, in which classes are Unicode's.

    Java's `\d`, `\s` and `\w` are ASCII, and ICU's `\w` contains more than Python's.
    """
    result, in_class, place = [], False, 0
    while place < len(pattern):
        character = pattern[place]
        following = pattern[place + 1 : place + 2]
        if pattern.startswith(_LETTER, place):
            place += len(_LETTER) - 1
            result.append(_PORTABLE_LETTER)
        elif character == "\\":
            place += 1
            result.append(_escaped(following, in_class))
        elif character == "[" and not in_class:
            in_class = True
            result.append(character)
            if following == "^":
                place += 1
                result.append(following)
        elif character == "]":
            in_class = False
            result.append(character)
        elif character == "$" and not in_class:
            result.append(r"\z")  # Java's and ICU's `$` matches before a last line break, too.
        elif in_class and character in _PUNCTUATION:
            result.append(f"\\{character}")  # "[" and "&&" have a meaning there.
        else:
            result.append(character)
        place += 1
    return "".join(result)


def _escaped(letter, in_class):
    """Returns an escape, such as `\\d`, by its letter."""
    if letter == "b":
        return f"(?![{_CLASSES['w']}])"  # All patterns have it at the end of a word.
    if letter == "Z":
        return r"\z"
    if letter in _CLASSES:
        return _CLASSES[letter] if in_class else f"[{_CLASSES[letter]}]"
    return f"\\{letter}"
