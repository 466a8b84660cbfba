"""EPUB: the words of chapters and titles are translated; the container stays what it was."""

import io
import zipfile
from xml.etree import ElementTree

import pytest

from kformer.documents.document_translation import translate_content

XHTML = (
    '<?xml version="1.0"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml">{}</html>'
)
HEAD = '<head><title>A title</title><script src="a.js"/><style/></head>'
MEMBERS = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml": "<container><rootfiles/></container>",
    "OPS/package.opf": """<package xmlns="http://www.idpf.org/2007/opf">
  <metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
    <dc:title id="t">A book &amp; more</dc:title><dc:creator>A writer</dc:creator>
    <dc:language> en-GB </dc:language><dc:language>fr</dc:language>
    <dc:description>About dogs</dc:description>
  </metadata>
  <manifest><item href="a.xhtml" media-type="application/xhtml+xml"/></manifest></package>""",
    "OPS/toc.ncx": """<?xml version="1.0"?><ncx xmlns="http://www.daisy.org/z3986/2005/ncx/">
  <docTitle><text>A book</text></docTitle><docAuthor><text>A writer</text></docAuthor>
  <navMap><navPoint><navLabel><text>First chapter</text></navLabel></navPoint></navMap></ncx>""",
    "OPS/nav.xhtml": XHTML.format(
        "<body><nav><ol><li><a href='a.xhtml'>First chapter</a></li></ol></nav></body>"
    ),
    "OPS/a.xhtml": XHTML.format(f"{HEAD}<body><p>The <b>dog</b> runs.</p><br/></body>"),
    "OPS/style.css": "p { color: red }",
    "OPS/page-map.xml": "<page-map><page name='a'>no text</page></page-map>",
}
WORDS = ("A title", "A book", " more", "About dogs", "First chapter", "The ", "dog<", " runs")


def book(**more):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {**MEMBERS, **more}.items():
            kind = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(name, text, kind)
    return file.getvalue()


def members(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def upper(texts):
    return [text.upper() for text in texts]


def test_a_book_without_a_translation_is_the_same():
    assert translate_content(book(), "a.epub", list)[0] == book()


def test_chapters_titles_contents_and_the_language_change_alone():
    output, report = translate_content(book(), "a.epub", upper, target_language="pt")
    expected = {}
    for name, text in MEMBERS.items():
        for words in WORDS if name.startswith("OPS") else ():
            text = text.replace(words, words.upper())
        expected[name] = text.replace(" en-GB ", " pt ")
    assert members(output) == expected and not report.unplaced
    for name, text in members(output).items():
        if name.endswith((".xhtml", ".opf", ".ncx", ".xml")):
            ElementTree.fromstring(text)
    unknown, _ = translate_content(book(), "a.epub", upper)
    assert "<dc:language> en-GB </dc:language>" in members(unknown)["OPS/package.opf"]


def test_the_type_of_a_book_is_first_and_not_compressed():
    output, _ = translate_content(book(), "a.epub", upper, target_language="pt")
    assert output[30:58] == b"mimetypeapplication/epub+zip"
    with zipfile.ZipFile(io.BytesIO(output)) as archive:
        assert archive.namelist() == [*MEMBERS]
        assert archive.infolist()[0].compress_type == zipfile.ZIP_STORED


def encrypted(algorithm):
    method = f'<enc:EncryptionMethod Algorithm="{algorithm}"/>'
    return {
        "META-INF/encryption.xml": '<encryption xmlns:enc="http://www.w3.org/2001/04/xmlenc#">'
        f"<enc:EncryptedData>{method}</enc:EncryptedData></encryption>"
    }


def test_an_encrypted_book_is_refused_but_not_for_its_fonts():
    with pytest.raises(ValueError, match=r"must not be encrypted.*Received: .*xmlenc#aes128-cbc"):
        cipher = encrypted("http://www.w3.org/2001/04/xmlenc#aes128-cbc")
        translate_content(book(**cipher), "a.epub", list)
    fonts = book(**encrypted("http://www.idpf.org/2008/embedding"))
    assert translate_content(fonts, "a.epub", list)[0] == fonts
