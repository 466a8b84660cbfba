"""The weights of a MarianMTModel."""

import numpy as np

from kformer.tasks.pretrained.assembly import NEVER, Network
from kformer.tasks.pretrained.marian_folder import MarianFolder
from kformer.tasks.pretrained.marian_npz import MarianNpz

_SHARED = "model.shared.weight"
_SOURCE = "model.encoder.embed_tokens.weight"
_TARGET = "model.decoder.embed_tokens.weight"
_OUTPUT = "lm_head.weight"
_POSITIONS = "embed_positions.weight"  # They are computed here.


def network_of(folder: MarianFolder | MarianNpz) -> Network:
    """Returns the `Network` of a folder.

    Raises:
        ValueError: A table is missing, or has another shape than config and vocabulary demand.
    """
    arrays = folder.arrays()
    source, target, output = _take_tables(arrays, folder)
    (bias,) = arrays.pop("final_logits_bias", np.zeros((1, len(folder.tables[1].pieces))))
    bias = np.array(bias, np.float32)
    bias[[*folder.forbidden]] = NEVER
    config = folder.config
    settings = {
        "num_layers": config["encoder_layers"],
        "d_model": config["d_model"],
        "num_heads": config["encoder_attention_heads"],
        "d_ff": config["encoder_ffn_dim"],
        "padding_id": config["pad_token_id"],
        "activation": folder.activation,
        "num_decoder_layers": config["decoder_layers"],
    }
    return Network(settings, source, target, bias, arrays, "model.", True, output)


def _take_tables(arrays, folder):
    """Removes the tables from `arrays`, and the positions.

    Returns:
        That of the source, float (V, D); that of the target, None if it is the same; and that of
        the output, None if it is the target's.
    """
    for name in [name for name in arrays if name.endswith(_POSITIONS)]:
        del arrays[name]
    found = {n: arrays.pop(n) for n in (_SHARED, _SOURCE, _TARGET, _OUTPUT) if n in arrays}

    def first(*names):
        if name := next((name for name in names if name in found), None):
            return found[name]
        raise ValueError(
            f"The weights must hold a table of vectors. Received: no {_SHARED!r} in "
            f"{str(folder.path)!r}."
        )

    source, target = first(_SOURCE, _SHARED, _OUTPUT), first(_TARGET, _SHARED, _OUTPUT)
    output = first(_OUTPUT, _TARGET, _SHARED)
    for table, name in ((source, "source"), (target, "target"), (output, "target")):
        ids = folder.tables[name == "target"]
        if table.shape != (len(ids.pieces), folder.config["d_model"]):
            raise ValueError(
                f"The {name} vocabulary must fit the weights: {len(ids.pieces)} pieces and "
                f"d_model={folder.config['d_model']} need as many rows and columns. "
                f"Received: {table.shape} in {str(folder.path)!r}."
            )
    tied = np.array_equal(output, target)
    shared = np.array_equal(source, target)
    return source, None if shared else target, None if tied else output
