"""Files appear whole or not at all."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kformer.files import Publication, check_writable, open_own, remove_leftovers, replacing


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


def test_what_killed_writers_left_of_a_file_is_removed_and_nothing_else(tmp_path):
    kept = [".a-12345678.txt", ".out-12345678.md", ".out-1234567x.txt", ".out-123.txt", "out.txt"]
    for name in (".out-12345678.txt", ".out-0a1b2c3d.txt", *kept):
        (tmp_path / name).write_text("x")
    remove_leftovers(tmp_path / "out.txt")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)


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


def stage(publication, path, content="new"):
    """Writes a file, or a folder with one file in it where the name has no suffix."""
    with publication.writing(path) as temporary:
        if path.suffix:
            temporary.write_text(content)
        else:
            temporary.mkdir()
            (temporary / "part").write_text(content)


def test_several_appear_together_and_files_before_folders(tmp_path, monkeypatch):
    renamed, replace = [], Path.replace
    monkeypatch.setattr(
        Path, "replace", lambda *both: renamed.append(both[1].name) or replace(*both)
    )
    (tmp_path / "b.txt").write_text("old")
    with Publication() as publication:
        for name in ("1", "b.txt", "deep/er/c.txt"):
            stage(publication, tmp_path / name)
        assert (tmp_path / "b.txt").read_text() == "old"
        assert not (tmp_path / "1").exists()
    assert renamed == ["b.txt", "c.txt", "1"]
    assert names(tmp_path) == ["1", "b.txt", "c.txt", "deep", "er", "part"]
    assert (tmp_path / "b.txt").read_text() == "new"


@pytest.mark.parametrize("links", [True, False])
def test_what_appeared_is_taken_back_if_another_cannot(tmp_path, monkeypatch, links):
    if not links:
        monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError("no links here")))
    (tmp_path / "b.txt").write_text("old")
    with pytest.raises(OSError, match="not empty"), Publication() as publication:
        for name in ("b.txt", "deep/er/c.txt", "1"):
            stage(publication, tmp_path / name)
        (tmp_path / "1").mkdir()  # Somebody else has taken the number meanwhile.
        (tmp_path / "1" / "theirs").touch()
    assert names(tmp_path) == ["1", "b.txt", "theirs"]
    assert (tmp_path / "b.txt").read_text() == "old"


def test_nothing_appears_if_one_writer_fails(tmp_path):
    with pytest.raises(ValueError, match="no good"), Publication() as publication:
        stage(publication, tmp_path / "new" / "a.txt")
        with publication.writing(tmp_path / "1"):
            raise ValueError("no good")
    assert names(tmp_path) == []


def test_a_signal_waits_until_all_are_renamed(tmp_path, monkeypatch):
    replace = Path.replace

    def interrupted(old, new):
        signal.raise_signal(signal.SIGINT)
        return replace(old, new)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt), Publication() as publication:
        stage(publication, tmp_path / "a.txt")
        stage(publication, tmp_path / "1")
    assert names(tmp_path) == ["1", "a.txt", "part"]


def test_a_signal_while_it_cleans_up_leaves_nothing(tmp_path, monkeypatch):
    unlink = Path.unlink

    def interrupted(*args, **kwargs):
        signal.raise_signal(signal.SIGINT)
        unlink(*args, **kwargs)

    monkeypatch.setattr(Path, "unlink", interrupted)
    with pytest.raises(KeyboardInterrupt), Publication() as publication:
        stage(publication, tmp_path / "a.txt")
        stage(publication, tmp_path / "b.txt")
        raise ValueError("no good")
    assert names(tmp_path) == []


def test_what_is_left_is_removed_when_the_process_ends(tmp_path):
    """As if an exception had come where nobody cleans up."""
    code = "import sys; from kformer.files import Publication\n"
    code += "Publication().writing(sys.argv[1]).__enter__().write_text('half')"
    subprocess.run([sys.executable, "-c", code, tmp_path / "a.txt"], check=True)
    assert names(tmp_path) == []


def test_what_cannot_be_written_is_known_before(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    check_writable(tmp_path / "new" / "folder" / "file")
    check_writable(tmp_path / "file")
    with pytest.raises(IsADirectoryError, match=f"Received: '{tmp_path}'"):
        check_writable(tmp_path)
    with pytest.raises(NotADirectoryError, match=f"and '{tmp_path / 'file'}' is not"):
        check_writable(tmp_path / "file" / "new" / "a.txt")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # As nobody is to root.
    with pytest.raises(PermissionError, match=f"and '{tmp_path}' is not"):
        check_writable(tmp_path / "new" / "a.txt")
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_file_that_is_replaced_keeps_its_rights(tmp_path, mode):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(mode)
    with replacing(path) as temporary:
        temporary.write_text("new")
    assert path.read_text() == "new" and path.stat().st_mode & 0o777 == mode


def test_a_link_stays_and_leads_to_the_new_file(tmp_path):
    (tmp_path / "store").mkdir()
    path, link = tmp_path / "store" / "file", tmp_path / "link"
    link.symlink_to(path)
    for content in ("first", "second"):
        with replacing(link) as temporary:
            temporary.write_text(content)
        assert link.is_symlink() and path.read_text() == content
    assert names(tmp_path) == ["file", "link", "store"]


@pytest.mark.parametrize("kind", ["link", "dangling link", "second name", "pipe", "device"])
def test_an_unfinished_file_is_one_of_our_own(tmp_path, kind):
    victim, path = tmp_path / "victim", tmp_path / "x.part"
    victim.write_text("theirs")
    make = {
        "link": lambda: path.symlink_to(victim),
        "dangling link": lambda: path.symlink_to(tmp_path / "new"),
        "second name": lambda: path.hardlink_to(victim),
        "pipe": lambda: os.mkfifo(path),
        "device": lambda: path.symlink_to("/dev/null"),
    }
    make[kind]()
    with pytest.raises(PermissionError, match=r"a file of its own, without links.* Received: "):
        open_own(path, "ab")
    assert victim.read_text() == "theirs" and not (tmp_path / "new").exists()
    path.unlink()
    with open_own(path, "ab") as file:
        file.write(b"ours")
    assert path.read_bytes() == b"ours"


def read_later(path):
    """Returns a list that gets what a pipe or a device has, and the thread that reads it."""
    content = []
    thread = threading.Thread(target=lambda: content.append(path.read_bytes()), daemon=True)
    thread.start()
    return content, thread


def test_a_pipe_gets_the_bytes_and_stays(tmp_path):
    pipe, beside = tmp_path / "pipe.npz", tmp_path / "b.txt"
    os.mkfifo(pipe)
    content, thread = read_later(pipe)
    with Publication() as publication:
        with publication.writing(pipe) as temporary:
            assert temporary.suffix == ".npz" and temporary.parent != tmp_path
            with temporary.open("wb") as file:
                file.write(b"later")
                file.seek(0)  # A pipe cannot; writers of archives do.
                file.write(b"whole")
        stage(publication, beside)
    thread.join(10)
    assert content == [b"whole"]
    assert names(tmp_path) == ["b.txt", "pipe.npz"] and pipe.is_fifo()
    assert not temporary.parent.exists()


def test_a_pipe_gets_nothing_if_a_writer_fails(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    descriptor = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(ValueError, match="no good"), replacing(tmp_path / "pipe") as temporary:
        temporary.write_bytes(b"half")
        raise ValueError("no good")
    assert os.read(descriptor, 9) == b"" and not temporary.parent.exists()
    os.close(descriptor)


def test_a_link_to_a_pipe_of_this_process_is_written_to(tmp_path):
    reading, writing = os.pipe()
    with replacing(f"/dev/fd/{writing}") as temporary:
        temporary.write_bytes(b"whole")
    assert os.read(reading, 9) == b"whole"
    os.close(reading)
    os.close(writing)


@pytest.mark.parametrize("is_linked", [False, True])
def test_a_device_gets_the_bytes_and_stays(tmp_path, is_linked):
    device = tmp_path / "null"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        device.write_bytes(b"")
    except OSError as error:
        pytest.skip(f"no device can be made here: {error}")
    path = device
    if is_linked:
        path = tmp_path / "link"
        path.symlink_to(device)
    check_writable(path)
    with replacing(path) as temporary:
        temporary.write_bytes(b"whole")
    assert device.is_char_device() and path.read_bytes() == b""
    assert len(names(tmp_path)) == 1 + is_linked


def test_a_terminal_gets_the_bytes_although_its_folder_takes_no_files():
    terminal, device = os.openpty()
    with replacing(os.ttyname(device)) as temporary:
        temporary.write_bytes(b"whole")
    assert os.read(terminal, 9) == b"whole"
    os.close(device)
    os.close(terminal)


def test_a_folder_cannot_be_written_to_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    rule = r"to a pipe or a device\. Received: '.*pipe'"
    with pytest.raises(FileExistsError, match=rule), replacing(tmp_path / "pipe") as temporary:
        temporary.mkdir()
    assert names(tmp_path) == ["pipe"] and not temporary.parent.exists()
