"""Weights of 16 bits: the model with rounded matrices, to the word, and nothing else is rounded."""

import numpy as np
import pytest
import tensorflow as tf
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

from benchmarks.decoding.random_model import random_transformer
from benchmarks.decoding.search import limited_to, search_of
from benchmarks.decoding.write_models import best_of, save_graph
from benchmarks.sizes import ModelSize
from kformer.decoding.search_ids import search_ids
from kformer.export.tflite.rounded_weights import store_as_float16
from kformer.export.tflite.tflite_translator import runtime_for
from support.tflite_content import shrunk

MANY = 5003  # Ids; a float16 counts no further than 2,048.
SIZE = ModelSize(num_layers=2, d_model=32, d_ff=40, num_heads=2)  # A head's scale is a power of 2.
LENGTH, LONGER = 7, 11


@pytest.fixture(scope="module")
def transformer():
    """One whose matrices are float16 already, so that rounding them changes nothing."""
    transformer = random_transformer(SIZE, vocab_size=MANY)
    for weight in transformer.weights:
        if len(weight.shape) > 1:
            weight.assign(weight.numpy().astype(np.float16).astype(np.float32))
    return transformer


@pytest.fixture(
    scope="module", params=[1, pytest.param(3, marks=pytest.mark.prove)], ids=["greedy", "beam"]
)
def search(request):
    return search_of(request.param)


@pytest.fixture(scope="module")
def content(transformer, search, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kformer.decoding.search_ids.EXTRA_LENGTH", None)  # Set back at the end.
        limited_to(LONGER - LENGTH)
        best = best_of(transformer, search, runtime_for(1, LENGTH, search), LONGER)
        save_graph(transformer, folder, [1, LENGTH], best)
    converter = tf.lite.TFLiteConverter.from_saved_model(str(folder))
    return shrunk(converter.convert(), "serving_default", store_as_float16)


@pytest.mark.prove
def test_a_large_vocabulary_is_searched_as_python_searches_it(transformer, search, content):
    run = Interpreter(model_content=content).get_signature_runner()
    translate = tf.function(
        lambda source: search_ids(transformer, source, search, max_lengths=[LONGER]).ids[:, 0]
    )
    random, seen = np.random.default_rng(0), set()
    positions = transformer.positions.encodings  # Their table is a matrix, and rounded, too.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            transformer.positions,
            "encodings",
            lambda *size: tf.cast(tf.cast(positions(*size), tf.float16), tf.float32),
        )
        for _ in range(23):
            source = random.integers(4, MANY, (1, LENGTH), dtype=np.int32)
            source[:, -1] = 3
            said = run(source=source)["ids"]
            np.testing.assert_array_equal(said, translate(source))
            seen |= {*said.ravel().tolist()}
    assert max(seen) > 4096 and len(seen) > 23


@pytest.mark.prove
def test_nothing_but_matrices_is_float16(content):
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    kinds = {schema.TensorType.FLOAT16: [], schema.TensorType.FLOAT32: []}
    for graph in model.subgraphs:
        for tensor in graph.tensors:
            data = model.buffers[tensor.buffer].data
            if data is not None and tensor.type in kinds:
                shape = () if tensor.shape is None else tuple(tensor.shape)
                kinds[tensor.type].append((shape, len(data)))
    halves, wholes = kinds.values()
    assert all(len(shape) > 1 and size == 2 * np.prod(shape) >= 2048 for shape, size in halves)
    assert ((MANY, SIZE.d_model), 2 * MANY * SIZE.d_model) in halves
    assert all(len(shape) < 2 or size < 4096 for shape, size in wholes)
