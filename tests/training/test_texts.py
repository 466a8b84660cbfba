"""Which files the teachers translate, and to which."""

import pytest

from kformer.training.distillation import DistillationOptions, missing, texts_to_teach

DEFAULTS = DistillationOptions()


@pytest.fixture
def files(written):
    """Writes files of so many lines."""

    def write(**lines):
        return [
            written(name, "".join(f"{name} {i}\n" for i in range(number)))
            for name, number in lines.items()
        ]

    return write


@pytest.fixture
def teachers(written):
    """Two files that count as models: none is loaded."""
    return [written("a.keras", b"a"), written("b.keras", b"b")]


def test_references_are_of_the_last_sources(files, teachers, tmp_path):
    mono, source, reference = files(mono=3, source=2, reference=2)
    first, second = texts_to_teach(teachers, [mono, source], [reference], tmp_path, DEFAULTS)
    assert list(first.pairs()) == [("mono 0", ""), ("mono 1", ""), ("mono 2", "")]
    assert list(second.pairs()) == [("source 0", "reference 0"), ("source 1", "reference 1")]


def test_a_translation_that_is_there_is_not_missing(files, teachers, tmp_path):
    sources = files(one=2, two=2)
    texts = texts_to_teach(teachers, sources, [], tmp_path / "text", DEFAULTS)
    assert missing(texts) == texts
    texts[0].translation.parent.mkdir()
    texts[0].translation.write_text("x\nx\n")
    again = texts_to_teach(teachers, sources[::-1], [], tmp_path / "text", DEFAULTS)
    assert again == texts[::-1]
    assert missing(again) == texts[1:]


def test_what_depends_on_other_things_is_another_file(files, teachers, tmp_path):
    source, other, reference = files(source=2, other=2, reference=2)
    (tmp_path / "more").mkdir()
    other = other.rename(tmp_path / "more" / "source")

    def name(teachers=teachers, source=source, target=(), options=DEFAULTS):
        [text] = texts_to_teach(teachers, [source], target, tmp_path, options)
        return text.translation.name

    names = [
        name(),
        name(teachers[:1]),
        name(source=other),
        name(target=[reference]),
        name(options=DistillationOptions(beam_size=2)),
        name(options=DistillationOptions(metric="chrf")),
        name(options=DistillationOptions(tokenize="char")),
    ]
    assert name(options=DistillationOptions(tokenize="13a")) == names[0]
    assert len({*names}) == len(names)
    assert name() == names[0]
    teachers[1].write_bytes(b"c")
    assert name() not in names
    source.write_text("changed\nlines\n")
    assert name(teachers[:1]) not in names


def test_references_are_as_many_lines_of_at_most_as_many_files(files, teachers, tmp_path):
    source, longer = files(source=2, longer=3)
    with pytest.raises(ValueError, match=r"Received: 2 in .*source', 3 in .*longer'"):
        texts_to_teach(teachers, [source], [longer], tmp_path, DEFAULTS)
    with pytest.raises(ValueError, match="Received: 1 source and 2 target files"):
        texts_to_teach(teachers, [source], [source, source], tmp_path, DEFAULTS)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        texts_to_teach(teachers, [tmp_path / "nowhere"], [], tmp_path, DEFAULTS)
    with pytest.raises(FileNotFoundError, match=r"c\.keras"):
        texts_to_teach([tmp_path / "c.keras"], [source], [], tmp_path, DEFAULTS)
