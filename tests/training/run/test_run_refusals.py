"""Errors before a run, which leave the folder unchanged."""

import pytest

from kformer.training import train
from kformer.training.run.run_folder import locked


def test_two_processes_do_not_train_in_one_folder(again, tmp_path):
    with locked(tmp_path), pytest.raises(BlockingIOError, match=f"Received: '{tmp_path}', where"):
        again(tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("numbers", [{"patience": 1}, {"monitor": "bleu"}])
def test_early_stopping_and_bleu_need_validation_text(again, tmp_path, numbers):
    with pytest.raises(ValueError, match=r"need validation text\. Received: patience="):
        again(tmp_path / "run", valid=False, **numbers)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_with_other_files_is_never_changed(again, tmp_path, overwrite):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(
        FileExistsError, match=f"Received: '{tmp_path}', which holds something else"
    ):
        again(tmp_path, overwrite=overwrite)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_instead_of_the_folder_is_an_error(again, tmp_path):
    (tmp_path / "run").write_text("a file")
    with pytest.raises(FileExistsError, match="run', which holds something else"):
        again(tmp_path / "run", overwrite=True)
    assert (tmp_path / "run").read_text() == "a file"


@pytest.mark.parametrize(
    ("numbers", "received"),
    [
        ({"vocab_size": 270}, "at least .* Received: vocab_size=270"),
        ({"max_length": 2}, "No pair is left.* Received: max_length=2"),
    ],
)
def test_numbers_that_are_refused_leave_no_files(again, tmp_path, numbers, received):
    with pytest.raises(ValueError, match=received):
        again(tmp_path / "run", **numbers)
    assert not any(tmp_path.iterdir())


def test_validation_needs_both_sides(tiny_recipe, parallel_text, tmp_path):
    source, target, valid_source, valid_target = parallel_text.values()
    with pytest.raises(ValueError, match="Received: 1 source and 0 target files"):
        train(tiny_recipe, source, target, tmp_path / "run", valid_source)
    with pytest.raises(ValueError, match="Received: 0 source and 1 target files"):
        train(tiny_recipe, source, target, tmp_path / "run", valid_target=valid_target)
    assert not any(tmp_path.iterdir())
