"""The files of a folder that Marian itself writes, and that OPUS-MT publishes as an archive.

Its weights are named otherwise than those of Hugging Face's MarianMTModel, are transposed, and lack
the padding id, whose vector, zeros, is where a translation starts.
"""

import contextlib
import re
import zipfile
from pathlib import Path

import numpy as np

from kformer.tasks.pretrained.id_table import read_model, table_of
from kformer.tasks.pretrained.yaml_text import read_yaml

_CONFIG = "special:model.yml"  # In the file of weights.
_PADDING = "<pad>"
_ACTIVATIONS = {"swish": "swish", "relu": "relu"}
_NEEDED = {  # What a `Transformer` computes, by the name in the config: each value that is one.
    "type": {"transformer"},
    "transformer-preprocess": {""},
    "transformer-postprocess": {"dan", "an"},
    "transformer-postprocess-emb": {"d", ""},
    "transformer-postprocess-top": {""},
    "transformer-decoder-autoreg": {"self-attention"},
    "transformer-train-position-embeddings": {"false"},
    "transformer-tied-layers": {"[]"},
    "transformer-dim-decoder-ffn": {"0"},
    "transformer-ffn-depth": {"2"},
    "transformer-no-projection": {"false"},
    "transformer-no-affine": {"false"},
    "transformer-no-bias": {"false"},
    "ulr": {"false"},
}
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
    """Reads a folder of Marian; see `MarianFolder`, which has the same attributes.

    Args:
        path: The folder: it holds one .npz file, one *vocab.yml, source.spm and target.spm.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self._weights = self._one("*.npz")
        self.models = [
            read_model(self._one(name).read_bytes(), str(self.path / name))
            for name in ("source.spm", "target.spm")
        ]
        vocabulary = self._one("*vocab.yml")
        ids = {piece: int(i) for piece, i in read_yaml(vocabulary).items() if i.isdecimal()}
        self._padding_id = len(ids)
        ids[_PADDING] = self._padding_id
        special = {"end": 0, "padding": self._padding_id, "start": self._padding_id}
        self.tables = [table_of(ids, special, str(vocabulary))] * 2
        with self._opened() as arrays:
            self.config = self._read_config(arrays)

    @property
    def activation(self):
        """See `MarianFolder`."""
        return self._activation

    @property
    def forbidden(self) -> set[int]:
        """See `MarianFolder`."""
        return {self._padding_id}

    def arrays(self) -> dict:
        """Reads the weights under the names, and as, that MarianMTModel has them."""
        found = {}
        with self._opened() as arrays:
            for name in arrays.files:
                if not name.startswith("special:") and name != "decoder_ff_logit_out_W":
                    found |= self._renamed(name, arrays[name])
                elif name == "decoder_ff_logit_out_W":
                    found |= self._renamed("decoder_ff_logit_out_Wt", arrays[name].T)
        return found

    def _renamed(self, name, array):
        if name in _TABLES:
            return {_TABLES[name]: np.pad(array, ((0, 1), (0, 0)))}
        if name == _BIAS:
            return {"final_logits_bias": np.pad(array, ((0, 0), (0, 1)))}
        match = _LAYER.fullmatch(name)
        if not match:
            return {name: array}  # Of a part that a `Transformer` lacks: refused by this name.
        stack, number, kind, rest = match.groups()
        place = f"model.{stack}.layers.{int(number) - 1}."
        return {place + _name_of(kind, rest): np.squeeze(array.T)}

    def _one(self, pattern):
        """Returns the one file whose name fits."""
        found = sorted(self.path.glob(pattern))
        if len(found) != 1:
            names = ", ".join(file.name for file in found) or "none"
            error = ValueError if found else FileNotFoundError
            raise error(
                f"A folder of Marian must hold one file {pattern}. "
                f"Received: {str(self.path)!r}, which holds {names}."
            )
        return found[0]

    @contextlib.contextmanager
    def _opened(self):
        with self._weights.open("rb") as file:  # It is closed, too, if it is no such file.
            try:
                arrays = np.load(file, allow_pickle=False)
            except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
                raise ValueError(
                    "The weights of Marian must be an .npz file. "
                    f"Received: {str(self._weights)!r} ({type(error).__name__})."
                ) from error
            yield arrays

    def _read_config(self, arrays):
        if _CONFIG not in arrays.files:
            raise ValueError(
                f"The weights of Marian must hold {_CONFIG}. Received: {str(self._weights)!r}, "
                "which does not."
            )
        text = arrays[_CONFIG].tobytes().rstrip(b"\0").decode("utf-8", "replace")
        config = read_yaml(self._weights, text)
        for name, among in _NEEDED.items():
            received = str(config.get(name, next(iter(among)))).lower()
            if received not in among:
                raise ValueError(
                    f"A model of Marian can be imported whose {name} is {next(iter(among))!r}. "
                    f"Received: {name}={received!r} in {str(self._weights)!r}."
                )
        numbers = {
            "d_model": "dim-emb",
            "encoder_layers": "enc-depth",
            "decoder_layers": "dec-depth",
            "encoder_attention_heads": "transformer-heads",
            "encoder_ffn_dim": "transformer-dim-ffn",
        }
        lacking = [name for name in numbers.values() if not config.get(name, "").isdecimal()]
        self._activation = _ACTIVATIONS.get(config.get("transformer-ffn-activation", "swish"))
        if lacking or self._activation is None:
            raise ValueError(
                f"The config of a model of Marian must hold numbers, and swish or relu. Received: "
                f"{', '.join(f'{n}={config.get(n)!r}' for n in lacking) or 'another activation'} "
                f"in {str(self._weights)!r}."
            )
        found = {name: int(config[of_marian]) for name, of_marian in numbers.items()}
        return {**found, "pad_token_id": self._padding_id}


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
