"""From functions to a model of LiteRT's operations, without their weights on the way."""

import gc
import tempfile

import tensorflow as tf
from ai_edge_litert import schema_py_generated as schema
from tensorflow.lite.python.convert import convert_saved_model
from tensorflow.lite.python.lite import TFLiteSavedModelConverterV2

from kformer.export.tflite.constants.folding import put_constants


def convert(functions, stand_ins):
    """Traces and converts functions that share weights.

    Args:
        functions: dict from the name of a signature to a `tf.function` with an input signature. It
            is emptied, and each graph is dropped before the next step needs the memory.
        stand_ins: `StandIns` of the network and of the tables that the functions read.

    Returns:
        `schema.ModelT` with their arrays in its buffers, see `put_constants`.
    """
    names = [*functions]
    with stand_ins.of_variables():
        traced = {name: functions.pop(name).get_concrete_function() for name in names}
    with tempfile.TemporaryDirectory() as folder:  # A SavedModel keeps the signatures' names.
        tf.saved_model.save(tf.Module(), folder, traced)
        del traced
        gc.collect()  # Graphs hold themselves.
        # `TFLiteConverter.from_saved_model` and its `convert` load the SavedModel three times, for
        # nothing that is needed here, and pack the result three times, to merge equal buffers.
        converter = TFLiteSavedModelConverterV2(folder, {tf.saved_model.SERVING}, names)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]
        # Otherwise the first attempt fails with a message: two signatures call one function.
        converter._experimental_guarantee_all_funcs_one_use = True
        content = convert_saved_model(**converter._get_base_converter_args())
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    put_constants(model, stand_ins)
    return model
