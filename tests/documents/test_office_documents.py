"""Documents of Word and OpenDocument: every run, span, note and field stays."""

import io
import zipfile
from xml.etree import ElementTree

import hypothesis.strategies as st
import pytest
from hypothesis import given

import kformer.documents.document_translation
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


RUNS = st.lists(st.sampled_from(["The ", "red ", " houses &amp; ", "", " ", "12 "]), max_size=5)


def runs_in(text):
    """Returns the words of each run with the run's format."""
    tag = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
    found = []
    for each in ElementTree.fromstring(text).iter(f"{tag}r"):
        form = each.find(f"{tag}rPr")
        name = "" if form is None else ElementTree.tostring(form)
        found += [(name, words) for words in "".join(each.itertext()).split()]
    return found


@given(st.lists(RUNS, max_size=3))
def test_docx_is_the_same_and_a_translation_keeps_the_format_of_each_word(
    tmp_path_factory, paragraphs
):
    tmp_path, text = tmp_path_factory.getbasetemp(), word(*paragraphs)
    content = archive(word__document_xml=text, other_xml="<x/>")
    assert translated(tmp_path, "a.docx", content)[0] == content
    output = translated(tmp_path, "a.docx", content, upper)[0]
    new = member(output, "word/document.xml")
    assert [(form, words.upper()) for form, words in runs_in(text)] == runs_in(new)
    new = ElementTree.fromstring(new)[0]
    for old, paragraph in zip(ElementTree.fromstring(text)[0], new, strict=True):
        assert "".join(paragraph.itertext()) == "".join(old.itertext()).upper()
    assert member(output, "other.xml") == "<x/>"


KEPT = '<w:t xml:space="preserve">'


def paragraph(content, translate):
    """Returns the content of a paragraph after its translation, and the texts asked for."""
    head, end = f"<w:document {W}><w:body><w:p>", "</w:p></w:body></w:document>"
    asked = []

    def translator(texts):
        asked.extend(texts)
        return [translate(text) for text in texts]

    file = archive(word__document_xml=f"{head}{content}{end}")
    new, report = kformer.documents.document_translation.translate_content(
        file, "a.docx", translator
    )
    assert not report.unplaced
    new = member(new, "word/document.xml")
    ElementTree.fromstring(new)
    return new.removeprefix(head).removesuffix(end), asked


def reverse(text):
    return " ".join(reversed(text.split()))


def run(text, form=""):
    kept = ' xml:space="preserve"' if text != text.strip() else ""
    return f"<w:r>{form}<w:t{kept}>{text}</w:t></w:r>"


BOLD = "<w:rPr><w:b/></w:rPr>"


def test_runs_that_look_the_same_are_one_text():
    rows = [
        run("The re"),
        '<w:r w:rsidR="1"><w:rPr><w:lang w:val="en"/></w:rPr><w:t>d </w:t></w:r>',
        '<w:proofErr w:type="spellStart"/>',
        run("dog"),
    ]
    new, asked = paragraph("".join(rows), lambda _: "Der rote Hund")
    assert asked == ["The red dog"]
    assert new == run("Der rote Hund")


def test_formats_follow_their_words_and_swallow_no_space():
    content = run("The ") + run("red ", BOLD) + run("dog sleeps")
    assert paragraph(content, reverse)[0] == run("sleeps dog ") + run("red", BOLD) + run(" The")
    assert paragraph(run("One", BOLD) + run(" two three"), reverse)[0] == run("three two ") + run(
        "One", BOLD
    )


@pytest.mark.parametrize(
    "tag", ['w:hyperlink w:id="1"', 'w:ins w:id="1"', 'w:smartTag w:element="a"', "w:customXml"]
)
def test_a_link_is_a_span_like_that_of_html(tag):
    end = f"</{tag.split()[0]}>"
    link = f"<{tag}>{run('the manual', BOLD)}{end}"
    new, asked = paragraph(run("Read ") + link + run(" and ") + link + run(" now"), reverse)
    assert asked == ["Read the manual and the manual now"]
    other = f"<{tag}>{run('manual the', BOLD)}{end}"
    assert new == run("now ") + other + run(" and ") + other + run(" Read")


def test_a_control_and_ranges_around_words_are_spans():
    control = "<w:sdt><w:sdtPr><w:text/></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>"
    comment = '<w:commentRangeStart w:id="4"/>{}<w:commentRangeEnd w:id="4"/>'
    for span in (control, comment, '<w:bookmarkStart w:id="7"/>{}<w:bookmarkEnd w:id="7"/>'):
        content = run("The ") + span.format(run("dog")) + run(" sleeps")
        assert paragraph(content, reverse)[0] == (
            run("sleeps ") + span.format(run("dog")) + run(" The")
        )


def test_ranges_that_cross_others_stay_whole_and_in_order():
    marks = ['<w:bookmarkStart w:id="7"/>', '<w:bookmarkEnd w:id="7"/>']
    link = f'<w:hyperlink w:id="1">{run("red")}{marks[1]}{run(" dog")}</w:hyperlink>'
    content = run("The ") + marks[0] + run("very ") + link + run(" sleeps")
    new, _ = paragraph(content, reverse)
    assert all(new.count(mark) == 1 for mark in marks)
    assert "".join(ElementTree.fromstring(f"<w:p {W}>{new}</w:p>").itertext()) == (
        "sleeps dog red very The"
    )


def field(instruction, result):
    parts = [
        '<w:fldChar w:fldCharType="begin"/>',
        f"<w:instrText>{instruction}</w:instrText>",
        '<w:fldChar w:fldCharType="separate"/>',
        f"<w:t>{result}</w:t>",
        '<w:fldChar w:fldCharType="end"/>',
    ]
    return "".join(f"<w:r>{part}</w:r>" for part in parts)


def test_a_field_is_a_placeholder_that_shows_its_text():
    page, pages = field(" PAGE ", "1"), field(" NUMPAGES ", "12")
    content = run("Page ") + page + run(" of ") + pages
    new, asked = paragraph(content, lambda _: "Seite 1 von 12")
    assert asked == ["Page 1 of 12"]
    assert new == run("Seite ") + page + run(" von ") + pages
    new, _ = paragraph(content, reverse)
    assert new == pages + run(" of ") + page + run(" Page")
    simple = f'<w:fldSimple w:instr=" SEQ Figure ">{run("7")}</w:fldSimple>'
    new, asked = paragraph(run("Figure ") + simple + run(": a dog"), lambda _: "Bild 7: ein Hund")
    assert asked == ["Figure 7: a dog"]
    assert new == run("Bild ") + simple + run(": ein Hund")


def test_the_text_of_a_field_with_a_link_is_translated():
    content = run("Read ") + field(' HYPERLINK "x" ', "the manual") + run(" now")
    new, asked = paragraph(content, reverse)
    assert asked == ["Read the manual now"]
    assert new == run("now ") + field(' HYPERLINK "x" ', "manual the") + run(" Read")


def test_a_field_over_paragraphs_keeps_its_parts_in_order():
    begin, end = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>', "</w:p><w:p>"
    last = '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    content = begin + run("Red dog") + end + run("Old ") + last + run("cat")
    assert paragraph(content, str.upper)[0] == (
        begin + run("RED DOG") + end + run("OLD ") + last + run("CAT")
    )


def test_what_was_moved_away_and_readings_are_no_text():
    moved = f'<w:moveFrom w:id="1">{run("in the garden ")}</w:moveFrom>'
    new, asked = paragraph(run("The dog ") + moved + run("sleeps"), str.upper)
    assert asked == ["The dog sleeps"]
    assert new == run("THE DOG ") + moved + run("SLEEPS")
    ruby = (
        f"<w:r><w:ruby><w:rubyPr/><w:rt>{run('tokyo')}</w:rt>"
        f"<w:rubyBase>{run('Tokyo')}</w:rubyBase></w:ruby></w:r>"
    )
    new, asked = paragraph(run("In ") + ruby + run(" now"), reverse)
    assert asked == ["In Tokyo now"]
    assert new == run("now Tokyo In")


def test_hyphens_and_symbols_are_characters():
    content = "<w:r><w:t>Send an e</w:t><w:noBreakHyphen/><w:t>mail</w:t></w:r>"
    assert paragraph(content, reverse) == (run("e-mail an Send"), ["Send an e-mail"])
    symbol = '<w:r><w:sym w:font="Symbol" w:char="2192"/></w:r>'
    new, asked = paragraph(run("Click ") + symbol + run(" now"), reverse)
    assert asked == ["Click → now"]
    assert new == run("now ") + symbol + run(" Click")


def test_texts_of_images_and_titles_are_translated():
    image = "<w:r><w:drawing><docPr id='1' name='Picture 1' descr='{}' title='a.png'/></w:drawing>"
    content = run("The ") + image.format("A dog") + "</w:r>" + run("house")
    new, asked = paragraph(content, str.upper)
    assert asked == ["The house", "A dog"]
    assert new == run("THE ") + image.format("A DOG") + "</w:r>" + run("HOUSE")
    core = (
        '<core xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A &amp; b</dc:title>'
        "<dc:creator>Ann</dc:creator></core>"
    )
    file = archive(docProps__core_xml=core, word__document_xml=word(["The"]))
    output = kformer.documents.document_translation.translate_content(file, "a.docx", upper)[0]
    assert member(output, "docProps/core.xml") == core.replace("A &amp; b", "A &amp; B")


def test_a_report_names_the_paragraph(tmp_path):
    content = archive(word__document_xml=word(["One"], ["two "], ["three"]))
    translator = {"One": "Eins", "two": "", "three": "Drei"}.__getitem__
    report = translated(tmp_path, "a.docx", content, lambda texts: [*map(translator, texts)])[1]
    assert [(each.line, each.text) for each in report.unplaced] == [(2, "two")]


ODT = """<o:document-content xmlns:t="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:o="urn:oasis:names:tc:opendocument:xmlns:office:1.0"><o:body><t:h>Title</t:h>
<t:p>The <t:span a="b">red
  house</t:span> is<t:note><t:note-citation>i</t:note-citation><t:note-body><t:p>A note.</t:p>
</t:note-body></t:note>
old.<t:line-break/>Page <t:page-number>3</t:page-number>
<o:annotation><t:p>Comment</t:p></o:annotation></t:p></o:body></o:document-content>"""


def test_odt_keeps_spans_notes_and_fields(tmp_path):
    content = archive(mimetype="application/vnd.oasis.opendocument.text", content_xml=ODT)
    assert translated(tmp_path, "a.odt", content, same)[0] == content
    asked = []

    def translate(texts):
        asked.extend(texts)
        return upper(texts)

    output = translated(tmp_path, "a.odt", content, translate)[0]
    assert asked == ["Title", "The red house is old.", "A note.", "Page 3"]
    expected = ODT.replace("red\n  house", "RED HOUSE").replace("</t:note>\n", "</t:note> ")
    for words in ("Title", "The ", " is<", "A note.", "old.", "Page "):
        expected = expected.replace(words, words.upper())
    assert member(output, "content.xml") == expected
    assert zipfile.ZipFile(io.BytesIO(output)).namelist()[0] == "mimetype"


def odt_paragraph(content, translate):
    """Returns the content of a paragraph of odt after its translation, and the texts asked for."""
    head = (
        ODT.partition("<t:h>")[0]
        .replace(">", ' xmlns:s="urn:svg">', 1)
        .replace("urn:svg", "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0")
    )
    head, end = f"{head}<t:p>", "</t:p></o:body></o:document-content>"
    asked = []

    def translator(texts):
        asked.extend(texts)
        return [translate(text) for text in texts]

    file = archive(content_xml=f"{head}{content}{end}")
    new, _ = kformer.documents.document_translation.translate_content(file, "a.odt", translator)
    return member(new, "content.xml").removeprefix(head).removesuffix(end), asked


def test_a_field_of_odt_is_a_placeholder_that_shows_its_text():
    page = "<t:page-number>1</t:page-number>"
    pages = "<t:page-count>12</t:page-count>"
    new, asked = odt_paragraph(f"Page {page} of {pages}", reverse)
    assert asked == ["Page 1 of 12"]
    assert new == f"{pages} of {page} Page"


def test_spaces_and_ranges_of_odt_are_as_a_reader_sees_them():
    assert odt_paragraph('The<t:s/>red<t:s t:c="3"/>dog', reverse) == (
        "dog red The",
        ["The red dog"],
    )
    mark = '<t:bookmark-start t:name="a"/>{}<t:bookmark-end t:name="a"/>'
    new, _ = odt_paragraph("The " + mark.format("red dog") + " sleeps", reverse)
    assert new == "sleeps " + mark.format("dog red") + " The"


def test_the_alternative_of_an_image_of_odt_is_translated():
    image = "<frame><s:title>{}</s:title><s:desc>{}</s:desc></frame>"
    new, asked = odt_paragraph("See " + image.format("A dog", "It sleeps"), str.upper)
    assert asked == ["See", "A dog", "It sleeps"]
    assert new == "SEE " + image.format("A DOG", "IT SLEEPS")


def with_languages(name, members, **languages):
    content, _ = kformer.documents.document_translation.translate_content(
        archive(**members), name, upper, **languages
    )
    return [member(content, each.replace("__", "/").replace("_xml", ".xml")) for each in members]


def test_the_language_that_a_document_declares_becomes_that_of_the_translation():
    styles = f'<w:styles {W}><w:lang w:val="{{}}" w:eastAsia="ja"/><w:lang w:val="fr"/></w:styles>'
    members = {"word__document_xml": word(["The"]), "word__styles_xml": styles.format("de-DE")}
    for target in ("en", "pt-BR"):
        languages = {"source_language": "de", "target_language": target}
        assert with_languages("a.docx", members, **languages)[1] == styles.format(target)
    assert with_languages("a.docx", members)[1] == styles.format("de-DE")
    form = ' <text-properties xmlns:fo="urn:fo" fo:language="{}" fo:country="{}"/>'
    content = ODT.replace("<t:h>", f"{form.format('de', 'DE')}<t:h>")
    for target, expected in (("en", ("en", "none")), ("pt-BR", ("pt", "BR")), (None, ("de", "DE"))):
        [new] = with_languages("a.odt", {"content_xml": content}, target_language=target)
        assert form.format(*expected) in new


def test_the_language_of_a_page_becomes_that_of_the_translation():
    page = "<html lang=\"{}\" xml:lang={}><p lang=fr>a</p><p lang='{}'>b</p></html>"
    new, _ = kformer.translate_markup(
        page.format("de", "de-AT", "DE"), upper, source_language="de", target_language="en"
    )
    assert new == page.format("en", "en", "en").replace(">a<", ">A<").replace(">b<", ">B<")
    assert 'lang="de"' in kformer.translate_markup(page.format("de", "de", "de"), upper)[0]


def test_the_text_of_slides_is_read_like_that_of_word():
    head = '<p:sld xmlns:p="urn:p" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
    shape = (
        '<p:cNvPr id="1" descr="{}"/><a:p><a:pPr/><a:r><a:rPr lang="de-DE" dirty="0"/><a:t>{}</a:t>'
        '</a:r>{}<a:r><a:rPr lang="de-DE" b="1"><a:hlinkClick r="1"/></a:rPr><a:t>{}</a:t></a:r>'
        '<a:br/><a:fld type="slidenum"><a:t>7</a:t></a:fld></a:p></p:sld>'
    )
    more = '<a:r><a:rPr lang="en" dirty="1"/><a:t>d </a:t></a:r>'
    content = head + shape.format("A dog", "The re", more, "house")
    [new] = with_languages("a.pptx", {"ppt__slides__slide1_xml": content})
    assert new == head + shape.format("A DOG", "THE RED ", "", "HOUSE")
    [new] = with_languages("a.pptx", {"ppt__slides__slide1_xml": content}, target_language="fr")
    assert new.count('lang="fr"') == 2


@pytest.mark.parametrize("name", ["a.docx", "a.odt"])
def test_characters_that_xml_forbids_are_not_written(name):
    members = {"word__document_xml": word(["The"])} if name == "a.docx" else {"content_xml": ODT}
    content = kformer.documents.document_translation.translate_content(
        archive(**members), name, lambda texts: ["a\x01\ufffe\ud800b" for _ in texts]
    )[0]
    new = member(content, "word/document.xml" if name == "a.docx" else "content.xml")
    assert "a\ufffd\ufffdb" in "".join(ElementTree.fromstring(new).itertext())


def test_a_span_of_a_space_gets_no_word():
    content = 'One<t:span a="1"><t:s/></t:span><t:span a="2">tw</t:span>o'
    new, asked = odt_paragraph(content, {"One two": "Eins zwei"}.__getitem__)
    assert asked == ["One two"]
    assert ElementTree.fromstring(f'<a xmlns:t="t">{new}</a>')[0].text is None
