"""Files of sentence pairs: TMX, Moses archives, and what is compressed."""

import gzip
import zipfile

import pytest

from kformer.text.bitexts import read_bitext
from kformer.text.text_files import read_lines
from kformer.training import split_pairs

UNIT = '<tu><tuv xml:lang="{}"><seg>{}</seg></tuv><tuv xml:lang="{}"><seg>{}</seg></tuv></tu>'
COLUMNS = ("source", "target")


def tmx(*units):
    body = "".join(UNIT.format(*unit) for unit in units)
    return f'<?xml version="1.0"?><tmx version="1.4"><header/><body>{body}</body></tmx>'


def moses(path, **texts):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("README", "OPUS")
        for language, text in texts.items():
            archive.writestr(f"Tatoeba.de-en.{language}", text)
    return path


def test_the_units_of_a_tmx_file_are_pairs(written):
    units = [
        ("de", "ein haus", "en-GB", "a house"),
        ("en-GB", "we &amp; they", "de", "wir\n gehen"),
    ]
    path = written("a.tmx", tmx(*units))
    pairs = [("ein haus", "a house"), ("wir gehen", "we & they")]
    assert [*read_bitext(path, COLUMNS)] == pairs
    swapped = [(target, source) for source, target in pairs]
    assert [*read_bitext(path, ("EN", "de"), named=True)] == swapped
    packed = written("a.tmx.gz", gzip.compress(path.read_bytes()))
    assert [*read_bitext(packed, ("de", "en"), named=True)] == pairs


def test_units_without_both_languages_are_left_out(written):
    path = written("a.tmx", tmx(("de", "ja", "en", "yes"), ("de", "nein", "fr", "non")))
    assert [*read_bitext(path, COLUMNS)] == [("ja", "yes")]
    assert [*read_bitext(path, ("fr", "de"), named=True)] == [("non", "nein")]


def test_codes_of_a_layout_are_no_text(written):
    segment = "<bpt i='1'>&lt;b></bpt>ein <hi>haus</hi><ept i='1'>&lt;/b></ept> hier"
    path = written("a.tmx", tmx(("de", segment, "en", "a house")))
    assert [*read_bitext(path, COLUMNS)] == [("ein haus hier", "a house")]


def test_a_moses_archive_has_a_text_for_each_language(tmp_path):
    path = moses(tmp_path / "de-en.txt.zip", de="ja\nnein\n", en="yes\nno\n")
    assert [*read_bitext(path, COLUMNS)] == [("ja", "yes"), ("nein", "no")]
    assert [*read_bitext(path, ("en", "de"), named=True)] == [("yes", "ja"), ("no", "nein")]
    [source], [target] = split_pairs(path, ("en", "de"))
    assert [*read_lines(source)] == ["yes", "no"] and [*read_lines(target)] == ["ja", "nein"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tmx", "<tmx><body>", r"well-formed XML. Received: '.*a.tmx' \(no element found"),
        ("a.tmx", tmx(), "with the languages of none, for columns=None"),
        ("a.tmx", "<tmx>" + "<a>" * 99_999, r"a.tmx' \(no element found"),
        ("a.tmx", tmx().replace("?>", ' encoding="klingon"?>'), "unknown encoding: klingon"),
        ("a.tmx", tmx().replace("?>", ' encoding="big5"?>'), "multi-byte encodings are not"),
        ("a.tmx", f"<tmx a='{'x' * 9_999_999}'/>", "a tag of more than 4,194,304 bytes"),
        ("a.zip", "no archive", r"must be a zip file. Received: '.*a.zip'"),
        ("a.gz", "no archive", r"named .gz must be gzip. Received: '.*a.gz'"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_named(written, name, content, message):
    with pytest.raises(ValueError, match=message):
        list(read_bitext(written(name, content), COLUMNS))


def test_languages_that_a_file_lacks_are_named(written, tmp_path):
    path = written("a.tmx", tmx(("de", "ja", "en", "yes")))
    with pytest.raises(ValueError, match=r"the languages 'de', 'en', for columns=\('de', 'fr'\)"):
        list(read_bitext(path, ("de", "fr"), named=True))
    path = moses(tmp_path / "a.zip", de="ja\n", en="yes\n")
    with pytest.raises(ValueError, match=r"which holds de-en, for columns=\('de', 'fr'\)"):
        list(read_bitext(path, ("de", "fr"), named=True))
    path = moses(tmp_path / "b.zip", de="ja\n")
    with pytest.raises(ValueError, match=r"one text for each .* with 'Tatoeba\.de-en\.de' of"):
        list(read_bitext(path, COLUMNS))
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        archive.writestr("README", "OPUS")
    with pytest.raises(ValueError, match="which holds no pair of languages"):
        list(read_bitext(tmp_path / "c.zip", COLUMNS))


def packed(path, names):
    """Writes an archive of files by name, of which each has one line: its own name."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, f"{name}\n")
    return path


@pytest.mark.parametrize("columns", [None, ("de", "en"), ("en", "de")])
def test_every_corpus_of_an_archive_is_read_with_its_own_translations(tmp_path, columns):
    names = ["A.de-en.de", "B.de-en.en", "x/A.de-en.en", "B.de-en.de", "A.de-en.en", "x/A.de-en.de"]
    path = packed(tmp_path / "a.zip", [*names, "A.de-en.ids", "LICENSE"])
    pairs = list(read_bitext(path, columns or COLUMNS, named=bool(columns)))
    source, target = columns or ("de", "en")
    corpora = ("A", "B", "x/A")
    expected = {(f"{one}.de-en.{source}", f"{one}.de-en.{target}") for one in corpora}
    assert {*pairs} == expected and len(pairs) == 3


@pytest.mark.parametrize(
    "names", [["A.de-en.de", "B.de-en.en"], ["A.de-en.de", "A.de-en.en", "B.de-en.de"]]
)
def test_a_corpus_without_its_translation_is_refused_by_name(tmp_path, names):
    with pytest.raises(ValueError, match=r"one text for each language\. Received: .*'[AB]\."):
        list(read_bitext(packed(tmp_path / "a.zip", names), COLUMNS))


def test_an_archive_that_zipfile_cannot_read_is_an_error_in_one_sentence(tmp_path):
    content = packed(tmp_path / "a.zip", ["A.de-en.de", "A.de-en.en"]).read_bytes()
    entry, local = b"PK\x01\x02", b"PK\x03\x04"
    for offset, value in ((8, 1), (10, 9), (10, 99), (10, 93)):  # Encrypted; Deflate64, AES, zstd.
        changed = bytearray(content)
        for mark, at in ((entry, offset), (local, offset - 2)):
            start = changed.find(mark)
            while start >= 0:
                changed[start + at] = value
                start = changed.find(mark, start + 1)
        path = tmp_path / "b.zip"
        path.write_bytes(changed)
        with pytest.raises(ValueError, match=r"must not be encrypted.*Received: '.*b\.zip'"):
            list(read_bitext(path, COLUMNS))


def test_texts_of_unlike_length_in_an_archive_are_refused(tmp_path):
    path = moses(tmp_path / "a.zip", de="ja\nnein\n", en="yes\n")
    with pytest.raises(ValueError, match=r"as many lines. Received: '.*a.zip'"):
        list(read_bitext(path, COLUMNS))


def test_zstandard_frames_are_read_to_the_end(written):
    zstandard = pytest.importorskip("zstandard")
    text = "".join(f"zeile {i}\n" for i in range(40_000))
    half = zstandard.ZstdCompressor().compress(text.encode())
    path = written("a.zst", half + bytes(9) + half + bytes(2**18))
    assert "\n".join(read_lines(path)) + "\n" == 2 * text
    table = written("a.tsv.zst", zstandard.ZstdCompressor().compress(b"ja\tyes\n"))
    assert [*read_bitext(table, COLUMNS)] == [("ja", "yes")]
    for content in (half[:-9], b"no archive"):
        with pytest.raises(ValueError, match=r"must be Zstandard. Received: '.*b.zst' \("):
            list(read_lines(written("b.zst", content)))


def test_without_its_package_zstandard_is_refused(written, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    with pytest.raises(ValueError, match=r"pip install 'kformer\[zst\]'. Received: '.*a.zst'"):
        list(read_lines(written("a.zst", b"")))
