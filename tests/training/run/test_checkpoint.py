"""Checkpoints: complete or not there."""

import errno
import re
import resource

import numpy as np
import pytest

from kformer.training.resumption.checkpoint import (
    Checkpoint,
    NoWholeCheckpoint,
    newest_checkpoint,
    write_checkpoint,
)

ARRAYS = {
    "model/0": np.random.RandomState(0).normal(size=(5, 7)).astype("float32"),
    "model/1": np.array([2**63, 1], "uint64"),
    "optimizer/0": np.array(3),
    "metrics/0": np.array([np.nan, -0.0, np.inf], "float32"),
}
STATE = {"callbacks": [["KeepBest", {"best": float("inf")}]], "stopped": False}


def write(folder, epoch, batch=0):
    folder.mkdir(exist_ok=True)
    write_checkpoint(folder, Checkpoint(epoch, batch, ARRAYS, STATE))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def two(tmp_path):
    """A folder with two checkpoints, and the path of the newer one."""
    write(tmp_path, 3)
    write(tmp_path, 3, 14)
    return tmp_path, tmp_path / "epoch-0003-batch-000014.npz"


def test_a_checkpoint_is_read_as_it_was_written_to_the_bit(tmp_path):
    write(tmp_path, 2, 15)
    read = newest_checkpoint(tmp_path)
    assert (read.epoch, read.batch, read.state) == (2, 15, STATE)
    assert read.arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert read.arrays[name].dtype == array.dtype
        assert read.arrays[name].shape == array.shape
        assert read.arrays[name].tobytes() == array.tobytes()


def test_a_folder_without_checkpoints_gives_none(tmp_path):
    assert newest_checkpoint(tmp_path) is None
    assert newest_checkpoint(tmp_path / "missing") is None


def test_the_two_newest_are_kept(tmp_path):
    for place in [(0, 7), (1, 0), (9999, 3), (10_000, 2), (10_000, 1_000_000)]:
        write(tmp_path, *place)
    assert len(names(tmp_path)) == 2
    read = newest_checkpoint(tmp_path)
    assert (read.epoch, read.batch) == (10_000, 1_000_000)


def test_a_truncated_one_is_renamed_and_reported(two, capsys):
    folder, newer = two
    whole = newer.read_bytes()
    for length in {0, 1, len(whole) - 1, *range(5, len(whole), 131)}:
        newer.write_bytes(whole[:length])
        assert newest_checkpoint(folder).batch == 0
        said = capsys.readouterr().err
        assert said.startswith(f"kformer: {newer} is damaged (")
        assert said.endswith(
            f") and is now damaged-{newer.name}; "
            "training resumes from epoch-0003-batch-000000.npz.\n"
        )
        assert said.count("\n") == 1
        assert (folder / f"damaged-{newer.name}").read_bytes() == whole[:length]
        assert newest_checkpoint(folder).batch == 0
        assert capsys.readouterr().err == ""  # Said once.


def test_an_error_is_raised_if_all_are_damaged(two, capsys):
    folder, _ = two
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[:99])
    for _ in range(2):  # However often it is tried.
        with pytest.raises(NoWholeCheckpoint, match=f"none is left; .* Received: '{folder}'"):
            newest_checkpoint(folder)
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert all(line.endswith("; no complete checkpoint is left.") for line in said)


def test_damaged_ones_do_not_count_as_kept(two):
    """They had the highest numbers, so that each new one was deleted as soon as it was written."""
    folder, newer = two
    newer.write_bytes(b"")
    assert newest_checkpoint(folder).batch == 0
    for batch in (5, 6, 7):
        write(folder, 3, batch)
        assert newest_checkpoint(folder).batch == batch
    assert len([name for name in names(folder) if not name.startswith("damaged-")]) == 2


def test_the_new_one_is_never_deleted(two):
    folder, _ = two
    write(folder, 1)
    write(folder, 1, 5)
    assert "epoch-0001-batch-000005.npz" in names(folder)


def test_files_of_other_names_are_not_changed(two):
    folder, newer = two
    copy = newer.rename(folder / "epoch-0003-batch-000014 (copy).npz")
    assert newest_checkpoint(folder).batch == 0
    assert copy.exists()


def test_every_flipped_bit_is_detected(two):
    folder, newer = two
    whole = newer.read_bytes()
    chance = np.random.RandomState(0)
    passed_over = 0
    for _ in range(400):
        damaged = bytearray(whole)
        damaged[chance.randint(len(whole))] ^= 1 << chance.randint(8)
        newer.write_bytes(damaged)
        read = newest_checkpoint(folder)
        passed_over += read.batch == 0
        # A date in the archive may have changed, but nothing that counts.
        assert read.state == STATE
        assert {name: a.tobytes() for name, a in read.arrays.items()} == {
            name: a.tobytes() for name, a in ARRAYS.items()
        }
    assert passed_over > 200


def test_one_of_a_newer_kformer_is_refused_and_kept(two, monkeypatch):
    folder, _ = two
    monkeypatch.setattr("kformer.training.resumption.checkpoint.FORMAT", 2)
    write(folder, 4)
    monkeypatch.undo()
    before = names(folder)
    with pytest.raises(ValueError, match=r"update kformer\. .*of format 2; this kformer reads 1"):
        newest_checkpoint(folder)
    assert names(folder) == before


def test_temporary_files_of_killed_processes_are_deleted_and_never_read(two):
    folder, newer = two
    (folder / ".epoch-0004-batch-000000-0123abcd.npz").write_bytes(newer.read_bytes())
    assert newest_checkpoint(folder).batch == 14
    assert len(names(folder)) == 2


@pytest.fixture
def no_room():
    """Files may have 2,000 bytes, as if the disk were full then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_does_not_change_the_earlier_ones(two, no_room):
    folder, newer = two
    before = {path: path.read_bytes() for path in folder.iterdir()}
    bigger = Checkpoint(5, 0, {"model/0": np.zeros(1000)}, STATE)
    said = f"could not be written \\(.*\\); {newer.name} is kept. Received: '{folder}'"
    with pytest.raises(OSError, match=said) as raised:
        write_checkpoint(folder, bigger)
    assert raised.value.__cause__.errno == errno.EFBIG
    assert before == {path: path.read_bytes() for path in folder.iterdir()}


def test_a_full_disk_at_the_first_one_is_reported(tmp_path, no_room):
    with pytest.raises(OSError, match=re.escape("there is none before it")):
        write_checkpoint(tmp_path, Checkpoint(0, 1, {"model/0": np.zeros(1000)}, STATE))
    assert names(tmp_path) == []
