"""Files in blocks: the lines of both sides meet, wherever the blocks are cut."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from support.beam import needs_beam

pytestmark = needs_beam

LINES = st.lists(st.sampled_from(["", "a", "zwei", "дрей", "a\rb", "\u2028", "x" * 40]), min_size=1)


@settings(
    max_examples=settings.default.max_examples,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(LINES, st.integers(1, 50), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.randoms())
@example(["", ""], 1, "\n", True, None)
@example(["a"], 1, "\n", False, None)
def test_the_parts_of_two_files_are_their_lines(tmp_path, lines, size, end, ended, rng):
    from kformer.scale.line_blocks import LineTable, blocks_of, count, read

    if not ended and not lines[-1]:
        lines = [*lines, "last"]
    other = [f"{i} " + "y" * (rng.randrange(30) if rng else 3) for i in range(len(lines))]
    files, tables = [], []
    for name, texts in (("a", lines), ("b", other)):
        content = end.join(texts) + end * ended
        (tmp_path / name).write_bytes(content.encode())
        files.append(str(tmp_path / name))
        blocks = [*blocks_of(files[-1], size)]
        assert sum(block.end - block.start for block in blocks) == len(content.encode())
        tables.append(LineTable(map(count, reversed(blocks))))
    assert tables[0].number == tables[1].number == len(lines)
    found = []
    for part in tables[0].parts(files[0]):
        of_other = tables[1].find(files[1], part.first, part.number)
        assert of_other.number == part.number > 0
        found += zip(read(part), read(of_other), strict=True)
    assert found == [*zip((line.rstrip("\r\n") for line in lines), other, strict=True)]


def test_an_error_has_the_number_of_the_line_in_the_file(tmp_path):
    from kformer.scale.line_blocks import LineTable, blocks_of, count, read

    path = tmp_path / "text"
    path.write_bytes(b"one\n" * 100 + b"\xff\n" + b"two\n" * 100)
    table = LineTable(map(count, blocks_of(str(path), 61)))
    assert len([*table.parts(str(path))]) > 5
    with pytest.raises(ValueError, match=r"text', where line 101 is not"):
        for part in table.parts(str(path)):
            list(read(part))


def test_an_empty_file_is_refused(tmp_path):
    from kformer.scale.line_blocks import blocks_of

    (tmp_path / "empty").touch()
    with pytest.raises(ValueError, match=r"must not be empty. Received: '.*empty'"):
        list(blocks_of(str(tmp_path / "empty")))
