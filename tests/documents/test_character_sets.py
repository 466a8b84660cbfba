"""Encodings: as browsers read their names, or as the user says; the bytes come back exactly."""

import pytest

import kformer
from documents.test_round_trips import translated, upper
from kformer.documents.document_translation import translate_content

# Label, bytes and text. The characters are only in the larger set that browsers read.
LABELS = [
    ("gb2312", b"\xe9F a dog", "镕 a dog"),
    ("GBK", b"\xe9F a dog", "镕 a dog"),
    ("shift_jis", b"\x87\x82 a dog", "№ a dog"),
    ("shift_jis", b"\xfb\xfc\xfa\xb1 a dog", "髙﨑 a dog"),  # As Windows writes them,
    ("shift_jis", b"\xee\xe0\xed\x95 a dog", "髙﨑 a dog"),  # and as NEC did.
    ("x-sjis", b"\x87\x82 a dog", "№ a dog"),
    ("ks_c_5601-1987", b"\x8cc a dog", "똠 a dog"),
    ("euc-kr", b"\x8cc a dog", "똠 a dog"),
    ("iso-8859-1", b"\x93a dog\x94", "“a dog”"),
    ("us-ascii", b"\x93a dog\x94", "“a dog”"),
    ("iso-8859-9", b"\x93a dog\x94", "“a dog”"),
    ("l2", b"\xa3 a dog", "Ł a dog"),
    ("big5", b"\xb3\x5c a dog", "許 a dog"),
    ("unicode", "łódź".encode(), "łódź"),  # UTF-16 cannot be declared in ASCII.
]


def asked(content, name, **options):
    """Returns the texts of a document; checks that it is the same without a translation."""
    texts = []

    def translate(new):
        texts.extend(new)
        return new

    assert translate_content(content, name, translate, **options)[0] == content
    return texts


@pytest.mark.parametrize("label, written, text", LABELS)
def test_a_page_is_in_the_encoding_that_browsers_read(label, written, text):
    head = f"<meta charset='{label}'><p>".encode()
    assert asked(head + written, "a.html") == [text]
    output, _ = translate_content(head + written, "a.html", upper)
    assert output == head + written.replace(b"a dog", b"A DOG") or label == "unicode"


def test_a_page_of_another_encoding_than_it_declares_is_refused():
    for label in ("shift_jis", "gb2312", "utf-8", "euc-kr"):
        with pytest.raises(ValueError, match=r"must be in the encoding .* in line 2, is not"):
            asked(f"<meta charset={label}>\n".encode() + b"<p>\x81\x20 a", "a.html")


def test_a_catalog_may_have_characters_of_the_larger_set_only_where_it_must():
    head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset={}\\n"\n\n'
    body = b'msgid "a \xe9F"\nmsgstr "a \xe9F"\n\nmsgid "\xe9F"\nmsgstr ""\n'
    output, _ = translate_content(head.format("gb2312").encode() + body, "a.po", upper)
    assert output == head.format("gb2312").encode() + body.replace(b'""', b'"\xe9F"')
    body = b'msgid "\x93a\x94"\nmsgstr ""\n'
    output, _ = translate_content(head.format("ISO-8859-1").encode() + body, "a.po", upper)
    assert output.decode("latin-1").endswith('"\x93A\x94"\n')  # Gettext knows no quotes there.
    with pytest.raises(ValueError, match="ascii: byte"):
        asked(head.format("ascii").encode() + body, "a.po")


def test_shift_sequences_go_on_over_the_pieces_of_a_document():
    page = "<meta charset=iso-2022-jp><p>　日本　</p>　<b>　犬 a　</b>".encode("iso2022_jp")
    assert asked(page, "a.html") == ["日本", "犬 a"]
    output, _ = translate_content(page, "a.html", upper)
    assert output.decode("iso2022_jp") == page.decode("iso2022_jp").replace(" a", " A")


@pytest.mark.parametrize("name", ["a.txt", "a.srt", "a.md", "a.json", "a.html"])
def test_the_user_gives_the_encoding_of_a_document(tmp_path, name):
    before, after = {
        "a.srt": ("1\n00:00:01,000 --> 00:00:02,000\n", "\n"),
        "a.json": ('["', '"]'),
    }.get(name, ("", "\n"))
    content = f"{before}“żółw”{after}".encode("cp1250")
    with pytest.raises(ValueError, match="or else in UTF-8"):
        translated(tmp_path, name, content)
    for encoding in ("windows-1250", "cp1250", "x-cp1250", "CP1250"):
        output, report = translated(tmp_path, name, content, upper, encoding=encoding)
        assert output.decode("cp1250") == f"{before}“ŻÓŁW”{after}" and not report.unplaced
    path = tmp_path / name
    assert next(kformer.document_segments(path, encoding="cp1250"))[1] == "“żółw”"


def test_a_given_encoding_comes_before_the_declared_one_but_not_before_the_mark():
    page = b"<meta charset=utf-8><p>\x93a dog\x94"
    assert asked(page, "a.html", encoding="iso-8859-1") == ["“a dog”"]
    for name in ("a.txt", "a.html", "a.md"):
        assert asked("\ufeffżółw".encode(), name, encoding="cp1250") == ["żółw"]


def test_an_encoding_that_is_none_is_refused(refused, written, tmp_path):
    for encoding in ("hex", "utf-9", "x-user-defined", "replacement", "\0", ""):
        with pytest.raises(ValueError, match="must be the name of an encoding"):
            asked(b"a", "a.txt", encoding=encoding)
    with pytest.raises(ValueError, match=r"not for archives .* Received: encoding='utf-8'"):
        asked(b"a", "a.docx", encoding="utf-8")
    with pytest.raises(ValueError, match=r"in the given encoding. Received: .*utf-8: byte 0"):
        asked(b"\xff", "a.txt", encoding="utf-8")
    page = written("a.html", "a")
    options = "translate", "demo", "--input", page, "--output", tmp_path / "b.html"
    assert "Received: encoding='utf-9'" in refused(*options, "--encoding", "utf-9")
    message = refused("translate", "demo", "a", "--encoding", "cp1250")
    assert message.endswith("Received: --encoding with lines of text.")


def test_the_command_reads_and_writes_the_encoding(command, tmp_path):
    page = tmp_path / "a.html"
    page.write_bytes("<p>“żółw”".encode("cp1250"))
    result = command("translate", "demo", "--input", page, "--dry-run", "--encoding", "cp1250")
    assert (result.returncode, result.stdout) == (0, "1\t“żółw”\n")
