"""Parallel text files are counted and checked before they are used."""

import bz2
import gzip
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer.text.text_files import as_list
from kformer.training import check_parallel
from kformer.training.data import pairs as parallel_files
from kformer.training.data.pairs import count_lines


@given(lines=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n")), min_size=1))
def test_lines_end_only_at_line_feeds(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("lines") / "text"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    assert count_lines(path) == len(lines)
    path.with_suffix(".gz").write_bytes(gzip.compress(path.read_bytes()))
    assert count_lines(path.with_suffix(".gz")) == len(lines)


@pytest.mark.parametrize(
    ("content", "lines"),
    [("a", 1), ("a\n", 1), ("a\nb", 2), ("a\r\nb\r\n", 2), ("\n", 1), ("\n\n", 2), ("a\n\n", 2)],
)
def test_the_last_line_may_lack_a_line_feed(written, content, lines):
    assert count_lines(written("text", content)) == lines


def test_a_file_is_read_again_only_if_it_has_changed(written, monkeypatch):
    path = written("text", "a\nb\n")
    assert count_lines(path) == 2
    with monkeypatch.context() as patch:
        patch.setattr(parallel_files, "read_lines", None)
        assert count_lines(path) == 2
    assert count_lines(written("text", "a\nb\nc\n")) == 3


def test_a_gzip_file_may_have_several_members(written):
    members = gzip.compress(b"a\nb\n") + gzip.compress(b"c\n")
    assert count_lines(written("text.gz", members)) == 3


def test_pairs_are_counted_over_all_files(written):
    de = [written("1.de", "eins\nzwei\n"), written("2.de.gz", gzip.compress(b"drei\n"))]
    en = [written("1.en", "one\ntwo"), written("2.en", "three\n")]
    assert check_parallel(de, en) == 3
    assert check_parallel(str(de[0]), en[0]) == 2


def test_one_path_is_a_list_of_one(tmp_path):
    assert as_list("a") == as_list(["a"]) == ["a"]
    assert as_list(tmp_path) == as_list((tmp_path,)) == [str(tmp_path)]


def test_a_missing_file_is_an_error(written, tmp_path):
    de = written("de", "eins\n")
    with pytest.raises(FileNotFoundError, match=r"no such file. Received: '.*missing.en'"):
        check_parallel(de, tmp_path / "missing.en")
    with pytest.raises(IsADirectoryError, match=f"not a folder. Received: '{tmp_path}'"):
        check_parallel(tmp_path, de)


def test_counts_must_agree_file_by_file(written):
    long, short = written("long", "a\nb\n"), written("short", "a\n")
    with pytest.raises(ValueError, match=r"Received: 2 in '.*long', 1 in '.*short'"):
        check_parallel([long, short], [short, long])


@pytest.mark.parametrize(("sources", "targets"), [(2, 1), (1, 0), (0, 0)])
def test_every_source_file_needs_its_target_file(written, sources, targets):
    file = written("text", "a\n")
    with pytest.raises(ValueError, match=f"Received: {sources} source and {targets} target files"):
        check_parallel([file] * sources, [file] * targets)


@pytest.mark.parametrize("name", ["text", "text.gz"])
def test_an_empty_file_is_an_error(written, name):
    content = gzip.compress(b"") if name.endswith("gz") else b""
    with pytest.raises(ValueError, match=f"must not be empty. Received: '.*{name}'"):
        count_lines(written(name, content))


@pytest.mark.parametrize("name", ["text", "text.gz"])
def test_text_that_is_not_utf8_is_an_error_with_the_line(written, name):
    content = "eins\nzwei\nfünf\n".encode("latin-1")
    content = gzip.compress(content) if name.endswith("gz") else content
    with pytest.raises(ValueError, match=f"must be UTF-8. Received: '.*{name}', where line 3"):
        count_lines(written(name, content))


def broken(content):
    content = bytearray(content)
    content[len(content) // 2] ^= 0xFF
    return bytes(content)


@pytest.mark.parametrize(
    ("ending", "format", "compress"),
    [(".gz", "gzip", gzip.compress), (".bz2", "bzip2", bz2.compress), (".xz", "xz", lzma.compress)],
)
@pytest.mark.parametrize(
    "damage",
    [lambda _: b"eins\n", lambda whole: whole[:-9], lambda whole: whole + b"eins\n", broken],
)
def test_a_file_must_be_what_its_ending_says(written, ending, format, compress, damage):
    path = written(f"text{ending}", damage(compress(b"eins\nzwei\n" * 99)))
    with pytest.raises(ValueError, match=f"{ending} must be {format}. Received: '{path}' "):
        count_lines(path)


@pytest.mark.parametrize("content", ["ja\rnein\r", "ja\rnein", "\r\rja\r"])
def test_lines_that_end_in_carriage_returns_alone_are_named(written, content):
    path = written("text", content)
    with pytest.raises(ValueError, match=f"tr '.r' '.n' converts them. Received: '{path}'"):
        count_lines(path)
    assert count_lines(written("text", "ja\r")) == 1
