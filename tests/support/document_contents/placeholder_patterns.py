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
_ICU = (
    r"\{\s*\w+\s*,\s*(?:plural|select|selectordinal)\s*,",  # The head of a choice,
    r"(?:=\d+|\b(?:zero|one|two|few|many|other|male|female))\s*(?=\{)",  # and its selectors.
)
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
JSON = pattern_for(
    *ADDRESS, *TEMPLATE, *_ICU, r"\$t\([^()]*\)", r"\$\w+\$", r"\$\d", PRINTF, TAG, _BRACE
)
XLIFF = pattern_for(*ADDRESS, *TEMPLATE, *_ICU, r"%\w+%", PRINTF, TAG, _BRACE)
GETTEXT = {  # By the flags of an entry.
    "c-format": PRINTF.replace("csp", "csSCmp"),
    "php-format": PRINTF,
    "python-format": PRINTF,
    "objc-format": PRINTF,
    "python-brace-format": r"\{[^{}]*\}",
    "qt-format": r"%L?(?:\d+|n)",
}
RST = (r"(?::[\w:]+:)`[^`]+`", r"``[^`]+``", r"\|\w+\|")
