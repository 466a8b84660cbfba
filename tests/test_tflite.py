"""The TFLite file: what Python says, in built-in ops of static shape."""

import json

import numpy as np
import pytest
import toy
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

import kformer
from kformer import Transformer, Translator
from kformer.export import export_tflite
from kformer.pocket import PocketTranslator
from kformer.translator import EXTRA_LENGTH, make_search, search_ids

BEAMS = [1, 3]
S = 29  # Most ids of a source.


@pytest.fixture(scope="module", params=BEAMS, ids=["greedy", "beam"])
def exported(request, toy_translator, tmp_path_factory):
    """A search's number of beams, and the file that has it."""
    path = tmp_path_factory.mktemp("tflite") / "toy.tflite"
    return request.param, export_tflite(
        toy_translator, path, beam_size=request.param, max_source_length=S
    )


def model_in(path):
    return schema.ModelT.InitFromPackedBuf(path.read_bytes(), 0)


def test_the_search_gives_the_ids_and_the_score_that_it_gives_in_python(exported, toy_translator):
    beam_size, path = exported
    tokenizer = toy_translator.tokenizer
    runner = Interpreter(str(path)).get_signature_runner("translate_ids")
    search = make_search(tokenizer, beam_size)
    for text in ["", *toy.SOURCES[:9]]:
        ids = tokenizer.encode([text]).numpy()
        source = np.pad(ids, ((0, 0), (0, S - ids.shape[1])))
        found = search_ids(toy_translator.transformer, source, search, max_length=S + EXTRA_LENGTH)
        result = runner(source=source)
        np.testing.assert_array_equal(result["ids"], found.ids[:, 0])
        np.testing.assert_allclose(result["score"], found.scores[:, 0], atol=1e-4)


def test_the_signature_is_ids_to_ids_in_static_shapes(exported):
    interpreter = Interpreter(str(exported[1]))
    assert interpreter.get_signature_list() == {
        "translate_ids": {"inputs": ["source"], "outputs": ["ids", "score"]}
    }
    runner = interpreter.get_signature_runner("translate_ids")
    details = runner.get_input_details() | runner.get_output_details()
    shapes = {name: (tuple(of["shape_signature"]), of["dtype"]) for name, of in details.items()}
    assert shapes == {
        "source": ((1, S), np.int32),
        "ids": ((1, S + 50), np.int32),
        "score": ((1,), np.float32),
    }


def test_every_op_is_built_in(exported):
    names = {code: name for name, code in vars(schema.BuiltinOperator).items()}
    codes = model_in(exported[1]).operatorCodes
    ops = {names[code.builtinCode] for code in codes}
    assert {"WHILE", "FULLY_CONNECTED", "SOFTMAX"} <= ops  # All subgraphs were looked into.
    assert not ops & {"CUSTOM", "DELEGATE"}
    assert all(code.customCode is None for code in codes)


def test_every_shape_is_static(exported):
    tensors = [tensor for graph in model_in(exported[1]).subgraphs for tensor in graph.tensors]
    assert len(tensors) > 100
    assert all(t.shapeSignature is None or min(t.shapeSignature, default=1) > 0 for t in tensors)


def test_weights_are_stored_once(exported, toy_translator):
    buffers = model_in(exported[1]).buffers
    stored = sum(len(buffer.data) for buffer in buffers if buffer.data is not None)
    parameters = toy_translator.transformer.count_params()
    assert 4 * parameters <= stored < 6 * parameters


def test_beside_it_stand_its_manifest_and_its_tokenizer(exported, toy_translator):
    beam_size, path = exported
    names = sorted(file.name for file in path.parent.iterdir())
    assert names == ["toy.source.model", "toy.tflite", "toy.tflite.json"]
    assert (path.parent / "toy.source.model").read_bytes() == toy_translator.tokenizer.model
    assert json.loads((path.parent / "toy.tflite.json").read_text()) == {
        "format": 1,
        "kformer": kformer.__version__,
        "signature": "translate_ids",
        "signatures": {"translate_ids": [1, S]},
        "precision": "float32",
        "source_model": "toy.source.model",
        "padding_id": 0,
        "end_id": 3,
        "max_source_length": S,
        "max_target_length": S + 50,
        "beam_size": beam_size,
        "length_penalty": 0.6,
    }


def test_two_vocabularies_make_two_tokenizer_files(two_vocabularies, tmp_path):
    path = export_tflite(two_vocabularies, tmp_path / "two.tflite", max_source_length=S)
    manifest = json.loads((tmp_path / "two.tflite.json").read_text())
    for side, tokenizer in [
        ("source", two_vocabularies.tokenizer),
        ("target", two_vocabularies.target_tokenizer),
    ]:
        assert manifest[f"{side}_model"] == f"two.{side}.model"
        assert (tmp_path / f"two.{side}.model").read_bytes() == tokenizer.model
    expected = two_vocabularies.translate(toy.SOURCES[:9])
    assert "⁇" in "".join(expected)  # Id 3 of the target, which ends a source.
    assert PocketTranslator(path).translate(toy.SOURCES[:9]) == expected


def test_a_model_of_mixed_precision_is_exported_in_float32(toy_translator, tmp_path):
    mixed = Transformer.from_config(
        {**toy_translator.transformer.get_config(), "dtype": "mixed_bfloat16"}
    )
    mixed.set_weights(toy_translator.transformer.get_weights())
    translator = Translator(toy_translator.tokenizer, mixed)
    path = export_tflite(translator, tmp_path / "mixed.tflite", max_source_length=S)
    bfloat16 = schema.TensorType.BFLOAT16
    graphs = model_in(path).subgraphs
    assert not any(tensor.type == bfloat16 for graph in graphs for tensor in graph.tensors)
    texts = toy.SOURCES[:9]
    assert PocketTranslator(path).translate(texts) == toy_translator.translate(texts)


def test_the_length_is_128_where_the_translator_allows_it(toy_translator, tmp_path):
    short = Translator(toy_translator.tokenizer, toy_translator.transformer, max_source_length=13)
    for translator, length in [(toy_translator, 128), (short, 13)]:
        path = export_tflite(translator, tmp_path / "toy.tflite")
        manifest = json.loads(path.with_suffix(".tflite.json").read_text())
        assert manifest["max_source_length"] == length
        assert manifest["max_target_length"] == length + 50


@pytest.mark.parametrize("length", [1, 257])
def test_the_length_must_be_one_that_the_translator_has(toy_translator, tmp_path, length):
    with pytest.raises(ValueError, match=f"translator's 256. Received: max_source_length={length}"):
        export_tflite(toy_translator, tmp_path / "toy.tflite", max_source_length=length)


def test_the_name_must_end_in_tflite(toy_translator, tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.tflite. Received: path='.*toy.bin'"):
        export_tflite(toy_translator, tmp_path / "new" / "toy.bin")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_check_leaves_nothing_new_and_everything_old(toy_translator, tmp_path):
    (tmp_path / "toy.tflite").write_text("old")

    def check(path):
        assert PocketTranslator(path).translate([""]) == [""]
        raise ValueError("not as it should be")

    with pytest.raises(ValueError, match="not as it should be"):
        export_tflite(toy_translator, tmp_path / "toy.tflite", max_source_length=S, check=check)
    assert [path.name for path in tmp_path.iterdir()] == ["toy.tflite"]
    assert (tmp_path / "toy.tflite").read_text() == "old"


@pytest.fixture(scope="module")
def with_batches(toy_translator, tmp_path_factory):
    """An int8 file of several lengths and batches."""
    path = tmp_path_factory.mktemp("batches") / "toy.tflite"
    return export_tflite(toy_translator, path, max_source_length=40, precision="int8", batch_size=5)


def test_short_sources_and_batches_have_signatures_of_their_own(with_batches):
    shapes = {
        "translate_ids": (1, 40),
        "translate_ids_1x32": (1, 32),
        "translate_ids_5x32": (5, 32),
        "translate_ids_5x40": (5, 40),
    }
    manifest = json.loads(with_batches.with_suffix(".tflite.json").read_text())
    assert manifest["signatures"] == {name: list(shape) for name, shape in shapes.items()}
    interpreter = Interpreter(str(with_batches))
    assert {*interpreter.get_signature_list()} == {*shapes}
    for name, shape in shapes.items():
        details = interpreter.get_signature_runner(name).get_input_details()["source"]
        assert tuple(details["shape"]) == shape


@pytest.mark.parametrize(("precision", "least", "most"), [("float16", 2, 3), ("int8", 1, 2)])
def test_rounded_weights_take_less_room(toy_translator, tmp_path, precision, least, most):
    path = export_tflite(
        toy_translator, tmp_path / "toy.tflite", max_source_length=S, precision=precision
    )
    stored = [len(buffer.data) for buffer in model_in(path).buffers if buffer.data is not None]
    parameters = toy_translator.transformer.count_params()
    # The embedding is stored twice: to look up, and to multiply with.
    assert least * parameters <= sum(stored) < most * parameters + 40_000


def test_an_int8_file_translates_as_well(with_batches, toy_translator):
    expected = toy_translator.translate(toy.SOURCES)
    translations = PocketTranslator(with_batches).translate(toy.SOURCES)
    same = sum(one == other for one, other in zip(translations, expected, strict=True))
    assert same > 0.9 * len(expected)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"precision": "int4"}, "Received: precision='int4'"),
        ({"batch_size": 0}, "Received: batch_size=0"),
    ],
)
def test_what_cannot_be_exported_is_refused(toy_translator, tmp_path, wrong, message):
    with pytest.raises(ValueError, match=message):
        export_tflite(toy_translator, tmp_path / "toy.tflite", **wrong)
    assert not any(tmp_path.iterdir())
