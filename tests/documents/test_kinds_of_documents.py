"""Each kind of document: what is translated and kept, as another reader of the kind sees it."""

import json
import re
from xml.etree import ElementTree

import hypothesis.strategies as st
import pytest
from hypothesis import given
from markdown_it import MarkdownIt

from documents.test_round_trips import translated, upper

TEXTS = st.text(st.sampled_from(list("ab Cü&<>\"'\\/日{}%\n")), max_size=12)
LINE_ENDS = st.sampled_from(["\n", "\r\n"])


@pytest.fixture
def folder(tmp_path_factory):
    return tmp_path_factory.getbasetemp()


def upper_but(text, *kept):
    text = text.upper()
    for part in kept:
        text = text.replace(part.upper(), part)
    return text


JSON = st.recursive(
    st.one_of(TEXTS, st.integers(), st.none(), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=8,
)


def strings(value, key=""):
    """Yields the strings of JSON that are no keys."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else ():
        yield from strings(inner)
    for inner in value if isinstance(value, list) else ():
        yield from strings(inner)


@given(JSON, st.booleans(), st.sampled_from([None, 2, "\t"]))
def test_json_is_the_same_and_a_translation_changes_strings_alone(
    tmp_path_factory, value, ascii_only, indent
):
    folder = tmp_path_factory.getbasetemp()
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert translated(folder, "a.json", text)[0] == text.encode()
    output = json.loads(translated(folder, "a.json", text, upper)[0])
    plain = re.compile(r"\{[^{}]*\}|%.|<[^<>]*>|\s+")  # What is kept, and spaces.
    before = [plain.sub("", string).upper() for string in strings(value)]
    assert [plain.sub("", string).upper() for string in strings(output)] == before


def test_keys_escapes_and_placeholders_of_json_stay(folder):
    text = '\ufeff{"key": "Hi {name}\\u00e9\\/<b>x<\\/b>", '
    text += '"@key": {"description": "no"},\r\n"n": [1e5]}'
    output, report = translated(folder, "a.json", text, upper)
    assert output.decode() == text.replace("Hi", "HI").replace("\\u00e9", "\\u00c9").replace(
        "x<", "X<"
    )
    assert report.segments == 1


CATALOG = r"""# Translators' comment.
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=2; plural=n != 1;\n"

#. Automatic.
#: a.c:1
#, c-format
msgctxt "menu"
msgid "Open \"%s\""
msgstr ""

msgid "One\ttab\n"
"two"
msgstr ""
""

msgid "%d file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""

msgid "done"
msgstr "fertig"

#~ msgid "old"
#~ msgstr ""
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_catalog_gets_the_strings_that_it_lacks(folder, end):
    polib = pytest.importorskip("polib")
    text = CATALOG.replace("\n", end)
    output, report = translated(folder, "a.po", text, upper)
    assert report.segments == 4
    entries = {entry.msgid: entry for entry in polib.pofile(output.decode())}
    assert entries['Open "%s"'].msgstr == 'OPEN "%s"'
    assert entries["One\ttab\ntwo"].msgstr == "ONE\tTAB\nTWO"
    assert entries["%d file"].msgstr_plural == {0: "%d FILE", 1: "%d FILES"}
    assert entries["done"].msgstr == "fertig" and entries["old"].msgstr == ""
    kept = [line for line in text.split(end) if not line.startswith(("msgstr", '""'))]
    left = iter(output.decode().split(end))
    assert all(line in left for line in kept)  # In this order.
    assert translated(folder, "b.po", output, upper)[0] == output  # It is whole.


XLIFF_1 = """<?xml version="1.0" encoding="utf-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file><body>
  <trans-unit id="1">
    <source>Hello <g id="1">big &amp; old</g> world<x id="2"/></source>
  </trans-unit>
  <trans-unit id="2"><source>Two</source><target state="new"/></trans-unit>
  <trans-unit id="3"><source>Three</source><target>Drei</target></trans-unit>
  <trans-unit id="4" translate="no"><source>Four</source></trans-unit>
  <trans-unit id="5"><source><![CDATA[a < B]]></source><target></target></trans-unit>
  <trans-unit id="6"><source>By <mrk mtype="protected">Acme</mrk></source>
    <alt-trans><source>Old</source><target/></alt-trans></trans-unit>
</body></file></xliff>
"""
STATE = ' state="needs-review-translation"'
XLIFF_2 = """<x:xliff version="2.0" xmlns:x="urn:oasis:names:tc:xliff:document:2.0"><x:file id="f">
 <x:unit id="1"><x:segment>
   <x:source>Hello <x:pc id="1">big</x:pc> <x:ph id="2"/> world</x:source>
 </x:segment></x:unit></x:file></x:xliff>"""


def test_a_unit_of_xliff_gets_the_target_that_it_lacks(folder):
    output = translated(folder, "a.xlf", XLIFF_1, upper)[0].decode()
    assert output == (
        XLIFF_1.replace(
            '<x id="2"/></source>',
            '<x id="2"/></source>\n'
            f'    <target{STATE}>HELLO <g id="1">BIG &amp; OLD</g> WORLD<x id="2"/></target>',
        )
        .replace('<target state="new"/>', f"<target{STATE}>TWO</target>")
        .replace("<target></target>", f"<target{STATE}>A &lt; B</target>")
        .replace(
            "Acme</mrk></source>",
            f'Acme</mrk></source><target{STATE}>BY <mrk mtype="protected">Acme</mrk></target>',
        )
    )
    assert translated(folder, "b.xlf", output, upper)[0].decode() == output  # It is whole.
    output = translated(folder, "c.xlf", XLIFF_2, upper)[0].decode()
    [target] = ElementTree.fromstring(output).iter("{urn:oasis:names:tc:xliff:document:2.0}target")
    assert "".join(target.itertext()) == "HELLO BIG  WORLD"
    assert [child.get("id") for child in target] == ["1", "2"]
    assert 'segment state="translated">' in output


ANDROID = r"""<?xml version="1.0" encoding="utf-8"?>
<!-- c -->
<resources xmlns:xliff="urn:oasis:names:tc:xliff:document:1.2" xmlns:tools="t">
  <string name="a">Don\'t <b>stop</b> %1$s &amp; "go  on"\n</string>
  <string name="n" translatable="false">Never</string>
  <string name="c"><![CDATA[Some <i>html</i> it\'s]]></string>
  <string-array name="s"><item>\@home</item><item>@string/a</item></string-array>
  <plurals name="p"><item quantity="one">One <xliff:g id="x">%d</xliff:g> file</item></plurals>
  <color name="red">#ff0000</color>
</resources>
"""


def test_strings_of_android_keep_escapes_references_and_placeholders(folder):
    assert translated(folder, "strings.xml", ANDROID)[0] == ANDROID.encode()
    output = translated(folder, "strings.xml", ANDROID, upper)[0].decode()
    expected = ANDROID
    for word in (
        "Don",
        "\\'t",
        "stop",
        '"go  on"',
        "Some",
        "html<",
        "it\\'s",
        "One",
        "file<",
    ):
        expected = expected.replace(word, word.upper())
    assert output == expected.replace("GO  ON", "GO ON")
    ElementTree.fromstring(output)


def test_only_the_beginning_of_an_android_string_is_escaped_as_no_reference(folder):
    content = "<resources><string name='a'>open %1$s?</string></resources>"
    output = translated(folder, "strings.xml", content, upper)[0].decode()
    assert output == content.replace("open", "OPEN")

    def swapped(texts):
        return [" ".join(reversed(text.split())) for text in texts]

    content = "<resources><string name='a'>home @x now</string></resources>"
    output = translated(folder, "strings.xml", content.replace(" now", ""), swapped)[0].decode()
    assert ">\\@x home<" in output


def test_strings_of_apple_keep_keys_comments_and_encoding(folder):
    text = '/* say "x" */\r\n"key" = "Say \\"%@\\"\\n";\r\n// a = b;\r\n'
    text += 'word = "\\U00e9a";\r\n"alone";\r\n'
    for encoding in ("utf-8", "utf-16"):
        content = text.encode(encoding)
        assert translated(folder, "a.strings", content)[0] == content
        output = translated(folder, "a.strings", content, upper)[0].decode(encoding)
        assert output == text.replace("Say", "SAY").replace("\\U00e9a", "ÉA")


def test_a_string_catalog_gets_localizations(folder):
    unit = {"stringUnit": {"state": "new", "value": "Text %@"}}
    plural = {"variations": {"plural": {"one": unit, "other": unit}}}
    catalog = {
        "sourceLanguage": "en",
        "strings": {
            "Hello": {},
            "": {},
            "key": {"extractionState": "manual", "localizations": {"en": unit}},
            "more": {"localizations": {"en": plural, "fr": unit}},
            "Kept": {"shouldTranslate": False},
            "Done": {"localizations": {"de": {"stringUnit": {"state": "x", "value": "y"}}}},
        },
        "version": "1.0",
    }
    for text in (json.dumps(catalog, indent=2), json.dumps(catalog)):
        output, report = translated(folder, "a.xcstrings", text, upper, target_language="de")
        result = json.loads(output)
        new = {"stringUnit": {"state": "needs_review", "value": "TEXT %@"}}
        greeting = {"stringUnit": {"state": "needs_review", "value": "HELLO"}}
        catalog["strings"]["Hello"]["localizations"] = {"de": greeting}
        catalog["strings"]["key"]["localizations"]["de"] = new
        several = {"variations": {"plural": {"one": new, "other": new}}}
        catalog["strings"]["more"]["localizations"]["de"] = several
        assert result == catalog
        assert report.segments == 4
        again, report = translated(folder, "b.xcstrings", output, upper, target_language="de")
        assert again == output and report.segments == 0
        for name, entry in catalog["strings"].items():
            if name != "Done":
                entry.get("localizations", {}).pop("de", None)
        catalog["strings"]["Hello"] = {}


MARKDOWN = """---
layout: Not this
---
# Heading one #

A *para* with **bold** and `code` and [a link](http://x.y "t") in
two lines &amp; a \\* star <b>html</b>.

> quoted text
> over lines ![alt text](a.png)

- [ ] item **two**

| a col | b `c` |
|---|---|
| cell | other |

```py
fenced
```
Hard\x20\x20
break <http://auto.link>
"""


def test_markdown_keeps_code_links_and_blocks(folder):
    output = translated(folder, "a.md", MARKDOWN, upper)[0].decode()
    kept = ("`code`", "(http://x.y", '"t")', "<b>", "</b>", "(a.png)", "`c`", "py\nfenced")
    expected = upper_but(MARKDOWN, *kept, "layout: Not this", "<http://auto.link>", "&amp;")
    expected = (
        expected.replace("IN\nTWO", "IN TWO").replace("&amp;", "&").replace("TEXT\n> O", "TEXT O")
    )
    assert output == expected


GITHUB = """a note[^1] and [^x y]

[^1]: the note

> [!NOTE]
> useful

<div class="a">
<p>inner</p>
</div>

term
: meaning
"""


def test_markdown_keeps_the_marks_of_footnotes_alerts_and_definitions_and_reads_html(folder):
    output = translated(folder, "a.md", GITHUB, upper)[0].decode()
    kept = ('<div class="a">', "<p>", "</p>", "</div>")
    assert output == upper_but(GITHUB, *kept).replace("[^X Y]", "\\[^X Y]")


def test_a_paragraph_of_markdown_that_is_not_found_is_reported(folder):
    output, report = translated(folder, "a.md", "one\n\ntwo \0 three\n", upper)
    assert output.decode() == "ONE\n\ntwo \0 three\n"
    assert [text.line for text in report.unplaced] == [3]


BLOCKS = st.sampled_from(
    [
        *(
            "# Title",
            "a *b* c",
            "> quote\n> more",
            "- item\n  more",
            "1. **one**",
            "    code",
            "***",
        ),
        *(
            "```\nx\n```",
            "<div>a</div>",
            "[a](b) ![c](d 'e')",
            "a\\*b &amp; `c`",
            "| a | b |\n|-|-|\n| c\\|d | e |",
        ),
        *(
            "*a **b* c**",
            "[x]: http://y",
            "a  \nb",
            "<b>x</b>",
            "_a_ __b__ ~~c~~",
            "\ttab",
            "- [ ] x",
            "[*a*][x]",
        ),
    ]
)


@given(st.lists(BLOCKS, max_size=8), LINE_ENDS)
def test_markdown_is_the_same_and_a_translation_keeps_its_structure(tmp_path_factory, blocks, end):
    folder, text = tmp_path_factory.getbasetemp(), "\n\n".join(blocks).replace("\n", end)
    assert translated(folder, "a.md", text)[0] == text.encode()
    output = translated(folder, "a.md", text, upper)[0].decode()
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    before, after = ([token.type for token in parser.parse(page)] for page in (text, output))
    assert after == before
