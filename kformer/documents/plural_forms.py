"""The plural forms of languages, for catalogs of gettext.

The rules are those of [CLDR](https://cldr.unicode.org/index/cldr-spec/plural-rules) for whole
numbers below a million, as gettext writes them; the forms are in CLDR's order.
"""

from gettext import c2py

_SLAVIC = "n%10>=2 && n%10<=4 && (n%100<12 || n%100>14)"
_RULES = {
    "nplurals=1; plural=0;": "bo dz id ii ja jv km ko lo ms my sah su th to vi yo yue zh",
    "nplurals=2; plural=(n > 1);": (
        "ak am as bho bn csw doi fa ff fr gu guw hi hy kab kn kok ln mg nso pa pcm pt si tg ti wa "
        "zu"
    ),
    "nplurals=2; plural=(n != 1);": "pt_pt",  # Of most languages, but not of "pt".
    "nplurals=2; plural=(n%10==4 || n%10==6 || n%10==9);": "ceb fil tl",
    "nplurals=2; plural=(n%10!=1 || n%100==11);": "is mk",
    "nplurals=2; plural=(n > 1 && (n < 11 || n > 99));": "tzm",
    f"nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : {_SLAVIC} ? 1 : 2);": "be bs hr ru sh sr uk",
    f"nplurals=3; plural=(n==1 ? 0 : {_SLAVIC} ? 1 : 2);": "pl",
    "nplurals=3; plural=(n==1 ? 0 : n>=2 && n<=4 ? 1 : 2);": "cs sk",
    "nplurals=3; plural=(n%10==1 && (n%100<11 || n%100>19) ? 0 : n%10>=2 && "
    "(n%100<11 || n%100>19) ? 1 : 2);": "lt",
    "nplurals=3; plural=(n%10==0 || (n%100>=11 && n%100<=19) ? 0 : n%10==1 ? 1 : 2);": "lv",
    "nplurals=3; plural=(n==1 ? 0 : n==0 || (n%100>=1 && n%100<=19) ? 1 : 2);": "mo ro",
    "nplurals=3; plural=(n==1 ? 0 : n==2 ? 1 : 2);": "he iu iw naq sat se sma smj smn sms",
    "nplurals=4; plural=(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3);": (
        "dsb hsb sl"
    ),
    "nplurals=4; plural=(n%10==1 && n%100!=11 && n%100!=71 && n%100!=91 ? 0 : n%10==2 && "
    "n%100!=12 && n%100!=72 && n%100!=92 ? 1 : (n%10==3 || n%10==4 || n%10==9) && "
    "(n%100<10 || n%100>19) && (n%100<70 || n%100>79) && n%100<90 ? 2 : 3);": "br",
    "nplurals=4; plural=(n==1 || n==11 ? 0 : n==2 || n==12 ? 1 : n>2 && n<20 ? 2 : 3);": "gd",
    "nplurals=5; plural=(n==1 ? 0 : n==2 ? 1 : n<7 && n!=0 ? 2 : n<11 && n!=0 ? 3 : 4);": "ga",
    "nplurals=5; plural=(n==1 ? 0 : n==2 ? 1 : n==0 || (n%100>=3 && n%100<=10) ? 2 : "
    "n%100>=11 && n%100<=19 ? 3 : 4);": "mt",
    "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : "
    "n%100>=11 ? 4 : 5);": "ar",
    "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n==3 ? 3 : n==6 ? 4 : 5);": "cy",
}
_TWO_FORMS = "nplurals=2; plural=(n != 1);"
_OF_LANGUAGE = {name: rule for rule, names in _RULES.items() for name in names.split()}


def plural_forms(language: str) -> str:
    """Returns the value of the header `Plural-Forms` for a language such as "pt-BR"."""
    name = language.replace("-", "_").lower()
    return _OF_LANGUAGE.get(name) or _OF_LANGUAGE.get(name.partition("_")[0]) or _TWO_FORMS


def singular_form(plural: str, forms: int) -> int | None:
    """Returns the form that a rule has for the number 1, or None for a rule of one form.

    Args:
        plural: The expression of the header `Plural-Forms`, such as "n != 1".
        forms: Number of the forms.
    """
    if forms == 1:
        return None
    try:
        form = c2py(plural)(1)
    except (ValueError, ArithmeticError, RecursionError):
        return 0
    return form if 0 <= form < forms else 0
