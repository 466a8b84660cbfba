"""Labelled text from TSV and CSV files."""

import csv
import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer.training.kinds.labelled_files import (
    check_known,
    check_several,
    read_labelled,
    split,
)

EXAMPLES = [("gut", "ein schönes haus"), ("schlecht", "ein , haus"), ("sehr gut", "")]


def pairs(file):
    return [(found.label, found.text) for found in read_labelled(file)]


def labelled(path, form, examples=EXAMPLES):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        if form == "csv":
            writer = csv.writer(file)
            writer.writerow(["id", "text", "label"])
            writer.writerows([i, text, label] for i, (label, text) in enumerate(examples))
        else:
            file.writelines(f"{label}\t{text}\n" for label, text in examples)
    return path


@pytest.mark.parametrize("name", ["a.tsv", "a.txt", "a.csv", "a.tsv.gz", "a.csv.gz"])
def test_every_form_gives_the_same(tmp_path, name):
    path = labelled(tmp_path / name, "csv" if ".csv" in name else "tsv")
    assert pairs(path) == EXAMPLES


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=5))
def test_a_csv_file_may_hold_any_text(tmp_path_factory, examples):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    expected = [
        (
            " ".join(label.split()),
            text.replace("\r\n", "\n").replace("\r\n", " ").replace("\n", " "),
        )
        for label, text in examples
    ]
    labelled(path, "csv", examples)
    if all(label for label, _ in expected):
        assert pairs(path) == expected
    else:
        with pytest.raises(ValueError, match="Every text needs a label"):
            pairs(path)


@pytest.mark.parametrize("name", ["a.tsv", "a.csv"])
def test_a_header_and_the_mark_of_windows_are_no_text(written, name):
    separator = b"," if name.endswith("csv") else b"\t"
    content = b"\xef\xbb\xbflabel" + separator + b"text\r\ngut" + separator + b"ein haus\r\n"
    path = written(name, content)
    assert pairs(path) == [("gut", "ein haus")]


def test_a_text_keeps_its_tabs(written):
    assert pairs(written("a.tsv", "gut\tein\thaus")) == [("gut", "ein\thaus")]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.tsv", "gut\tja\nnein", r"a\.tsv', where line 2 has no tab: 'nein'"),
        ("a.tsv", "gut\tja\n \tnein", r"a\.tsv', where that of line 2 is blank"),
        ("a.tsv", "", "must not be empty"),
        ("a.csv", "", "must not be empty"),
        ("a.csv", "label,text\n", "must not be empty"),
        ("a.csv", "stars,text\n5,gut\n", r"a\.csv', whose first line is 'stars,text'"),
        ("a.csv", "label,text\n5,gut,so\n", "line 2 ends a row of 3 values for 2 columns"),
        ("a.csv", 'label,text\ngut,"ja\n', r"well-formed. Received: .*a\.csv', line 2"),
        ("a.csv", 'label,text\n\ngut,"ja\nnein"\n,doch\n', "that of line 5 is blank"),
        ("a.tsv", b"gut\tja\n\xff\tnein\n", "UTF-8. Received: .* line 2"),
        ("a.tsv.gz", b"gut\tja\n", "must be gzip"),
    ],
)
def test_what_is_malformed_is_named(written, name, content, said):
    with pytest.raises(ValueError, match=said):
        pairs(written(name, content))


def test_files_are_split_line_by_line_and_counted(tmp_path):
    files = [labelled(tmp_path / "a.tsv", "tsv"), labelled(tmp_path / "b.csv", "csv", EXAMPLES[:2])]
    found = split(files)
    assert found.counts == {"gut": 2, "schlecht": 2, "sehr gut": 0}
    assert [*found.counts] == sorted(found.counts)
    for labels, texts, expected in zip(
        found.labels, found.texts, (EXAMPLES, EXAMPLES[:2]), strict=True
    ):
        columns = (Path(path).read_text("utf-8").split("\n")[:-1] for path in (labels, texts))
        assert [*zip(*columns, strict=True)] == expected
    assert split(files) == found
    labelled(files[0], "tsv", EXAMPLES[:1])
    assert split(files).counts == {"gut": 2, "schlecht": 1}


def test_a_classifier_needs_labels_to_tell_apart(written):
    with pytest.raises(ValueError, match=r"only label is 'gut'"):
        check_several([str(written("a.tsv", "gut\tja\ngut\tnein\n"))])
    with pytest.raises(ValueError, match=r"not blank. .* where 'so' has none"):
        check_several([str(written("b.tsv", "gut\tja\nso\t \nschlecht\tnein\n"))])


def test_an_unknown_label_is_named_with_its_line(written):
    file = str(written("a.tsv", "gut\tja\nschlecht\tnein\nsogut\tdoch\n"))
    check_known([file], ["gut", "schlecht", "sogut"])
    with pytest.raises(ValueError, match=r"'sogut' in '.*a\.tsv', line 3; known are gut, schlecht"):
        check_known([file], ["schlecht", "gut"])


def swapped():
    return "".join(f"text number {number}\t{number % 2}\n" for number in range(50))


def test_swapped_columns_are_refused_and_read_in_the_order_that_is_given(written):
    file = str(written("a.tsv", swapped()))
    with pytest.raises(ValueError, match=r"50 different labels of 50 texts: the columns look swap"):
        check_several([file])
    check_several([file], ["2", "1"])
    assert split(file, ["2", "1"]).counts == {"0": 25, "1": 25}


@pytest.mark.parametrize("name", ["a.tsv", "a.csv"])
def test_columns_have_names_or_numbers(written, name):
    separator = "," if name.endswith("csv") else "\t"
    rows = ["stars,id,review", "5,1,gut", "1,2,schlecht"]
    file = written(name, "\n".join(row.replace(",", separator) for row in rows))
    bare = written(f"bare.{name}", "\n".join(row.replace(",", separator) for row in rows[1:]))
    expected = [("5", "gut"), ("1", "schlecht")]
    for path, columns in ((file, ("stars", "review")), (bare, ("1", "3"))):
        found = [(one.label, one.text) for one in read_labelled(path, columns)]
        assert found == expected
    with pytest.raises(ValueError, match="must name the columns 'label', 'text'"):
        list(read_labelled(file, ("label", "text")))
    with pytest.raises(ValueError, match=r"have the columns 4, 1. .*line 1 has 3"):
        list(read_labelled(file, ("4", "1")))
    with pytest.raises(ValueError, match=r"label first. Received: columns=\('stars',\)"):
        list(read_labelled(file, ("stars",)))


def test_a_header_that_was_not_announced_is_no_label(written):
    lines = "".join(f"{label}\tein satz\n" for label in ("gut", "schlecht") * 3)
    file = str(written("a.tsv", f"Label\tSMS\n{lines}"))
    with pytest.raises(ValueError, match=r"first line is 'Label', 'SMS'; no other text has that"):
        check_several([file])
    check_several([file], ["Label", "SMS"])
    check_several([str(written("b.tsv", lines + "neu\tneu\n"))])  # A rare label elsewhere.
