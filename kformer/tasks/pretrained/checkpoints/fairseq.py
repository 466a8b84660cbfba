"""A translator from a checkpoint of fairseq.

Weights have the names of Hugging Face's MarianMTModel, which is made after fairseq.

Axes: D d_model, V vocabulary.
"""

from pathlib import Path

import numpy as np

from kformer.tasks.pretrained.assembly import NEVER, assemble, network_with
from kformer.tasks.pretrained.checkpoints.checkpoint import read_checkpoint
from kformer.tasks.pretrained.checkpoints.fairseq_settings import Fairseq
from kformer.tasks.pretrained.id_table import IdTable
from kformer.tasks.pretrained.model_card import read_card
from kformer.tasks.pretrained.sentencepiece_files import check_pieces, existing, read_models
from kformer.tasks.translator import Translator

_START, _PADDING, _END, _UNKNOWN = _SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
_BEST = "checkpoint_best.pt"
_OVERWRITE = " #fairseq:overwrite"
_SOURCE, _TARGET = "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"
_OUTPUT = "decoder.output_projection.weight"
_OLD_OUTPUT = "decoder.embed_out"
_COMPUTED = ("embed_positions._float_tensor", "coder.version")  # Nothing that was learned.
_WHOSE = "The folder of a checkpoint of fairseq"


def from_fairseq(
    checkpoint: str | Path,
    source_model: str | Path | None = None,
    target_model: str | Path | None = None,
    dictionaries: str | Path | None = None,
) -> Translator:
    """Returns the translator of a checkpoint of fairseq, a .pt file.

    The model is one of fairseq's task `translation`, a Transformer with sinusoidal positions, whose
    text was split by SentencePiece. Neither fairseq nor PyTorch is needed, and nothing from the
    file is run. Licence, languages and citation of a README.md in the folder become those of
    `Translator.about`.

    The result gives the logits of fairseq, and so its translations, with one exception: padding,
    which fairseq never chooses, has no share of the probability either.

    Args:
        checkpoint: Path of the file; or of a folder that holds one .pt file, or
            checkpoint_best.pt.
        source_model: Path of the SentencePiece model of the sources; None for source.spm in the
            folder of the checkpoint.
        target_model: That of the translations; None for target.spm in the folder if it has one,
            else for that of the sources.
        dictionaries: Folder of dict.SOURCE.txt and dict.TARGET.txt; None for that of the
            checkpoint.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: A file is damaged, or the files do not belong together, or the model has parts
            that a `kformer.Transformer` lacks.
    """
    path = _checkpoint_in(Path(checkpoint))
    content = read_checkpoint(path, "fairseq", packages=("fairseq",))
    settings = Fairseq(content, path)
    folder = path.parent if dictionaries is None else Path(dictionaries)
    tables = [_read_dictionary(folder, language) for language in settings.languages]
    if tables[0] == tables[1]:
        tables = tables[:1] * 2
    models = read_models(path.parent, source_model, target_model, _WHOSE)
    network = _network_of(content["model"], settings, tables, path)
    return assemble(models, tables, network, settings.longest, about=read_card(path.parent))


def _checkpoint_in(path):
    if not path.is_dir():
        return path
    found = sorted(path.glob("*.pt"))
    best = [one for one in found if one.name == _BEST]
    if len(found) != 1 and not best:
        names = ", ".join(one.name for one in found) or "none"
        raise FileNotFoundError(
            f"{_WHOSE} must hold one .pt file, or {_BEST}. "
            f"Received: {str(path)!r}, which holds {names}."
        )
    return (best or found)[0]


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
    """Returns the `Network` of the weights by name."""
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
