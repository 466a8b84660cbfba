"""Weights of 4 bits: what a runtime reads in them, against NumPy."""

import numpy as np
import pytest
import tensorflow as tf
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

from kformer import Transformer, Translator
from kformer.export import export_tflite
from kformer.export.tflite.rounded_weights import store_as_int4
from kformer.pocket import PocketTranslator
from support import toy
from support.tflite_content import shrunk


@pytest.fixture(scope="module", params=[(32, 40), (37, 41)], ids=["even", "odd"])
def kernel(request):
    return np.random.default_rng(0).normal(size=request.param).astype(np.float32)


def written(kernel, folder):
    """A file of 4 bits that multiplies by the kernel (I, O)."""
    module, (inputs, _) = tf.Module(), kernel.shape
    spec = tf.TensorSpec([inputs, inputs], tf.float32, "x")
    module.run = tf.function(lambda x: {"y": tf.matmul(x, tf.constant(kernel))}, [spec])
    tf.saved_model.save(module, str(folder), {"run": module.run})
    converter = tf.lite.TFLiteConverter.from_saved_model(str(folder), signature_keys=["run"])
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    return shrunk(converter.convert(), "run", store_as_int4)


def test_a_runtime_reads_the_nearest_of_fifteen_numbers_in_every_place(kernel, tmp_path):
    run = Interpreter(model_content=written(kernel, tmp_path)).get_signature_runner("run")
    read = run(x=np.eye(len(kernel), dtype=np.float32))["y"]  # Each row picks one of the kernel.
    steps = np.abs(kernel).max(axis=0) / 7
    np.testing.assert_allclose(read / steps, np.rint(read / steps), atol=1e-2)
    assert (np.abs(read - kernel) <= (0.5 + 1 / 16) * steps + 1e-6).all()


@pytest.mark.prove
@pytest.mark.parametrize(
    ("precision", "of_vocabulary"),
    [
        pytest.param("int4", schema.TensorType.INT8, marks=pytest.mark.prove),
        ("int4-all", schema.TensorType.INT4),
    ],
)
def test_the_layers_have_4_bits_and_the_vocabulary_8_or_4(
    short_tflite, toy_translator, precision, of_vocabulary
):
    model = schema.ModelT.InitFromPackedBuf(short_tflite(precision=precision).read_bytes(), 0)
    ids, d_model = toy_translator.transformer.target_embedding.table.shape
    kinds, multiplied, looked_up = set(), set(), set()
    for graph in model.subgraphs:
        for operator in graph.operators:
            code = model.operatorCodes[operator.opcodeIndex].builtinCode
            if code == schema.BuiltinOperator.GATHER:
                looked_up.add(graph.tensors[operator.inputs[0]].buffer)
            if code == schema.BuiltinOperator.FULLY_CONNECTED:
                weights = graph.tensors[operator.inputs[1]]
                of_words = tuple(weights.shape) == (ids, d_model)
                kinds.add((of_words, weights.type))
                if of_words:
                    multiplied.add(weights.buffer)
                if weights.type == schema.TensorType.INT4:
                    data = model.buffers[weights.buffer].data
                    assert len(data) == np.prod(weights.shape) / 2
    assert (False, schema.TensorType.INT4) in kinds
    assert {kind for of_words, kind in kinds if of_words} == {of_vocabulary}
    assert len(multiplied) == 1 and multiplied <= looked_up  # The same bytes.


@pytest.mark.parametrize(("precision", "larger"), [("int4", "int8"), ("int4-all", "int4")])
@pytest.mark.prove
def test_the_file_is_smaller_and_still_translates(short_tflite, precision, larger):
    more, four = short_tflite(precision=larger), short_tflite(precision=precision)
    assert four.stat().st_size < more.stat().st_size
    said = PocketTranslator(four).translate(toy.SOURCES)
    right = sum(one == other for one, other in zip(said, toy.TARGETS, strict=True))
    assert right > len(said) / 4


@pytest.mark.prove
def test_an_output_of_its_own_has_the_bits_of_the_vocabulary(toy_translator, tmp_path):
    old = toy_translator.transformer
    untied = Transformer.from_config({**old.get_config(), "tied_output": False})
    translator = Translator(toy_translator.tokenizer, untied)
    path = export_tflite(translator, tmp_path / "a.tflite", precision="int4", max_source_length=8)
    model = schema.ModelT.InitFromPackedBuf(path.read_bytes(), 0)
    weights = [
        graph.tensors[operator.inputs[1]]
        for graph in model.subgraphs
        for operator in graph.operators
        if model.operatorCodes[operator.opcodeIndex].builtinCode
        == schema.BuiltinOperator.FULLY_CONNECTED
    ]
    shape = tuple(old.target_embedding.table.shape)
    assert {w.type for w in weights if tuple(w.shape) == shape} == {schema.TensorType.INT8}
    assert {w.type for w in weights if tuple(w.shape) != shape} == {schema.TensorType.INT4}
