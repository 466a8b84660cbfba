"""The tool that counts what translations of real documents lose must see each kind of loss."""

import io
import zipfile

import pytest

from support.document_contents.placeholder_patterns import split_choices
from support.document_contents.readers import read_pair
from support.document_corpus import TRANSLATORS, compare, exchange_letters, main


def losses(name, before, after, with_words=True):
    """Returns the parts that a translation loses, by kind."""
    comparison = compare(*read_pair(name, before.encode(), after.encode()), with_words)
    return {loss.kind: loss.parts for loss in comparison.losses}


PAGE = '<p>See <a href="x">this <b>page</b></a>, <code>now</code> at https://example.org</p>'


@pytest.mark.parametrize(
    "after, kind, parts",
    [
        (PAGE.replace("this <b>page</b>", "<b></b>"), "links", ["x"]),
        (PAGE.replace("<b>page</b>", "page<b></b>"), "emphasis", ["b"]),
        (PAGE.replace("now", "not"), "code", ["now"]),
        (PAGE.replace("<code>", "<b></b><code>"), "added", ["b", "/b"]),
        (PAGE.replace("example", "exa mple"), "placeholders", ["https://example.org"]),
        (PAGE.replace("See ", ""), "words", ["сее"]),
        (PAGE.replace("this <b>", "this<b>"), "glued", ["тхиспаге"]),
    ],
)
def test_each_loss_of_a_page_is_seen(after, kind, parts):
    assert losses("a.html", PAGE, PAGE) == {}
    assert losses("a.html", PAGE, after)[kind] == parts


@pytest.mark.parametrize(
    "name, before, after, kind",
    [
        ("a.md", "the [manual]\n\n[manual]: x", "the [book]\n\n[manual]: x", "links"),
        ("a.md", "so `x` **bold**", "so `x`** bold**", "emphasis"),
        ("a.md", "is $x + y$ here", "is y$ + $x here", "placeholders"),
        ("a.md", "!!! note\n    Text", "!!! foo\n    Text", "elements"),
        ("a.md", "text", "- text", "added"),
        ("a.json", '{"a": "Open {name}"}', '{"a": "Open"}', "placeholders"),
        ("a.json", '{"a": "{n, plural, one {dog} other {{n} dogs}}"}',
         '{"a": "{n, plural, one {{n} dogs} few {dog}}"}', "placeholders"),
        ("a.json", '{"a": {"message": "x", "description": "y"}}',
         '{"a": {"message": "x", "description": "z"}}', "code"),
        ("a.strings", '"a" = "Open %@";', '"a" = "Open";', "placeholders"),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nHello\n",
         "1\n00:00:01,000 --> 00:00:02,000\n\n", "entries"),
        ("a.xml", "<resources><string name='a'>Two <b>dogs</b></string></resources>",
         "<resources><string name='a'>Two dogs<b/></string></resources>", "emphasis"),
        ("a.po", 'msgid ""\nmsgstr ""\n\n#, c-format\nmsgid "%d dogs"\nmsgstr ""\n',
         'msgid ""\nmsgstr ""\n\n#, c-format\nmsgid "%d dogs"\nmsgstr "dogs"\n', "placeholders"),
        ("a.xlf", "<xliff><trans-unit><source>a<x id='1'/></source></trans-unit></xliff>",
         "<xliff><trans-unit><source>a<x id='1'/></source><target>a</target></trans-unit></xliff>",
         "elements"),
        ("a.xcstrings", '{"sourceLanguage": "en", "strings": {"Hi %@": {}}}',
         '{"sourceLanguage": "en", "strings": {"Hi %@": {"localizations": '
         '{"mk": {"stringUnit": {"value": "Hi"}}}}}}', "placeholders"),
    ],
)  # fmt: skip
def test_losses_of_each_kind_of_document_are_seen(name, before, after, kind):
    if name.endswith((".po", ".md")):
        pytest.importorskip("polib" if name.endswith("po") else "markdown_it")
    unit = before if not name.endswith((".po", ".xlf", ".xcstrings")) else None
    assert unit is None or losses(name, unit, unit) == {}
    assert kind in losses(name, before, after)


def word_document(paragraph):
    """Returns a docx with a paragraph."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("word/document.xml", f'<body xmlns:w="w"><p>{paragraph}</p></body>')
    return file.getvalue()


LINKED = '<r><t>See </t></r><hyperlink w:id="a"><r><rPr><b/></rPr><t>this</t></r></hyperlink>'
FIELD = (
    '<r><t>Page </t></r><r><fldChar w:fldCharType="begin"/></r><r><instrText>PAGE</instrText></r>'
    '<r><fldChar w:fldCharType="separate"/></r><r><t>2</t></r><r><fldChar w:fldCharType="end"/></r>'
)


@pytest.mark.parametrize(
    "before, after, lost",
    [
        (LINKED, LINKED.replace("this", "").replace("See ", "See this"), {"links", "emphasis"}),
        (LINKED, LINKED.replace("See ", "See a").replace("this", "b"), {"words"}),
        (LINKED, LINKED.replace("See </t></r><hyperlink", "</t></r><r><t>See </t></r><hyperlink"),
         set()),
        (FIELD, FIELD.replace("Page ", "").replace(">2<", ">2 Page<"),
         {"code", "emphasis", "words"}),
    ],
)  # fmt: skip
def test_losses_of_links_and_fields_of_word_are_seen(before, after, lost):
    pair = read_pair("a.docx", word_document(before), word_document(after))
    assert {loss.kind for loss in compare(*pair).losses} == lost


def test_choices_of_messages_are_split_from_their_texts():
    text = "In {n, plural, offset:1 =0 {no {a}} other {{b, select, x {y} z {}} c}} end"
    signs, remaining = split_choices(text)
    assert signs == [
        "{n, plural, offset:1",
        "=0 {",
        "other {",
        "{b, select,",
        "x {",
        "z {",
        "}",
        "}",
    ]
    assert remaining.split() == ["In", "no", "{a}", "y", "}", "c", "}", "end"]


def test_every_letter_of_a_text_is_exchanged_for_another():
    text = "Abc déf, XYZ 12 ж 한"
    assert exchange_letters(text) == "Абц деф, ЖЫЗ 12 ж 한"
    assert len(set(exchange_letters("abcdefghijklmnopqrstuvwxyz"))) == 26


@pytest.mark.parametrize("translator", TRANSLATORS)
def test_a_folder_is_translated_and_counted(translator, tmp_path, capsys):
    (tmp_path / "page.html").write_text(PAGE)
    (tmp_path / "bad.json").write_text("{")
    details = tmp_path / "details.txt"
    main([str(tmp_path), "--translator", translator, "--details", str(details)])
    html, json, reason = capsys.readouterr().out.splitlines()[-3:]
    assert html.split()[:3] == ["html", "1", "1"]
    assert json.split()[:3] == ["json", "1", "0"]
    assert "must be JSON" in reason
    assert details.exists()
