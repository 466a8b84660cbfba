"""The linter's word list, on code in which one name of each kind tells nothing."""

import pytest

from support.word_list import empty_names, main


@pytest.mark.parametrize(
    "line",
    [
        "one = 1",
        "def _found(): ...",
        "def f(others): ...",
        "lambda given: None",
        "for (a, made) in []: ...",
        "with a as said: ...",
        "[1 for told in a]",
        "self.of_rows = 1",
        "import other_module as other",
        "try: ...\nexcept OSError as there: ...",
    ],
)
def test_a_name_that_tells_nothing_is_found_wherever_it_is_given(line):
    (name,) = empty_names(line)
    assert name[1] in line


def test_names_of_values_and_words_that_are_only_used_pass():
    assert empty_names("hypothesis = one\ndef rows_of_page(number_of_pages): return found") == []


def test_the_exit_code_is_1_and_file_and_line_are_printed(tmp_path, capsys):
    (tmp_path / "a.py").write_text("a = 1\n")
    assert main([tmp_path]) == 0
    (tmp_path / "b.py").write_text("\nfound = 1\n")
    assert main([tmp_path]) == 1
    assert capsys.readouterr().out == (
        f"{tmp_path / 'b.py'}:2: `found` does not tell what the value is\n"
    )
