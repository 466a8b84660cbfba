"""Regular expressions of what must stay in a text, by the kind of the document."""

import re

ADDRESS = (
    r"(?:https?|ftp)://[^\s<>\"'{}|\\^`\ufffc]*[\w/]",
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
)
TEMPLATE = (r"\{\{[^{}]*\}\}", r"\{%[^{}%]*%\}", r"<%[^<>%]*%>", r"[$%#]\{[^{}]*\}")
PRINTF = (
    r"(?<![\d%])%(?:\d+\$)?(?:\(\w+\))?[-+#0]*\d*(?:\.\d+)?(?:hh?|ll?|[qjzt])?[diouxXeEfgGcsp@]"
)
TAG = r"</?[A-Za-z][\w:.-]*(?:\s[^<>]*)?/?>|</?\d+/?>|&(?:#\w+|[A-Za-z]\w*);"
_BRACE = r"\{[\w.]*(?:![rsa])?(?::[^{}\s]*)?\}"
_MARKDOWN = (
    r"\[\^[^\[\]\s]+\]",
    r"\$\$[^$]+\$\$",
    r"(?<![\w\\$])\$(?=[^\s$])[^$\n]+(?<=\S)\$(?![\d$])",
)


def pattern_for(*alternatives: str) -> re.Pattern:
    """Returns a pattern of whatever one of the regular expressions matches."""
    return re.compile("|".join(alternatives), re.DOTALL)


PROSE = pattern_for(*ADDRESS, *TEMPLATE)
MARKDOWN = pattern_for(*ADDRESS, *TEMPLATE, *_MARKDOWN)
STRINGS = pattern_for(*ADDRESS, *TEMPLATE, r"%#@\w+@", PRINTF, TAG, _BRACE)
JSON = pattern_for(*ADDRESS, *TEMPLATE, r"\$t\([^()]*\)", r"\$\w+\$", r"\$\d", PRINTF, TAG, _BRACE)
XLIFF = pattern_for(*ADDRESS, *TEMPLATE, r"%\w+%", PRINTF, TAG, _BRACE)
GETTEXT = {  # By the flags of an entry.
    "c-format": PRINTF.replace("csp", "csSCmp"),
    "php-format": PRINTF,
    "python-format": PRINTF,
    "objc-format": PRINTF,
    "python-brace-format": r"\{[^{}]*\}",
    "qt-format": r"%L?(?:\d+|n)",
}
RST = (r"(?::[\w:]+:)`[^`]+`", r"``[^`]+``", r"\|\w+\|")
_CHOICE = re.compile(r"\{\s*\w+\s*,\s*(?:plural|select|selectordinal)\s*,(?:\s*offset:\d+)?")
_FORM = re.compile(r"\s*((?:=\d+|\w+)\s*\{)")


def split_choices(text: str) -> tuple[list[str], str]:
    """Returns the signs of plurals and choices in ICU's syntax, and the text without them."""
    signs, remaining, place = [], [], 0
    while choice := _CHOICE.search(text, place):
        signs.append(choice[0])
        remaining.append(text[place : choice.start()])
        place = choice.end()
        while form := _FORM.match(text, place):
            place = _closing(text, form.end()) + 1
            inner_signs, inner = split_choices(text[form.end() : place - 1])
            signs += [form[1], *inner_signs]
            remaining.append(inner)
        signs.append(text[place:].strip()[:1])  # The closing brace, if the choice is as it was.
    return signs, " ".join([*remaining, text[place:]])


def _closing(text, place):
    """Returns the place of the brace that closes what is open before a place."""
    level = 1
    for brace in re.compile(r"[{}]").finditer(text, place):
        level += 1 if brace[0] == "{" else -1
        if level == 0:
            return brace.start()
    return len(text)
