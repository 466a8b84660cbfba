"""Layers with PyTorch's weights: compared with PyTorch itself where it is installed."""

import json
import pickle

import numpy as np
import pytest

from kformer import Decoder, DecoderLayer, Encoder, EncoderLayer, causal_mask, from_torch
from support.pretrained.torch_file import write_torch_file

B, S, T, H, D, F, L = 2, 7, 5, 3, 15, 11, 2
PADDED = np.array([[1, 1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1]], bool)  # (B, S)

norms = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
dtypes = pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-9)])
activations = pytest.mark.parametrize("activation", ["relu", "gelu"])


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="The extra `torch` is not installed.")


def layer_arrays(biased=True, d_model=D, d_ff=F):
    """The weights of an `nn.TransformerEncoderLayer`."""
    shapes = {
        "self_attn.in_proj_weight": (3 * d_model, d_model),
        "self_attn.in_proj_bias": (3 * d_model,),
        "self_attn.out_proj.weight": (d_model, d_model),
        "self_attn.out_proj.bias": (d_model,),
        "linear1.weight": (d_ff, d_model),
        "linear1.bias": (d_ff,),
        "linear2.weight": (d_model, d_ff),
        "linear2.bias": (d_model,),
        "norm1.weight": (d_model,),
        "norm1.bias": (d_model,),
        "norm2.weight": (d_model,),
        "norm2.bias": (d_model,),
    }
    return {
        name: np.random.normal(size=shape).astype("float32")
        for name, shape in shapes.items()
        if biased or not name.endswith("bias")
    }


def written(path, tensors):
    """Writes a .safetensors file of pairs of dtype and array."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, (dtype, array) in tensors.items():
        end = len(data) + array.nbytes
        offsets = [len(data), end]
        header[name] = {"dtype": dtype, "shape": array.shape, "data_offsets": offsets}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


class TorchCase:
    """A module of PyTorch in evaluation, with random norms and biases, and inputs for both."""

    def __init__(self, torch, module, dtype):
        self.torch, self.module = torch, module.to(getattr(torch, dtype)).eval()
        with torch.no_grad():
            for weight in module.parameters():
                weight.add_(0.1 * torch.randn_like(weight))
        self.x = np.random.normal(size=(B, S, D)).astype(dtype)
        self.target = np.random.normal(size=(B, T, D)).astype(dtype)

    def output(self, *inputs, **masks):
        """Masks are given as kformer has them."""
        torch = self.torch
        masks = {name: torch.tensor(~np.array(mask)) for name, mask in masks.items()}
        with torch.no_grad():
            return self.module(*map(torch.tensor, inputs), **masks).numpy()


def assert_close(output, expected, tolerance):
    np.testing.assert_allclose(output, expected, rtol=tolerance, atol=tolerance)


CAUSAL = np.tri(T, dtype=bool)
CAUSAL_SOURCE = np.tri(S, dtype=bool)


@norms
@dtypes
@activations
def test_encoders_compute_what_pytorch_computes(torch, norm_first, dtype, tolerance, activation):
    def layer():
        return torch.nn.TransformerEncoderLayer(
            D, H, F, activation=activation, norm_first=norm_first, batch_first=True
        )

    def stack(norm):
        return torch.nn.TransformerEncoder(layer(), L, norm, enable_nested_tensor=False)

    settings = {"norm_first": norm_first, "activation": activation, "dtype": dtype}
    for module, kind in (
        (layer(), EncoderLayer),
        (stack(None), Encoder),
        (stack(torch.nn.LayerNorm(D)), Encoder),
    ):
        case = TorchCase(torch, module, dtype)
        ours = from_torch(module.state_dict(), H, **settings)
        assert type(ours) is kind
        mask = {"src_key_padding_mask": PADDED}
        output = np.array(ours(case.x, PADDED[:, None]))
        assert_close(output[PADDED], case.output(case.x, **mask)[PADDED], tolerance)
        mask = {("mask" if kind is Encoder else "src_mask"): CAUSAL_SOURCE}
        assert_close(ours(case.x, causal_mask(S)), case.output(case.x, **mask), tolerance)


@norms
@dtypes
@activations
def test_decoders_compute_what_pytorch_computes(torch, norm_first, dtype, tolerance, activation):
    def layer():
        return torch.nn.TransformerDecoderLayer(
            D, H, F, activation=activation, norm_first=norm_first, batch_first=True
        )

    settings = {"norm_first": norm_first, "activation": activation, "dtype": dtype}
    masks = {"tgt_mask": CAUSAL, "memory_key_padding_mask": PADDED}
    for module, kind in (
        (layer(), DecoderLayer),
        (torch.nn.TransformerDecoder(layer(), L), Decoder),
        (torch.nn.TransformerDecoder(layer(), L, torch.nn.LayerNorm(D)), Decoder),
    ):
        case = TorchCase(torch, module, dtype)
        ours = from_torch(module.state_dict(), H, **settings)
        assert type(ours) is kind
        output = ours(case.target, case.x, causal_mask(T), PADDED[:, None])
        assert_close(output, case.output(case.target, case.x, **masks), tolerance)


@norms
@dtypes
@activations
@pytest.mark.parametrize("bias", [True, False], ids=["biases", "no-biases"])
@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")  # It cannot be passed here.
def test_a_transformer_becomes_a_pair(torch, norm_first, dtype, tolerance, activation, bias):
    module = torch.nn.Transformer(
        D,
        H,
        L,
        1,
        F,
        activation=activation,
        norm_first=norm_first,
        batch_first=True,
        bias=bias,
    )
    case = TorchCase(torch, module, dtype)
    expected = case.output(
        case.x,
        case.target,
        src_key_padding_mask=PADDED,
        memory_key_padding_mask=PADDED,
        tgt_mask=CAUSAL,
    )
    settings = {"norm_first": norm_first, "activation": activation, "dtype": dtype}
    encoder, decoder = from_torch(module.state_dict(), H, **settings)
    assert (encoder.num_layers, decoder.num_layers) == (L, 1)
    memory = encoder(case.x, PADDED[:, None])
    output = decoder(case.target, memory, causal_mask(T), PADDED[:, None])
    assert_close(output, expected, tolerance)


def test_a_pt_file_is_read_without_pytorch(tmp_path):
    arrays = layer_arrays()
    path = write_torch_file(tmp_path / "layer.pt", arrays)
    x = np.random.normal(size=(B, S, D))
    np.testing.assert_array_equal(from_torch(path, H)(x), from_torch(arrays, H)(x))
    path.write_bytes(pickle.dumps([1]) * 4 + pickle.dumps([]))
    with pytest.raises(ValueError, match=r"must hold a state dict. Received: list"):
        from_torch(path, H)


def test_bfloat16_tensors_are_read(torch):
    arrays = {name: torch.tensor(array).bfloat16() for name, array in layer_arrays().items()}
    kernel = np.array(from_torch(arrays, H).feed_forward.inner.kernel)
    np.testing.assert_array_equal(kernel, arrays["linear1.weight"].float().numpy().T)


def test_a_layer_without_biases_has_biases_of_zero():
    arrays = layer_arrays(biased=False)
    zeros = {
        name: np.zeros_like(array) for name, array in layer_arrays().items() if name not in arrays
    }
    x = np.random.normal(size=(B, S, D))
    np.testing.assert_array_equal(from_torch(arrays, H)(x), from_torch(arrays | zeros, H)(x))


@pytest.mark.parametrize(
    ("dtype", "numpy_dtype"), [("F64", "<f8"), ("F32", "<f4"), ("F16", "<f2"), ("BF16", "<u2")]
)
def test_a_safetensors_file_is_read_without_pytorch(dtype, numpy_dtype, tmp_path):
    arrays = layer_arrays()
    if dtype == "BF16":  # The upper half of each float32.
        stored = {name: (array.view("<u4") >> 16).astype("<u2") for name, array in arrays.items()}
        arrays = {name: (half.astype("<u4") << 16).view("<f4") for name, half in stored.items()}
    else:
        stored = arrays = {name: array.astype(numpy_dtype) for name, array in arrays.items()}
    tensors = {name: (dtype, array) for name, array in stored.items()}
    layer = from_torch(written(tmp_path / "layer.safetensors", tensors), H, dtype="float64")
    x = np.random.normal(size=(B, S, D))
    np.testing.assert_array_equal(layer(x), from_torch(arrays, H, dtype="float64")(x))


def test_a_file_that_is_no_safetensors_file_is_refused(tmp_path):
    path = written(tmp_path / "a.safetensors", {"linear1.weight": ("I8", np.zeros(3, "int8"))})
    with pytest.raises(ValueError, match=r"F64, F32, F16, BF16. Received: 'linear1.weight' .*I8"):
        from_torch(path, H)
    written(path, {"linear1.weight": ("F32", np.zeros((3, 5), "float32"))})
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"'linear1.weight' .* at bytes 0 to 60 of 59"):
        from_torch(path, H)
    for content in (b"", b"no header at all", (2).to_bytes(8, "little") + b"[]"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"header of tensors. Received: .*a.safetensors"):
            from_torch(path, H)


def stack_arrays():
    return {f"layers.{i}.{name}": array for i in range(L) for name, array in layer_arrays().items()}


@pytest.mark.parametrize(
    "name", ["layers.0.self_attn.in_proj_bias", "layers.1.linear1.weight", "layers.1.norm2.bias"]
)
def test_a_missing_weight_is_named(name):
    arrays = stack_arrays()
    del arrays[name]
    with pytest.raises(ValueError, match=f"must have all weights. Received: no '{name}'"):
        from_torch(arrays, H)


def outputs(arrays, **settings):
    """What the encoder of these weights makes of one input."""
    x = np.random.default_rng(0).normal(size=(B, S, D))
    return np.array(from_torch(arrays, H, **settings)(x))


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "renamed",
    ["_orig_mod.{}", "module.{}", "module._orig_mod.{}", "model.encoder_stack.{}", "net.module.{}"],
)
def test_what_wrappers_put_into_names_is_left_out(renamed):
    arrays = stack_arrays()
    wrapped = {renamed.format(name): array for name, array in arrays.items()}
    np.testing.assert_array_equal(outputs(wrapped), outputs(arrays))
    inside = {name.replace(".", "._orig_mod.", 1): array for name, array in arrays.items()}
    np.testing.assert_array_equal(outputs(inside), outputs(arrays))
    with pytest.raises(ValueError, match=r"'layers.0.linear1.bias' twice"):
        from_torch(arrays | {"module.layers.0.linear1.bias": np.zeros(F)}, H)


@pytest.mark.prove
@pytest.mark.parametrize("key", ["state_dict", "model_state_dict", "model"])
def test_a_state_dict_within_a_checkpoint_is_found(key, tmp_path):
    arrays = stack_arrays()
    checkpoint = {"epoch": 3, "optimizer": {"state": {}}, key: arrays}
    np.testing.assert_array_equal(outputs(checkpoint), outputs(arrays))
    write_torch_file(tmp_path / "a.pt", checkpoint)
    np.testing.assert_array_equal(outputs(tmp_path / "a.pt"), outputs(arrays))


def test_norms_add_their_epsilon_to_the_variance():
    x = np.random.default_rng(0).normal(size=(B, S, D)) / 10
    zeros = {name: np.zeros_like(array) for name, array in layer_arrays().items()}
    arrays = zeros | {name: np.ones(D, "float32") for name in ("norm1.weight", "norm2.weight")}

    def norm(x, epsilon):
        centred = x - x.mean(axis=-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + epsilon)

    for epsilon in (1e-5, 0.1):  # Attention and feed-forward network add nothing.
        expected = norm(norm(x, epsilon), epsilon)
        found = from_torch(arrays, H, norm_epsilon=epsilon)(x)
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_last_norm_without_bias_has_a_bias_of_zero():
    arrays = stack_arrays() | {"norm.weight": np.random.normal(size=D)}
    biased = arrays | {"norm.bias": np.zeros(D)}
    np.testing.assert_array_equal(outputs(arrays), outputs(biased))
    bare = {name: array for name, array in biased.items() if not name.startswith("layers")}
    bare |= {name: array for name, array in arrays.items() if not name.endswith("bias")}
    assert outputs(bare).shape == (B, S, D)  # Only the last norm has a bias.


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, "finite numbers. Received: 'layers.1.linear1.weight' with NaN"),
        (-np.inf, "finite numbers. Received: 'layers.1.linear1.weight' with infinite"),
        (1e39, "finite numbers. Received: 'layers.1.linear1.weight' with infinite"),
    ],
)
def test_numbers_that_are_not_finite_are_refused(value, message):
    arrays = stack_arrays()
    arrays["layers.1.linear1.weight"] = arrays["layers.1.linear1.weight"].astype("float64")
    arrays["layers.1.linear1.weight"][2, 3] = value
    with pytest.raises(ValueError, match=message):
        from_torch(arrays, H)


def test_shards_are_read_by_their_index(tmp_path):
    arrays = stack_arrays()
    shards = {}
    for i, name in enumerate(arrays):
        shards.setdefault(f"model-{i % 3}.safetensors", {})[name] = ("F32", arrays[name])
    for file, tensors in shards.items():
        written(tmp_path / file, tensors)
    index = tmp_path / "model.safetensors.index.json"
    places = {name: file for file, tensors in shards.items() for name in tensors}
    index.write_text(json.dumps({"metadata": {}, "weight_map": places}))
    np.testing.assert_array_equal(outputs(index), outputs(arrays))
    for changed, message in (
        ({"weight_map": {"a": "../a.safetensors"}}, "names of weights to files beside it"),
        ({"weight_map": {"a": 3}}, "names of weights to files beside it"),
        ({"weight_map": places | {"a": "model-1.safetensors"}}, "'a' in only one of"),
    ):
        index.write_text(json.dumps(changed))
        with pytest.raises(ValueError, match=message):
            from_torch(index, H)
    index.write_text(json.dumps({"weight_map": places}))
    (tmp_path / "model-2.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"index.json', without model-2.safetensors"):
        from_torch(index, H)


def test_tensors_that_overlap_are_refused(tmp_path):
    path = written(tmp_path / "a.safetensors", {"a": ("F32", np.ones(3, "f4"))})
    header = {
        "a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        "b": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]},
    }
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(12))
    with pytest.raises(ValueError, match=r"must not overlap. Received: 'a' and 'b' in"):
        from_torch(path, H)


def test_a_missing_decoder_is_named():
    arrays = {f"encoder.{name}": array for name, array in stack_arrays().items()}
    with pytest.raises(ValueError, match=r"no 'decoder.layers.0.self_attn.in_proj_weight'"):
        from_torch(arrays, H)


def test_an_extra_weight_is_named():
    with pytest.raises(ValueError, match=r"no weights beside .* Received: 'embedding.weight'"):
        from_torch(stack_arrays() | {"embedding.weight": np.zeros((3, 5))}, H)


def test_a_weight_of_another_shape_is_named():
    other = {"layers.1.linear2.weight": np.zeros((D, F + 2))}
    with pytest.raises(
        ValueError, match=r"'layers.1.linear2.weight' must have shape \(15, 11\).*\(15, 13\)"
    ):
        from_torch(stack_arrays() | other, H)


def test_other_input_is_refused():
    with pytest.raises(ValueError, match="d_model=15, num_heads=4"):
        from_torch(layer_arrays(), 4)
    with pytest.raises(ValueError, match=r"a matrix `linear1.weight`. Received: weight, bias"):
        from_torch({"weight": np.zeros((3, 5)), "bias": np.zeros(3)}, H)
    with pytest.raises(ValueError, match="Received: no weights"):
        from_torch({}, H)
    with pytest.raises(ValueError, match=r"floating-point .* 'linear1.weight' of dtype int"):
        from_torch({"linear1.weight": np.zeros((3, 5), int)}, H)
    with pytest.raises(ValueError, match=r"Received: model.onnx"):
        from_torch("model.onnx", H)
