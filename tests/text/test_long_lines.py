"""Lines that are too long to be read whole, in every form of text."""

import bz2
import csv
import gzip
import io
import json
import lzma
import tracemalloc
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer.text.bitexts import numbered_bitext
from kformer.text.documents import BLANK_LINE, DOCUMENTS, FILE, read_documents
from kformer.text.long_lines import LONGEST, TOO_LONG, LineSplitter, check_whole, is_too_long
from kformer.text.tables import Row, read_table
from kformer.text.text_files import read_lines

LONG = "ä " * (LONGEST // 3 + 1)  # Bytes: LONGEST + 2 or a little more.
some_text = st.text('a"é€😀\r ,\n', max_size=200).map(str.encode)


def split(text, size, **options):
    splitter = LineSplitter(**options)
    blocks = [text[start : start + size] for start in range(0, len(text), size)]
    return [*(line for block in blocks for line in splitter.split(block)), *splitter.end()]


def without_end(line):
    return line.removesuffix(b"\n").removesuffix(b"\r")


@given(some_text, st.integers(1, 60), st.integers(8, 25), st.booleans())
def test_lines_are_cut_between_characters_wherever_blocks_end(text, size, longest, is_csv):
    lines = split(text, size, longest=longest, csv=is_csv)
    assert lines == split(text, 1000, longest=longest, csv=is_csv)
    for line, whole in zip(lines, io.BytesIO(text).readlines(), strict=True):
        line.decode()
        assert line.endswith(b"\n") == whole.endswith(b"\n")
        if len(without_end(whole)) <= longest:
            assert line == whole
        else:
            assert longest < len(without_end(line)) <= longest + 7
            assert is_csv or without_end(whole).startswith(without_end(line))
        if is_csv:
            assert line.count(b'"') % 2 == whole.count(b'"') % 2


@given(some_text, st.integers(1, 60), st.integers(8, 25))
def test_the_parts_of_lines_are_the_text(text, size, longest):
    parts = split(text, size, longest=longest, parts=True)
    assert b"".join(parts).replace(b"\n", b"") == text.replace(b"\n", b"")
    for part in parts:
        assert len(part.decode().encode()) <= longest + 6


@given(st.text("aé€😀", max_size=20), st.integers(0, 60))
def test_a_text_is_too_long_by_its_bytes(text, longest):
    assert is_too_long(text, longest) == (len(text.encode()) > longest)


def columns(rows):
    return {name: [row[place] for row in rows] for place, name in enumerate(("de", "en"))}


def as_tsv(rows):
    return "".join("\t".join(row) + "\n" for row in [("de", "en"), *rows])


def as_csv(rows):
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerows([("de", "en"), *rows])
    return content.getvalue()


def as_json(rows):
    return "".join(json.dumps(dict(zip(("de", "en"), row, strict=True))) + "\n" for row in rows)


def as_tmx(rows):
    units = (
        "".join(
            f'<tuv xml:lang="{language}"><seg>{text}</seg></tuv>'
            for language, text in zip(("de", "en"), row, strict=True)
        )
        for row in rows
    )
    return f"<tmx><body>{''.join(f'<tu>{unit}</tu>' for unit in units)}</body></tmx>"


def as_moses(rows):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for language, texts in columns(rows).items():
            archive.writestr(f"a.de-en.{language}", "".join(f"{text}\n" for text in texts))
    return content.getvalue()


FORMS = {"tsv": as_tsv, "csv": as_csv, "jsonl": as_json, "tmx": as_tmx, "zip": as_moses}


@pytest.mark.parametrize("form", FORMS)
def test_a_long_text_takes_no_other_row_with_it(written, form):
    short = ("ein bier", 'a "beer"') if form != "tmx" else ("ein bier", "a beer")
    rows = [short, (LONG, "a train"), short, ("zug", LONG), short]
    found = [*numbered_bitext(written(f"a.{form}", FORMS[form](rows)), ("de", "en"), named=True)]
    assert [row.line - found[0].line for row in found] == [0, 1, 2, 3, 4]
    assert [row.values for row in found[::2]] == [short] * 3
    assert [any(map(is_too_long, row.values)) for row in found] == [False, True, False, True, False]


@pytest.mark.sample(2)
@pytest.mark.parametrize("columns", [("de", "en"), ("1", "2")])
@pytest.mark.parametrize(
    "value",
    [
        "a," * LONGEST,
        'a"' * LONGEST,
        f"{LONG}\n{LONG}",
        ("a" * 1023 + "\n") * 1100,
        f'b\n{LONG}"c","\n\n"d',
        f'{"a" * (LONGEST + 1)}"\n"',
        f'{"a" * (LONGEST - 10)}"{LONG}',
    ],
)
def test_a_row_of_a_csv_file_ends_where_its_quotes_do(written, value, columns):
    table = written("a.csv", as_csv([("ein", "a"), (value, "b"), ("zug", "c\nd"), ("e", value)]))
    values = [row.values for row in read_table(table, columns)]
    unread = (TOO_LONG, TOO_LONG)
    assert values[columns == ("1", "2") :] == [("ein", "a"), unread, ("zug", "c\nd"), unread]


def test_a_quote_that_does_not_begin_a_text_has_no_consequence(written):
    """After it, the file has as many rows as lines, however many."""
    rows = [("4", '5" pipe'), *[("ein bier", "a beer " * 20)] * 10_000]
    text = "de,en\n" + "".join(f"{','.join(row)}\n" for row in rows)
    found = [*read_table(written("a.csv", text), ("de", "en"))]
    assert found == [Row(row, line) for line, row in enumerate(rows, start=2)]


@pytest.mark.parametrize("documents", DOCUMENTS)
def test_training_reads_all_of_a_long_document_and_others_its_beginning(written, documents):
    lines = ["ein bier " * 50_000] * 6 + ["zug " * 600_000]
    path = written("a.txt", "\n".join(lines))
    beginning, parts = ([*read_documents(path, documents, parts)] for parts in (False, True))
    text = "".join(lines)
    assert "".join(parts).replace("\n", "") == text
    assert max(map(len, parts)) <= 2 * LONGEST + 6
    if documents in (BLANK_LINE, FILE):
        assert len(beginning) == 1 < len(parts)
        assert "\n".join(lines).startswith(beginning[0]) and is_too_long(beginning[0])
    else:
        assert [line[:100] for line in beginning] == [line[:100] for line in lines]


def test_who_reads_every_word_refuses_a_line_that_is_cut(written):
    path = written("a.txt", f"ein\n{'a' * LONGEST}\r\n{LONG}\n")
    lines = check_whole(read_lines(path, ends=True), "'a.txt'")
    assert [len(next(lines)), len(next(lines))] == [4, LONGEST + 2]
    with pytest.raises(ValueError, match=r"at most 1,048,576 bytes. Received: 'a.txt', .* line 3"):
        next(lines)


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_memory_does_not_depend_on_the_length_of_a_line(written, name):
    compress = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    if name == ".zst":
        compress[name] = pytest.importorskip("zstandard").ZstdCompressor().compress
    path = written(f"a{name}", compress[name](b"ein\n" + bytes(24 * LONGEST) + b"\nzug\n"))
    tracemalloc.start()
    try:
        assert [len(line) for line in read_lines(path)] == [3, LONGEST + 2, 3]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 18 * LONGEST
