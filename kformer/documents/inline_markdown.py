"""Where the markup of a paragraph of Markdown stands: links, emphasis, code, math and HTML.

The library markdown-it-py gives the lines of blocks, but no places within them. Its rules for
inline markup move a position, so each rule is wrapped here, and the tokens that it adds get the
characters that it moved over.
"""

import functools
from typing import NamedTuple


class InlineCode(NamedTuple):
    """Markup in a paragraph.

    Attributes:
        kind: Type of the token of markdown-it, such as "strong_open".
        start, end: Its place in the paragraph.
        content: Content of code.
    """

    kind: str
    start: int
    end: int
    content: str


_SPAN = "span"
BLOCK = "block"
"""Name of the blocks that begin with `:::` and a name."""


@functools.cache
def markdown_parser():
    """Returns a parser of CommonMark with places of tokens.

    It also reads what the documentation of programs often has: tables, strikethrough, math in
    dollars, blocks such as `:::note` and `!!! note`, and footnotes within a line, `^[...]`.
    """
    from markdown_it import MarkdownIt
    from mdit_py_plugins.admon import admon_plugin
    from mdit_py_plugins.container import container_plugin
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    admon_plugin(parser)
    container_plugin(parser, BLOCK, validate=lambda name, *_: bool(name.strip()))
    # A price is no math: "$5 and $10".
    dollarmath_plugin(parser, allow_labels=False, allow_space=False, allow_digits=False)
    parser.inline.ruler.before("link", "note", _note)
    ruler = parser.inline.ruler
    for name, rule in zip(ruler.get_active_rules(), ruler.getRules(""), strict=True):
        ruler.at(name, _placing(rule))
    return parser


def _note(state, silent):
    """Reads a footnote within a line, `^[...]`."""
    start = state.pos
    if not state.src.startswith("^[", start):
        return False
    end = state.md.helpers.parseLinkLabel(state, start + 1)
    if end < 0:
        return False
    if not silent:
        state.push("note_open", "", 1)
        state.pos, most, state.posMax = start + 2, state.posMax, end
        state.md.inline.tokenize(state)
        state.posMax = most
        state.push("note_close", "", -1)
    state.pos = end + 1
    return True


def _placing(rule):
    """Returns a rule that does the same, and gives its tokens their places."""

    def placing(state, silent):
        start, count, is_pending = state.pos, len(state.tokens), bool(state.pending)
        matched = rule(state, silent)
        if matched and not silent and len(state.tokens) > count:
            added = state.tokens[count + is_pending :]
            _place(state, [token for token in added if _SPAN not in token.meta], start)
        return matched

    return placing


def _place(state, tokens, start):
    end = state.pos
    if not tokens:
        return
    if tokens[0].type == "note_open":
        tokens[0].meta = {_SPAN: (start, start + 2)}
        tokens[-1].meta = {_SPAN: (end - 1, end)}
    elif tokens[0].type == "link_open" and tokens[0].markup != "autolink":
        label_end = state.md.helpers.parseLinkLabel(state, start, False)
        state.pos = end
        tokens[0].meta = {_SPAN: (start, start + 1)}
        tokens[-1].meta = {_SPAN: (label_end, end)}
    elif len(tokens) > 1 and all(token.type == "text" for token in tokens):  # Delimiters.
        for token in tokens:
            token.meta = {_SPAN: (start, start + len(token.content))}
            start += len(token.content)
    else:
        tokens[0].meta = {_SPAN: (start, end)}


def inline_codes(token) -> list[InlineCode]:
    """Returns the markup of an inline token of `markdown_parser`, in its order."""
    codes = []
    for child in token.children or ():
        if child.type == "text" or _SPAN not in child.meta:
            continue
        start, end = child.meta[_SPAN]
        if child.type == "strong_open":
            start -= 1  # The token has one of its two characters.
        elif child.type == "strong_close":
            end += 1
        content = child.content
        if child.markup == "autolink":
            content = token.content[start:end].strip("<>")
        codes.append(InlineCode(child.type, start, end, content))
    return codes
