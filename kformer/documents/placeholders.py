"""Placeholders: what must be in a translation exactly as in its source, by kind.

`KINDS` has a regular expression for each kind. They are searched together, the longest kinds first,
so that the braces of `{{name}}` are not those of `{name}`. `SYNTAXES` has other ones for texts
whose document declares what they are, such as `qt-format`, where `%1` is a placeholder.

A quantity, a number with its unit, is written by the translator, in the way of its language. It is
put back only if a translation lacks its digits.
"""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping

from kformer.documents.amounts import AMOUNT, is_amount
from kformer.documents.icu_messages import icu_code
from kformer.documents.joined_text import JoinedText, shown_text
from kformer.documents.raised_notes import with_notes
from kformer.documents.segments import PROSE, Code, Piece, Role, Segment, partners
from kformer.documents.text_blocks import in_blocks
from kformer.near_names import near_name

_BRACES = r"\{(?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*+\})*+\})*+\})*+\}"  # Four levels of ICU.
_PRINTF = (
    r"%(?:\d{1,3}\$)?(?:\(\w+\)|<\w+>)?[-+#0,']{0,5}(?:\d{1,4}|\*)?(?:\.(?:\d{1,4}|\*))?"
    r"(?:hh?|ll?|[Lqjzt])?[diouxXeEfFgGcCrsSaAp@n%]"
    r"|%[-+#0]{0,5}\d{0,4}<PRI\w{1,9}>"  # Of gettext.
)
_WORD = r"%[A-Za-z][A-Za-z0-9_]*+"  # "%s", "%user", "%dKB", "%Y".
_OF_APPLE = r"%#@\w{1,99}@"
_NOT_OF_PROSE = r"(?<!\d)(?<!\d[ \u00a0\u202f])"  # Not the sign of "100 %" or "100%ig".
_LETTER_BEHIND = r"(?=[^\W\d_])"
_NAMED = r"%[A-Za-z_][\w.-]{1,63}%(?![\w%])|\$[A-Za-z_][\w@]{0,63}\$(?!\w)"
_NUMBERED = r"%L?[1-9]\d?+%?(?![\w$]|\.\d)"
# Every repetition has a bound or ends at a character that begins another match: linear time.
KINDS = {
    "tag": r"</?(?:[A-Za-z][\w:.-]*+(?:\s[^<>]*+)?|\d{1,3})/?>|<!--.{0,999}?-->"
    r"|&lt;/?[A-Za-z][\w:.-]*+(?:\s(?:[^<>&]|&(?!lt;|gt;))*+)?/?&gt;"
    r"|&(?:#\w{1,8}|[A-Za-z]\w{1,31});",
    "url": r"(?:https?|ftp|file)://[^\s<>\"'{}|\\^`]{0,1999}[\w/]"
    r"|www\.[\w.-]{1,253}\.\w{2,63}(?:/[^\s<>\"']{0,1999}[\w/])?",
    "email": r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}",
    "nesting": r"\$t\([^()]*+\)",  # i18next.
    "double-brace": r"\{\{[^{}]*+\}\}",
    "template": r"[$#%@]\{[^{}]*+\}"  # JavaScript, Ruby.
    r"|\{%(?:[^{}%]++|%(?!\}))*+%\}|\{#(?:[^{}#]++|#(?!\}))*+#\}"  # Jinja.
    r"|<%(?:[^<%]++|%(?!>)|<(?!%))*+%>"  # ERB, EJS.
    r"|\[\[\w{1,64}\]\]|(?<!\w)__[A-Za-z][A-Za-z0-9]{0,63}(?:_[A-Za-z0-9]{1,63}){0,9}__(?!\w)",
    "brace": _BRACES,
    # reStructuredText: roles, code, and links, of which the text is translated; code of Markdown.
    "role": r":[A-Za-z][\w:+.-]{0,63}:`[^`]++`|```(?:[^`]++|`(?!``))++```"
    r"|``(?=\S)[^`]++(?<=\S)``(?!\w)|`[^`<>]+\s<[^`<>\s]++>`__?|(?<!`)`[^`'\n]{1,200}`_{0,2}",
    "variable": rf"{_NOT_OF_PROSE}(?:{_NAMED}|{_NUMBERED})",  # Symfony, Windows; Qt, KDE.
    "printf": rf"{_OF_APPLE}|{_NOT_OF_PROSE}(?:{_WORD}|(?!%[A-Za-z])(?:{_PRINTF}))"
    rf"|(?:{_PRINTF})(?!{_LETTER_BEHIND})",
    "quantity": AMOUNT,
    "mention": r"(?<![\w/#@.])[#@](?:\d{1,9}|[A-Za-z_][\w-]{0,63})(?![\w;])",  # "#12", "@name".
    "emoji": r"[\u2190-\u21ff\u2600-\u27bf\U0001f000-\U0001faff][\u200d\ufe0f\u2640\u2642"
    r"\U0001f3fb-\U0001f3ff\U0001f000-\U0001faff]*+",
}
_NONE = r"(?!)"
# What some kinds are in texts of a syntax that the document declares, such as by `qt-format`.
SYNTAXES: dict[str, dict[str, str]] = {
    "": {},
    PROSE: {},  # Of documents, where a tag that is text is a word and no markup.
    "strings": {  # Of programs, without a declared syntax; ":name" is Laravel's, "!name" Drupal's.
        "variable": rf"{KINDS['variable']}|(?<![\w:/.)\]}}>!])[:!][A-Za-z_]\w{{0,63}}:?+(?![\w:/`])"
    },
    "printf": {"printf": rf"{_OF_APPLE}|{_PRINTF}", "variable": _NONE},
    "brace": {"printf": _NONE, "variable": _NONE},
    "none": {"printf": _NONE},
    "qt": {"printf": r"%L?(?:n|\d{1,2})", "variable": _NONE},
    "lisp": {"printf": r"~(?:\d{1,4},?){0,4}[:@]{0,2}[A-Za-z%~&]", "variable": _NONE},
    "drupal": {"printf": _NONE, "variable": r"(?<![\w/.:])[%@!:][A-Za-z_][\w-]{0,63}"},
    "chrome": {"printf": _NONE, "variable": r"\$(?:[A-Za-z_][\w@]{0,63}\$|\d|\$)"},
}
_SYNTAX = {"tag", "nesting", "double-brace", "template", "brace", "printf"}  # Of programs.
_ADDED_PRINTF = rf"{_OF_APPLE}|{_NOT_OF_PROSE}(?:{_PRINTF})(?!{_LETTER_BEHIND})"
_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]*+|\d{1,3})[^<>]*?(/?)>")
_NEVER_SPANS = re.compile(rf"{AMOUNT}|{KINDS['emoji']}")  # They are text for a translator.
_ALONE = {"br", "hr", "img", "input", "wbr"}  # Tags of HTML without an end.
_BREAKS = {"br", "hr"}
_NO_BREAK_SPACES = {"&nbsp;", "&#160;", "&#xa0;"}
_TITLED = re.compile(r"(:[\w:+.-]+:`|`)([^`<>]+)(\s<[^`<>]+>`_{0,2})")  # A role or a link.
_PLAIN_WORD = re.compile(r"[A-Za-z-]+")


class KeptPatterns(dict[str, re.Pattern]):
    """The regular expression of what is kept, for each syntax of `SYNTAXES`.

    Args:
        keep: As for `keep_pattern`.
    """

    def __init__(self, keep: Iterable[str] | None = None):
        super().__init__()
        self._keep = keep if keep is None or isinstance(keep, str) else [*keep]
        self[""] = keep_pattern(self._keep)

    def __missing__(self, syntax: str) -> re.Pattern:
        self[syntax] = keep_pattern(self._keep, syntax)
        return self[syntax]


def keep_pattern(keep: Iterable[str] | None = None, syntax: str = "") -> re.Pattern:
    """Returns the regular expression of the placeholders that are kept.

    Args:
        keep: Names of `KINDS`, and regular expressions; None for all kinds, to which regular
            expressions alone are added.
        syntax: A name of `SYNTAXES`.
    """
    names, own = _chosen(keep)
    kinds = KINDS | SYNTAXES[syntax]
    patterns = [*own, *(pattern for name, pattern in kinds.items() if name in names)]
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns) or _NONE, re.DOTALL)


def _chosen(keep):
    """Returns the names of the kinds that are kept, and the regular expressions beside them."""
    if isinstance(keep, str):
        raise TypeError(f"`keep` must be a list of strings. Received: keep={keep!r:.99}.")
    if keep is None:
        return {*KINDS}, []
    chosen = [*keep]
    for pattern in chosen:
        _check(pattern)
    own = [pattern for pattern in chosen if pattern not in KINDS]
    names = {*chosen} - {*own}
    return (names if names or not own else {*KINDS}), own


def _check(pattern):
    if not isinstance(pattern, str):
        raise TypeError(f"`keep` must be a list of strings. Received: {pattern!r:.99} in it.")
    rule = f"`keep` must have names of {', '.join(KINDS)}, or regular expressions of text."
    try:
        matches_nothing = pattern not in KINDS and re.compile(pattern).match("")
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"{rule} Received: keep={pattern!r:.60} ({error}).") from error
    if matches_nothing:
        raise ValueError(f"{rule} Received: keep={pattern!r:.60}, which matches an empty text.")
    is_word = pattern not in KINDS and _PLAIN_WORD.fullmatch(pattern)
    if is_word and (near := near_name(pattern, KINDS)):
        raise ValueError(
            f"{rule} Received: keep={pattern!r:.60}; the kind is {near!r}, and the word itself is "
            f"'(?:{pattern:.60})'."
        )


def syntax_pattern(keep: Iterable[str] | None = None) -> re.Pattern:
    """Returns the regular expression of the kept kinds that a program reads, such as `{name}`.

    A translation without them in its source must have none: a program would fail there.
    """
    names, _ = _chosen(keep)
    kinds = KINDS | {"printf": _ADDED_PRINTF}
    patterns = [f"(?:{kinds[name]})" for name in KINDS if name in names & _SYNTAX]
    return re.compile("|".join(patterns) or _NONE, re.DOTALL)


def with_placeholders(
    parts: Iterable[str | Code], pattern: re.Pattern, line: int = 1, are_tags_words: bool = False
) -> tuple[str | Code, ...]:
    """Returns the parts of a segment with the placeholders of its texts as codes.

    A placeholder may span codes, which are then inside it. Tags in a text, such as those in JSON,
    are the ends of spans. The forms of a plural in ICU's syntax are segments of their own.
    """
    result: list[str | Code] = []
    for run in _undivided(parts):
        joined, done, is_left = JoinedText(run), 0, True  # Whether codes at `done` are left.
        for match in pattern.finditer(joined.text):
            start, stop = match.span()
            if start == stop:
                continue
            are_free = is_left or done < start  # The codes at `start`.
            inside, first, last = joined.cut(start, stop), False, False
            if len(inside) > 1:
                first, last = _ends_inside(joined, start, stop, are_free)
                inside = joined.cut(start, stop, first, last)
            are_before = are_free and not first
            if done < start or are_before:
                result += joined.cut(done, start, is_left, are_before)
            result += _codes(inside, line, are_tags_words)
            done, is_left = stop, not last
        if is_left or done < len(joined.text):
            result += joined.cut(done, len(joined.text), is_left, last=True)
    return tuple(_with_unpaired_shown(result))


def _with_unpaired_shown(parts):
    """Yields parts; a tag in a text without its other end, such as `<file>`, is a placeholder."""
    pairs, is_nested = partners(parts)
    for place, part in enumerate(parts):
        is_unpaired = not is_nested and isinstance(part, Code) and place not in pairs
        if is_unpaired and part.is_text and part.role is not Role.ALONE:
            part = dataclasses.replace(part, role=Role.ALONE, name="", shown=_shown(part))
        yield part


def _shown(code):
    return shown_text([piece for piece in code.pieces if not isinstance(piece, Segment)])


def _ends_inside(joined, start, stop, may_begin):
    """Returns whether the codes at both ends of a placeholder complete spans inside it."""
    choices = [(False, False), (False, True), (True, False), (True, True)]
    for first, last in choices:
        if (may_begin or not first) and partners(joined.cut(start, stop, first, last))[1]:
            return first, last
    return False, False


def _undivided(parts):
    """Yields the parts between the codes that divide a translation, and each of these codes."""
    run: list[str | Code] = []
    for part in parts:
        if isinstance(part, str) or part.share is None:
            run.append(part)
            continue
        yield from (run, [part])
        run = []
    yield run


Expanded = Iterator[tuple[Segment, tuple[str | Code, ...]]]


def expanded(
    pieces: Iterable[Piece | Code], patterns: Mapping[str, re.Pattern], syntax: str = ""
) -> Expanded:
    """Yields the segments among pieces with their parts, and those in their codes behind them.

    Args:
        patterns: `KeptPatterns`.
        syntax: The syntax of segments that have none.
    """
    for piece in pieces:
        if isinstance(piece, Code):
            yield from expanded(piece.pieces, patterns, syntax)
        elif isinstance(piece, Segment):
            own = piece.syntax or syntax
            parts = with_notes(piece.parts)
            parts = with_placeholders(parts, patterns[own], piece.line, own == PROSE)
            if own != PROSE:
                parts = in_blocks(parts, piece.line)
            yield piece, parts
            codes = (part for part in parts if isinstance(part, Code))
            yield from expanded(codes, patterns, own)


def _codes(inside, line, are_tags_words):
    """Returns the code of a placeholder, with the parts beside it that cannot be inside it."""
    text = shown_text(inside)
    if len(inside) > 1 and _NEVER_SPANS.fullmatch(text):
        return inside
    if len(inside) == 1 and (titled := _TITLED.fullmatch(text)):
        opening, title, closing = titled.groups()
        ends = (opening, Role.OPEN), (closing, Role.CLOSE)
        first, last = (Code((end,), role, "`", is_text=True) for end, role in ends)
        return [first, title, last]
    if partners(inside)[1]:
        return [_code(text, inside, line, are_tags_words)]
    lengths = [len(part) if isinstance(part, str) else -1 for part in inside]
    longest = lengths.index(max(lengths))
    before = [part for part in inside[:longest] if _is_end(part)]
    behind = [part for part in inside[longest:] if _is_end(part)]
    alone = [part for part in inside if not _is_end(part)]
    return [*before, _code(text, alone, line, are_tags_words), *behind]


def _is_end(part):
    return isinstance(part, Code) and part.role is not Role.ALONE


def _code(text, inside, line, are_tags_words):
    if icu := icu_code(inside, line):
        return icu
    pieces, tag = tuple(inside), None
    if not are_tags_words:
        tag = _TAG.fullmatch(_as_markup(text))
    if tag is None:
        shown = " " if text.lower() in _NO_BREAK_SPACES else text
        return Code(pieces, shown=shown, is_text=True, is_amount=is_amount(text))
    name = tag[2].lower()
    if tag[3] or name in _ALONE:
        return Code(pieces, shown=" " if name in _BREAKS else "", is_text=True)
    return Code(pieces, Role.CLOSE if tag[1] else Role.OPEN, f"<{name}", is_text=True)


def _as_markup(text):
    """Returns a tag that a text has with references, such as `&lt;b&gt;`, as a tag."""
    if not text.startswith("&lt;"):
        return text
    return f"<{text.removeprefix('&lt;').removesuffix('&gt;')}>"
