"""Files of `torch.save` are read without PyTorch, and nothing in them is run."""

import os
import pickle
import struct
import sys
import zipfile

import numpy as np
import pytest

from kformer.imports.state_dict import read_state_dict
from support.pretrained.torch_file import write_torch_file

legacy = pytest.mark.parametrize("legacy", [False, True], ids=["archive", "pickles"])


def arrays():
    bits = (np.random.normal(size=(5, 7)).astype("<f4").view("<u4") >> 16).astype("<u2")
    return {
        "float32": np.random.normal(size=(3, 5, 7)).astype("float32"),
        "float16": np.random.normal(size=(11,)).astype("float16"),
        "transposed": np.random.normal(size=(3, 5)).astype("float32").T,
        "bfloat16": bits,
        "number": np.float32(1.5),
    }


@legacy
@pytest.mark.parametrize("suffix", [".bin", ".pt", ".pth"])
def test_every_tensor_is_read(legacy, suffix, tmp_path):
    expected = arrays()
    found = read_state_dict(write_torch_file(tmp_path / f"a{suffix}", expected, legacy))
    expected["bfloat16"] = (expected["bfloat16"].astype("<u4") << 16).view("<f4")
    assert [*found] == [*expected]
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype


@legacy
def test_what_pytorch_writes_is_read(legacy, tmp_path):
    torch = pytest.importorskip("torch", reason="The extra `torch` is not installed.")
    module = torch.nn.Linear(3, 5).half()
    state = {**module.state_dict(), "tied": module.weight, "row": module.weight[2]}
    state["parameter"] = torch.nn.Parameter(torch.randn(2, 3).bfloat16())
    path = tmp_path / "a.bin"
    torch.save(state, path, _use_new_zipfile_serialization=not legacy)
    found = read_state_dict(path)
    assert found.keys() == state.keys()
    for name, tensor in state.items():
        np.testing.assert_array_equal(found[name], tensor.detach().float().numpy())


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@legacy
def test_a_pickle_that_runs_code_is_refused_and_runs_nothing(legacy, tmp_path):
    made = tmp_path / "made"
    content = pickle.dumps({"weight": Evil(made)}, 2)
    path = tmp_path / "a.bin"
    if legacy:
        path.write_bytes(pickle.dumps(1) * 3 + content)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a/data.pkl", content)
    with pytest.raises(ValueError, match=r"tensors, and nothing else. .*a.bin.*names posix.mkdir"):
        read_state_dict(path)
    assert not made.exists()


def test_a_pickle_cannot_change_what_it_names(tmp_path):
    named = b"ctorch._utils\n_rebuild_tensor_v2\n"
    path = tmp_path / "a.bin"
    for name in (b"x", b"__call__"):
        state = b"N}U" + bytes([len(name)]) + name + b"K\x01s\x86b"  # BUILD with (None, {name: 1}).
        path.write_bytes(named + state + b".")
        with pytest.raises(ValueError, match=r"nothing else. .*AttributeError"):
            read_state_dict(path)


@legacy
def test_a_damaged_file_is_refused(legacy, tmp_path):
    path = write_torch_file(tmp_path / "a.bin", arrays(), legacy)
    whole = path.read_bytes()
    for size in (0, 1, 40, len(whole) // 2, len(whole) - 3):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"tensors, and nothing else. Received: .*a.bin"):
            read_state_dict(path)


@pytest.mark.parametrize(
    ("offset", "shape", "strides"),
    [(0, (7,), (1,)), (3, (4,), (1,)), (0, (2, 2), (-1, 1)), (0, (10**9, 2), (0, 1))],
)
def test_a_tensor_outside_of_its_storage_is_refused(offset, shape, strides, tmp_path):
    from kformer.imports.torch_file import _RebuildTensor

    with pytest.raises(pickle.UnpicklingError, match="is not in its storage"):
        _RebuildTensor()(np.zeros(6, "float32"), offset, shape, strides)


@pytest.mark.parametrize("archived", [True, False])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x80\x02}r\xff\xff\xff\x7f.", "place 2147483647 of a memo of at most"),
        (b"\x80\x04\x8e" + struct.pack("<Q", 2**40) + b".", r"only \d+ remain"),
        (b"\x80\x02]q\x00h\x00a.", "a value that contains itself, or too many"),
        # Each list holds the one before it twice: 2^60 values.
        (
            b"\x80\x02]q\x00"
            + b"".join(b"]q%c(h%ch%ce" % (i, i - 1, i - 1) for i in range(1, 60))
            + b"h;.",
            "a value that contains itself, or too many",
        ),
    ],
)
def test_a_pickle_that_asks_for_gigabytes_is_refused(content, message, archived, tmp_path):
    path = tmp_path / "a.pt"
    if archived:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a/data.pkl", content)
    else:
        path.write_bytes(3 * pickle.dumps(1, 2) + content + pickle.dumps([], 2))
    with pytest.raises(ValueError, match=rf"nothing else. Received: .*{message}"):
        read_state_dict(path)


def test_pytorch_is_not_imported(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    path = write_torch_file(tmp_path / "a.bin", {"weight": np.ones(3, "float32")})
    monkeypatch.setitem(sys.modules, "torch", None)
    assert read_state_dict(path)["weight"].tolist() == [1, 1, 1]
