"""What `benchmarks.published` counts, and its refusal where the models are not installed."""

import importlib.util

import pytest

from benchmarks import published


@pytest.mark.parametrize(
    ("source", "translation", "kept"),
    [
        ("It cost £2.8bn in 2015.", "Custou 2,8 mil milhões de libras em 2015.", True),
        ("1,500 m", "1.500 m", True),
        ("1,500 m", "15 m", False),
        ("2 of 2", "dois de 2", False),
        ("no number", "7", True),
    ],
)
def test_digits_are_kept_whatever_stands_between_them(source, translation, kept):
    assert published.has_digits(source, translation) is kept


def test_equal_texts_are_counted_in_their_places():
    assert published.equal(["a", "b", "c"], ["a", "c", "b"]) == 1


def test_the_engine_comes_first_and_each_form_with_a_shortlist_and_without():
    engine, *rows = published.rows()
    assert engine == (published.ENGINE, True)
    assert {(form, shortlist) for form in published.FORMS for shortlist in (False, True)} <= {*rows}


def test_models_that_are_not_installed_are_named(tmp_path, monkeypatch, capsys):
    text = tmp_path / "a.en"
    text.write_text("a\n", "utf-8")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr("sys.argv", ["published", str(text), str(text)])
    with pytest.raises(SystemExit) as end:
        published.main()
    assert end.value.code == 2
    assert "[published]" in capsys.readouterr().err
