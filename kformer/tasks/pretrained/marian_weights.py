"""The weights of a MarianMTModel as a `Transformer`.

Marian's positions have all sines before all cosines; in the paper they alternate. The order of the
elements of a vector makes no difference to any layer, so it is enough to reorder that axis of every
weight: a `Transformer` then computes the same logits.

Axes: D d_model, F d_ff, V vocabulary.
"""

import numpy as np

from kformer.model.networks.state_dict import StateDict
from kformer.model.networks.transformer import Transformer
from kformer.tasks.pretrained.marian_folder import MarianFolder
from kformer.tasks.pretrained.marian_npz import MarianNpz

# The bias of ids that must never be chosen: far below any logit, and finite in float16. Label
# smoothing takes the mean of all logits; of 58,000 ids this moves it by 0.2.
_NEVER = -1e4
_SHARED = "model.shared.weight"
_SOURCE = "model.encoder.embed_tokens.weight"
_TARGET = "model.decoder.embed_tokens.weight"
_OUTPUT = "lm_head.weight"
_POSITIONS = "embed_positions.weight"  # They are computed here.


def transformer_of(folder: MarianFolder | MarianNpz, unknown_ids: int) -> Transformer:
    """Returns the `Transformer` of a folder.

    Args:
        folder: `MarianFolder` or `MarianNpz`.
        unknown_ids: Number of source ids behind those of the table, with the unknown id's vector.

    Raises:
        ValueError: A weight is missing, or has another shape than config and vocabulary demand.
    """
    arrays = folder.arrays()
    source, target = _take_tables(arrays, folder)
    (bias,) = arrays.pop("final_logits_bias", np.zeros((1, len(folder.tables[1].pieces))))
    config = folder.config
    transformer = Transformer(
        len(source) + unknown_ids,
        config["encoder_layers"],
        config["d_model"],
        config["encoder_attention_heads"],
        config["encoder_ffn_dim"],
        target_vocab_size=None if target is None else len(target),
        padding_id=config["pad_token_id"],
        activation=folder.activation,
        num_decoder_layers=config["decoder_layers"],
        output_bias=True,
    )
    order = _paper_order(config["d_model"])
    unknown = source[folder.tables[0].unknown_id]
    source = np.concatenate([source, np.tile(unknown, (unknown_ids, 1))])
    transformer.source_embedding.table.assign(source[:, order])
    if target is not None:
        transformer.target_embedding.table.assign(target[:, order])
    filled = np.full(transformer.target_embedding.vocab_size, _NEVER, np.float32)
    filled[: len(bias)] = bias
    filled[[*folder.forbidden]] = _NEVER
    transformer.target_embedding.bias.assign(filled)
    weights = _Reordered(arrays, order)
    for name, stack in (("encoder", transformer.encoder), ("decoder", transformer.decoder)):
        for i, layer in enumerate(stack.layers):
            _fill_layer(layer, weights, f"model.{name}.layers.{i}.")
    weights.check_all_taken()
    return transformer


def _take_tables(arrays, folder):
    """Removes the tables from `arrays`, and the positions.

    Returns:
        That of the source, float (V, D), and that of the target; None if they share one.
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
    for table, name, ids in zip((source, target), ("source", "target"), folder.tables, strict=True):
        if table.shape != (len(ids.pieces), folder.config["d_model"]):
            raise ValueError(
                f"The {name} vocabulary must fit the weights: {len(ids.pieces)} pieces and "
                f"d_model={folder.config['d_model']} need as many rows and columns. "
                f"Received: {table.shape} in {str(folder.path)!r}."
            )
    if not np.array_equal(first(_OUTPUT, _TARGET, _SHARED), target):
        raise ValueError(
            "The output must share the table of the target's vectors. "
            f"Received: another {_OUTPUT!r} in {str(folder.path)!r}."
        )
    return source, None if np.array_equal(source, target) else target


def _paper_order(d_model):
    """Returns for each element of a vector its place where all sines come first."""
    return np.arange(d_model).reshape(2, -1).T.ravel()  # 0, D/2, 1, D/2 + 1, ...


class _Reordered(StateDict):
    """A state dict whose axes of D elements are brought into another order.

    Args:
        arrays: dict from name to float array.
        order: integer array (D,).
    """

    def __init__(self, arrays, order):
        super().__init__(arrays)
        self._order = order

    def take(self, name, *shape):
        array = super().take(name, *shape)
        module, _, kind = name.rpartition(".")
        module = module.rpartition(".")[2]
        if module in ("fc2", "out_proj") or module.endswith("layer_norm"):
            return array[self._order]  # What is added to the vectors, or multiplied with them.
        return array[:, self._order] if kind == "weight" else array


def _fill_layer(layer, weights, prefix):
    d_model, d_ff = layer.d_model, layer.d_ff
    attentions = {}
    if hasattr(layer, "cross_attention"):
        attentions["self_attn"] = layer.self_attention, layer.self_residual
        attentions["encoder_attn"] = layer.cross_attention, layer.cross_residual
    else:
        attentions["self_attn"] = layer.attention, layer.attention_residual
    for name, (attention, residual) in attentions.items():
        for projection, of_marian in (
            (attention.query_projection, "q_proj"),
            (attention.key_projection, "k_proj"),
            (attention.value_projection, "v_proj"),
            (attention.output_projection, "out_proj"),
        ):
            weights.fill_dense(projection, f"{prefix}{name}.{of_marian}.", d_model, d_model)
        weights.fill_norm(residual.norm, f"{prefix}{name}_layer_norm.", d_model)
    weights.fill_dense(layer.feed_forward.inner, f"{prefix}fc1.", d_ff, d_model)
    weights.fill_dense(layer.feed_forward.outer, f"{prefix}fc2.", d_model, d_ff)
    weights.fill_norm(layer.feed_forward_residual.norm, f"{prefix}final_layer_norm.", d_model)
