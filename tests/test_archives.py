"""Archives and JSON from elsewhere: bounded, checked, and refused in one sentence."""

import io
import json
import zipfile
from dataclasses import dataclass
from typing import NotRequired, TypedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer.archives import Archive
from kformer.json_files import check_schema, parse_json, read_json

RULE = "An archive is needed."


@pytest.fixture
def archive(tmp_path):
    """callable (members by name, compression) -> path of a ZIP archive."""

    def write(members, compression=zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(tmp_path / "a.zip", "w", compression) as file:
            for name, content in members.items():
                file.writestr(name, content)
        return tmp_path / "a.zip"

    return write


def npy(array):
    content = io.BytesIO()
    np.save(content, array, allow_pickle=True)
    return content.getvalue()


def test_members_are_read_whole_or_as_streams(archive):
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with Archive(archive({"a": b"x\ny\n"}, compression), RULE) as opened:
            assert opened.names() == ["a"]
            assert opened.read("a") == b"x\ny\n"
            assert [*opened.open("a")] == [b"x\n", b"y\n"]


def test_a_member_that_would_fill_memory_is_refused_unread(archive):
    path = archive({"zeros": bytes(2**26 + 1), "more": bytes(2**26)})
    assert path.stat().st_size < 2**20
    with Archive(path, RULE) as opened:
        assert len(opened.read("more")) == 2**26
        with pytest.raises(
            ValueError, match=r"An archive is needed.*a.zip' \('zeros' of 67,108,865"
        ):
            opened.read("zeros")
        with pytest.raises(
            ValueError, match=r"its members of 134,217,729 bytes, more than 20 times"
        ):
            opened.check_sizes()
        with opened.open("zeros") as stream:  # A stream has no bound, because it keeps nothing.
            assert stream.read(3) == b"\0\0\0"


def with_method(content, method):
    """The local and the central header of the only member say another compression."""
    content = bytearray(content)
    content[8:10] = method.to_bytes(2, "little")
    central = content.index(b"PK\x01\x02")
    content[central + 10 : central + 12] = method.to_bytes(2, "little")
    return bytes(content)


def encrypted(content):
    content = bytearray(content)
    central = content.index(b"PK\x01\x02")
    content[6] |= 1
    content[central + 8] |= 1
    return bytes(content)


@pytest.mark.parametrize(
    "change",
    [
        encrypted,
        *(lambda content, method=method: with_method(content, method) for method in (9, 93, 99)),
        lambda content: content.replace(b"some text", b"same text"),  # Another checksum.
        lambda content: with_method(content, 8),  # No Deflate.
        lambda content: with_method(content, 12),
        lambda content: with_method(content, 14),
    ],
)
def test_members_that_cannot_be_read_are_refused_in_a_sentence(archive, change):
    path = archive({"a": b"some text of a member" * 9}, zipfile.ZIP_STORED)
    path.write_bytes(change(path.read_bytes()))
    for read in (Archive.read, lambda one, name: one.open(name).read()):
        with (
            Archive(path, RULE) as opened,
            pytest.raises(ValueError, match=r"\. Received: '.*zip' \("),
        ):
            read(opened, "a")


@given(place=st.integers(0, 400), cut=st.booleans(), byte=st.integers(0, 255))
def test_any_damage_of_an_archive_is_a_value_error_or_none(tmp_path_factory, place, cut, byte):
    path = tmp_path_factory.mktemp("a") / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.npy", npy(np.arange(9)))
        file.writestr("b", json.dumps({"b": [1, 2, 3]}))
    content = bytearray(path.read_bytes())
    place %= len(content)
    content[place] = byte
    path.write_bytes(content[:place] if cut else content)
    try:
        with Archive(path, RULE) as opened:
            for name in opened.names():
                opened.read(name)
            opened.array("a")
    except ValueError as error:
        assert str(error).startswith((RULE, "Members must")), error


@pytest.mark.parametrize("content", [
    npy(np.array([{}, print], object)),
    npy(np.arange(3))[:-1],
    npy(np.arange(3)).replace(b"(3,)", b"(9999999999999,)").replace(b", }             ", b", }"),
    b"", b"\x93NUMPY\x01\x00", b"PK\x03\x04",
])  # fmt: skip
def test_no_array_is_an_error_without_advice_to_run_it(archive, content):
    refused = pytest.raises(ValueError, match=r"An archive is needed.*'a.npy' is no array")
    with Archive(archive({"a.npy": content}), RULE) as opened, refused as error:
        opened.array("a")
    assert "pickle" not in str(error.value)


class Shard(TypedDict):
    name: str
    pairs: int
    note: NotRequired[str | None]


@dataclass
class Plain:
    format: int
    shards: list[Shard]
    scale: float = 1.0


@pytest.mark.parametrize(("content", "why"), [
    (b"[", "not JSON: .*line 1 column 2"),
    (b"\xff", "not UTF-8: invalid start byte"),
    (b"[" * 5_000_000, "nested too deeply"),
    (b'{"a":' * 100_000, "nested too deeply"),
    (b"9" * 5000, "an integer of thousands of digits"),
    (b'{"a": "\\ud800"}', "a string with half of a surrogate pair"),
    (b"[]", "it must be an object"),
    (b"{}", "it must have 'format', 'shards'"),
    (b'{"format": true, "shards": []}', "'format' must be an integer"),
    (b'{"format": 1.0, "shards": []}', "'format' must be an integer"),
    (b'{"format": 1, "shards": {}}', "'shards' must be an array"),
    (b'{"format": 1, "shards": [{"name": "a"}]}', r"'shards'\[0\] must have 'pairs'"),
    (b'{"format": 1, "shards": [{"name": 1, "pairs": 1}]}',
     r"'shards'\[0\]\['name'\] must be a string"),
    (b'{"format": 1, "shards": [{"name": "", "pairs": 1, "note": 2}]}',
     r"'shards'\[0\]\['note'\] must be a string or null"),
    (b'{"format": 1, "shards": [], "scale": "1"}', "'scale' must be a number"),
    (b'{"format": 1, "shards": [], "other": 1}', "it must not have 'other'"),
])  # fmt: skip
def test_json_that_does_not_fit_is_refused_with_the_place(content, why, tmp_path):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(ValueError, match=rf"^It is needed\. Received: '.*a\.json' \({why}"):
        read_json(tmp_path / "a.json", Plain, rule="It is needed.")


def test_json_that_fits_is_returned_as_it_is(tmp_path):
    value = {
        "format": 2,
        "shards": [{"name": "ä", "pairs": 1, "note": None, "more": [{}]}],
        "scale": 1,
    }
    (tmp_path / "a.json").write_text(json.dumps(value), "utf-8-sig")
    assert read_json(tmp_path / "a.json", Plain, rule="") == value
    assert parse_json('["\\ud800"]', list[str]) == ["\ud800"]  # Text that tables repair.


def test_a_large_file_is_refused_unread(tmp_path):
    with (tmp_path / "a.json").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(ValueError, match=r"'.*a.json' \(more than 67,108,864 bytes\)"):
        read_json(tmp_path / "a.json", rule="It is needed.")


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
))  # fmt: skip
def test_a_schema_takes_what_its_type_says_and_nothing_else(value):
    for schema, kinds in (
        (int, int), (float, int | float), (str, str), (bool, bool), (dict, dict), (list, list),
        (int | None, int | None), (list[int] | dict, list | dict),
    ):  # fmt: skip
        expected = isinstance(value, kinds) and (bool in (schema,) or not isinstance(value, bool))
        if schema == list[int] | dict and isinstance(value, list):
            expected = all(type(one) is int for one in value)
        try:
            check_schema(value, schema)
            fits = True
        except ValueError:
            fits = False
        assert fits == expected, (value, schema)
