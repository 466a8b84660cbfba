"""What XLA compiles: the same answers, in few shapes."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

from kformer.export import ServedTranslator, export_saved_model
from kformer.export.saved_model.graph_search import compiled, length_classes, shapes
from support import toy
from support.serving.operations import OF_TENSORFLOW_TEXT, STOCK

ODD = ["", "   ", "der 🐕‍🦺 sucht das häus .", "日本 e\u0301 ﬁ ½", "uns " * 40]


@pytest.mark.parametrize(
    ("most", "classes"), [(2, [2]), (16, [16]), (17, [16, 17]), (256, [16, 32, 64, 128, 256])]
)
def test_lengths_have_few_classes(most, classes):
    assert length_classes(most) == classes


def test_there_are_22_shapes_for_256_ids():
    assert len(shapes(256, 4096)) == 22
    assert {(64, 64), (32, 128), (16, 256), (1, 256)} <= {*shapes(256, 4096)}
    assert max(rows * length for rows, length in shapes(256, 4096)) == 4096
    assert shapes(300, 4096)[-1] == (16, 300)  # 13 rows, filled up.


def test_shapes_are_filled_up_to_few():
    seen = []

    def shape_of(ids):
        seen.append(tuple(ids.shape))
        return {"doubled": ids * 2, "first": ids[:, 0]}

    program = compiled(shape_of, 0, 50)
    for rows, length in [(1, 1), (2, 16), (3, 17), (5, 40), (5, 50), (0, 0)]:
        ids = tf.ones([rows, length], tf.int32)
        found = program(ids)
        assert found["doubled"].shape[0] == found["first"].shape[0] == rows
        np.testing.assert_array_equal(found["doubled"][:, :length], 2 * ids)
        assert not np.any(found["doubled"][:, length:])
    assert seen == [(1, 16), (4, 16), (4, 32), (16, 50)]


@pytest.mark.prove
@pytest.mark.parametrize("beam_size", [1, 3])
def test_the_compiled_loop_translates_as_python_does(toy_translator, tmp_path, beam_size):
    path = export_saved_model(toy_translator, tmp_path, beam_size, xla=True)
    served = ServedTranslator(path)
    for texts in (toy.SOURCES[:5], toy.SOURCES[:1], ODD, []):
        assert served.translate(texts) == toy_translator.translate(texts, beam_size=beam_size)
    saved = SavedModel.FromString((path / "saved_model.pb").read_bytes())
    functions = saved.meta_graphs[0].graph_def.library.function
    compiled = [f for f in functions if f.attr["_XlaMustCompile"].b]
    assert compiled
    ops = {node.op for function in functions for node in function.node_def}
    assert ops <= STOCK | OF_TENSORFLOW_TEXT
