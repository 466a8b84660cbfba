"""An output that was cut off anywhere is completed to the bytes of one that was not."""

import itertools
import os
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer.cli.terminal.output_format import OutputFormat
from kformer.cli.unfinished import Unfinished, write_resumably

LINES = ["der hund", "", "ein Bär", "wir", "", "das haus", "uns"]
CHUNK = 2
WHOLE = "".join(f"{n}\t0.5000\t{line.upper()}\n" for n, line in enumerate(LINES, 1)).encode()
SETTINGS = {"files": {"model": "5e", "input": "7f"}, "options": {"beam_size": 3}}


def upper(lines, progress):
    progress(len(lines))
    return [[SimpleNamespace(text=line.upper(), score=0.5, flags=())] for line in lines]


def translate(output, work=upper, settings=SETTINGS):
    """Translates `LINES` as `kformer translate --resume` does; returns those that were left."""
    seen = []

    def start():
        return lambda lines, progress: seen.extend(lines) or work(lines, progress), CHUNK

    write_resumably(start, iter(LINES), len(LINES), OutputFormat.tsv, output, settings)
    return seen


def beside(output):
    """The paths of the part and of the journal."""
    return [output.with_name(f"{output.name}.kformer-{what}") for what in ("part", "journal")]


def raising(error, after):
    """Returns a `work` that raises an error after a number of chunks."""
    numbers = itertools.count()

    def work(lines, progress):
        if next(numbers) == after:
            raise error
        return upper(lines, progress)

    return work


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """The bytes of the part and of the journal, right before the part gets its name."""
    output = tmp_path_factory.mktemp("grown") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Unfinished, "publish", lambda _: None)
        translate(output)
    part, journal = (path.read_bytes() for path in beside(output))
    assert part == WHOLE
    assert journal.count(b"\n") == 1 + 4  # The settings, and a point for each chunk.
    return part, journal


def prefixes_in_order(part, journal):
    """Yields what is on the disk after each byte that is written: a chunk, then its point."""
    ends = [int(line.split()[1]) for line in journal.splitlines()[1:]]
    lines = journal.splitlines(keepends=True)
    written, point = 0, b""
    for end, line in zip([0, *ends], lines, strict=True):
        for size in range(written, end):
            yield part[:size], point
        for size in range(len(line) + 1):
            yield part[:end], point + line[:size]
        written, point = end, point + line


def check_completed(output, part, journal):
    for path, content in zip(beside(output), (part, journal), strict=True):
        path.write_bytes(content)
    translate(output)
    assert output.read_bytes() == WHOLE
    assert [*output.parent.iterdir()] == [output]
    output.unlink()


def test_a_kill_after_any_byte_that_is_written_loses_and_doubles_nothing(grown, tmp_path):
    states = list(prefixes_in_order(*grown))
    assert len(states) > len(WHOLE) + len(grown[1])
    for part, journal in states:
        check_completed(tmp_path / "out", part, journal)


@given(st.data())
def test_nor_does_a_loss_of_power_as_chunks_are_on_the_disk_first(grown, tmp_path_factory, data):
    part, journal = grown
    journal = journal[: data.draw(st.integers(0, len(journal)))]
    lines = journal.splitlines(keepends=True)[1:]
    whole = [int(line.split()[1]) for line in lines if line.endswith(b"\n")]
    safe = whole[-1] if whole else 0
    part = part[: data.draw(st.integers(safe, len(part)))] + data.draw(st.binary(max_size=9))
    journal += data.draw(st.sampled_from([b"", b"\0\0\0", b"7 "]))
    check_completed(tmp_path_factory.mktemp("power") / "out", part, journal)


def test_a_chunk_is_on_the_disk_before_the_journal_has_it(tmp_path, monkeypatch):
    output = tmp_path / "out"
    part, journal = beside(output)
    synchronized = []

    def fsync(descriptor):
        assert os.path.samestat(os.fstat(descriptor), part.stat())
        synchronized.append((part.stat().st_size, journal.read_bytes().count(b"\n")))

    monkeypatch.setattr(os, "fsync", fsync)
    translate(output)
    ends = [len(b"".join(WHOLE.splitlines(keepends=True)[:end])) for end in (2, 4, 6, 7)]
    assert synchronized == [(end, count) for count, end in enumerate(ends, start=1)]


def test_a_part_that_was_cut_goes_on_at_its_last_whole_chunk(grown, tmp_path):
    output = tmp_path / "out"
    for path, content in zip(beside(output), (grown[0][:-9], grown[1]), strict=True):
        path.write_bytes(content)
    assert translate(output) == LINES[6:]
    assert output.read_bytes() == WHOLE


def test_only_what_is_not_done_is_translated(grown, tmp_path, capsys):
    output = tmp_path / "new" / "out"
    with pytest.raises(KeyboardInterrupt):
        translate(output, raising(KeyboardInterrupt, after=2))
    assert capsys.readouterr().err == (
        "kformer: Stopped after line 4 of 7. The same command goes on there.\n"
    )
    assert not output.exists()
    assert translate(output) == LINES[4:]
    assert capsys.readouterr().err == "kformer: Resuming after line 4 of 7.\n"
    assert output.read_bytes() == WHOLE


def test_a_kill_between_the_last_line_and_the_journals_end_leaves_nothing_to_do(grown, tmp_path):
    output = tmp_path / "out"
    part, journal = beside(output)
    part.write_bytes(grown[0])  # It has no name yet.
    journal.write_bytes(grown[1])
    assert translate(output) == []
    assert output.read_bytes() == WHOLE and not journal.exists()
    journal.write_bytes(grown[1])  # It has its name, but its journal is still there.
    assert translate(output) == []
    assert output.read_bytes() == WHOLE and not journal.exists()


def test_an_output_that_another_run_finished_meanwhile_is_replaced(grown, tmp_path):
    output = tmp_path / "out"
    for path, content in zip(beside(output), grown, strict=True):
        path.write_bytes(content[:-1])
    output.write_text("of another run")
    assert translate(output) == LINES[6:]
    assert output.read_bytes() == WHOLE


def test_an_error_before_the_first_chunk_leaves_nothing(tmp_path):
    with pytest.raises(ValueError, match="no such ids"):
        translate(tmp_path / "new" / "out", raising(ValueError("no such ids"), after=0))
    assert [*tmp_path.iterdir()] == []


def test_an_error_later_keeps_what_is_done(tmp_path):
    output = tmp_path / "out"
    with pytest.raises(ValueError, match="no such ids"):
        translate(output, raising(ValueError("no such ids"), after=1))
    assert translate(output) == LINES[2:]
    assert output.read_bytes() == WHOLE


def test_a_whole_output_is_not_replaced(tmp_path):
    output = tmp_path / "out"
    output.write_text("of another model")
    part, journal = beside(output)
    for begun in (False, True):  # A process may have been killed before its first line was done.
        if begun:
            journal.write_bytes(b'{"kformer_jou')
        with pytest.raises(FileExistsError, match=f"Received: '{output}'"):
            translate(output)
        assert output.read_text() == "of another model"
        assert not part.exists() and not journal.exists()


def test_two_processes_cannot_write_one_output(tmp_path):
    output = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        translate(output, raising(KeyboardInterrupt, after=1))
    path = beside(output)[1]
    other = Unfinished(output, SETTINGS, len(LINES))  # A lock belongs to an open file.
    with pytest.raises(BlockingIOError, match=f"Received: '{path}', which another"):
        translate(output)
    other.close()
    assert translate(output) == LINES[2:]


@pytest.mark.parametrize(
    ("changed", "received"),
    [
        ({"files": {"model": "5e", "input": "80"}}, "another --input;"),
        ({"files": {"model": "5f", "input": "7f", "prefix": "3a"}}, "another model, another --p"),
        ({"options": {"beam_size": 1}}, "beam_size=1 instead of 3;"),
        ({"options": {"beam_size": 3, "seed": 5}}, "seed=5 instead of None;"),
    ],
)
def test_it_says_what_differs(tmp_path, changed, received):
    output = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        translate(output, raising(KeyboardInterrupt, after=1))
    before = [path.read_bytes() for path in beside(output)]
    with pytest.raises(ValueError, match=f"Received: {received}.* '{beside(output)[1]}'"):
        translate(output, settings={**SETTINGS, **changed})
    assert [path.read_bytes() for path in beside(output)] == before
    assert translate(output) == LINES[2:]


@pytest.mark.parametrize(
    ("content", "received"),
    [(b"a text\n", "'{}'"), (b"[5]\n", "'{}'"), (b'{"kformer_journal": 1, "settings": {}}\n', "1")],
)
def test_a_file_that_is_no_journal_is_refused_and_kept(tmp_path, content, received):
    output = tmp_path / "out"
    journal = beside(output)[1]
    journal.write_bytes(content)
    with pytest.raises(ValueError, match=f"journal.* Received: .*{received.format(journal)}"):
        translate(output)
    assert journal.read_bytes() == content and not output.exists()
