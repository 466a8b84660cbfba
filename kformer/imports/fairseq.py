"""A translator from a checkpoint of fairseq, and the settings in the checkpoint.

Weights have the names of Hugging Face's MarianMTModel, which is made after fairseq.

Axes: D d_model, V vocabulary.
"""

from pathlib import Path

import numpy as np

from kformer.imports.assembly import (
    NEVER,
    assemble,
    decoder_width,
    head_of,
    network_with,
    tensor2tensor_positions,
)
from kformer.imports.id_table import IdTable
from kformer.imports.plain_vocabularies import check_pieces, existing, read_models
from kformer.imports.readme_card import read_card
from kformer.imports.toolkit_settings import ToolkitSettings, read_checkpoint, settings_in
from kformer.tasks.translator import Translator
from kformer.text.alignment import AlignmentHead

_LONGEST = 1024  # Ids of a source, if no setting limits them; fairseq's own default.
_ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "swish"}
_TASK = "translation"
_OTHER_SPLITTING = ("fastbpe", "subword_nmt", "gpt2", "bytes", "byte_bpe", "characters", "bert")
_FEATURES = {  # Unsupported features, by the setting that turns them on.
    "encoder_learned_pos": "learned positions",
    "decoder_learned_pos": "learned positions",
    "no_token_positional_embeddings": "positions that are turned off",
    "layernorm_embedding": "a norm of the embedded ids",
    "no_scale_embedding": "embeddings that are not scaled",
    "adaptive_input": "adaptive inputs",
    "adaptive_softmax_cutoff": "an adaptive softmax",
    "quant_noise_pq": "quantization noise",
    "quant_noise_scalar": "quantization noise",
    "cross_self_attention": "attention to source and target at once",
    "no_cross_attention": "a decoder that does not attend to the source",
    "no_decoder_final_norm": "a decoder that lacks its last norm",
    "encoder_layers_to_keep": "layers that are left out",
    "decoder_layers_to_keep": "layers that are left out",
    "character_embeddings": "embeddings of characters",
    "base_layers": "layers of experts",
    "encoder_langtok": "tokens of languages",
    "decoder_langtok": "tokens of languages",
}
_START, _PADDING, _END, _UNKNOWN = _SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
_BEST = "checkpoint_best.pt"
_OVERWRITE = " #fairseq:overwrite"
_SOURCE, _TARGET = "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"
_OUTPUT = "decoder.output_projection.weight"
_OLD_OUTPUT = "decoder.embed_out"
_COMPUTED = ("embed_positions._float_tensor", "coder.version")  # Not learned.
_WHOSE = "The folder of a checkpoint of fairseq"


class FairseqSettings:
    """The settings of a checkpoint of fairseq, as arguments of a `kformer.Transformer`.

    Args:
        content: Content of the file, with `args`, or with `cfg` in newer ones.
        path: For messages.

    Attributes:
        languages: Source and target language, as in the file names of the dictionaries.
        longest: Largest number of ids of a source.

    Raises:
        ValueError: The network is no `kformer.Transformer`, or its text was not split by
            SentencePiece.
    """

    def __init__(self, content: dict, path: Path):
        config = settings_in(content.get("cfg"))
        values = settings_in(content.get("args"))
        for part in ("bpe", "task", "model"):
            values = values | settings_in(config.get(part))
        self._settings = ToolkitSettings(values, "fairseq", path)
        if not values:
            self._settings.refuse("A checkpoint of fairseq must hold its settings.", "args", "cfg")
        for part in ("bpe", "task"):
            values[part] = settings_in(config.get(part)).get("_name", values.get(part))
        self._check()
        self.languages = [self._language(name) for name in ("source_lang", "target_lang")]
        longest = values.get("max_source_positions")
        self.longest = longest if type(longest) is int else _LONGEST

    def network(self) -> dict:
        """Returns arguments of `kformer.Transformer` by name."""
        settings = self._settings
        sides = ("encoder", "decoder")
        for name in ("attention_heads", "embed_dim"):
            settings.common(*(f"{side}_{name}" for side in sides))
        norms = [bool(settings.values.get(f"{side}_normalize_before")) for side in sides]
        if norms[0] != norms[1]:
            names = [f"{side}_normalize_before" for side in sides]
            settings.refuse(f"{' and '.join(names)} must be equal.", *names)
        d_model = settings.number("encoder_embed_dim")
        if d_model % 2 or d_model < 4:
            settings.refuse("The width must be even, and at least 4.", "encoder_embed_dim")
        return {
            "num_layers": settings.number("encoder_layers"),
            "num_decoder_layers": settings.number("decoder_layers"),
            "d_model": d_model,
            "num_heads": settings.number("encoder_attention_heads"),
            "d_ff": settings.number("encoder_ffn_embed_dim"),
            **decoder_width(*(settings.number(f"{side}_ffn_embed_dim") for side in sides)),
            "norm_first": norms[0],
            "activation": settings.choice("activation_fn", _ACTIVATIONS, "relu"),
            "padding_id": 1,
            **tensor2tensor_positions(d_model, first=2),
        }

    def alignment_head(self, network: dict) -> AlignmentHead | None:
        """Returns the head that was trained to align words; None if none was."""
        layer, heads = (
            self._settings.values.get(f"alignment_{name}") for name in ("layer", "heads")
        )
        return head_of(layer, heads or 0, network) if type(layer) is int else None

    @property
    def tied_output(self) -> bool:
        """Whether the output shares the table of the target."""
        shares = ("share_decoder_input_output_embed", "share_all_embeddings")
        return any(self._settings.values.get(name) for name in shares)

    def _check(self):
        settings, values = self._settings, self._settings.values
        if values["task"] not in (None, _TASK):
            settings.refuse(
                f"Models of fairseq of another task than `{_TASK}` cannot be imported.", "task"
            )
        if values["bpe"] in _OTHER_SPLITTING:
            settings.refuse("The text must be split by SentencePiece.", "bpe")
        settings.refuse_features(_FEATURES)

    def _language(self, name):
        value = self._settings.values.get(name)
        if not isinstance(value, str) or not value or Path(value).name != value:
            self._settings.refuse("The settings must name the languages of the dictionaries.", name)
        return value


def from_fairseq(
    checkpoint: str | Path,
    source_model: str | Path | None = None,
    target_model: str | Path | None = None,
    dictionaries: str | Path | None = None,
) -> Translator:
    """Returns the translator of a checkpoint of fairseq, a .pt file.

    The model is one of fairseq's task `translation`, a Transformer with sinusoidal positions, whose
    text was split by SentencePiece. Neither fairseq nor PyTorch is needed, and nothing from the
    file is run. Licence, languages and citation of a README.md in the folder go into
    `Translator.about`.

    The result gives the logits of fairseq, and so its translations, with one exception: padding,
    which fairseq never chooses, has no share of the probability either.

    Args:
        checkpoint: Path of the file; or of a folder that holds one .pt file, or
            checkpoint_best.pt.
        source_model: Path of the SentencePiece model of the sources; None for source.spm in the
            folder of the checkpoint.
        target_model: Path of the SentencePiece model of the translations; None for target.spm in
            the folder if it exists, else for the model of the sources.
        dictionaries: Folder of dict.SOURCE.txt and dict.TARGET.txt; None for the folder of the
            checkpoint.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: A file is damaged, or the files do not belong together, or the model has parts
            that a `kformer.Transformer` lacks.

    Examples:
        >>> import kformer
        >>> translator = kformer.from_fairseq("fairseq-de-en/checkpoint_best.pt")
        >>> translator.max_source_length
        64
        >>> translator.save("de-en.keras")
    """
    path = _checkpoint_in(Path(checkpoint))
    content = read_checkpoint(path, "fairseq", packages=("fairseq",))
    settings = FairseqSettings(content, path)
    folder = path.parent if dictionaries is None else Path(dictionaries)
    tables = [_read_dictionary(folder, language) for language in settings.languages]
    if tables[0] == tables[1]:
        tables = tables[:1] * 2
    models = read_models(path.parent, source_model, target_model, _WHOSE)
    network = _network_of(content["model"], settings, tables, path)
    head = settings.alignment_head(network.settings)
    about = read_card(path.parent)
    return assemble(models, tables, network, settings.longest, about=about, alignment_head=head)


def _checkpoint_in(path):
    if not path.is_dir():
        return path
    files = sorted(path.glob("*.pt"))
    best = [file for file in files if file.name == _BEST]
    if len(files) != 1 and not best:
        names = ", ".join(file.name for file in files) or "none"
        raise FileNotFoundError(
            f"{_WHOSE} must hold one .pt file, or {_BEST}. "
            f"Received: {str(path)!r}, which holds {names}."
        )
    return (best or files)[0]


def _read_dictionary(folder, language):
    """Returns the `IdTable` of a dictionary: the special pieces, and one on each line."""
    path = existing(folder, f"dict.{language}.txt", "The folder of the dictionaries of fairseq")
    lines = path.read_text("utf-8", errors="replace").split("\n")
    lines = [line.removesuffix(_OVERWRITE) for line in lines if line.strip()]
    fields = [line.rstrip().rpartition(" ") for line in lines]
    if not all(piece and count.isdecimal() for piece, _, count in fields):
        raise ValueError(
            "A dictionary of fairseq must have a piece and its count on each line. "
            f"Received: {str(path)!r}."
        )
    pieces = [*_SPECIAL, *(piece for piece, _, _ in fields)]
    check_pieces(pieces, str(path))
    return IdTable(pieces, end=_END, unknown=_UNKNOWN, padding=_PADDING, start=_END)


def _network_of(weights, fairseq, tables, path):
    """Returns the `PretrainedNetwork` of the weights by name."""
    settings = fairseq.network()
    layers = {
        name: array
        for name, array in weights.items()
        if not any(part in name for part in _COMPUTED)
    }
    source, target = (
        _take_table(layers, name, len(table.pieces), settings["d_model"], path)
        for name, table in zip((_SOURCE, _TARGET), tables, strict=True)
    )
    if _OLD_OUTPUT in layers:
        layers[_OUTPUT] = layers.pop(_OLD_OUTPUT)
    output = target
    if _OUTPUT in layers or not fairseq.tied_output:
        output = _take_table(layers, _OUTPUT, *target.shape, path)
    bias = np.zeros(len(target), np.float32)
    bias[tables[1].pieces.index(_PADDING)] = NEVER
    return network_with(settings, (source, target, output), bias, layers, tables)


def _take_table(layers, name, size, d_model, path):
    table = layers.pop(name, None)
    shape = getattr(table, "shape", None)
    if shape != (size, d_model):
        raise ValueError(
            f"The dictionaries must fit the weights: {name!r} must have shape {(size, d_model)}. "
            f"Received: {shape} in {str(path)!r}."
        )
    return table
