"""HTML, placeholders and files that a server translates, by LibreTranslate's protocol."""

import io
import json
import zipfile
from urllib.parse import unquote, urljoin

import pytest
from urllib3.filepost import encode_multipart_formdata

import kformer
from kformer.documents.document_translation import translate_content, translate_markup
from support import toy

FIRST, SECOND = toy.SOURCES[:2]
LINK = f'<a href="https://example.org/?a=1&amp;b=2">{FIRST.split()[0]}</a> '
FRAGMENTS = [
    f"<p>{LINK}{' '.join(FIRST.split()[1:])}</p><script>sucht()</script>",
    f"<b>{FIRST}</b> <i>{SECOND}</i><br>{{name}} {FIRST}",
    "",
    "<ul><li>wir ruft uns .<li><code>wir</code></ul>",
]


@pytest.fixture(scope="module")
def translator(toy_tflite):
    return kformer.load(toy_tflite)


def posted(api, name, content, path="/translate_file", headers=None, **fields):
    """Returns the response to a form with a file, as LibreTranslate's clients send it."""
    fields = {"source": "de", "target": "en", **fields}
    fields = {key: value for key, value in fields.items() if value is not None}
    body, content_type = encode_multipart_formdata({**fields, "file": (name, content)})
    return api.ask(path, body, Content_Type=content_type, **(headers or {}))


def fetched(api, response):
    """Returns the response to the address in an answer of /translate_file."""
    url = response.json["translatedFileUrl"]
    assert url.startswith(f"{api.url}/download_file/")
    return api.ask(url.removeprefix(api.url))


def test_html_is_translated_as_in_python(api, translator):
    expected = [text for text, _ in translate_markup(FRAGMENTS, translator)]
    assert api.translate(FRAGMENTS, format="html") == {"translatedText": expected}
    assert api.translate(FRAGMENTS[0], format="html")["translatedText"] == expected[0]
    body = {"model": "de-en", "input": FRAGMENTS, "format": "html"}
    data = api.ask("/v1/translations", body).json["data"]
    assert [each["text"] for each in data] == expected
    assert '<a href="https://example.org/?a=1&amp;b=2">' in expected[0]
    assert "<script>sucht()</script>" in expected[0] and "<code>wir</code>" in expected[3]


def test_protected_placeholders_are_in_a_text_once(api, translator):
    text = f"  {FIRST}\n\n{{name}} {SECOND} https://example.org/a"
    answer = api.translate(text, protected=["url", "brace"])["translatedText"]
    [(expected, _)] = translate_markup([text], translator, kind="text", keep=["url", "brace"])
    assert answer == expected
    assert answer.count("{name}") == answer.count("https://example.org/a") == 1
    form = b"q=%7Bname%7D+wir&source=de&target=en&protected=url%2C+brace"
    answer = api.ask("/translate", form, Content_Type="application/x-www-form-urlencoded").json
    assert answer["translatedText"].count("{name}") == 1


def test_protection_changes_no_text_without_placeholders(api):
    letter = f"  {FIRST} {SECOND}\n\n- {SECOND}\n"
    assert api.translate(letter, protected=["printf"]) == api.translate(letter)


def office_document(text):
    """Returns a docx with a paragraph, whose first word is bold."""
    first, _, rest = text.partition(" ")
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    content = (
        f'<w:document xmlns:w="{word}"><w:body><w:p><w:r><w:rPr><w:b/></w:rPr><w:t>{first}</w:t>'
        f"</w:r><w:r><w:t xml:space='preserve'> {rest}</w:t></w:r></w:p></w:body></w:document>"
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("word/document.xml", content)
    return file.getvalue()


FILES = {
    "page.html": "".join(FRAGMENTS).encode(),
    "Übersicht.json": json.dumps({"title": FIRST, "more": [SECOND, 7]}).encode(),
    "letter.docx": office_document(FIRST),
    "film.srt": f"1\n00:00:01,000 --> 00:00:02,000\n{FIRST}\n".encode(),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_translated_as_in_python_and_fetched(api, translator, tmp_path, name):
    (tmp_path / name).write_bytes(FILES[name])
    report = kformer.translate_document(tmp_path / name, translator, tmp_path / "output")
    response = posted(api, name, FILES[name])
    answer = response.json
    assert (response.status, answer["segments"], answer["unplaced"]) == (200, report.segments, [])
    download = fetched(api, response)
    stem, suffix = name.split(".")
    stored = unquote(download.headers["Content-Disposition"]).strip('"')
    assert stored.endswith(f"{stem}.en.{suffix}")
    assert "sandbox" in download.headers["Content-Security-Policy"]
    if name.endswith("docx"):  # The times of compression differ.
        contents = download.content, (tmp_path / "output").read_bytes()
        members = [zipfile.ZipFile(io.BytesIO(each)).read("word/document.xml") for each in contents]
        assert members[0] == members[1] != FILES[name]
    else:
        assert download.content == (tmp_path / "output").read_bytes() != FILES[name]
    assert fetched(api, response).content == download.content


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "Via"])
def test_the_link_to_a_file_is_relative_behind_a_proxy(api, header):
    """Which may have another name, and put the server under a path."""
    response = posted(api, "a.txt", FIRST, headers={header: "192.0.2.1"})
    url = response.json["translatedFileUrl"]
    assert url.startswith("download_file/")
    assert urljoin(f"{api.url}/translate_file", url) == f"{api.url}/{url}"
    assert api.ask(f"/{url}").status == 200


def test_texts_that_stay_are_reported_with_their_lines(api, translator):
    page = f"{FIRST}\n\nwir \0 uns\n"
    _, report = translate_content(page.encode(), "a.md", translator)
    assert [text.line for text in report.unplaced] == [3]
    assert posted(api, "a.md", page).json["unplaced"] == [
        text._asdict() for text in report.unplaced
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.pdf", b"a", "must have one of the suffixes .txt"),
        ("../../a.srt", b"no times", "02,500. Received: 'a.srt'"),
        ("a.docx", b"PK", "must be a ZIP archive"),
        ("a.html", b"\xff\xfe\xff", "or else in UTF-8"),
        ("a.html", b"<div>" * 5000, "1,000 elements inside each other"),
        ("a.xml", b"<!DOCTYPE a [<!ENTITY b 'c'>]><resources/>", "entities"),
        ("", b"a", "no file of this name"),
    ],
)
def test_a_hostile_file_is_told_the_rule(api, name, content, message):
    response = posted(api, name, content)
    assert response.status == 400
    assert message in response.json["error"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"target": "fr"}, "translates de to en"),
        ({"target": None}, "must have 'target'"),
        ({"source": ("a.txt", b"a")}, "Too many files"),
        ({f"a{i}": "b" for i in range(30)}, "Too many fields"),
    ],
)
def test_a_malformed_form_is_told_the_rule(api, fields, message):
    response = posted(api, "a.txt", b"wir", **fields)
    assert response.status == 400
    assert message in response.json["error"]


@pytest.mark.parametrize(
    "content_type", ["application/json", "multipart/form-data", "multipart/form-data; boundary=b"]
)
def test_a_body_that_is_no_form_is_told_the_rule(api, content_type):
    for body in (b"{}", b"--b\r\nContent-Disposition: x\r\n\r\na\r\n--b--", b"--b\r\n\0"):
        response = api.ask("/translate_file", body, Content_Type=content_type)
        assert response.status == 400
        assert "multipart/form-data with a file named 'file'" in response.json["error"]


def test_clients_know_the_kinds_of_files(api):
    settings = api.ask("/frontend/settings").json
    assert settings["filesTranslation"] is True
    assert {".html", ".docx", ".srt", ".md"} <= {*settings["supportedFilesFormat"]}
