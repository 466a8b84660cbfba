"""Copies a Transformer without its optimizer, for export and for saving."""

from kformer.model.dense import dense_layers, float_weights, is_quantized


def is_float32(transformer) -> bool:
    """Returns whether the transformer computes exactly what its float32 copy computes."""
    dtypes = {transformer.variable_dtype, transformer.compute_dtype}
    return dtypes == {"float32"} and not any(map(is_quantized, dense_layers(transformer).values()))


def float32_copy(transformer):
    """Returns a float32 copy, whose Dense layers are plain: LoRA merged, rounded weights as floats.

    The weights are the same, also with LoRA, and for weights of 16 bits. A quantized model may also
    round its inputs; the copy does not.
    """
    config = {**transformer.get_config(), "dtype": "float32"}
    config.pop("quantized", None)

    def fill(copied, dense):
        for weight, value in zip(copied.weights, float_weights(dense), strict=True):
            weight.assign(value)

    return _copy(transformer, config, fill)


def weights_copy(transformer):
    """Returns a copy whose weights keep their dtypes; quantized layers stay quantized.

    LoRA is merged. A model with a "mixed" policy, which has float32 weights and computes in 16
    bits, becomes a float32 model: that is faster on processors without 16-bit units.
    """
    config = {**transformer.get_config(), "dtype": transformer.variable_dtype}

    def fill(copied, dense):
        store = {}
        dense.save_own_variables(store)
        copied.load_own_variables(store)

    return _copy(transformer, config, fill)


def _copy(transformer, config, fill):
    """Makes a Transformer of `config`; `fill` copies the weights of one Dense layer to another."""
    copied = type(transformer).from_config(config)
    pairs = zip(dense_layers(copied).values(), dense_layers(transformer).values(), strict=True)
    for pair in pairs:
        fill(*pair)
    others = zip(_other_weights(copied), _other_weights(transformer), strict=True)
    for weight, value in others:
        weight.assign(value)
    return copied


def _other_weights(transformer):
    of_dense = {id(w) for dense in dense_layers(transformer).values() for w in dense.weights}
    return [weight for weight in transformer.weights if id(weight) not in of_dense]
