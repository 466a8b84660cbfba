"""Tables of text: TSV, CSV and JSON lines."""

import bz2
import csv
import gzip
import json
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer.text.tables import read_table, write_columns

ROWS = [("ein haus", "a house"), ("", "nothing"), ("größe 5", "size 5 , \"five\" 'é'")]
COLUMNS = "de", "en"


def write(path, rows, header=True):
    """Writes a table by the library of its form; the columns stand behind one that nobody wants."""
    opened = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}.get(path.suffix, open)
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        if ".json" in path.name or ".ndjson" in path.name:
            for de, en in rows:
                file.write(json.dumps({"id": 1, "en": en, "de": de}) + "\n")
        elif ".csv" in path.name:
            csv.writer(file).writerows([("id", "en", "de"), *((1, en, de) for de, en in rows)])
        else:
            lines = [("id", "en", "de"), *((1, en, de) for de, en in rows)] if header else rows
            file.writelines("\t".join(map(str, line)) + "\n" for line in lines)
    return path


def values(path, columns=COLUMNS, **options):
    return [row.values for row in read_table(path, columns, **options)]


@pytest.mark.parametrize("compressed", ["", ".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("name", ["a.tsv", "a.txt", "a.csv", "a.jsonl", "a.ndjson", "a.json"])
def test_every_form_gives_the_same_rows(tmp_path, name, compressed):
    assert values(write(tmp_path / f"{name}{compressed}", ROWS)) == ROWS


def test_without_a_header_the_first_columns_of_a_tsv_file_are_read(written):
    path = written("a.tsv", "ein haus\ta house\tCC-BY\nja\tyes\n")
    assert values(path) == [("ein haus", "a house"), ("ja", "yes")]
    assert values(path, rest=True)[0] == ("ein haus", "a house\tCC-BY")


@pytest.mark.parametrize("header", ["de\ten\n", ""])
def test_blank_lines_of_a_tsv_file_are_skipped_and_empty_texts_kept(written, header):
    path = written("a.tsv", f"\n{header}  \nja\tyes\n\t\n\nso\tso\n\r\n\n")
    first = 3 + bool(header)
    rows = [(("ja", "yes"), first), (("", ""), first + 1), (("so", "so"), first + 3)]
    assert [*read_table(path, COLUMNS)] == rows


def test_rows_know_the_line_where_they_end(written):
    path = written("a.csv", 'de,en\n\n"ja\nnein",yes\nso,so\n')
    assert [row.line for row in read_table(path, COLUMNS)] == [4, 5]
    path = written("a.tsv", "de\ten\nja\tyes\n")
    assert [row.line for row in read_table(path, COLUMNS)] == [2]


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
@given(rows=st.lists(st.tuples(cells, cells), min_size=1, max_size=5))
def test_csv_and_json_may_hold_any_text(tmp_path_factory, name, rows):
    path = tmp_path_factory.mktemp("table") / name
    found = values(write(path, rows))
    if name == "a.csv":  # Whose line ends may be of three kinds; they become one.
        rows = [[cell.replace("\r\n", "\n") for cell in row] for row in rows]
        found = [[cell.replace("\r\n", "\n") for cell in row] for row in found]
    assert [*map(tuple, found)] == [*map(tuple, rows)]


def test_json_may_be_nested_and_hold_integers(written):
    path = written("a.jsonl", '{"translation": {"de": 5, "en": "five"}, "a.b": "c"}\n\n')
    assert values(path, ("translation.de", "translation.en")) == [("5", "five")]
    assert values(path, ("a.b", "translation.en")) == [("c", "five")]


def test_lone_surrogates_of_json_are_replaced(written):
    assert values(written("a.jsonl", r'{"de": "a\ud800", "en": "b"}')) == [("a\ufffd", "b")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tsv", "ja\tyes\nnein\n", r"'de', 'en'.* line 2 has no tab: 'nein'"),
        ("a.tsv", "a\tde\ten\nx\ty\n", r"where line 2 has 1 tab: 'x"),
        ("a.tsv", "", "must not be empty"),
        ("a.csv", "de,en\n", "must not be empty"),
        ("a.csv", "de,fr\na,b\n", r"columns 'de', 'en'\. .*a\.csv', whose first line is 'de,fr'"),
        ("a.csv", "de,en\na,b,c\n", "line 2 ends a row of 3 values for 2 columns"),
        ("a.csv", 'de,en\na,"b\n', r"well-formed. Received: .*a\.csv', line 2"),
        (
            "a.jsonl",
            '{"de": "a", "en": "b"}\n{"de": \n',
            r"line 2 is not \(not JSON: Exp",
        ),
        ("a.jsonl", '["a", "b"]\n', r"""line 1 is not \(it must be an object\): '\["a", "b"\]'"""),
        ("a.jsonl", '{"de": "a"}\n', r"column 'en'. .*a\.jsonl', line 1, whose columns are 'de'"),
        ("a.jsonl", '{"de": "a", "en": null}', r"None as 'en' of '.*a\.jsonl', line 1, of type No"),
        ("a.jsonl", '{"de": "a", "en": true}', "True as 'en'"),
        ("a.jsonl", "[" * 100_000, r"where line 1 is not \(nested too deeply"),
        ("a.jsonl", b'{"de": "\xff"}', "UTF-8. Received: .* line 1"),
        ("a.tsv.gz", b"ja\tyes\n", "must be gzip"),
    ],
)
def test_what_is_malformed_is_named_with_its_line(written, name, content, message):
    with pytest.raises(ValueError, match=message):
        values(written(name, content))


def test_a_tsv_file_needs_the_header_whose_columns_are_named(written):
    with pytest.raises(ValueError, match=r"columns 'de', 'en'\. .* whose first line is 'ja"):
        values(written("a.tsv", "ja\tyes\n"), named=True)


def test_columns_are_written_line_by_line():
    paths = write_columns([("a", "b"), ("", "ä"), ("c\r", "d")], ["one.txt", "two.txt"])
    contents = []
    for path in paths:
        with open(path, "rb") as file:  # noqa: PTH123
            contents.append(file.read())
    assert contents == [b"a\n\nc\r\r\n", "b\nä\nd\n".encode()]


def test_a_table_with_semicolons_is_named(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("source;target\nein Hund;a dog\n")
    with pytest.raises(ValueError, match="divided by commas, not by semicolons, or by tabs"):
        [*read_table(file, ["source", "target"])]


@pytest.mark.parametrize("name", ["a.parquet", "a.xlsx"])
def test_a_table_that_is_no_text_is_named(tmp_path, name):
    (tmp_path / name).write_bytes(b"PAR1")
    with pytest.raises(
        ValueError, match=r"TSV, CSV or JSON lines, not (Parquet|Excel), .*Received"
    ):
        [*read_table(tmp_path / name, ["source", "target"])]
