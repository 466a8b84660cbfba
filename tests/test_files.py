"""Files appear whole or not at all."""

import errno
import os

import pytest

from kformer.files import replacing


def names(folder):
    return sorted(path.name for path in folder.rglob("*"))


def test_a_file_appears_when_it_is_whole(tmp_path):
    path = tmp_path / "new" / "folder" / "text.txt"
    with replacing(str(path)) as temporary:
        temporary.write_text("half")
        assert not path.exists()
        assert temporary.parent == path.parent
        temporary.write_text("whole")
    assert path.read_text() == "whole"
    assert names(path.parent) == ["text.txt"]


def test_an_old_file_stays_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("old")
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert names(tmp_path) == ["text.txt"]


def test_a_folder_appears_when_it_is_whole(tmp_path):
    with replacing(tmp_path / "1") as temporary:
        temporary.mkdir()
        (temporary / "part").write_text("a part")
        assert not (tmp_path / "1").exists()
    assert names(tmp_path) == ["1", "part"]


@pytest.mark.parametrize("name", ["model.keras", "picture.png", "1", "a.tar.gz"])
def test_the_temporary_name_is_hidden_and_keeps_the_suffix(tmp_path, name):
    with replacing(tmp_path / name) as temporary:
        assert temporary.name.startswith(".")
        assert temporary.suffix == (tmp_path / name).suffix
        temporary.touch()


def test_two_writers_of_one_file_do_not_disturb_each_other(tmp_path):
    path = tmp_path / "text.txt"
    with replacing(path) as one, replacing(path) as other:
        one.write_text("one")
        other.write_text("other")
    assert path.read_text() == "one"
    assert names(tmp_path) == ["text.txt"]


def write_file(temporary):
    temporary.write_text("half")


def write_folder(temporary):
    temporary.mkdir()
    (temporary / "half").write_text("half")


def write_nothing(temporary):
    pass


@pytest.mark.parametrize("write", [write_file, write_folder, write_nothing])
@pytest.mark.parametrize("failure", [OSError("disk full"), KeyboardInterrupt("disk full")])
def test_a_writer_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, write, failure):
    path = tmp_path / "text.txt"
    path.write_text("old")
    with pytest.raises(type(failure), match="disk full"), replacing(path) as temporary:
        write(temporary)
        raise failure
    assert path.read_text() == "old"
    assert names(tmp_path) == ["text.txt"]


def test_a_writer_that_wrote_nothing_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"text\.txt"), replacing(tmp_path / "text.txt"):
        pass
    assert names(tmp_path) == []


def test_a_folder_is_not_replaced(tmp_path):
    (tmp_path / "kept").write_text("kept")
    with pytest.raises(IsADirectoryError, match=f"Received: '{tmp_path}'"), replacing(tmp_path):
        pass
    assert names(tmp_path) == ["kept"]


def test_a_full_disk_is_said_with_the_file_that_had_no_room(tmp_path):
    path = tmp_path / "text.txt"
    said = f"No space left on device: '{path}'"
    with pytest.raises(OSError, match=said), replacing(path) as temporary:
        temporary.write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert names(tmp_path) == []
