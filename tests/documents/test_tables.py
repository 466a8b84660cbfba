"""CSV: the cells of one column are translated, and Python's `csv` reads all others as before."""

import csv
import io

import hypothesis.strategies as st
import pytest
from hypothesis import given

from kformer.documents.csv_columns import cells, delimiter_of
from kformer.documents.document_translation import translate_content

TABLE = 'id;"Text, of it";note\r\n1;"A ""big"" dog; here";x y\r\n2;The cat;\r\n3;;"a\nb"'


def rows(text, delimiter):
    return [*csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)]


def translated(text, name="a.csv", translate=list, **options):
    output, report = translate_content(text.encode(), name, translate, **options)
    assert not report.unplaced
    return output.decode()


def upper(texts):
    return [text.upper() for text in texts]


@pytest.mark.parametrize("column", ["Text, of it", "2", 2])
def test_a_column_by_its_name_or_number(column):
    output = translated(TABLE, translate=upper, column=column)
    assert output == TABLE.replace('A ""big"" dog; here', 'A ""BIG"" DOG; HERE').replace(
        "The cat", "THE CAT"
    )
    assert translated(TABLE, translate=list, column=column) == TABLE


def test_a_cell_gets_quotation_marks_where_it_needs_them():
    table = "a,b\n1,dog\n2,cat\n3,ox\n"
    answers = iter(['so, "it"', "x", "y z"])
    output = translated(table, translate=lambda texts: [*answers], column="b")
    assert output == 'a,b\n1,"so, ""it"""\n2,x\n3,y z\n'
    table = 'a\tb\n1\tsay "dog"\n'
    output = translated(table, "a.tsv", lambda texts: ['"x"\ty'], column="b")
    assert output == 'a\tb\n1\t"x" y\n'


CELLS = st.text(st.sampled_from(list("ab \"',;\t|\r\né")), max_size=8)


@given(
    st.integers(1, 3).flatmap(
        lambda width: st.lists(
            st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=4
        )
    ),
    st.sampled_from(",;\t|"),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["\n", "\r\n"]),
    st.text(st.sampled_from(list('ab ",;\t|\n')), min_size=1),
)
def test_only_the_cells_of_the_column_change(table, delimiter, quoting, end, answer):
    table = [[f"h{number}" for number in range(3)][: len(table[0])], *table]
    if len(table[0]) == 1:
        delimiter = ","
    if any("\r" in cell for row in table for cell in row):
        quoting = csv.QUOTE_ALL  # Up to Python 3.13, the library leaves it bare.
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator=end).writerows(table)
    text, column = file.getvalue(), len(table[0])
    assert delimiter_of(text) == delimiter
    assert [cell.text for cell in cells(text, delimiter)] == [cell for row in table for cell in row]
    assert translated(text, translate=list, column=column) == text
    output = (
        rows(
            translated(text, translate=lambda texts: [answer] * len(texts), column=column),
            delimiter,
        )
        if answer.strip()
        else table
    )
    assert len(output) == len(table) and output[0] == table[0]
    assert [row[:-1] for row in output] == [row[:-1] for row in table]


def test_a_column_that_is_none_and_an_open_quotation_are_refused(refused, written, tmp_path):
    for column, why in (
        ("4", "column='4', not in 'id', 'Text, of it'"),
        ("x", "column='x'"),
        ("0", "'0'"),
    ):
        with pytest.raises(ValueError, match=why):
            translated(TABLE, column=column)
    with pytest.raises(ValueError, match=r"A CSV needs `column`.*with the columns 'id', "):
        translated(TABLE)
    with pytest.raises(ValueError, match=r"must end in one.*Received: '\"b' in 'a.csv', line 4"):
        translated('a,b\n"\n",c\n1,"b', column="b")
    with pytest.raises(ValueError, match=r"for tables.*column=2 for the kind html"):
        translated("<p>a", "a.html", column=2)
    table, page = written("a.csv", TABLE), written("a.html", "a")
    options = "--output", tmp_path / "b.csv"
    assert "needs `column`" in refused("translate", "demo", "--input", table, *options)
    message = refused("translate", "demo", "--input", page, "--output", "b.html", "--column", "a")
    assert "for tables" in message


def test_the_command_lists_the_cells_of_a_column(command, written):
    table = written("a.tsv", "id\ttext\n1\ta dog\n2\t3\n3\tthe cat")
    result = command("translate", "demo", "--input", table, "--column", "text", "--dry-run")
    assert (result.returncode, result.stdout) == (0, "2\ta dog\n4\tthe cat\n")
