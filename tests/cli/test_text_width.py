"""Columns of the terminal: tables of labels and names in any script are in line."""

import pytest

from kformer.cli.classify import show_scores
from kformer.cli.evaluate import show_table
from kformer.cli.terminal.text_width import left, right, width_of
from kformer.text.label_scores import class_scores


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("abc", 3),
        ("技術", 4),
        ("ｶﾅ", 2),
        ("Ａ", 2),
        ("e\u0301", 1),
        ("한국", 4),
        ("a\u200db", 2),
        ("", 0),
    ],
)
def test_a_wide_character_fills_two_columns_and_a_mark_none(text, columns):
    assert width_of(text) == columns
    assert left(text, 5) == text + " " * (5 - columns)
    assert right(text, 5) == " " * (5 - columns) + text


def test_the_rows_of_a_confusion_matrix_have_one_width(capsys):
    labels = ["技術", "sports and games", "سياسة"]
    show_scores(class_scores(labels, ["技術", "سياسة"], ["技術", "sports and games"]))
    *_, title, first, second, third = capsys.readouterr().out.splitlines()
    assert len({width_of(row) for row in (title, first, second, third)}) == 1
    assert width_of(first[: first.index("1") + 1]) == width_of(title[: title.index("技術") + 2])


def test_a_table_of_scores_with_wide_names_is_in_line(capsys):
    show_table({"": ["日本語.txt", "b"], "BLEU": ["1.00", "22.00"]})
    assert len({width_of(row) for row in capsys.readouterr().out.splitlines()}) == 1
