"""The name that an unknown one probably means: of an argument, an option or a public name.

Other libraries have other words for the same, so that `lr` means a name here that looks unlike it.
"""

import dataclasses
import difflib
import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

_WORDS = {  # Our names, each with words for it elsewhere.
    "activation": "activation_function hidden_act",
    "batch_size": "tokens_per_batch batch bs",
    "beam_size": "num_beams n_beams beams beam_width beam",
    "d_ff": "dff ff_dim ffn_dim intermediate_dim intermediate_size dim_feedforward d_inner",
    "d_model": "embed_dim embedding_dim hidden_dim hidden_size dim units width",
    "devices": "gpu gpus device cuda num_gpus n_gpu",
    "dropout": "dropout_rate drop_rate drop_prob",
    "epochs": "num_epochs n_epochs max_epochs num_train_epochs",
    "gradient_accumulation": "accumulation_steps gradient_accumulation_steps update_freq",
    "input": "i infile file",
    "learning_rate": "lr peak_lr max_lr learning_rate_init",
    "length_penalty": "alpha lenpen",
    "load": "load_model from_pretrained open restore",
    "max_length": "max_new_tokens max_tokens max_len max_seq_len max_seq_length "
    "max_sequence_length max_source_length",
    "max_source_length": "max_length max_len max_seq_len max_seq_length max_sequence_length",
    "min_length": "min_new_tokens min_tokens min_len",
    "n_best": "num_return_sequences best_of num_hypotheses",
    "no_repeat_ngram": "no_repeat_ngram_size",
    "norm_first": "pre_norm prenorm normalize_before",
    "num_heads": "heads n_heads n_head nhead attention_heads num_attention_heads",
    "num_layers": "layers n_layers num_encoder_layers encoder_layers num_hidden_layers depth",
    "num_decoder_layers": "decoder_layers",
    "output": "o out outfile out_dir output_dir output_file save_dir path",
    "patience": "early_stopping",
    "precision": "dtype mixed_precision fp16 bf16 quantize quantization int8 float16",
    "reference": "target tgt ref",
    "sample": "do_sample sampling",
    "seed": "random_seed random_state",
    "source": "src input i",
    "target": "tgt trg reference",
    "train": "fit train_model",
    "tokens_per_batch": "batch_size batch bs",
    "version": "v",
    "vocab_size": "vocabulary_size vocab num_words max_tokens",
    "warmup_steps": "warmup num_warmup_steps",
}
_OURS = {name: frozenset(words.split()) for name, words in _WORDS.items()}
_ALIKE = 0.7  # Of difflib's ratio: `Transfomer` and `Transformer` have 0.95.
_SHORT = 2  # Letters with which too many names begin.
_FEW = 20  # Names that a message lists.
P = ParamSpec("P")
T = TypeVar("T")


def near_name(name: str, known: Iterable[str]) -> str | None:
    """Returns the `known` name that `name` probably means, or None.

    Case makes no difference, nor "-" instead of "_"; the beginning of a name is near it.
    """
    plain = {_plain(own): own for own in known}
    typed = _plain(name)
    if typed in plain:
        return plain[typed]
    for ours, words in _OURS.items():
        if ours in plain and typed in words:
            return plain[ours]
    begun = [own for own in plain if own.startswith(typed) and len(typed) > _SHORT]
    alike = begun[:1] or difflib.get_close_matches(typed, plain, 1, _ALIKE)
    return plain[alike[0]] if alike else None


def _plain(name):
    return name.strip("-").replace("-", "_").lower()


def check_names(owner: str, arguments: Mapping[str, Any], known: Collection[str]):
    """Raises a TypeError if a name of the `arguments` is not `known`."""
    for name, value in arguments.items():
        if name not in known:
            near = near_name(name, known)
            listed = f": {', '.join(known)}" if len(known) <= _FEW else ""
            cure = f"; use `{near}`" if near else listed
            raise TypeError(
                f"`{owner}` has no argument `{name}`{cure}. Received: {name}={value!r:.99}."
            )


def with_near_names(function: Callable[P, T]) -> Callable[P, T]:
    """Returns a function that proposes a near name where it gets an unknown argument."""
    known = [*inspect.signature(function).parameters]

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        check_names(function.__name__, kwargs, known)
        return function(*args, **kwargs)

    return checked


def with_near_fields(cure: str = "") -> Callable[[type[T]], type[T]]:
    """Returns a decorator of dataclasses, whose constructors then propose near names of fields."""

    def with_check(kind):
        make, fields = kind.__init__, dataclasses.fields(kind)
        known = [field.name for field in fields]
        needed = [field.name for field in fields if field.default is dataclasses.MISSING]

        @functools.wraps(make)
        def __init__(self, *args, **kwargs):
            check_names(kind.__name__, kwargs, known)
            missing = [name for name in needed if name not in {*known[: len(args)], *kwargs}]
            if missing:
                raise TypeError(
                    f"`{kind.__name__}` needs a value for each of {len(needed)} arguments: {cure}. "
                    f"Received: no {missing[0]}{', ...' * (len(missing) > 1)}."
                )
            make(self, *args, **kwargs)

        kind.__init__ = __init__
        return kind

    return with_check
