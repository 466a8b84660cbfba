"""Assembles a `Translator` from the weights, vocabularies and positions of a pretrained model.

Positions may have all sines before all cosines; in the paper they alternate. The order of the
elements of a vector makes no difference to any layer, so it is enough to reorder that axis of every
weight: a `Transformer` then computes the same logits. `positions_in_table` finds the settings of
the sinusoidal positions that a pretrained model stores as a table.

Axes: D d_model, T positions, V vocabulary.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kformer.imports.id_table import IdTable, missing_pieces, with_ids_of
from kformer.imports.state_dict import StateDict, check_numbers
from kformer.inference.capitals import ABOUT as READS_CAPITALS
from kformer.inference.capitals import reads_capitals
from kformer.inference.facts import SCRIPTS, SINGLE_SENTENCES
from kformer.inference.sure_checks import scripts_of
from kformer.model.embedding import MAX_WAVELENGTH, PositionalEncoding
from kformer.model.transformer import Transformer
from kformer.tasks.translator import Translator
from kformer.text.alignment import AlignmentHead
from kformer.text.tokenizer import Tokenizer

# The bias of ids that the original lacks: far below any logit, and finite in float16. Label
# smoothing takes the mean of all logits; of 58,000 ids this moves it by 0.2.
NEVER = -1e4
_BYTE = "<0x41>"  # Of a vocabulary that spells with bytes what it has no pieces for.
_CELL = ("input", "forget_gate")  # Of an SSRU, whose state has the axis of the vectors.
_ROWS = 512  # Positions of a table that are compared.
_ROUNDING = 2e-3  # Largest error of positions that were stored with 16 bits.


class PretrainedNetwork(NamedTuple):
    """The settings and weights of a pretrained Transformer.

    Attributes:
        settings: Arguments of `kformer.Transformer` by name, but for the vocabularies.
        source: Vectors of the source's ids, float (V, D).
        target: Vectors of the target's ids; None if both sides share one table.
        bias: Bias of the output for each id of the target, float (V,); None for none.
        layers: dict from name to float array, named as in Hugging Face's MarianMTModel, but for
            `prefix`; the last norms of the stacks are `encoder.layer_norm` and
            `decoder.layer_norm`, and the weights of an `SSRU` are `ssru.input.weight`,
            `ssru.forget_gate.weight` and `.bias`, and its norm `ssru_layer_norm`.
        prefix: Common beginning of the names in `layers`.
        sines_first: Whether positions have all sines before all cosines.
        output: Table of the output, float (V, D); None if it is the target's.
    """

    settings: dict
    source: Any
    target: Any
    bias: Any
    layers: dict
    prefix: str = ""
    sines_first: bool = False
    output: Any = None


def assemble(
    models: Sequence,
    tables: Sequence,
    network: PretrainedNetwork,
    longest: int,
    prefix: str | None = None,
    languages: dict[str, str] | None = None,
    about: dict | None = None,
    search_defaults: dict[str, Any] | None = None,
    alignment_head: AlignmentHead | None = None,
) -> Translator:
    """Returns the translator.

    Args:
        prefix: A piece that stands before every source; None for none.
        languages: dict from a target language's code to the piece that stands before sources to
            choose it; None if there is no choice.
    """
    source, target = tables
    missing = missing_pieces(models[0], source)
    transformer = make_transformer(network, source, len(missing))
    prefixes = [] if prefix is None else [prefix]
    prefixes += (languages or {}).values()
    model = with_ids_of(models[0], source.with_more(missing), prefixes=prefixes)
    shared = network.target is None
    known: dict[str, Any] = {SINGLE_SENTENCES: True, READS_CAPITALS: reads_capitals(source.pieces)}
    if _BYTE not in source.pieces:
        known[SCRIPTS] = scripts_of(source.pieces)
    about = {**known, **(about or {})}
    target = with_ids_of(models[1], target, missing if shared else [])
    tokenizer = Tokenizer(model, prefix, languages)
    return Translator(
        tokenizer,
        transformer,
        Tokenizer(target),
        longest,
        alignment_head,
        about=about,
        search_defaults=search_defaults,
    )


def head_of(layer: int, heads: int, settings: dict) -> AlignmentHead | None:
    """Returns the head whose attention aligns words in the original.

    Returns:
        `AlignmentHead`; None if there is no such layer.
    """
    layers = settings.get("num_decoder_layers")
    layers = settings["num_layers"] if layers is None else layers
    if not -layers <= layer < layers:
        return None
    number = 1 if heads == 1 or settings["num_heads"] == 1 else None
    return AlignmentHead(layer % layers + 1, number)


def decoder_width(encoder: int, decoder: int) -> dict:
    """Returns the setting of a decoder whose inner width is not the encoder's; {} if it is."""
    return {} if decoder == encoder else {"decoder_d_ff": decoder}


def network_with(
    settings: dict,
    matrices: Sequence,
    bias: np.ndarray | None,
    layers: dict,
    tables: Sequence,
    sines_first: bool = True,
) -> PretrainedNetwork:
    """Returns the `PretrainedNetwork` of three tables of vectors; equal ones become one.

    Args:
        matrices: The tables of source, target and output, each float (V, D). Missing rows become
            zeros, so that each id of a side has one.
    """
    source, target, output = matrices
    shared = tables[0] == tables[1] and np.array_equal(source, target)
    tied = np.array_equal(output, target)
    sizes = [len(table.pieces) for table in tables]
    return PretrainedNetwork(
        settings,
        with_rows(source, sizes[0]),
        None if shared else with_rows(target, sizes[1]),
        bias,
        layers,
        sines_first=sines_first,
        output=None if tied else with_rows(output, sizes[1]),
    )


def with_rows(table: np.ndarray, number: int):
    """Returns a table, float (V, D), with `number` rows: zeros behind its own. None stays None."""
    if table is None or len(table) == number:
        return table
    return np.pad(table, [(0, number - len(table)), (0, 0)])


def make_transformer(network: PretrainedNetwork, ids: IdTable, unknown_ids: int) -> Transformer:
    """Returns the `Transformer`."""
    shared = network.target is None
    bias = network.bias
    for name in ("source", "target", "output", "bias"):
        if (array := getattr(network, name)) is not None:
            check_numbers(f"{name}, of the vocabulary", np.asarray(array))
    _check_sizes(network)
    if bias is None and shared and unknown_ids:
        bias = np.zeros(len(ids.pieces))
    transformer = Transformer(
        len(network.source) + unknown_ids,
        target_vocab_size=None if shared else len(network.target),
        output_bias=bias is not None,
        tied_output=network.output is None,
        **network.settings,
    )
    order = np.arange(transformer.d_model)
    if network.sines_first:
        order = order.reshape(2, -1).T.ravel()  # 0, D/2, 1, D/2 + 1, ...
    rows = [*range(len(network.source)), *[ids.unknown_id] * unknown_ids]
    transformer.source_embedding.table.assign(network.source[np.ix_(rows, order)])
    if not shared:
        transformer.target_embedding.table.assign(network.target[:, order])
    if network.output is not None:
        transformer.target_embedding.output_table.assign(
            network.output[np.ix_(rows if shared else [*range(len(network.output))], order)]
        )
    if bias is not None:
        filled = np.full(transformer.target_embedding.vocab_size, NEVER, np.float32)
        filled[: len(bias)] = bias
        transformer.target_embedding.bias.assign(filled)
    weights = _Reordered(network.layers, order)
    for name, stack in (("encoder", transformer.encoder), ("decoder", transformer.decoder)):
        prefix = f"{network.prefix}{name}."
        for i, layer in enumerate(stack.layers):
            _fill_layer(layer, weights, f"{prefix}layers.{i}.")
        if stack.norm:
            weights.fill_norm(stack.norm, f"{prefix}layer_norm.", stack.d_model)
    weights.check_all_taken()
    return transformer


def _check_sizes(network):
    """Raises a ValueError if the settings ask for far more weights than there are.

    A `Transformer` is built from the settings alone, so wrong ones could take any amount of time
    and memory. Single weights that are missing or superfluous are named later.
    """
    settings = network.settings
    encoder_layers = settings["num_layers"]
    decoder_layers = settings.get("num_decoder_layers")
    decoder_layers = encoder_layers if decoder_layers is None else decoder_layers
    for side, number in (("encoder", encoder_layers), ("decoder", decoder_layers)):
        start = f"{network.prefix}{side}.layers."
        layers = {
            name.removeprefix(start).partition(".")[0]
            for name in network.layers
            if name.startswith(start)
        }
        if len(layers) < number:
            raise ValueError(
                f"The weights must have all layers that the settings name. Received: {number} "
                f"layers of the {side} in the settings, {len(layers)} in the weights."
            )
    d_model, d_ff = settings["d_model"], settings["d_ff"]
    decoder_d_ff = settings.get("decoder_d_ff") or d_ff
    matrices = 4 * encoder_layers  # Of d_model by d_model.
    matrices += decoder_layers * (8 if settings.get("decoder_cell") != "ssru" else 6)
    needed = matrices * d_model**2
    needed += 2 * d_model * (d_ff * encoder_layers + decoder_d_ff * decoder_layers)
    have = sum(np.size(array) for array in network.layers.values())
    if needed > 2 * have:
        raise ValueError(
            "The weights must fit the settings. Received: "
            f"d_model={d_model}, d_ff={d_ff}, decoder_d_ff={decoder_d_ff}, "
            f"which need {needed:,} weights, and {have:,}."
        )


class _Reordered(StateDict):
    """A state dict whose axes of D elements are reordered.

    Args:
        arrays: dict from name to float array.
        order: integer array (D,).
    """

    def __init__(self, arrays: Any, order: Any):
        super().__init__(arrays)
        self._order = order

    def take(self, name: str, *shape: int):
        array = super().take(name, *shape)
        module, _, kind = name.rpartition(".")
        module = module.rpartition(".")[2]
        writes = module in ("fc2", "out_proj", *_CELL) or module.endswith("layer_norm")
        if writes:  # Outputs that are added to the vectors, or scale them.
            array = array[self._order]
        reads = kind == "weight" and (module in _CELL or not writes)
        return array[:, self._order] if reads else array


def _fill_layer(layer, weights, prefix):
    d_model, d_ff = layer.d_model, layer.d_ff
    attentions = {}
    if not hasattr(layer, "cross_attention"):
        attentions["self_attn"] = layer.attention, layer.attention_residual
    else:
        attentions["encoder_attn"] = layer.cross_attention, layer.cross_residual
        if layer.decoder_cell == "attention":
            attentions["self_attn"] = layer.self_attention, layer.self_residual
        else:
            _fill_cell(layer.ssru, layer.self_residual.norm, weights, f"{prefix}ssru")
    for name, (attention, residual) in attentions.items():
        for projection, module in (
            (attention.query_projection, "q_proj"),
            (attention.key_projection, "k_proj"),
            (attention.value_projection, "v_proj"),
            (attention.output_projection, "out_proj"),
        ):
            weights.fill_dense(projection, f"{prefix}{name}.{module}.", d_model, d_model)
        weights.fill_norm(residual.norm, f"{prefix}{name}_layer_norm.", d_model)
    weights.fill_dense(layer.feed_forward.inner, f"{prefix}fc1.", d_ff, d_model)
    weights.fill_dense(layer.feed_forward.outer, f"{prefix}fc2.", d_model, d_ff)
    weights.fill_norm(layer.feed_forward_residual.norm, f"{prefix}final_layer_norm.", d_model)


def _fill_cell(cell, norm, weights, prefix):
    width = cell.d_model
    cell.input_projection.set_weights([weights.take(f"{prefix}.input.weight", width, width).T])
    weights.fill_dense(cell.forget_gate, f"{prefix}.forget_gate.", width, width)
    weights.fill_norm(norm, f"{prefix}_layer_norm.", width)


def paper_positions() -> dict:
    """Returns the settings of the positions of the paper, which OpenNMT-py uses.

    The ports of Marian to transformers and CTranslate2 use them, too.
    """
    return {"first_position": 0, "max_wavelength": MAX_WAVELENGTH}


def tensor2tensor_positions(d_model: int, first: int) -> dict:
    """Returns the settings of positions whose slowest wave has the frequency 1 / 10,000 exactly.

    [tensor2tensor](https://github.com/tensorflow/tensor2tensor) had them first. Marian counts
    them from 0, OpenNMT-tf from 1, fairseq from 2.
    """
    if d_model < 4:
        raise ValueError(f"The width must be at least 4. Received: d_model={d_model}.")
    return {
        "first_position": first,
        "max_wavelength": MAX_WAVELENGTH ** (d_model / (d_model - 2)),
    }


def positions_in_table(table: np.ndarray, d_model: int) -> tuple[dict, bool] | None:
    """Returns the settings that give a table of positions, float (T, D), and its order.

    Returns:
        The settings; and whether all sines come before all cosines. None if no kind of sinusoidal
        positions fits.
    """
    table = table[:_ROWS]
    kinds = [paper_positions()]
    if d_model > 2:
        kinds += [tensor2tensor_positions(d_model, first) for first in (0, 1, 2)]
    for settings in kinds:
        alternating = np.array(PositionalEncoding(**settings).encodings(len(table), d_model))
        halves = np.concatenate([alternating[:, ::2], alternating[:, 1::2]], axis=1)
        for sines_first, encodings in ((False, alternating), (True, halves)):
            if np.abs(table - encodings).max() < _ROUNDING:
                return settings, sines_first
    return None
