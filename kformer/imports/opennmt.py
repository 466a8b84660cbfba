"""A translator from a checkpoint of OpenNMT-py, and its tables of ids, which OpenNMT-tf shares.

The sources of OpenNMT-py have no end id. Here they have one, as all texts have, to which the
network pays no attention: the `ignored_source_id` of `kformer.Transformer`.
"""

from pathlib import Path
from typing import Any

from kformer.imports.assembly import assemble, head_of
from kformer.imports.id_table import IdTable, with_common_padding
from kformer.imports.opennmt_weights import network_of
from kformer.imports.plain_vocabularies import check_pieces, read_models
from kformer.imports.readme_card import read_card
from kformer.imports.toolkit_settings import ToolkitSettings, read_checkpoint, settings_in
from kformer.tasks.translator import Translator

START, END, UNKNOWN, PADDING = "<s>", "</s>", "<unk>", "<blank>"
LONGEST = 512  # Ids of a source; a checkpoint does not record the longest source of the training.
_TOOLKIT = "OpenNMT-py"
_FEATURES = {  # Unsupported features, by the setting that turns them on.
    "max_relative_positions": "relative or rotary positions or ALiBi",
    "copy_attn": "a copy mechanism",
    "multiquery": "one head for all keys",
    "num_kv": "fewer heads for keys than for queries",
    "parallel_residual": "parallel sub-layers",
    "num_experts": "layers of experts",
    "sliding_window": "a sliding window",
}
_GATE = ".feed_forward.w_3."


def tables_of(vocabularies: Any, path: Path, toolkit: str, start: str = START) -> list[IdTable]:
    """Returns the `IdTable`s of both sides, with padding at the same id."""
    special = {"end": END, "unknown": UNKNOWN, "start": start}
    source, target = vocabularies
    source = [*source, *(piece for piece in special.values() if piece not in source)]
    missing = [piece for piece in special.values() if piece not in target]
    if missing or UNKNOWN not in vocabularies[0]:
        raise ValueError(
            f"A vocabulary of {toolkit} must hold {', '.join(special.values())}. "
            f"Received: no {', '.join(missing) or UNKNOWN} in {str(path)!r}."
        )
    padding, sides = with_common_padding([source, target], (PADDING,))
    tables = [IdTable(pieces, padding=padding, **special) for pieces in sides]
    return tables if tables[0] != tables[1] else tables[:1] * 2


def from_opennmt(
    checkpoint: str | Path,
    source_model: str | Path | None = None,
    target_model: str | Path | None = None,
) -> Translator:
    """Returns the translator of a checkpoint of OpenNMT-py, a .pt file.

    The model is a Transformer with sinusoidal positions, whose text was split by SentencePiece.
    Neither OpenNMT-py nor PyTorch is needed, and nothing from the file is run. Licence, languages
    and citation of a README.md in the folder go into `Translator.about`.

    Args:
        checkpoint: Path of the file.
        source_model: Path of the SentencePiece model of the sources; None for source.spm in the
            folder of the checkpoint.
        target_model: Path of the SentencePiece model of the translations; None for target.spm in
            the folder if it exists, else for the model of the sources.

    Raises:
        FileNotFoundError, IsADirectoryError: A file is missing.
        ValueError: A file is damaged, or the files do not belong together, or the model has parts
            that a `kformer.Transformer` lacks.

    Examples:
        >>> import kformer
        >>> translator = kformer.from_opennmt("opennmt-de-en/model.pt")
        >>> translator.transformer.num_heads
        4
        >>> translator.save("de-en.keras")
    """
    path = Path(checkpoint)
    content = read_checkpoint(path, _TOOLKIT)
    vocabularies, start = _vocabularies(content.get("vocab"), path)
    settings = ToolkitSettings(settings_in(content.get("opt")), _TOOLKIT, path)
    _check(settings, content["model"])
    start = settings.values.get("decoder_start_token") or start
    tables = tables_of(vocabularies, path, _TOOLKIT, start)
    network = network_of(content, settings, [*map(len, vocabularies)], tables, path)
    models = read_models(path.parent, source_model, target_model, f"The folder of {_TOOLKIT}")
    head = _alignment_head(settings.values, network.settings)
    about = read_card(path.parent)
    return assemble(models, tables, network, LONGEST, about=about, alignment_head=head)


def _alignment_head(values, settings):
    """Returns the head that was trained to align words; None if none was."""
    layer, heads = values.get("alignment_layer"), values.get("alignment_heads", 0)
    trained = values.get("lambda_align") and type(layer) is int and type(heads) is int
    return head_of(layer, heads, settings) if trained else None


def _vocabularies(vocabularies, path):
    """Returns the pieces of both sides, and the one that starts a translation."""
    vocabularies = settings_in(vocabularies)
    sides = [vocabularies.get(name) for name in ("src", "tgt")]
    if not all(isinstance(side, list) and all(isinstance(p, str) for p in side) for side in sides):
        raise ValueError(
            f"A checkpoint of {_TOOLKIT} must hold `vocab`, with lists of pieces `src` and `tgt`, "
            "as version 3 writes them: convert an older one by its tools. "
            f"Received: {str(path)!r}, which does not."
        )
    for side in sides:
        check_pieces(side, str(path))
    if vocabularies.get("src_feats"):
        raise ValueError(
            f"Models of {_TOOLKIT} with features of the source's words cannot be imported. "
            f"Received: {', '.join(vocabularies['src_feats'])} in {str(path)!r}."
        )
    return sides, vocabularies.get("decoder_start_token") or START


def _check(settings, weights):
    values = settings.values
    if values.get("model_task", "seq2seq") != "seq2seq":
        settings.refuse("Models that do not translate cannot be imported.", "model_task")
    types = ("encoder_type", "decoder_type")
    if [values.get(name) for name in types] != ["transformer", "transformer"]:
        settings.refuse("Encoder and decoder must be of the type 'transformer'.", *types)
    settings.refuse_features(_FEATURES)
    for name, needed in (
        ("self_attn_type", ("scaled-dot", "scaled-dot-flash")),
        ("layer_norm", ("standard",)),
        ("generator_function", ("softmax",)),
    ):
        if values.get(name, needed[0]) not in needed:
            rule = f"Models of {_TOOLKIT} whose {name} is not {needed[0]!r} cannot be imported."
            settings.refuse(rule, name)
    if any(_GATE in name for name in weights):
        rule = f"Models of {_TOOLKIT} with gated feed-forward networks cannot be imported."
        settings.refuse(rule, "pos_ffn_activation_fn")
