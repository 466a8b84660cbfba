"""Words by script: a script of one language names it, the others are read by the classifier.

Scripts have the codes of ISO 15924, languages those of ISO 639.
"""

import re

# Letters and marks of each script, as in a character class of a regular expression.
_LETTERS = {
    "Latn": "a-zA-ZªºÀ-ÖØ-öø-ʯ\u0300-\u036fḀ-ỿⱠ-ⱿꜢ-ꟊﬀ-ﬆＡ-Ｚａ-ｚ",
    "Cyrl": "Ѐ-ԯᲀ-ᲈꙀ-ꚟ",
    "Arab": "\u0610-\u061a\u0620-\u065f\u066e-\u06d3\u06d5-\u06ef\u06fa-\u06ff\u0750-\u077f"
    "\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufefc",
    "Deva": "\u0900-\u0963\u0970-\u097f\ua8e0-\ua8ff",
    "Grek": "Ͱ-Ͽἀ-῾",
    "Armn": "Ա-Ֆՙ-ֈﬓ-ﬗ",
    "Hebr": "\u0591-\u05f4\ufb1d-\ufb4f",
    "Geor": "Ⴀ-ჿᲐ-Ჿⴀ-ⴭ",
    "Thai": "\u0e01-\u0e4e",
    "Laoo": "\u0e81-\u0ece",
    "Khmr": "\u1780-\u17d3",
    "Mymr": "\u1000-\u103f\u1050-\u108f",
    "Beng": "\u0980-\u09e3\u09f0-\u09f1",
    "Guru": "\u0a01-\u0a5e\u0a70-\u0a75",
    "Gujr": "\u0a81-\u0ae3\u0af9-\u0aff",
    "Orya": "\u0b01-\u0b63\u0b71",
    "Taml": "\u0b82-\u0bd7",
    "Telu": "\u0c00-\u0c63",
    "Knda": "\u0c80-\u0ce3",
    "Mlym": "\u0d00-\u0d63",
    "Sinh": "\u0d81-\u0df3",
    "Kana": "ぁ-ゖゝ-ゟァ-ヺー-ヿｦ-ﾝ",
    "Hang": "ᄀ-ᇿㄱ-ㆎ가-힣",
    "Hani": "々〇㐀-䶿一-鿿豈-龎\U00020000-\U0003134a",
}
_OTHER = "Zyyy"  # Letters of any other script.
LANGUAGE_OF_SCRIPT = {
    "Grek": "el",
    "Armn": "hy",
    "Hebr": "he",
    "Geor": "ka",
    "Thai": "th",
    "Laoo": "lo",
    "Khmr": "km",
    "Mymr": "my",
    "Beng": "bn",
    "Guru": "pa",
    "Gujr": "gu",
    "Orya": "or",
    "Taml": "ta",
    "Telu": "te",
    "Knda": "kn",
    "Mlym": "ml",
    "Sinh": "si",
    "Kana": "ja",
    "Hang": "ko",
    "Hani": "zh",
}
SHARED_SCRIPTS = ("Latn", "Cyrl", "Arab", "Deva")  # Whose languages the classifier tells apart.
_SYLLABLES = {"Hani": 3, "Hang": 2, "Kana": 2}  # Letters of an alphabet that one of them is worth.
_INSIDE = "'’ʼ\u200c\u200d"  # Signs within a word.
_WORD = re.compile(
    "|".join(
        f"(?P<{script}>[{letters}][{letters}{_INSIDE}]*)" for script, letters in _LETTERS.items()
    )
    + f"|(?P<{_OTHER}>[^\\W\\d_]+)"
)
_NO_LANGUAGE = re.compile(r"(?:https?://|www\.)\S+|[\w.+-]+@[\w.-]+|<[^<>\n]*>")


def words_by_script(text: str) -> dict[str, list[str]]:
    """Returns the words of a text in lower case, by the code of their script.

    Addresses, tags and everything that is no letter are left out.
    """
    words: dict[str, list[str]] = {}
    for match in _WORD.finditer(_NO_LANGUAGE.sub(" ", text).lower()):
        words.setdefault(str(match.lastgroup), []).append(match[0])
    return words


def letters_of(script: str, words: list[str]) -> int:
    """Returns the number of letters of words, where a syllable or ideograph counts as several."""
    return _SYLLABLES.get(script, 1) * sum(map(len, words))
