"""Damaged and hostile documents are refused in one line, in little time, with nothing written."""

import io
import os
import re
import threading
import time
import tracemalloc
import zipfile

import pytest

import kformer
from kformer.documents.character_sets import MOST_BYTES
from kformer.documents.document_translation import translate_content
from kformer.documents.word_places import WordPlaces


def refusal(tmp_path, name, content, **options):
    """Returns the message of the refusal; checks that it is one line and writes nothing."""
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = sorted(tmp_path.iterdir())
    begun = time.process_time()
    with pytest.raises(ValueError) as refused:
        kformer.translate_document(path, list, tmp_path / "output", **options)
    assert time.process_time() - begun < 5
    assert sorted(tmp_path.iterdir()) == before
    message = str(refused.value)
    assert "\n" not in message and "Received: " in message
    return message


def test_bytes_of_no_encoding_are_refused_with_their_place(tmp_path):
    message = refusal(tmp_path, "a.txt", b"one\ntwo \xff\n")
    assert "or else in UTF-8" in message and "byte 8, in line 2, is not" in message
    message = refusal(tmp_path, "a.html", b'<meta charset="ascii-8">')
    assert "which declares 'ascii-8'" in message
    assert "declares 'hex'" in refusal(tmp_path, "b.html", b'<meta charset="hex">aa')


def test_a_document_without_a_kind_is_refused(tmp_path):
    assert "must have one of the suffixes .txt" in refusal(tmp_path, "a.pdf", b"")
    assert "`kind` must be one of text, html" in refusal(tmp_path, "a.txt", b"", kind="pdf")


def test_a_million_nested_tags_are_refused(tmp_path):
    assert "at most 1,000 elements inside" in refusal(tmp_path, "a.html", "<div>" * 1_000_000)


def test_a_paragraph_of_too_many_tags_is_refused(tmp_path):
    message = refusal(tmp_path, "a.html", "<p>\n" + "<b>a</b>" * 20_000)
    assert "at most 50,000 texts and tags. Received: one with more, up to line 2." in message


def test_a_document_that_is_too_large_is_refused(tmp_path):
    path = tmp_path / "film.srt"
    with path.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(ValueError, match="at most 67,108,864 bytes"):
        kformer.translate_document(path, list, tmp_path / "output")


def test_subtitles_without_times_are_refused(tmp_path):
    assert "must have cues, with times" in refusal(tmp_path, "film.srt", "no times")


@pytest.mark.parametrize(
    "part", ["<!--", "<a ", '<a b="', "<a b='<a c=\"", "</", "&", "<script>", "<"]
)
def test_unfinished_markup_takes_linear_time(tmp_path, part):
    path = tmp_path / "a.html"
    path.write_text(part * 20_000)
    begun = time.process_time()
    kformer.translate_document(path, list, tmp_path / "output.html")
    assert time.process_time() - begun < 5  # Quadratic time would be a minute.
    assert (tmp_path / "output.html").read_text() == path.read_text()


def test_a_translator_that_fails_leaves_the_old_output(tmp_path):
    path, output = tmp_path / "a.txt", tmp_path / "b.txt"
    path.write_text("a\nb\n")
    output.write_text("old")
    with pytest.raises(ValueError, match="Received: 0 for 2 texts"):
        kformer.translate_document(path, lambda texts: [], output)
    with pytest.raises(TypeError, match=re.escape("or be a function")):
        kformer.translate_document(path, None, output)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.txt", "b.txt"]
    assert output.read_text() == "old"


XML = '<?xml version="1.0"?>{}<resources><string name="a">{}</string></resources>'


def test_entities_are_refused(tmp_path):
    lol = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 9))
    bomb = XML.format(f'<!DOCTYPE r [<!ENTITY l0 "lol">{lol}]>', "&l8;")
    assert "which declares 'l0'" in refusal(tmp_path, "a.xml", bomb)
    external = XML.format('<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>', "&x;")
    assert "must not declare entities" in refusal(tmp_path, "b.xml", external)


def test_a_document_type_is_not_fetched(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(XML.format('<!DOCTYPE r SYSTEM "http://127.0.0.1:9/a.dtd">', "Hello"))
    kformer.translate_document(path, list, tmp_path / "b.xml")
    assert (tmp_path / "b.xml").read_text() == path.read_text()


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.xml", "<resources><string>a", "must be well-formed.*no element found"),
        ("a.xml", "<plist></plist>", "must have the root <resources>.*<plist>"),
        ("a.xml", "<resources>" + "<b>" * 100_000, "at most 1,000 elements"),
        ("a.xml", '<?xml version="1.0" encoding="ascii"?><resources>é</resources>', "byte 49"),
        ("a.xlf", "<tmx/>", "must have the root <xliff>"),
        ("a.json", '{"a": ', "must be JSON.*not JSON"),
        ("a.json", "[" * 100_000, "nested too deeply"),
        ("a.xcstrings", "{}", 'with "sourceLanguage" and "strings"'),
        ("a.xcstrings", '{"sourceLanguage": "en", "strings": {}}', "needs `target_language`"),
        ("a.po", 'msgid "a"\nmsgstr b\n', "'msgstr b' in '.*a.po', line 2"),
        ("a.po", '"a"\n', "line 1"),
        ("a.strings", '"a" = "b"', "line 1"),
        ("a.strings", '"a" = "b";\n<plist>', "'<plist>' in .*, line 2"),
        ("a.docx", "text", "must be a ZIP archive"),
    ],
)
def test_a_damaged_document_is_refused_with_the_reason(tmp_path, name, content, reason):
    assert re.search(reason, refusal(tmp_path, name, content))


def zipped(*names, text="<w/>"):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for name in names:
            file.writestr(name, text)
    return content.getvalue()


def test_hostile_archives_are_refused(tmp_path):
    for name in ("../evil", "/evil", "a/../../evil", "C:\\evil"):
        content = zipped("word/document.xml", name)
        assert "must be inside of it" in refusal(tmp_path, "a.docx", content)
    assert "has no text of this kind" in refusal(tmp_path, "a.docx", zipped("a.xml"))
    content = zipped("word/document.xml")
    assert "ZIP archive" in refusal(tmp_path, "a.docx", content[: len(content) // 2])
    bomb = zipped("word/document.xml", text=bytes(2**26 + 1))
    assert "more than 20 times" in refusal(tmp_path, "a.docx", bomb)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("a.md", "> "),
        ("a.md", "["),
        ("a.md", "*a **b "),
        ("a.md", "- "),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\na b\n\n"),
    ],
)
def test_long_documents_take_linear_time(tmp_path, name, part):
    path = tmp_path / name
    path.write_text(part * (20_000 // len(part)))
    begun = time.process_time()
    kformer.translate_document(path, list, tmp_path / f"output-{name}")
    assert time.process_time() - begun < 5
    assert (tmp_path / f"output-{name}").read_text() == path.read_text()


@pytest.mark.parametrize("name", ["a.txt", "a.html"])
def test_a_line_without_markup_takes_little_memory(name):
    def translate(texts):
        return [text.upper() for text in texts]

    line = b"A quick brown dog. " * 5000
    translate_content(line[:100], name, translate)  # What is imported is no memory of a line.
    tracemalloc.start()
    translate_content(line, name, translate)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 25 * len(line)  # With the places of all words, it would be 100 times.


@pytest.mark.parametrize(
    ("name", "before", "behind"),
    [
        ("a.html", "<p>a ", "</p>"),
        ("a.md", "a ", ""),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\na ", "\n"),
        ("a.xml", '<resources><string name="a">a <![CDATA[', "]]></string></resources>"),
        (
            "a.xlf",
            '<xliff><file><body><trans-unit><source>a <mrk mtype="protected"><![CDATA[',
            "]]></mrk></source></trans-unit></body></file></xliff>",
        ),
    ],
)
@pytest.mark.parametrize("digits", ["9" * 12, "9" * 5000, "0" * 5000 + "65"])
def test_a_reference_to_no_character_loses_no_document(name, before, behind, digits):
    def translate(texts):
        return [text.upper() for text in texts]

    content = f"{before}b &#{digits}; {behind}".encode()
    output, report = translate_content(content, name, translate, target_language="de")
    assert b"A" in output and report.segments and not report.unplaced


def test_a_pair_of_escaped_surrogates_is_a_character(tmp_path):
    for name, content in (("a.xml", XML.format("", "{}")), ("a.strings", '"a" = "{}";')):
        path, output = tmp_path / name, tmp_path / f"output-{name}"
        path.write_text(content.format(r"dog \ud83d\ude00 \ud83d"))
        kformer.translate_document(path, lambda texts: [t.upper() for t in texts], output)
        assert output.read_text("utf-8") == content.format("DOG \U0001f600 \ufffd")


def test_a_paragraph_that_cannot_be_placed_loses_no_document(tmp_path, monkeypatch):
    point = WordPlaces.point

    def broken(places, place):
        if "HUND" in places._target:
            raise IndexError("list index out of range")
        return point(places, place)

    monkeypatch.setattr(WordPlaces, "point", broken)
    path, output = tmp_path / "a.html", tmp_path / "b.html"
    path.write_text(
        "<p>Ein <b>Hund</b> läuft.</p>\n<p>Eine <img> Katze.</p>\n<p>Der <img> Hund</p>"
    )
    report = kformer.translate_document(path, lambda texts: [t.upper() for t in texts], output)
    assert output.read_text() == (
        "<p>EIN <b>HUND</b> LÄUFT.</p>\n<p>EINE <img> KATZE.</p>\n<p>Der <img> Hund</p>"
    )
    [unplaced] = report.unplaced
    assert unplaced == (3, "Der Hund", "its markup could not be placed (IndexError)")


def test_a_pipe_as_output_gets_the_document(tmp_path):
    path, pipe = tmp_path / "a.html", tmp_path / "b.html"
    path.write_text("<p>a</p>")
    os.mkfifo(pipe)
    content = []
    reader = threading.Thread(target=lambda: content.append(pipe.read_text()), daemon=True)
    reader.start()
    kformer.translate_document(path, lambda texts: [t.upper() for t in texts], pipe)
    reader.join(10)
    assert content == ["<p>A</p>"] and pipe.is_fifo()
