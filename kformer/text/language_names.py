"""Languages by their codes: English names, as of Unicode's CLDR, and codes that mean the same."""

import re
from collections.abc import Collection

_NAMES = (
    "af:Afrikaans am:Amharic ar:Arabic as:Assamese az:Azerbaijani be:Belarusian bg:Bulgarian "
    "bn:Bangla br:Breton bs:Bosnian ca:Catalan cs:Czech cy:Welsh da:Danish de:German el:Greek "
    "en:English eo:Esperanto es:Spanish et:Estonian eu:Basque fa:Persian fi:Finnish fil:Filipino "
    "fo:Faroese fr:French fy:Western_Frisian ga:Irish gd:Scottish_Gaelic gl:Galician gu:Gujarati "
    "ha:Hausa he:Hebrew hi:Hindi hr:Croatian ht:Haitian_Creole hu:Hungarian hy:Armenian "
    "id:Indonesian ig:Igbo is:Icelandic it:Italian ja:Japanese jv:Javanese ka:Georgian kk:Kazakh "
    "km:Khmer kn:Kannada ko:Korean ku:Kurdish ky:Kyrgyz la:Latin lb:Luxembourgish lo:Lao "
    "lt:Lithuanian lv:Latvian mg:Malagasy mi:Māori mk:Macedonian ml:Malayalam mn:Mongolian "
    "mr:Marathi ms:Malay mt:Maltese my:Burmese nb:Norwegian_Bokmål ne:Nepali nl:Dutch "
    "nn:Norwegian_Nynorsk no:Norwegian oc:Occitan or:Odia pa:Punjabi pl:Polish ps:Pashto "
    "pt:Portuguese pt-BR:Portuguese_(Brazil) qu:Quechua rm:Romansh ro:Romanian ru:Russian "
    "sa:Sanskrit sd:Sindhi si:Sinhala sk:Slovak sl:Slovenian sn:Shona so:Somali sq:Albanian "
    "sr:Serbian su:Sundanese sv:Swedish sw:Swahili ta:Tamil te:Telugu tg:Tajik th:Thai tk:Turkmen "
    "tl:Tagalog tr:Turkish tt:Tatar ug:Uyghur uk:Ukrainian ur:Urdu uz:Uzbek vi:Vietnamese "
    "wo:Wolof xh:Xhosa yi:Yiddish yo:Yoruba zh-Hans:Chinese_(Simplified) "
    "zh-Hant:Chinese_(Traditional) zh:Chinese zu:Zulu"
)
_NAME_OF = dict(pair.replace("_", " ").split(":") for pair in _NAMES.split())
_ALIKE = (  # "pb" and "zt" are LibreTranslate's.
    ("zh", "zh-Hans", "zh-CN", "zh-SG"),
    ("zt", "zh-Hant", "zh-TW", "zh-HK", "zh-MO"),
    ("pb", "pt-BR"),
    ("nb", "no"),
    ("he", "iw"),
    ("id", "in"),
    ("tl", "fil"),
)
_SHOWN = {"pb": "pt-BR", "zh": "zh-Hans", "zt": "zh-Hant"}  # LibreTranslate's answers.
# Codes of languages that `kformer.identify` calls otherwise.
_IDENTIFIED_AS = {
    "no": ("nb", "nn"),
    "fil": ("tl",),
    "iw": ("he",),
    "in": ("id",),
    "sh": ("hr", "sr"),
    "bs": ("hr",),
    "zt": ("zh",),
    "pb": ("pt",),
}
# A code, perhaps with a script and a region: "de", "zh-Hans", "pt-BR"; in training, "pt_BR".
_CODE = r"\w+(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|[0-9]{3}))?"
_DIRECTION = re.compile(f"({_CODE})-({_CODE})")
# A language, perhaps with a region, in any case: "pt", "pt-BR", "pt_br", "es-419".
_REGION = re.compile("([a-zA-Z]{2,3})(?:[-_](?:[a-zA-Z]{2}|[0-9]{3}))?")


def direction_codes(direction: str) -> tuple[str, str]:
    """Returns the codes of source and target: "zh-Hans" and "en" of "zh-Hans-en"."""
    match = _DIRECTION.fullmatch(direction)
    if not match:
        raise ValueError(
            "A direction is two codes with a hyphen between, such as de-en or zh-Hans-pt-BR. "
            f"Received: {direction!r}."
        )
    return match[1], match[2]


def language_name(code: str) -> str:
    """Returns the English name of a language, such as "German" of "de"; the code if unknown."""
    alike = next((codes for codes in _ALIKE if code in codes), ())
    return next((_NAME_OF[each] for each in (code, *alike[1:]) if each in _NAME_OF), code)


def shown_code(code: str) -> str:
    """Returns the code of a language in LibreTranslate's answers: "pt-BR" for "pb"."""
    return _SHOWN.get(code, code)


def identified_codes(code: str) -> tuple[str, ...]:
    """Returns the codes by which `kformer.identify` calls a language, without region or script."""
    language = code.partition("-")[0].partition("_")[0].lower()
    return _IDENTIFIED_AS.get(language, (language,))


def known_code(code: str | None, known: Collection[str | None]) -> str | None:
    """Returns the code among `known` that means the same language; `code` itself if there is none.

    It is the same in another case, or another name of the language, such as "zt" for "zh-TW"; or,
    but for Chinese, whose regions differ in their script, the language of a region: "pt" for
    "pt-BR".
    """
    if code is None or code in known:
        return code
    folded = {each.lower(): each for each in known if each}
    wanted = code.lower().replace("_", "-")
    alike = next((codes for codes in _ALIKE if wanted in map(str.lower, codes)), ())
    names = [wanted, *map(str.lower, alike)]
    match = _REGION.fullmatch(code)
    if match and match[1].lower() != "zh":
        names.append(match[1].lower())
    return next((folded[name] for name in names if name in folded), code)
