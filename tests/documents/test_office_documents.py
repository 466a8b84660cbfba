"""Documents of Word and OpenDocument: every run, span, note and field stays."""

import io
import zipfile
from xml.etree import ElementTree

import hypothesis.strategies as st
from hypothesis import given

from documents.test_round_trips import same, translated, upper


def archive(**members):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in members.items():
            file.writestr(name.replace("__", "/").replace("_xml", ".xml"), text)
    return content.getvalue()


def member(content, name):
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        assert file.testzip() is None
        return file.read(name).decode()


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def word(*paragraphs):
    """Returns a document of paragraphs, each a list of runs."""
    runs = (
        "".join(
            f'<w:r><w:rPr><w:b w:val="{n}"/></w:rPr><w:t xml:space="preserve">{run}</w:t></w:r>'
            for n, run in enumerate(paragraph)
        )
        for paragraph in paragraphs
    )
    body = "".join(f"<w:p><w:pPr/>{paragraph}</w:p>" for paragraph in runs)
    return f"<?xml version='1.0'?>\r\n<w:document {W}><w:body>{body}</w:body></w:document>"


RUNS = st.lists(st.sampled_from(["The ", "red", " house", "s &amp; ", "", " ", "12"]), max_size=5)


@given(st.lists(RUNS, max_size=3))
def test_docx_is_the_same_and_a_translation_keeps_every_run(tmp_path_factory, paragraphs):
    tmp_path, text = tmp_path_factory.getbasetemp(), word(*paragraphs)
    content = archive(word__document_xml=text, other_xml="<x/>")
    assert translated(tmp_path, "a.docx", content)[0] == content
    output = translated(tmp_path, "a.docx", content, upper)[0]
    before, after = (
        ElementTree.fromstring(text),
        ElementTree.fromstring(member(output, "word/document.xml")),
    )
    assert [node.tag for node in after.iter()] == [node.tag for node in before.iter()]
    for old, new in zip(before[0], after[0], strict=True):
        assert "".join(new.itertext()).split() == "".join(old.itertext()).upper().split()
    assert member(output, "other.xml") == "<x/>"


def test_a_run_of_docx_keeps_the_spaces_at_its_ends(tmp_path):
    kept = '<w:t xml:space="preserve">'
    for first, second, expected in [
        (f"{kept}The ", "<w:t>dog", f"{kept}Der </w:t></w:r><w:r><w:t>Hund</w:t>"),
        ("<w:t>The", f"{kept} dog", f"<w:t>Der</w:t></w:r><w:r>{kept} Hund</w:t>"),
    ]:
        text = word([]).replace(
            "<w:pPr/>", f"<w:r>{first}</w:t></w:r><w:r>{second}</w:t><w:tab/><w:t>Two</w:t></w:r>"
        )
        content = archive(word__document_xml=text)
        output, _ = translated(
            tmp_path,
            "a.docx",
            content,
            lambda texts: ["Der Hund" if "dog" in t else t for t in texts],
        )
        assert f"{expected}<w:tab/><w:t>Two</w:t>" in member(output, "word/document.xml")


ODT = """<o:document-content xmlns:t="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:o="urn:oasis:names:tc:opendocument:xmlns:office:1.0"><o:body><t:h>Title</t:h>
<t:p>The <t:span a="b">red
  house</t:span> is<t:note><t:note-citation>i</t:note-citation><t:note-body><t:p>A note.</t:p>
</t:note-body></t:note>
old.<t:line-break/>Page <t:page-number>three</t:page-number>
<o:annotation><t:p>Comment</t:p></o:annotation></t:p></o:body></o:document-content>"""


def test_odt_keeps_spans_notes_and_fields(tmp_path):
    content = archive(mimetype="application/vnd.oasis.opendocument.text", content_xml=ODT)
    assert translated(tmp_path, "a.odt", content, same)[0] == content
    asked = []

    def translate(texts):
        asked.extend(texts)
        return upper(texts)

    output = translated(tmp_path, "a.odt", content, translate)[0]
    assert asked == ["Title", "The red house is old.", "A note.", "Page"]
    expected = ODT.replace("red\n  house", "RED HOUSE").replace("</t:note>\n", "</t:note> ")
    for words in ("Title", "The ", " is<", "A note.", "old.", "Page "):
        expected = expected.replace(words, words.upper())
    assert member(output, "content.xml") == expected
    assert zipfile.ZipFile(io.BytesIO(output)).namelist()[0] == "mimetype"
