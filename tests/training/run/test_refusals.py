"""Errors before a run, which leave the folder unchanged."""

import json

import pytest

from kformer.training import train
from kformer.training.run.folder import locked
from support.disturbances import PowerCut


def test_a_run_is_not_resumed_with_a_changed_tokenizer(again, tokenizer, tmp_path):
    with pytest.raises(ZeroDivisionError, match="power cut"):
        again(tmp_path / "run", callbacks=[PowerCut(epoch=0)], vocab_size=390)
    path = tmp_path / "run" / "checkpoints" / "tokenizer.model"
    tokenizer.save(path)
    with pytest.raises(ValueError, match=f"Received: '{path}', which has changed"):
        again(tmp_path / "run", vocab_size=390)


def test_a_run_of_other_settings_is_refused_with_the_differences(again, tmp_path):
    with pytest.raises(ZeroDivisionError, match="power cut"):
        again(tmp_path / "run", callbacks=[PowerCut(epoch=0)])
    with pytest.raises(
        FileExistsError, match=r"which holds a run with dropout=0\.1 instead of 0\.2"
    ):
        again(tmp_path / "run", dropout=0.2)
    with pytest.raises(
        FileExistsError, match="a run with other text in --valid-source and --valid-target"
    ):
        again(tmp_path / "run", valid=False)


def test_other_weights_of_the_corpora_are_another_run(parallel_text, tiny_recipe, tmp_path):
    files = list(parallel_text.values())[:2]
    with pytest.raises(ZeroDivisionError):
        train(tiny_recipe, *files, tmp_path, weights=[2.0], callbacks=[PowerCut(epoch=1)])
    with pytest.raises(FileExistsError, match=r"with weights=\[2.0\] instead of \[1.0\]"):
        train(tiny_recipe, *files, tmp_path, weights=[1.0])


def test_two_processes_do_not_train_in_one_folder(again, tmp_path):
    with locked(tmp_path), pytest.raises(BlockingIOError, match=f"Received: '{tmp_path}', where"):
        again(tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("numbers", [{"patience": 1}, {"monitor": "bleu"}])
def test_early_stopping_and_bleu_need_validation_text(again, tmp_path, numbers):
    with pytest.raises(ValueError, match=r"need validation text\. Received: patience="):
        again(tmp_path / "run", valid=False, **numbers)
    assert not any(tmp_path.iterdir())


def test_overwriting_deletes_the_files_of_the_earlier_run(again, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "checkpoints").mkdir()
    for name in ("run.json", "translator.keras", "history.json", "checkpoints/epoch-1-batch-0.npz"):
        (folder / name).write_text("{}")
    with pytest.raises(ZeroDivisionError, match="power cut"):
        again(folder, overwrite=True, callbacks=[PowerCut(epoch=0)])
    assert {path.name for path in folder.iterdir()} == {"run.json", "checkpoints"}
    assert json.loads((folder / "run.json").read_text("utf-8"))["pairs"] == 300
    left = {path.name for path in (folder / "checkpoints").iterdir()}
    assert left == {"tokenizer.model", "epoch-0000-batch-000000.npz"}  # Of the new run.


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
