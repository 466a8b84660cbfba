"""A model as Marian itself writes it: its weights, with its settings and vocabularies beside.

The weights have other names than in Hugging Face's MarianMTModel and are transposed. They lack the
padding id, whose vector, zeros, is where a translation starts.
"""

import re
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kformer.archives import Archive
from kformer.imports.generation_config import search_of_marian
from kformer.imports.marian_binary import MarianBinary
from kformer.imports.marian_config import network_config
from kformer.imports.marian_vocabularies import MarianVocabularies
from kformer.imports.yaml_text import read_yaml

_CONFIG = "special:model.yml"  # In the file of weights.
_CONTROLS = frozenset(f"<0x{i:02X}>" for i in range(32))  # Marian never writes them.
_TABLES = {
    "Wemb": "model.shared.weight",
    "encoder_Wemb": "model.encoder.embed_tokens.weight",
    "decoder_Wemb": "model.decoder.embed_tokens.weight",
    "decoder_ff_logit_out_Wt": "lm_head.weight",
}
_OUTPUT = "decoder_ff_logit_out_W"
_BIAS = "decoder_ff_logit_out_b"
_SPECIAL = "special:"
_INPUT_SCALE = "_QuantMultA"  # How an engine of int8 rounds the inputs of a matrix.
_TOP_NORM = re.compile(r"(encoder|decoder)_top_ln_(scale|bias)")
_NORM = re.compile(r"(?:(?:Wo|ffn)_)?ln_(scale|bias)(_pre)?")
_LAYER = re.compile(r"(encoder|decoder)_l(\d+)_(self|context|ffn|rnn)_(.+)")
_ATTENTION = {"self": "self_attn", "context": "encoder_attn"}
_PROJECTIONS = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "o": "out_proj"}
_KINDS = {"scale": "weight", "bias": "bias"}  # Of norms.
_CELL = {"W": "input.weight", "Wf": "forget_gate.weight", "bf": "forget_gate.bias"}


class MarianModel:
    """Reads the files of a model of Marian, with the attributes of `MarianFolder`.

    Args:
        weights: An .npz file, or a file in Marian's binary format, also with .gz.
        vocabularies: The files of both vocabularies.
        settings: Settings for translating, such as those of decoder.yml.
    """

    def __init__(self, weights: Path, vocabularies: Sequence[Path], settings: dict):
        self._weights, self._settings = weights, settings
        self.path = weights.parent
        _warn_of_text_shortlists(self.path)
        with self._opened() as archive:
            self.config = network_config(self._network_settings(archive), str(weights))
        read = MarianVocabularies(self.path, vocabularies)
        self.models, self.tables, self.sizes = read.models, read.tables, read.sizes
        self.config["pad_token_id"] = self.tables[0].pieces.index(self.tables[0].padding)

    @property
    def activation(self) -> str:
        """The activation of the feed-forward networks, by its name in kformer."""
        return self.config["activation"]

    @property
    def decoder_cell(self) -> str:
        """The sub-layer by which the decoder reads earlier positions, by its name in kformer."""
        return self.config["cell"]

    @property
    def absent(self) -> set[int]:
        """The target ids that Marian lacks."""
        return {*range(self.sizes[1], len(self.tables[1].pieces))}

    @property
    def forbidden(self) -> set[int]:
        """The target ids that Marian never chooses."""
        table = self.tables[1]
        pieces = {
            *(() if self._allows("special") else _CONTROLS),
            *(() if self._allows("unk") else (table.unknown,)),
        }
        return {i for i, piece in enumerate(table.pieces) if piece in pieces}

    def arrays(self) -> dict:
        """Reads the weights, under the names and in the form of MarianMTModel."""
        arrays: dict = {}
        with self._opened() as archive:
            for name in archive.array_names():
                if name == _OUTPUT:
                    arrays |= self._renamed(f"{_OUTPUT}t", archive.array(name).T)
                elif not (name.startswith(_SPECIAL) or name.endswith(_INPUT_SCALE)):
                    arrays |= self._renamed(name, archive.array(name))
        return arrays

    @property
    def search(self) -> dict:
        """The model's search defaults."""
        return search_of_marian(self._settings, str(self.path))

    def _allows(self, what):
        return str(self._settings.get(f"allow-{what}", "false")).lower() == "true"

    def _renamed(self, name, array):
        if name in _TABLES:
            return {_TABLES[name]: self._with_rows(array, name != "encoder_Wemb")}
        if name == _BIAS:
            return {"final_logits_bias": self._with_rows(array.T, 1).T}
        if match := _TOP_NORM.fullmatch(name):
            return {f"model.{match[1]}.layer_norm.{_KINDS[match[2]]}": np.squeeze(array)}
        match = _LAYER.fullmatch(name)
        norm = _NORM.fullmatch(match[4]) if match else None
        if not match or (norm and bool(norm[2]) != self.config["norm_first"]):
            return {name: array}  # A part that a `Transformer` lacks: refused by this name.
        stack, number, kind, rest = match.groups()
        place = f"model.{stack}.layers.{int(number) - 1}."
        return {place + _name_of(kind, rest): np.squeeze(array.T)}

    def _with_rows(self, table, side):
        """Returns a table with a row of zeros for each id that Marian lacks."""
        size, number = self.sizes[side], len(self.tables[side].pieces)
        if len(table) != size:
            raise ValueError(
                f"The {('source', 'target')[side]} vocabulary must fit the weights: {size} pieces "
                f"need as many rows. Received: {len(table)} rows in {str(self._weights)!r}."
            )
        return np.pad(table, ((0, number - size), (0, 0)))

    def _opened(self):
        if self._weights.suffix == ".npz":
            return Archive(self._weights, "The weights of Marian must be an .npz file.")
        return MarianBinary(self._weights)

    def _network_settings(self, archive):
        """Returns the settings of the network: in the file, or, for older models, beside it."""
        if _CONFIG in archive.array_names():
            text = archive.array(_CONFIG).tobytes().rstrip(b"\0").decode("utf-8", "replace")
            return read_yaml(self._weights, text)
        beside = self._weights.with_name(f"{self._weights.name}.yml")
        if not beside.is_file():
            raise ValueError(
                f"The weights of Marian must hold {_CONFIG}, or {beside.name} must lie beside. "
                f"Received: {str(self._weights)!r}, without either."
            )
        return read_yaml(beside)


def _warn_of_text_shortlists(folder):
    names = [file.name for file in sorted(folder.glob("lex*")) if ".bin" not in file.suffixes[-2:]]
    if names:
        warnings.warn(
            "Shortlists in the form of text are ignored: the search is among all ids. Marian's "
            f"binary ones, lex*.bin, can be read. Received: {', '.join(names)} in {str(folder)!r}.",
            stacklevel=2,
        )


def _name_of(kind, rest):
    """Returns the name in MarianMTModel of a weight of a layer, or one like them."""
    if norm := _NORM.fullmatch(rest):
        module = {"ffn": "final", "rnn": "ssru"}.get(kind) or _ATTENTION[kind]
        return f"{module}_layer_norm.{_KINDS[norm[1]]}"
    weight = "weight" if rest[0] == "W" else "bias"
    if kind == "rnn":
        return f"ssru.{_CELL.get(rest, rest)}"
    if kind == "ffn":
        return f"fc{rest[1:]}.{weight}"
    return f"{_ATTENTION[kind]}.{_PROJECTIONS.get(rest[1:], rest)}.{weight}"
