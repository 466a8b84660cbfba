"""The files of a folder that Marian itself writes, and that OPUS-MT publishes as an archive.

The weights have other names than in Hugging Face's MarianMTModel and are transposed. They lack the
padding id, whose vector, zeros, is where a translation starts.
"""

import re
from pathlib import Path

import numpy as np

from kformer.archives import Archive
from kformer.imports.generation_config import search_of_marian
from kformer.imports.marian_vocabularies import MarianVocabularies
from kformer.imports.yaml_text import read_yaml

_CONFIG = "special:model.yml"  # In the file of weights.
_OPTIMIZER = ".optimizer.npz"
_SETTINGS = ("{}.decoder.yml", "decoder.yml")  # For translating; {} is the name of the weights.
_ACTIVATIONS = {"swish": "swish", "relu": "relu"}
_CONTROLS = frozenset(f"<0x{i:02X}>" for i in range(32))  # Marian never writes them.
_NEEDED = {  # Values that a `Transformer` computes, by setting: the first is the default.
    "type": ("transformer",),
    "transformer-decoder-autoreg": ("self-attention",),
    "transformer-preprocess": ("", "d"),
    "transformer-postprocess": ("dan", "an"),
    "transformer-postprocess-emb": ("d", ""),
    "transformer-postprocess-top": ("", "d"),
    "transformer-train-position-embeddings": ("false",),
    "transformer-disable-position-embeddings": ("false",),
    "transformer-attention-mask": ("default",),
    "transformer-pool": ("false",),
    "transformer-tied-layers": ("[]",),
    "transformer-decoder-dim-ffn": ("0",),
    "transformer-decoder-ffn-depth": ("0", "2"),
    "transformer-ffn-depth": ("2",),
    "transformer-no-projection": ("false",),
    "transformer-no-affine": ("false",),
    "transformer-no-bias": ("false",),
    "right-left": ("false",),
    "ulr": ("false",),
}
_CELL = "dec-cell"
_NUMBER = re.compile("[0-9]{1,9}")
_TABLES = {
    "Wemb": "model.shared.weight",
    "encoder_Wemb": "model.encoder.embed_tokens.weight",
    "decoder_Wemb": "model.decoder.embed_tokens.weight",
    "decoder_ff_logit_out_Wt": "lm_head.weight",
}
_BIAS = "decoder_ff_logit_out_b"
_LAYER = re.compile(r"(encoder|decoder)_l(\d+)_(self|context|ffn)_(.+)")
_ATTENTION = {"self": "self_attn", "context": "encoder_attn"}
_PROJECTIONS = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "o": "out_proj"}


class MarianNpz:
    """Reads a folder of Marian, with the attributes of `MarianFolder`.

    Args:
        path: The .npz file; or the folder, if it holds one .npz file beside an optimizer's state.
    """

    def __init__(self, path: str | Path):
        self._weights = self._chosen(Path(path))
        self.path = self._weights.parent
        with self._opened() as archive:
            self.config = self._read_config(archive)
        self._settings_beside = self._beside()
        names = self._settings_beside.get("vocabs", [])
        names = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
        vocabularies = MarianVocabularies(self.path, names)
        self.models, self.tables = vocabularies.models, vocabularies.tables
        self._sizes = vocabularies.sizes
        self.config["pad_token_id"] = self.tables[0].pieces.index(self.tables[0].padding)

    @property
    def activation(self):
        """The activation of the feed-forward networks, by its name in kformer."""
        return self._activation

    @property
    def forbidden(self) -> set[int]:
        """The target ids that the model must never choose."""
        table = self.tables[1]
        pieces = {
            *(() if self._allows("special") else _CONTROLS),
            *(() if self._allows("unk") else (table.unknown,)),
        }
        ids = {i for i, piece in enumerate(table.pieces) if piece in pieces}
        return {*ids, *range(self._sizes[1], len(table.pieces))}

    def arrays(self) -> dict:
        """Reads the weights, under the names and in the form of MarianMTModel."""
        arrays = {}
        with self._opened() as archive:
            for name in archive.array_names():
                if name == "decoder_ff_logit_out_W":
                    arrays |= self._renamed("decoder_ff_logit_out_Wt", archive.array(name).T)
                elif not name.startswith("special:"):
                    arrays |= self._renamed(name, archive.array(name))
        return arrays

    @property
    def search(self) -> dict:
        """The model's search defaults."""
        return search_of_marian(self._settings_beside, str(self.path))

    def _allows(self, what):
        return str(self._settings_beside.get(f"allow-{what}", "false")).lower() == "true"

    def _renamed(self, name, array):
        if name in _TABLES:
            return {_TABLES[name]: self._with_rows(array, name != "encoder_Wemb")}
        if name == _BIAS:
            return {"final_logits_bias": self._with_rows(array.T, 1).T}
        match = _LAYER.fullmatch(name)
        if not match:
            return {name: array}  # A part that a `Transformer` lacks: refused by this name.
        stack, number, kind, rest = match.groups()
        place = f"model.{stack}.layers.{int(number) - 1}."
        return {place + _name_of(kind, rest): np.squeeze(array.T)}

    def _with_rows(self, table, side):
        """Returns a table with a row of zeros for each id that Marian lacks."""
        size, number = self._sizes[side], len(self.tables[side].pieces)
        if len(table) != size:
            raise ValueError(
                f"The {('source', 'target')[side]} vocabulary must fit the weights: {size} pieces "
                f"need as many rows. Received: {len(table)} rows in {str(self._weights)!r}."
            )
        return np.pad(table, ((0, number - size), (0, 0)))

    @staticmethod
    def _chosen(path):
        """Returns the file of weights."""
        if path.is_file():
            return path
        files = [file for file in sorted(path.glob("*.npz")) if not file.name.endswith(_OPTIMIZER)]
        if len(files) != 1:
            names = ", ".join(file.name for file in files) or "none"
            raise (ValueError if files else FileNotFoundError)(
                "A folder of Marian must hold one file *.npz; of several, give the path of one. "
                f"Received: {str(path)!r}, which holds {names}."
            )
        return files[0]

    def _beside(self):
        """Returns the settings of the files beside the weights, those for translating first."""
        settings = {}
        for name in _SETTINGS:
            path = self.path / name.format(self._weights.name)
            if path.is_file():
                settings = read_yaml(path) | settings
        training = self.path / f"{self._weights.name}.yml"
        if "vocabs" not in settings and training.is_file():
            settings["vocabs"] = read_yaml(training).get("vocabs", [])
        return settings

    def _opened(self):
        return Archive(self._weights, "The weights of Marian must be an .npz file.")

    def _read_config(self, archive):
        config = self._settings(archive)
        for name, among in _NEEDED.items():
            received = str(config.get(name, among[0])).lower()
            if received not in among:
                cell = f", {_CELL}={config.get(_CELL)!r}" if received == "rnn" else ""
                raise ValueError(
                    f"Models of Marian whose {name} is not {among[0]!r} cannot be imported. "
                    f"Received: {name}={received!r}{cell} in {str(self._weights)!r}."
                )
        numbers = {
            "d_model": "dim-emb",
            "encoder_layers": "enc-depth",
            "decoder_layers": "dec-depth",
            "encoder_attention_heads": "transformer-heads",
            "encoder_ffn_dim": "transformer-dim-ffn",
        }
        lacking = [
            name for name in numbers.values() if not _NUMBER.fullmatch(str(config.get(name)))
        ]
        self._activation = _ACTIVATIONS.get(str(config.get("transformer-ffn-activation", "swish")))
        if lacking or self._activation is None:
            raise ValueError(
                f"The config of a model of Marian must hold numbers, and swish or relu. Received: "
                f"{', '.join(f'{n}={config.get(n)!r}' for n in lacking) or 'another activation'} "
                f"in {str(self._weights)!r}."
            )
        return {name: int(config[setting]) for name, setting in numbers.items()}

    def _settings(self, archive):
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


def _name_of(kind, rest):
    """Returns the name in MarianMTModel of a weight of a layer."""
    norm = re.fullmatch(r"(?:Wo|ffn)_ln_(scale|bias)", rest)
    if norm:
        module = "final" if kind == "ffn" else _ATTENTION[kind]
        return f"{module}_layer_norm.{'weight' if norm[1] == 'scale' else 'bias'}"
    weight = "weight" if rest[0] == "W" else "bias"
    if kind == "ffn":
        return f"fc{rest[1:]}.{weight}"
    return f"{_ATTENTION[kind]}.{_PROJECTIONS.get(rest[1:], rest)}.{weight}"
