"""Reads settings, tokenizers and sizes in a `.keras` file of ours, without loading the model."""

import functools
import io
import itertools
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import numpy as np

from kformer.archives import Archive
from kformer.files import check_file
from kformer.json_files import check_schema, parse_json
from kformer.kinds import KINDS, TRANSLATOR, Kind
from kformer.text.vocabulary import ASSET

_KINDS = {kind.registered_name: kind for kind in KINDS}
FORMAT = 5  # Of the `.keras` file; readers refuse newer formats.
_FORMAT_OF = {  # By a setting, of a model or its network, that only newer readers understand.
    "search_defaults": 3,
    "frozen": 3,
    "decoder_cell": 4,
    "forbidden_ids": 5,
    "decoder_d_ff": 5,
}
_ADDED = {  # Settings that format 1 lacks.
    "activation": "relu",
    "num_decoder_layers": None,
    "output_bias": False,
    "decoder_cell": "attention",
}
_WEIGHTS = "model.weights.h5"
_ASSETS = "assets/layers"  # A folder for each layer, where Keras puts its assets.
_TOKENIZERS = ("tokenizer", "tokenizer_1")  # Of the source; of the target, if it has its own.
_PACKED = 2  # Weights of 4 bits in one stored number.
_MOST_TIMES = 20  # An array of 20 times the size of its file cannot be in it.
RULE = "A model's file must be a whole .keras file, as `save` writes it."


class _NetworkSizes(TypedDict, total=False):
    """The sizes of a network, each with the meaning of `kformer.Transformer`'s argument."""

    num_layers: int
    num_decoder_layers: int | None
    d_model: int
    d_ff: int
    decoder_d_ff: int
    decoder_cell: str
    vocab_size: int
    target_vocab_size: int | None


class _ClassifierSizes(TypedDict, total=False):
    encoder: _NetworkSizes


class _ModelConfig(TypedDict):
    """The fields of a config that this module uses; the model checks the rest."""

    about: NotRequired[dict | None]
    transformer: NotRequired[_NetworkSizes]
    classifier: NotRequired[_ClassifierSizes]
    encoder: NotRequired[_NetworkSizes]
    decoder: NotRequired[_NetworkSizes]
    search_defaults: NotRequired[dict | None]
    prefix: NotRequired[str | None]
    target_languages: NotRequired[dict[str, str] | list[str] | None]
    own_target_tokenizer: NotRequired[bool]


class _Format(TypedDict):
    format: int


class _Held(TypedDict):
    """The class name and the config of a model of ours."""

    registered_name: str
    config: _Format


def kind_in(path: str | Path) -> Kind | None:
    """Returns the kind of the model in a `.keras` file; None if it is another file."""
    held = _held(Path(path))
    return _KINDS.get(held["registered_name"]) if held else None


def _held(path):
    """Returns the class name and the config in a `.keras` file of ours; None for other files."""
    if path.suffix != ".keras" or not path.is_file():
        return None
    status = path.stat()
    try:
        held = parse_json(
            _config_in(path, status.st_ino, status.st_size, status.st_mtime_ns), _Held
        )
    except ValueError:
        return None
    return held if held["registered_name"] in _KINDS else None


@functools.lru_cache(maxsize=2)
def _config_in(path, *_state):
    """Returns the config in a file, which a command asks for several facts."""
    with Archive(path, RULE) as archive:
        return archive.read("config.json")


def with_format(config: dict) -> dict:
    """Returns a config with the first format whose readers understand all of it.

    Settings of newer formats that are empty are left out.
    """
    kept = {name: value for name, value in config.items() if value or name not in _FORMAT_OF}
    settings = [value.items() for value in kept.values() if isinstance(value, dict)]
    inner = [name for name, value in itertools.chain(*settings) if value != _ADDED.get(name)]
    return {"format": max(_FORMAT_OF.get(name, 2) for name in (*kept, *inner)), **kept}


def check_format(received: Any):
    """Refuses a format that is newer than this kformer."""
    if received > FORMAT:
        raise ValueError(
            f"This kformer reads models up to format {FORMAT}; update it. "
            f"Received: format={received}."
        )


def transformer_config(path: str | Path) -> dict:
    """Reads the settings of the `Transformer` in a translator's `.keras` file."""
    check_file(path)
    check_kind(path, TRANSLATOR)
    return _ADDED | _held(Path(path))["config"]["transformer"]


def target_language_in(path: str | Path) -> str | None:
    """Reads the language that the translator in a `.keras` file translates into, if it is known."""
    check_file(path)
    check_kind(path, TRANSLATOR)
    return (_held(Path(path))["config"].get("about") or {}).get("target_language")


def prefix_in(path: str | Path) -> str | None:
    """Reads the piece that the translator in a `.keras` file puts before each source, if any."""
    return (_held(Path(path)) or {"config": {}})["config"].get("prefix")


def encoder_config(path: str | Path) -> dict:
    """Reads the settings of the encoder in a `.keras` file of any kind, as `transformer_config`."""
    check_file(path)
    kind = kind_in(path) or TRANSLATOR
    check_kind(path, kind)
    config = _held(Path(path))["config"]
    for key in kind.network:
        config = config[key]
    return _ADDED | config if kind is TRANSLATOR else config


def search_defaults_in(path: str | Path) -> dict:
    """Reads the search defaults of the model in a `.keras` file by name; {} if it holds none."""
    if (kind := kind_in(path)) is None:
        return {}
    check_kind(path, kind)
    return dict(_held(Path(path))["config"].get("search_defaults") or {})


def target_languages_in(path: str | Path) -> dict[str, str]:
    """Reads the pieces of the target languages of a `.keras` translator by code, as `prefix_in`."""
    languages = (_held(Path(path)) or {"config": {}})["config"].get("target_languages")
    return dict(languages) if isinstance(languages, dict) else {}


def about_in(path: str | Path) -> dict:
    """Reads the facts about the translator in a `.keras` file, as `prefix_in`."""
    return dict((_held(Path(path)) or {"config": {}})["config"].get("about") or {})


def tokenizer_models(
    path: str | Path, prefix_kept: bool = False, languages_kept: bool = False
) -> tuple[bytes, bytes | None]:
    """Reads the SentencePiece models in a `.keras` file, without loading the rest.

    Args:
        prefix_kept: Whether the caller keeps a prefix of the source, which is not in its model.
        languages_kept: Whether the caller keeps a choice of languages, which is not in it either.

    Returns:
        The model of the source; and of the target, if it has a tokenizer of its own, else None.
    """
    path = Path(path)
    kind = kind_in(path) or TRANSLATOR
    check_kind(path, kind)
    config = _held(path)["config"]
    if config.get("prefix") is not None and not prefix_kept:
        raise ValueError(
            "A vocabulary for training must be of a tokenizer without a prefix. "
            f"Received: path={str(path)!r}, with prefix={config['prefix']!r}."
        )
    if (languages := config.get("target_languages")) and not languages_kept:
        raise ValueError(
            "A vocabulary for training must be of a model of one target language; of several, name "
            "them by --direction, or import the model for one, by --target-language. "
            f"Received: path={str(path)!r}, into {', '.join(languages)}."
        )
    own_target = config.get("own_target_tokenizer", False)
    names = _TOKENIZERS if own_target else _TOKENIZERS[:1]
    try:
        with Archive(path, RULE) as archive:
            source, *target = (archive.read(f"{_ASSETS}/{name}/{ASSET}") for name in names)
    except ValueError as error:
        raise ValueError(f"{_whole(kind)} Received: path={str(path)!r} ({error}).") from error
    joint = config.get("transformer", {}).get("target_vocab_size") is None
    if not target or (target[0] == source and joint):  # Only the source has a prefix.
        return source, None
    return source, target[0]


def _whole(kind):
    return f"The file must hold a whole {kind.words}, as `{kind.class_name}.save` writes it."


def check_has_kind(path: str | Path):
    """Raises a ValueError unless `path` holds a model of some kind, in a format that is known."""
    check_kind(path, kind_in(path) or TRANSLATOR)


def check_kind(path: str | Path, kind: Kind):
    """Raises a ValueError unless `path` holds `kind`, in a format that this kformer reads."""
    held = _held(Path(path))
    actual = _KINDS.get(held["registered_name"]) if held else None
    if actual is not kind:
        content = f"a {actual.words}" if actual else "none"
        raise ValueError(
            f"A {kind.words} is a .keras file, as `{kind.class_name}.save` writes it. "
            f"Received: path={str(path)!r}, which holds {content}."
        )
    check_format(held["config"]["format"])
    try:
        check_schema(held["config"], _ModelConfig, "its config")
    except ValueError as error:
        raise ValueError(f"{_whole(kind)} Received: path={str(path)!r} ({error}).") from error


def check_sizes(archive: Archive, network: dict):
    """Raises a ValueError if a file has fewer weights than the network in its config.

    A network is built, and a member unpacked, before anything shows that the rest is missing: a
    small file could take all memory.
    """
    import h5py  # Like Keras, it is not imported to read the settings of a file.

    archive.check_sizes()
    weights = archive.read(_WEIGHTS)
    sizes = []  # Of each array.

    def collect(name, entry):
        if isinstance(entry, h5py.Dataset):
            sizes.append(entry.size)
            if entry.nbytes > _MOST_TIMES * len(weights) or entry.external or entry.is_virtual:
                raise ValueError(f"an array must be in the file, and {name} is not")

    with h5py.File(io.BytesIO(weights)) as file:
        file.visititems(collect)
    if not network:
        return
    sides = [network.get("num_layers", 1), network.get("num_decoder_layers") or 0]
    if "num_decoder_layers" in network and network["num_decoder_layers"] is None:
        sides[1] = sides[0]
    if sum(sides) > len(sizes) or _least(network, *sides) > _PACKED * sum(sizes):
        raise ValueError(
            f"weights must be as many as the settings say, and {len(sizes):,} arrays of "
            f"{sum(sizes):,} numbers are not"
        )


def _least(network, encoder_layers, decoder_layers):
    """Returns the least number of weights of a network: its matrices and tables of vectors."""
    d_model, d_ff = network.get("d_model", 1), network.get("d_ff", 1)
    attentions = encoder_layers + 2 * decoder_layers
    if network.get("decoder_cell") == "ssru":  # Half as many matrices as attention.
        attentions -= decoder_layers / 2
    feed_forward = 2 * (d_ff * encoder_layers + network.get("decoder_d_ff", d_ff) * decoder_layers)
    ids = network.get("vocab_size", 1) + (network.get("target_vocab_size") or 0)
    return d_model * (ids + 4 * d_model * attentions + feed_forward)


def check_weights(archive: Archive, model: Any):
    """Raises a ValueError unless the weights of a file are finite numbers."""
    import h5py
    import keras

    weights = io.BytesIO(archive.read(_WEIGHTS))
    integers = {}  # dtype by shape, of stored arrays.

    def collect(name, entry):
        is_weight = isinstance(entry, h5py.Dataset) and "optimizer" not in name.split("/")
        if is_weight and entry.dtype.kind in "iub":
            integers[entry.shape] = entry.dtype

    with h5py.File(weights) as file:
        file.visititems(collect)
    for variable in model.variables:
        if "float" not in variable.dtype:  # A seed, or quantized weights.
            integers.pop(tuple(variable.shape), None)
            continue
        array = np.asarray(keras.ops.convert_to_numpy(variable), np.float32)
        if not np.isfinite(array).all():
            kind = "NaN" if np.isnan(array).any() else "infinite numbers"
            raise ValueError(f"weights must be finite, and {variable.path} has {kind}")
    for shape, dtype in integers.items():
        raise ValueError(
            f"weights must be floating-point numbers, and those of shape {shape} are {dtype}"
        )
