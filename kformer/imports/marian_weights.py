"""The weights of a model of Marian or of a MarianMTModel, as a `PretrainedNetwork`."""

import numpy as np

from kformer.imports.assembly import (
    NEVER,
    PretrainedNetwork,
    decoder_width,
    paper_positions,
    tensor2tensor_positions,
)
from kformer.imports.marian_folder import MarianFolder
from kformer.imports.marian_model import MarianModel

_SHARED = "model.shared.weight"
_SOURCE = "model.encoder.embed_tokens.weight"
_TARGET = "model.decoder.embed_tokens.weight"
_OUTPUT = "lm_head.weight"
_POSITIONS = "embed_positions.weight"  # They are computed here.
_EPSILON = 1e-6  # Of Marian's norms.
_PORTED_EPSILON = 1e-5  # Of the norms of transformers.


def network_of(
    folder: MarianFolder | MarianModel, as_transformers: bool = False
) -> PretrainedNetwork:
    """Returns the `PretrainedNetwork` of a folder.

    Args:
        as_transformers: Whether to compute positions and norms as the port to transformers does,
            instead of as Marian does, which trained the weights.
    """
    arrays = folder.arrays()
    source, target, output = _take_tables(arrays, folder)
    number = len(folder.tables[1].pieces)
    bias = np.array(arrays.pop("final_logits_bias", np.zeros((1, number))), np.float32)
    if bias.ndim != 2 or len(bias) != 1 or bias.shape[1] < number:
        raise ValueError(
            f"The bias of the output must have a number for each of {number} ids. "
            f"Received: shape {bias.shape} in {str(folder.path)!r}."
        )
    bias = bias[0, :number]
    bias[[*folder.absent]] = NEVER
    config = folder.config
    if as_transformers:
        computed = {**paper_positions(), "norm_epsilon": _PORTED_EPSILON}
    else:
        computed = {
            **tensor2tensor_positions(config["d_model"], first=0),
            "norm_epsilon": _EPSILON,
        }
    settings = {
        "num_layers": config["encoder_layers"],
        "d_model": config["d_model"],
        "num_heads": config["encoder_attention_heads"],
        "d_ff": config["encoder_ffn_dim"],
        **decoder_width(config["encoder_ffn_dim"], config["decoder_ffn_dim"]),
        "padding_id": config["pad_token_id"],
        "activation": folder.activation,
        "num_decoder_layers": config["decoder_layers"],
        "decoder_cell": folder.decoder_cell,
        "norm_first": config.get("norm_first", False),
        "forbidden_ids": sorted(folder.forbidden),
        **computed,
    }
    return PretrainedNetwork(settings, source, target, bias, arrays, "model.", True, output)


def _take_tables(arrays, folder):
    """Removes the tables from `arrays`, and the positions.

    Tables that were resized have rows behind the vocabulary, without a piece: these are left out.

    Returns:
        source: Table of the source, float (V, D).
        target: Table of the target, float (V, D); None if it equals the source's.
        output: Table of the output, float (V, D); None if it equals the target's.
    """
    for name in [name for name in arrays if name.endswith(_POSITIONS)]:
        del arrays[name]
    matrices = {n: arrays.pop(n) for n in (_SHARED, _SOURCE, _TARGET, _OUTPUT) if n in arrays}

    def first(*names):
        if name := next((name for name in names if name in matrices), None):
            return matrices[name]
        raise ValueError(
            f"The weights must hold a table of vectors. Received: no {_SHARED!r} in "
            f"{str(folder.path)!r}."
        )

    source, target = first(_SOURCE, _SHARED, _OUTPUT), first(_TARGET, _SHARED, _OUTPUT)
    output = first(_OUTPUT, _TARGET, _SHARED)
    sizes = [len(table.pieces) for table in folder.tables]
    for table, side in ((source, 0), (target, 1), (output, 1)):
        name, width = ("source", "target")[side], folder.config["d_model"]
        if table.ndim != 2 or len(table) < sizes[side] or table.shape[1] != width:
            raise ValueError(
                f"The {name} vocabulary must fit the weights: {sizes[side]} pieces and "
                f"d_model={width} need as many rows and columns. "
                f"Received: {table.shape} in {str(folder.path)!r}."
            )
    source, target, output = source[: sizes[0]], target[: sizes[1]], output[: sizes[1]]
    tied = np.array_equal(output, target)
    shared = np.array_equal(source, target)
    return source, None if shared else target, None if tied else output
