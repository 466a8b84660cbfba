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
    with pytest.raises(ValueError, match="which holds no pair of languages"):
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
