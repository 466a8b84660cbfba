"""Strings of programs, of Java, Ruby, .NET and Apple: values alone change, in each way to write."""

import plistlib

import hypothesis.strategies as st
import pytest
import yaml
from hypothesis import given

from kformer.documents.document_translation import translate_content


def texts_of(content, name, **options):
    """Returns the texts that are translated; checks that the file is the same without that."""
    asked = []

    def translate(texts):
        asked.extend(texts)
        return texts

    content = content if isinstance(content, bytes) else content.encode()
    assert translate_content(content, name, translate, **options)[0] == content
    return asked


def written_as(content, name, answer, **options):
    """Returns the document with the answer, or a function of the text, for each text."""
    give = answer if callable(answer) else lambda text: answer
    output, report = translate_content(
        content.encode(), name, lambda texts: [give(text) for text in texts], **options
    )
    assert not report.unplaced
    return output.decode()


PROPERTIES = r"""# A comment = no text
! another
plain=A dog
   spaced  :  the cat
no.separator one two
escaped\ key\:x = caf\u00e9 \u00FC\ttab\\n
goes.on = first \
    second \
    third
trail = end\u0020\t
empty =
url = see http\://a.org/x\=1
"""


def test_values_of_java_are_read_as_java_reads_them():
    for end in ("\n", "\r\n", "\r"):
        assert texts_of(PROPERTIES.replace("\n", end), "a.properties") == [
            "A dog",
            "the cat",
            "one two",
            "café ü\ttab\\n",
            "first second third",
            "end",
            "see http://a.org/x=1",
        ]


def test_values_of_java_are_escaped_as_in_the_file():
    output = written_as(PROPERTIES, "a.properties", str.upper)
    assert output == (
        PROPERTIES.replace("A dog", "A DOG")
        .replace("the cat", "THE CAT")
        .replace("one two", "ONE TWO")
        .replace(r"caf\u00e9 \u00FC\ttab\\n", r"CAF\u00C9 \u00DC\tTAB\\N")
        .replace("first \\\n    second \\\n    third", "FIRST SECOND THIRD")
        .replace(r"end\u0020\t", r"END \t")
        .replace("see", "SEE")
    )


@pytest.mark.parametrize(
    ("file", "text", "written"),
    [
        ("a=b", "é😀", r"a=\u00e9\ud83d\ude00"),
        ("a=b\nc=\\u00C9", "é", r"a=\u00E9"),
        ("a=b # ä", "é😀", "a=é😀"),
        ("a=b", "a \\ \tb", r"a=a \\ \tb"),
        (r"a=\u0020b", "c", r"a=\ c"),
    ],
)
def test_characters_of_java(file, text, written):
    assert written_as(file, "a.properties", text).splitlines()[0] == written


def test_latin_1_of_java_has_escapes_for_other_characters():
    content = "a=für Ö\nb=c\n".encode("latin-1")
    answers = lambda texts: ["é łódź 😀"] * len(texts)  # noqa: E731
    output, report = translate_content(content, "a.properties", answers)
    written = b"\xe9 \\u0142\xf3d\\u017a \\ud83d\\ude00"
    assert output == b"a=" + written + b"\nb=" + written + b"\n" and not report.unplaced


@pytest.mark.parametrize(
    ("file", "text", "written"),
    [
        ("a=Open {0}", "L'{0}", "a=L''{0}"),
        ("a=It''s {0}", "It's {0}", "a=It''s {0}"),
        ("a=Can't open {0}", "L'{0}", "a=L'{0}"),  # The program replaces {0} in its own way.
        ("a=Open it", "L'a", "a=L'a"),
        ("a=It''s\nb=Open it", "L'a", "a=L''a\nb=L''a"),
        ("a=Use '{0}' {0}", "Y {0} {0} z", "a=Y '{0}' {0} z"),
        ("a=b {0}", "c{' {0}", "a=c'{''' {0}"),
        ("a=b {0,date,d 'of' M}", "c {0,date,d 'of' M}", "a=c {0,date,d 'of' M}"),
        (
            "a={n, plural, one {# it''s} other {# b}} c",
            "x",
            "a={n, plural, one {# x} other {# x}} x",
        ),
    ],
)
def test_apostrophes_of_java_are_those_of_message_format(file, text, written):
    assert written_as(file, "a.properties", text) == written


RAILS = """# Comment: of the file
en: &root   # English
  hello: "Hello %{name}"  # Behind it
  'plain': A dog, and a cat
  no_text: [1, 2.5, true, ~, 2020-01-01]
  order: [":year"]
  symbol: :symbol
  single: 'It''s a dog'
  escaped: "caf\\u00e9\\ttab"
  list:
    - &first one
    - *first
    - !ruby/symbol kept
    - ! "two"
  flow: {a: a dog, "b": [a cat]}
  literal: |-
    First line
      more

    Last line
  folded: >
    a long
    sentence

    another
  over: a plain
    text
  empty: ""
  formats: "%d %B %Y"
"""


def test_values_of_yaml_are_read_as_pyyaml_reads_them():
    for text in (RAILS, RAILS.replace("\n", "\r\n"), f"\ufeff{RAILS}", f"---\n{RAILS}...\n"):
        assert sorted(texts_of(text, "a.yml")) == sorted(
            [
                *("Hello %{name}", "A dog, and a cat", "It's a dog", "café\ttab", "one", "two"),
                *("a dog", "a cat", "First line", "more", "Last line", "a plain text"),
                *("a long sentence", "another"),
            ]
        )


def test_values_of_yaml_keep_their_style():
    expected = RAILS
    for before, after in (
        ("Hello", "HELLO"),
        ("A dog, and a cat", "A DOG, AND A CAT"),
        ("It''s a dog", "IT''S A DOG"),
        ("caf\\u00e9\\ttab", "CAF\\u00c9\\tTAB"),
        ("&first one", "&first ONE"),
        ('"two"', '"TWO"'),
        ('{a: a dog, "b": [a cat]}', '{a: A DOG, "b": [A CAT]}'),
        ("First line\n      more\n\n    Last line", "FIRST LINE\n      MORE\n\n    LAST LINE"),
        ("a long\n    sentence\n\n    another", "A LONG SENTENCE\n\n    ANOTHER"),
        ("a plain\n    text", "A PLAIN TEXT"),
    ):
        assert before in expected
        expected = expected.replace(before, after)
    assert written_as(RAILS, "a.yml", str.upper) == expected


@pytest.mark.parametrize(
    ("languages", "root"),
    [
        ({"target_language": "de"}, "de"),
        ({"source_language": "en-GB", "target_language": "pt-BR"}, "pt-BR"),
        ({"source_language": "fr", "target_language": "de"}, "en"),
        ({"target_language": "no"}, '"no"'),  # Else it would be a boolean.
        ({}, "en"),
    ],
)
def test_the_root_of_rails_becomes_the_target_language(languages, root):
    text = "en:\n  a: Yes\n  b: the dog\n"
    assert written_as(text, "a.yml", "x", **languages) == f"{root}:\n  a: Yes\n  b: x\n"
    for other in (
        "messages:\n  a: b\n",
        "app:\n  a: b\n",
        "en:\n  a: b\nfr: b\n",
        "a:\n  en: b\n",
        "en: b\n",
        "- en:\n    a: b\n",
    ):
        assert written_as(other, "a.yml", "b", **languages) == other


YAML_TEXTS = st.text(
    st.sampled_from(list("ab c-:#'\"\\{}[]&*!|>%@`,?~\n0é\u2028\x85😀")), min_size=1
)


@given(
    st.lists(st.text("ab c-#'\"\\{}@`,~\n0é", min_size=1), min_size=1, max_size=4),
    YAML_TEXTS,
    st.data(),
)
def test_any_translation_is_a_string_of_yaml(texts, answer, data):
    answer = f"x{answer}y"  # White space around a translation is that of its source.
    style = data.draw(st.sampled_from([None, "'", '"', "|", ">"]))
    flow = data.draw(st.booleans())
    value = {"a dog": [f"word {text} word" for text in texts], "n": 1, "b": "yes"}
    file = yaml.safe_dump(
        value, default_style=style, default_flow_style=flow, allow_unicode=True, width=20
    )
    texts_of(file, "a.yaml")
    output, _ = translate_content(
        file.encode(), "a.yaml", lambda asked: [answer] * len(asked), keep=["url"]
    )
    loaded = yaml.safe_load(output)
    assert loaded["n"] == 1 and loaded.keys() == value.keys()
    for text, before in zip(loaded["a dog"], value["a dog"], strict=True):
        lines = len([line for line in before.split("\n") if line.strip()])
        assert isinstance(text, str)
        if lines == 1:
            assert "".join(text.split()) in ("".join(answer.split()), "".join(before.split()))


def test_yaml_that_is_none_or_too_deep_is_refused():
    for text in ("a: [b", "a: b: c", "\x00", "- " * 2000, "[" * 2000, "{" * 20_000):
        with pytest.raises(ValueError, match=r"Received: 'a\.yml'"):
            translate_content(text.encode(), "a.yml", list)


RESX = """<?xml version="1.0" encoding="utf-8"?>
<root>
  <!-- a comment -->
  <resheader name="reader"><value>A reader, of text</value></resheader>
  <data name="Hello" xml:space="preserve">
    <value>Hello {0} &amp; the &lt;b&gt;dog&lt;/b&gt;</value>
    <comment>A greeting</comment>
  </data>
  <data name="Lines"><value>One line
and another<!-- x --> one</value></data>
  <data name="Raw"><value><![CDATA[A <b>cat</b> & more]]></value></data>
  <data name="Number" type="System.Int32, mscorlib"><value>twelve</value></data>
  <data name="Icon" mimetype="application/x-microsoft.net.object.bytearray.base64">
    <value>AAEAAAD</value>
  </data>
  <data name="&gt;&gt;label1.Type"><value>System.Windows.Forms.Label</value></data>
  <assembly alias="a" name="System.Windows.Forms, Version=2.0" />
  <metadata name="x"><value>False value</value></metadata>
</root>
"""


def test_values_of_strings_of_dotnet_alone_are_translated():
    for text in (RESX, RESX.replace("\n", "\r\n"), f"\ufeff{RESX}"):
        output = written_as(text, "a.resx", str.upper)
        for words in (
            "Hello {",
            " the &",
            "dog",
            "One line",
            "and another",
            " one<",
            ">cat",
            "& more",
        ):
            assert words in text
            text = text.replace(words, words.upper())
        assert output == text
    assert texts_of(RESX, "a.resw")[-1] == "Hello {0} & the dog"
    with pytest.raises(ValueError, match=r"must have the root <root>.* with the root <resources>"):
        texts_of("<resources/>", "a.resx")


STRINGSDICT = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>two</key>
  <string>no form</string>
  <key>files in folders</key>
  <dict>
    <key>NSStringLocalizedFormatKey</key>
    <string>%#@files@ in the %2$#@folders@</string>
    <key>files</key>
    <dict>
      <key>NSStringFormatSpecTypeKey</key>
      <string>NSStringPluralRuleType</string>
      <key>NSStringFormatValueTypeKey</key>
      <string>d</string>
      <key>one</key>
      <string>%d file &amp; <!-- x -->more</string>
      <key>other</key>
      <string><![CDATA[%d files & more]]></string>
    </dict>
  </dict>
  <key>width</key>
  <dict>
    <key>NSStringVariableWidthRuleType</key>
    <dict><key>20</key><string>a short text</string></dict>
  </dict>
</dict>
</plist>
"""


def test_forms_of_apple_are_translated_and_their_rules_stay():
    output = written_as(STRINGSDICT, "a.stringsdict", str.upper)
    expected = STRINGSDICT
    for words in (" in the %", " file &", "more", " files ", "a short text"):
        expected = expected.replace(words, words.upper())
    assert output == expected.replace("FILE &AMP;", "FILE &amp;").replace(
        "<!-- X -->", "<!-- x -->"
    )
    before, after = (plistlib.loads(text.encode()) for text in (STRINGSDICT, output))
    assert before.keys() == after.keys() and after["two"] == "no form"
    assert after["files in folders"]["files"]["one"] == "%d FILE & MORE"
    with pytest.raises(ValueError, match=r"must have the root <plist>"):
        texts_of("<root/>", "a.stringsdict")
