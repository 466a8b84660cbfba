"""Placeholders: what must be in a translation exactly as in its source, by kind.

`KINDS` has a regular expression for each kind. They are searched together, the longest kinds first,
so that the braces of `{{name}}` are not those of `{name}`.

A quantity, a number with its unit, is written by the translator, in the way of its language. It is
put back only if a translation lacks its digits.
"""

import re
from collections.abc import Iterable, Iterator

from kformer.documents.amounts import AMOUNT, is_amount
from kformer.documents.icu_messages import icu_code
from kformer.documents.joined_text import JoinedText, shown_text
from kformer.documents.segments import Code, Piece, Role, Segment, partners

_BRACES = r"\{(?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*+\})*+\})*+\})*+\}"  # Four levels of ICU.
_PRINTF = (
    r"%(?:\d{1,3}\$)?(?:\(\w+\))?[-+#0,]{0,5}(?:\d{1,4}|\*)?(?:\.(?:\d{1,4}|\*))?"
    r"(?:hh?|ll?|[Lqjzt])?[diouxXeEfFgGcrsaAp@n%]"
)
# Every repetition has a bound or ends at a character that begins another match: linear time.
KINDS = {
    "tag": r"</?[A-Za-z][\w:.-]*+(?:\s[^<>]*+)?/?>|<!--.{0,999}?-->"
    r"|&(?:#\w{1,8}|[A-Za-z]\w{1,31});",
    "url": r"(?:https?|ftp|file)://[^\s<>\"'{}|\\^`]{0,1999}[\w/]"
    r"|www\.[\w.-]{1,253}\.\w{2,63}(?:/[^\s<>\"']{0,1999}[\w/])?",
    "email": r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}",
    "nesting": r"\$t\([^()]*+\)",  # i18next.
    "double-brace": r"\{\{[^{}]*+\}\}",
    "template": r"[$#%]\{[^{}]*+\}"  # JavaScript, Ruby.
    r"|\{%(?:[^{}%]++|%(?!\}))*+%\}|\{#(?:[^{}#]++|#(?!\}))*+#\}",  # Jinja.
    "brace": _BRACES,
    # Not the percent sign of "100 %" or "100%ig".
    "printf": rf"%#@\w{{1,99}}@|(?<!\d)(?<!\d[ \u00a0\u202f]){_PRINTF}|{_PRINTF}(?![^\W\d_])",
    "quantity": AMOUNT,
    "mention": r"(?<![\w/#@.])[#@](?:\d{1,9}|[A-Za-z_][\w-]{0,63})(?![\w;])",  # "#12", "@name".
    "emoji": r"[\u2190-\u21ff\u2600-\u27bf\U0001f000-\U0001faff][\u200d\ufe0f\u2640\u2642"
    r"\U0001f3fb-\U0001f3ff\U0001f000-\U0001faff]*+",
}
_SYNTAX = {"tag", "nesting", "double-brace", "template", "brace", "printf"}  # Of programs.
_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]*+)[^<>]*?(/?)>")
_NEVER_SPANS = re.compile(rf"{AMOUNT}|{KINDS['emoji']}")  # They are text for a translator.
_ALONE = {"br", "hr", "img", "input", "wbr"}  # Tags of HTML without an end.


def keep_pattern(keep: Iterable[str] | None = None) -> re.Pattern:
    """Returns the regular expression of the placeholders that are kept."""
    if isinstance(keep, str):
        raise TypeError(f"`keep` must be a list of strings. Received: keep={keep!r:.99}.")
    chosen = [*KINDS] if keep is None else [*keep]
    for pattern in chosen:
        _check(pattern)
    own = [f"(?:{pattern})" for pattern in chosen if pattern not in KINDS]
    known = [f"(?:{pattern})" for name, pattern in KINDS.items() if name in chosen]
    return re.compile("|".join([*own, *known]) or r"(?!)", re.DOTALL)


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


def syntax_pattern(keep: Iterable[str] | None = None) -> re.Pattern:
    """Returns the regular expression of the kept kinds that a program reads, such as `{name}`.

    A translation without them in its source must have none: a program would fail there.
    """
    return keep_pattern([name for name in (KINDS if keep is None else keep) if name in _SYNTAX])


def with_placeholders(
    parts: Iterable[str | Code], pattern: re.Pattern, line: int = 1
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
            first, last = _ends_inside(joined, start, stop, are_free)
            are_before = are_free and not first
            if done < start or are_before:
                result += joined.cut(done, start, is_left, are_before)
            result += _codes(joined.cut(start, stop, first, last), line)
            done, is_left = stop, not last
        if is_left or done < len(joined.text):
            result += joined.cut(done, len(joined.text), is_left, last=True)
    return tuple(result)


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


def expanded(pieces: Iterable[Piece | Code], pattern: re.Pattern) -> Expanded:
    """Yields the segments among pieces with their parts, and those in their codes behind them."""
    for piece in pieces:
        if isinstance(piece, Code):
            yield from expanded(piece.pieces, pattern)
        elif isinstance(piece, Segment):
            parts = with_placeholders(piece.parts, pattern, piece.line)
            yield piece, parts
            yield from expanded((part for part in parts if isinstance(part, Code)), pattern)


def _codes(inside, line):
    """Returns the code of a placeholder, with the codes beside it that cannot be inside it."""
    text = shown_text(inside)
    if len(inside) > 1 and _NEVER_SPANS.fullmatch(text):
        return inside
    if partners(inside)[1]:
        return [_code(text, inside, line)]
    lengths = [len(part) if isinstance(part, str) else -1 for part in inside]
    longest = lengths.index(max(lengths))
    before = [part for part in inside[:longest] if _is_end(part)]
    behind = [part for part in inside[longest:] if _is_end(part)]
    return [*before, _code(text, [part for part in inside if not _is_end(part)], line), *behind]


def _is_end(part):
    return isinstance(part, Code) and part.role is not Role.ALONE


def _code(text, inside, line):
    if icu := icu_code(inside, line):
        return icu
    pieces, tag = tuple(inside), _TAG.fullmatch(text)
    if tag is None:
        return Code(pieces, shown=text, is_text=True, is_amount=is_amount(text))
    if tag[3] or tag[2].lower() in _ALONE:
        return Code(pieces, is_text=True)
    role = Role.CLOSE if tag[1] else Role.OPEN
    return Code(pieces, role, f"<{tag[2].lower()}", is_text=True)
