"""Strings of programs: states, languages, paired elements and plural forms, as readers see them."""

import gettext
import io
import json
import re

import pytest

from documents.test_round_trips import same, translated, upper
from kformer.documents.plural_forms import plural_forms, singular_form
from kformer.text.tmx import read_tmx

TEMPLATE = r"""#, fuzzy
msgid ""
msgstr ""
"Language: \n"
"Content-Type: text/plain; charset=CHARSET\n"
"Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\n"

#, c-format
msgid "One file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""

# A comment.
msgctxt "menu"
msgid "Open"
msgstr ""
"""
LANGUAGES = "de fr pt pt_PT pt_BR es it ru uk pl cs sk sl lt lv ro ar he ga cy mt hi ja"
PLURALS = re.compile(r"nplurals=(\d+); plural=(.*);")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("language", "header", "forms"),
    [
        ("ja", "ja", {1: "%d FILES", 2: "%d FILES"}),
        ("pt-BR", "pt_BR", {0: "ONE FILE", 1: "ONE FILE", 2: "%d FILES"}),
        ("ru", "ru", {1: "ONE FILE", 3: "%d FILES", 5: "%d FILES"}),
        ("ar", "ar", {0: "%d FILES", 1: "ONE FILE", 2: "%d FILES", 100: "%d FILES"}),
    ],
)
def test_a_template_becomes_a_catalog_that_gettext_reads(tmp_path, language, header, forms, end):
    polib = pytest.importorskip("polib")
    text = TEMPLATE.replace("\n", end)
    output, report = translated(tmp_path, "a.pot", text, upper, target_language=language)
    assert not report.unplaced
    file = polib.pofile(output.decode())
    assert file.metadata["Language"] == header and not file.metadata_is_fuzzy
    assert file.metadata["Content-Type"] == "text/plain; charset=UTF-8"
    catalog = gettext.GNUTranslations(io.BytesIO(file.to_binary()))
    numbers = {number: catalog.ngettext("One file", "%d files", number) for number in forms}
    assert numbers == forms
    assert catalog.pgettext("menu", "Open") == "OPEN"
    assert re.findall("\r?\n", output.decode()) == [end] * output.count(b"\n")


def test_a_template_without_a_language_stays_a_template(tmp_path):
    output, _ = translated(tmp_path, "a.pot", TEMPLATE, upper)
    filled = TEMPLATE.replace('msgstr[0] ""', 'msgstr[0] "ONE FILE"')
    filled = filled.replace('msgstr[1] ""', 'msgstr[1] "%d FILES"')
    assert output.decode() == filled.replace('"Open"\nmsgstr ""', '"Open"\nmsgstr "OPEN"')


def test_plural_forms_are_those_of_cldr():
    babel = pytest.importorskip("babel")
    order = ["zero", "one", "two", "few", "many", "other"]
    for language in LANGUAGES.split():
        rule = babel.Locale.parse(language).plural_form
        known = sorted({rule(number) for number in range(1000)}, key=order.index)
        count, plural = PLURALS.fullmatch(plural_forms(language)).groups()
        assert int(count) == len(known), language
        form = gettext.c2py(plural)
        assert all(known[form(number)] == rule(number) for number in range(1000)), language


def test_a_rule_that_is_none_has_its_first_form_for_one():
    assert singular_form("n != 1", 2) == 0 and singular_form("0", 1) is None
    assert singular_form("n==0 ? 0 : n==1 ? 1 : 2", 3) == 1
    assert singular_form("n =", 2) == singular_form("n + 9", 2) == singular_form("n / 0", 2) == 0


@pytest.mark.parametrize(
    ("flags", "text", "expected"),
    [
        ("#, qt-format\n", "%n dogs of %L1", "%n DOGS OF %L1"),
        ("#, no-c-format\n", "a %d b", "A %D B"),
        ("#, c-format\n", "a %d b 5 %complete", "A %d B 5 %cOMPLETE"),
        ("#, python-brace-format, python-format\n", "a %d {x}", "A %d {x}"),
        ("#, python-brace-format\n", "a %d {x}", "A %D {x}"),
        ("#, fuzzy, php-format\n", "a %1$s b", "A %1$s B"),
        ("", "Hi %name%, :who and %<n>d", "HI %name%, :who AND %<n>d"),
        ('#~ msgid "x"\n', "%s dogs", "%s DOGS"),
        ('#, no-c-format\n#~ msgid "x"\n', "%s dogs", "%s DOGS"),
    ],
)
def test_flags_of_a_message_declare_its_placeholders(tmp_path, flags, text, expected):
    catalog = f'{flags}msgid "{text}"\nmsgstr ""\n'
    output, _ = translated(tmp_path, "a.po", catalog, upper)
    assert output.decode() == f'{flags}msgid "{text}"\nmsgstr "{expected}"\n'


def test_a_catalog_of_drupal_declares_its_placeholders(tmp_path):
    header = 'msgid ""\nmsgstr "Project-Id-Version: Drupal core\\n"\n\n'
    catalog = f'{header}msgid "%user has @count of !all"\nmsgstr ""\n'
    output, _ = translated(tmp_path, "a.po", catalog, upper)
    assert output.decode().endswith('msgstr "%user HAS @count OF !all"\n')


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_new_translations_are_fuzzy_if_they_shall_be(tmp_path, end):
    polib = pytest.importorskip("polib")
    text = TEMPLATE.replace("\n", end) + f'{end}#, fuzzy{end}msgid "a"{end}msgstr "b"{end}'
    output, _ = translated(tmp_path, "a.po", text, upper, fuzzy=True)
    entries = {entry.msgid: entry.flags for entry in polib.pofile(output.decode())}
    assert entries == {"One file": ["fuzzy", "c-format"], "Open": ["fuzzy"], "a": ["fuzzy"]}
    with pytest.raises(TypeError, match="Received: fuzzy=1"):
        translated(tmp_path, "a.po", text, upper, fuzzy=1)
    with pytest.raises(ValueError, match="fuzzy=True for a document of the kind json"):
        translated(tmp_path, "a.json", "{}", upper, fuzzy=True)


def without_dogs(texts):
    return ["" if "dog" in text else text.upper() for text in texts]


UNITS = """<xliff version="1.2"><file source-language="en" datatype="x" original="a"><body>
<trans-unit id="1"><source>A dog</source></trans-unit>
<trans-unit id="2"><source>A cat</source><target state="new"/></trans-unit>
<trans-unit id="3"><source>A dog</source><target state="new"></target></trans-unit>
<trans-unit id="4"><source>A cow</source>
<target state="needs-translation">A cow</target></trans-unit>
<trans-unit id="5"><source>{n, plural, one {a cat} other {dogs}}</source></trans-unit>
</body></file></xliff>"""
SEGMENTS = """<xliff version="2.1" srcLang="en" xmlns="urn:oasis:names:tc:xliff:document:2.0">
<file id="f"><unit id="1"><segment id="a" state="initial"><source>A dog</source></segment>
<segment id="b" state='initial'><source>A cat</source></segment>
<segment id="c"><source>OK</source></segment></unit></file></xliff>"""


def test_what_fails_is_left_empty_and_the_rest_must_be_reviewed(tmp_path):
    output, report = translated(tmp_path, "a.xlf", UNITS, without_dogs, target_language="de")
    assert [text.text for text in report.unplaced] == ["A dog", "A dog", "dogs"]
    reviewed = ' state="needs-review-translation"'
    expected = UNITS.replace('original="a"', 'original="a" target-language="de"')
    expected = expected.replace('<target state="new"/>', f"<target{reviewed}>A CAT</target>")
    expected = expected.replace('state="needs-translation">A cow', f"{reviewed.strip()}>A COW")
    assert output.decode() == expected

    output, _ = translated(tmp_path, "b.xlf", SEGMENTS, without_dogs, target_language="de-AT")
    expected = SEGMENTS.replace('2.0">', '2.0" trgLang="de-AT">', 1)
    for text, new in (("A cat", "A CAT"), ("OK", "OK")):
        source = f"<source>{text}</source>"
        expected = expected.replace(source, f"{source}<target>{new}</target>")
    expected = expected.replace("state='initial'", 'state="translated"')
    assert output.decode() == expected.replace('id="c"', 'id="c" state="translated"')
    again, report = translated(tmp_path, "c.xlf", output, upper, target_language="de-AT")
    assert report.segments == 1 and again.count(b"<target>") == 3

    catalog = 'msgid "a dog"\nmsgstr ""\n\nmsgid "a cat"\nmsgstr ""\n'
    output, _ = translated(tmp_path, "a.po", catalog, without_dogs)
    assert output.decode() == 'msgid "a dog"\nmsgstr ""\n\nmsgid "a cat"\nmsgstr "A CAT"\n'


def test_a_string_catalog_gets_what_it_lacks_and_what_fails_is_new(tmp_path):
    def unit(state, value):
        return {"stringUnit": {"state": state, "value": value}}

    def plural(*units):
        return {"variations": {"plural": dict(zip(("one", "other"), units, strict=True))}}

    english = plural(unit("translated", "%arg cat"), unit("translated", "%arg cows"))
    entries = {
        "a dog": {},
        "a cat": {"localizations": {"de": unit("new", "")}},
        "cow": {"localizations": {"de": unit("translated", "")}},
        "bird": {"localizations": {"de": unit("translated", "Vogel")}},
        "n": {"localizations": {"en": english, "de": unit("new", "x")}},
        "m": {
            "localizations": {
                "en": english,
                "de": plural(unit("translated", "Katze"), unit("new", "old")),
            }
        },
        "old dog": {"localizations": {"de": unit("new", "old")}},
    }
    catalog = {"sourceLanguage": "en", "strings": entries, "version": "1.0"}
    for indent in (None, 2):
        text = json.dumps(catalog, indent=indent)
        output, report = translated(
            tmp_path, "a.xcstrings", text, without_dogs, target_language="de"
        )
        result = json.loads(output)["strings"]
        german = {key: entry["localizations"]["de"] for key, entry in result.items()}
        reviewed = unit("needs_review", "%arg CAT"), unit("needs_review", "%arg COWS")
        assert german == {
            "a dog": unit("new", ""),
            "a cat": unit("needs_review", "A CAT"),
            "cow": unit("needs_review", "COW"),
            "bird": unit("translated", "Vogel"),
            "n": plural(*reviewed),
            "m": plural(unit("translated", "Katze"), reviewed[1]),
            "old dog": unit("new", "old"),
        }
        assert [text.text for text in report.unplaced] == ["a dog", "old dog"]


PAIRED = [
    '<bpt id="1">&lt;b&gt;</bpt>|<ept id="1">&lt;/b&gt;</ept>',
    '<bx id="1" rid="7"/>|<ex id="2" rid="7"/>',
    '<x id="START_LINK_1" ctype="x-a"/>|<x id="CLOSE_LINK"/>',
    '<sc id="1"/>|<ec startRef="1"/>',
    '<sm id="1"/>|<em startRef="1"/>',
]


@pytest.mark.parametrize("pair", PAIRED)
def test_paired_elements_keep_their_order_around_their_words(tmp_path, pair):
    opening, closing = pair.split("|")
    text = (
        '<xliff version="1.2"><file source-language="en" datatype="x" original="a"><body>'
        f'<trans-unit id="1"><source>The {opening}red dog{closing} sleeps here</source>'
        "</trans-unit></body></file></xliff>"
    )

    def reversed_words(texts):
        return [" ".join(reversed(text.split())) for text in texts]

    output, report = translated(tmp_path, "a.xlf", text, reversed_words)
    [target] = re.findall("<target[^>]*>(.*)</target>", output.decode())
    assert target == f"here sleeps {opening}dog red{closing} The" and not report.unplaced


def test_an_end_without_its_other_end_does_not_hold_the_rest(tmp_path):
    text = UNITS.replace("A cat", 'A <ex id="1"/>red <g id="2">cat</g>')
    answers = {"A red cat": "Cat red a"}
    output, _ = translated(
        tmp_path, "a.xlf", text, lambda texts: [answers.get(text, text) for text in texts]
    )
    [target] = re.findall("<target[^>]*>(.*Cat.*)</target>", output.decode())
    assert '<g id="2">Cat</g>' in target and target.count("<ex") == 1


def test_elements_that_stand_for_values_are_read_as_placeholders(tmp_path):
    elements = [
        '<x id="INTERPOLATION" equiv-text="{{ n }}"/>',
        '<x id="INTERPOLATION_1"/>',
        '<ph id="0">%1$s</ph>',
        '<ph id="1" equiv="A" disp="{{a}}"/>',
        '<x id="ICU" equiv-text="{n, plural, other {dogs}}"/>',
    ]
    asked = []

    def function(texts):
        asked.extend(texts)
        return texts

    text = UNITS.replace("A cat", f"See {' or '.join(elements)} now")
    output, _ = translated(tmp_path, "a.xlf", text, function)
    assert "See {{ n }} or {INTERPOLATION_1} or %1$s or {{a}} or {ICU} now" in asked
    [target] = re.findall("<target[^>]*>(See .*)</target>", output.decode())
    assert target == f"See {' or '.join(elements)} now"


def test_messages_with_descriptions_have_only_their_texts_translated(tmp_path):
    message = {"message": "Hi $USER$ $1", "description": "no"}
    for name, text, key in (
        ("messages.json", {"a": message}, "message"),
        ("a.json", {"a": message | {"placeholders": {"user": {"content": "c"}}}}, "message"),
        ("b.json", {"a": {"defaultMessage": "Hi", "description": "no"}}, "defaultMessage"),
        ("c.json", [{"id": "x", "defaultMessage": "Hi", "description": "no"}], "defaultMessage"),
    ):
        output = json.loads(translated(tmp_path, name, json.dumps(text), upper)[0])
        entry = text[0] if isinstance(text, list) else text["a"]
        entry[key] = entry[key].replace("Hi", "HI")
        assert output == text
    both = {"a": {"message": "Hi", "description": "Hi"}}  # They may be keys of any strings.
    output = json.loads(translated(tmp_path, "d.json", json.dumps(both), upper)[0])
    assert output == {"a": {"message": "HI", "description": "HI"}}


def test_the_locale_of_an_arb_file_is_the_target_language(tmp_path):
    text = '{"a": "Hi",\n "@@locale": "en", "b": "Hi"}'
    output, _ = translated(tmp_path, "a.arb", text, upper, target_language="pt-BR")
    assert json.loads(output) == {"a": "HI", "@@locale": "pt_BR", "b": "HI"}
    assert translated(tmp_path, "a.arb", text, same)[0].decode() == text


def test_items_of_android_outside_arrays_are_values(tmp_path):
    text = (
        '<resources><style name="s"><item name="android:textStyle">bold</item></style>'
        '<item type="id" name="i">text</item><array name="a"><item>words</item></array>'
        '<item type="string" name="t">words</item></resources>'
    )
    output, _ = translated(tmp_path, "strings.xml", text, upper)
    assert output.decode() == text.replace("words", "WORDS")


def test_quotes_of_tags_in_a_section_of_android_stay_with_their_tags(tmp_path):
    text = (
        '<resources><string name="d"><![CDATA[Read <a href="http://x.org/a">the '
        "manual</a> now]]></string></resources>"
    )
    output, _ = translated(tmp_path, "strings.xml", text, upper)
    expected = text.replace("Read", "READ").replace("the manual", "THE MANUAL")
    assert output.decode() == expected.replace("now", "NOW")


def test_a_memory_has_the_placeholders_that_the_document_has(tmp_path):
    text = json.dumps(["Open <b>{file}</b> with %s now", "Only {a}"])
    memory = tmp_path / "a.tmx"
    languages = {"source_language": "en", "target_language": "de"}

    def forgetful(texts):
        return [text.upper().replace("{FILE}", "").replace("%S", "%s") for text in texts]

    output, _ = translated(tmp_path, "a.json", text, forgetful, tmx=memory, **languages)
    pairs = [*read_tmx(memory)]
    assert [source for source, _ in pairs] == json.loads(text)
    assert [target for _, target in pairs] == json.loads(output)
    assert "{file}" in pairs[0][1] and "<b>" in pairs[0][1]


@pytest.mark.parametrize(
    ("text", "asked", "expected"),
    [
        ("<p>One {x}.</p><p>Two</p>", ["One {x}.", "Two"], "<p>{x}. One</p><p>Two</p>"),
        (
            "A list: <ul>\n<li>a red <b>dog</b></li> <li>{y}</li></ul>",
            ["A list:", "a red dog"],
            "list: A <ul>\n<li><b>dog</b> red a</li> <li>{y}</li></ul>",
        ),
        ("Use <p> in it", ["Use <p> in it"], "it in <p> Use"),
        ("<b><p>a b</p></b>c d", ["a bc d"], None),
        ("a b", ["a b"], "b a"),
    ],
)
def test_blocks_in_a_string_are_texts_of_their_own(tmp_path, text, asked, expected):
    known = []

    def reversed_words(texts):
        known.extend(texts)
        return [" ".join(reversed(text.split())) for text in texts]

    output, report = translated(tmp_path, "a.json", json.dumps([text]), reversed_words)
    assert sorted(known) == sorted(asked) and not report.unplaced
    assert expected is None or json.loads(output) == [expected]
    output, _ = translated(tmp_path, "b.json", json.dumps([text]), lambda texts: [""] * len(texts))
    assert json.loads(output) == [text]
    catalog = f'msgid {json.dumps(text)}\nmsgstr ""\n'
    output, _ = translated(tmp_path, "a.po", catalog, lambda texts: [""] * len(texts))
    assert output.decode() == catalog
