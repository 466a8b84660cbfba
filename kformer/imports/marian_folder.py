"""The files of a folder of Hugging Face's MarianMTModel, as `save_pretrained` writes it."""

import warnings
from pathlib import Path
from typing import TypedDict

from kformer.imports.generation_config import forbidden_ids, search_of_transformers
from kformer.imports.id_table import read_model, table_of
from kformer.imports.plain_vocabularies import check_folder
from kformer.imports.state_dict import read_state_dict
from kformer.json_files import read_json

_WEIGHTS = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)
_VOCABULARIES = ("vocab.json", "target_vocab.json")
_ADDED = "added_tokens.json"
_ACTIVATIONS = {"swish": "swish", "silu": "swish", "relu": "relu", "gelu": "gelu"}
_SPECIAL = {"end": "eos_token_id", "padding": "pad_token_id", "start": "decoder_start_token_id"}
_SIZES = ("d_model", *(f"{s}_{n}" for s in ("encoder", "decoder") for n in ("layers", "ffn_dim")))
_OTHERS = {  # Kinds of models that are often tried, by `model_type`.
    "m2m_100": "Models of M2M100 and NLLB, whose tokenizers put languages around the pieces,",
    "t5": "Models of T5, with relative positions and RMSNorm,",
    "mt5": "Models of mT5, with relative positions and RMSNorm,",
    "mbart": "Models of mBART, with learned positions,",
}
_NEEDED = {  # Settings that a `Transformer` computes, by the name in config.json.
    "model_type": "marian",
    "static_position_embeddings": True,
    "scale_embedding": True,
    "normalize_before": False,
    "normalize_embedding": False,
    "add_final_layer_norm": False,
}


class _MarianConfig(TypedDict, total=False):
    """The optional fields of config.json and generation_config.json, with their types."""

    activation_function: str
    max_position_embeddings: int
    num_beams: int | None
    do_sample: bool | None
    length_penalty: float | None
    temperature: float | None
    top_k: int | None
    top_p: float | None
    no_repeat_ngram_size: int | None
    repetition_penalty: float | None
    max_length: int | None
    max_new_tokens: int | None
    min_length: int | None
    min_new_tokens: int | None


class MarianFolder:
    """Reads the files of a folder, and checks that they belong together.

    Args:
        path: The folder.

    Attributes:
        config: dict of the settings in config.json and generation_config.json.
        models: The `ModelProto`s of source.spm and target.spm.
        tables: The `IdTable`s of both sides; they may be one.

    Raises:
        FileNotFoundError, NotADirectoryError: The folder or a file is missing.
        ValueError: A file is damaged, or describes another kind of model.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        check_folder(self.path)
        self.config = self._json("config.json", _MarianConfig)
        if (self.path / "generation_config.json").exists():
            self.config |= self._json("generation_config.json", _MarianConfig)
        self._check_config()
        self.models = [
            read_model(self._file(name).read_bytes(), str(self.path / name))
            for name in ("source.spm", "target.spm")
        ]
        source = self._table(_VOCABULARIES[0])
        own = (self.path / _VOCABULARIES[1]).exists()
        self.tables = [source, self._table(_VOCABULARIES[1]) if own else source]

    @property
    def activation(self):
        """The activation of the feed-forward networks, by its name in kformer."""
        return _ACTIVATIONS[self.config["activation_function"]]

    @property
    def decoder_cell(self) -> str:
        """The sub-layer by which the decoder reads earlier positions, by its name in kformer."""
        return "attention"

    @property
    def absent(self) -> set[int]:
        """The target ids that Marian, which trained the model, lacks: padding."""
        return {self.config["pad_token_id"]}

    @property
    def forbidden(self) -> set[int]:
        """The target ids that the model must never choose, padding aside."""
        return forbidden_ids(self.config, len(self.tables[1].pieces), str(self.path)) - self.absent

    @property
    def search(self) -> dict:
        """The model's search defaults."""
        return search_of_transformers(self.config, str(self.path))

    def arrays(self) -> dict:
        """Reads the weights: a dict from name to float array."""
        files = [self.path / name for name in _WEIGHTS if (self.path / name).exists()]
        return read_state_dict(files[0] if files else self._file(_WEIGHTS[0]))

    def _file(self, name):
        if not (self.path / name).is_file():
            raise FileNotFoundError(
                f"A folder of MarianMTModel must hold {name}. "
                f"Received: {str(self.path)!r}, which does not."
            )
        return self.path / name

    def _json(self, name, schema=dict):
        return read_json(self._file(name), schema, rule="The file must hold a JSON object.")

    def _check_config(self):
        for name, needed in _NEEDED.items():
            received = self.config.get(name, None if name == "model_type" else needed)
            if received != needed:
                kind = _OTHERS.get(received) if name == "model_type" else None
                if kind:
                    raise ValueError(
                        f"{kind} cannot be imported: a folder of MarianMTModel is needed. "
                        f"Received: model_type={received!r} in {str(self.path)!r}."
                    )
                raise ValueError(
                    f"The config.json of a MarianMTModel must have {name}={needed!r}. "
                    f"Received: {name}={received!r} in {str(self.path)!r}."
                )
        heads = [self._number(f"{side}_attention_heads") for side in ("encoder", "decoder")]
        if heads[0] != heads[1]:
            raise ValueError(
                "Encoder and decoder must have the same attention_heads in config.json. "
                f"Received: {heads[0]} and {heads[1]} in {str(self.path)!r}."
            )
        for name in (*_SIZES, *_SPECIAL.values()):
            self._number(name)
        if self.config.get("activation_function") not in _ACTIVATIONS:
            raise ValueError(
                f"`activation_function` in config.json must be one of {', '.join(_ACTIVATIONS)}. "
                f"Received: {self.config.get('activation_function')!r} in {str(self.path)!r}."
            )

    def _number(self, name):
        value = self.config.get(name)
        if type(value) is not int:
            raise ValueError(
                f"`{name}` in config.json must be a number. "
                f"Received: {value!r} in {str(self.path)!r}."
            )
        return value

    def _table(self, name):
        special = {role: self.config[name] for role, name in _SPECIAL.items()}
        ids = self._json(name)
        if (self.path / _ADDED).exists():  # Never read from text, but the network may write them.
            added = self._json(_ADDED)
            if new := [token for token in added if token not in ids]:
                warnings.warn(
                    "Tokens that were added to the tokenizer are written, but never read: in a "
                    f"source they are text like any other. Received: {', '.join(new):.200} in "
                    f"{str(self.path / _ADDED)!r}.",
                    stacklevel=2,
                )
            ids = added | ids
        return table_of(ids, special, str(self.path / name))
