"""The files of a run, as the other processes get them from process 0."""

import json
import os

import pytest

from kformer.training.parallel.process_team import ProcessTeam
from kformer.training.run.run_folder import receive_files, send_files
from support.training.teams import at_once, connected


def files_in(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_all_processes_get_the_files_of_a_run_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr("kformer.training.run.run_folder._CHUNK", 1000)
    folder, *copies = (tmp_path / name for name in ("run", "one", "two"))
    for path in (folder / "checkpoints" / "compiled", *copies):
        path.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "step-1.keras").write_bytes(b"model")
    expected = {
        "run.json": b"{}",
        "checkpoints/epoch-1.npz": os.urandom(3000),
        "checkpoints/compiled/empty": b"",
        "models/step-1.keras": b"model",
    }
    (folder / "models").symlink_to(tmp_path / "elsewhere")
    for name, content in expected.items():
        (folder / name).write_bytes(content)
    (folder / "notes.txt").write_bytes(b"of the user")

    def copy(team):
        if team.process:
            receive_files(team, copies[team.process - 1])
        else:
            send_files(team, folder, ["run.json", "missing", "checkpoints", "models"])

    with connected(3) as teams:
        at_once(copy, *teams)
    assert [files_in(copy) for copy in copies] == [expected] * 2


class Scripted(ProcessTeam):
    """A team whose process 0 sends `contents` to this one."""

    def __init__(self, *contents):
        super().__init__(1, 2)
        self.contents = [*contents]

    def exchange_bytes(self, content):
        return [self.contents.pop(0), content]


NAMES = ["/etc/passwd", "../run.json", "a/../../b", "a//b", "a/", "./a", ".", "", "a\0b"]
LISTINGS = [
    *([[name, 1]] for name in NAMES),
    *([["a", size]] for size in (-1, "1", None, 0.5)),
    [["a", 1], ["a", 1]],
    [["a", 1], ["a/b", 1]],
    [["a"]],
    [["a", 1, 1]],
    ["a"],
    {"a": 1},
    "a",
    1,
]


@pytest.mark.parametrize("listing", LISTINGS, ids=json.dumps)
def test_a_name_that_leads_elsewhere_or_is_malformed_is_refused(tmp_path, listing):
    (tmp_path / "copy").mkdir()
    team = Scripted(json.dumps(listing).encode(), b"1", b"1")
    with pytest.raises((ValueError, OSError)):
        receive_files(team, tmp_path / "copy")
    assert [path.name for path in tmp_path.iterdir()] == ["copy"]


def test_more_than_the_disk_has_room_for_is_refused_before_it_is_sent(tmp_path):
    with pytest.raises(OSError, match="Received: 1,267,650,600,228,229,401,496,703,205,376 bytes"):
        receive_files(Scripted(json.dumps([["a", 2**100]]).encode()), tmp_path)


@pytest.mark.parametrize("chunk", [b"", b"ab", b"abcd"])
def test_a_file_is_as_long_as_announced(tmp_path, chunk):
    with pytest.raises(ValueError, match="Received: 'a', of 3 bytes at first"):
        receive_files(Scripted(b'[["a", 3]]', chunk), tmp_path)
