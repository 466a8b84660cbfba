"""The search settings of a pretrained model, as search defaults; a warning names the others."""

import warnings
from collections.abc import Mapping

from kformer.tasks.search_defaults import SearchDefaults

_KEPT = {  # Names of `kformer.SearchOptions`, by equivalent names of transformers.
    "no_repeat_ngram_size": "no_repeat_ngram",
    "repetition_penalty": "repetition_penalty",
}
_SAMPLING = {"temperature": 1.0, "top_k": 50, "top_p": 1.0}  # With the defaults of `generate`.
# Settings that the search cannot follow, and their values that change nothing.
_IGNORED: dict[str, tuple] = {
    "forced_bos_token_id": (None,),
    "begin_suppress_tokens": (None, []),
    "early_stopping": (None, False),
    "encoder_no_repeat_ngram_size": (None, 0),
    "encoder_repetition_penalty": (None, 1),
    "diversity_penalty": (None, 0),
    "num_beam_groups": (None, 1),
    "num_return_sequences": (None, 1),
    "penalty_alpha": (None, 0),
    "force_words_ids": (None, []),
    "constraints": (None, []),
    "sequence_bias": (None, [], {}),
    "exponential_decay_length_penalty": (None,),
    "guidance_scale": (None, 1),
    "typical_p": (None, 1),
    "min_p": (None, 0),
    "epsilon_cutoff": (None, 0),
    "eta_cutoff": (None, 0),
    "stop_strings": (None, []),
    "max_time": (None,),
}


def search_of_transformers(config: Mapping, where: str) -> dict:
    """Returns the search defaults of config.json and generation_config.json.

    `generate` counts the start id in lengths. `forced_eos_token_id`, the end at the largest
    length, changes no text.
    """
    left = {
        name: config[name]
        for name, nothing in _IGNORED.items()
        if name in config and config[name] not in nothing
    }
    options = {}
    beams, samples = config.get("num_beams") or 1, bool(config.get("do_sample"))
    if samples and beams > 1:
        left |= {"do_sample": True}
    elif samples:
        chosen = {name: config.get(name) for name in _SAMPLING}
        options = {
            name: _SAMPLING[name] if value is None else value for name, value in chosen.items()
        }
        options["sample"] = True
    if beams > 1:
        penalty = config.get("length_penalty")
        options |= {
            "beam_size": beams,
            "length_penalty": 1.0 if penalty is None else penalty,
            "length_offset": 0.0,
        }
    for name, option in _KEPT.items():
        if config.get(name) is not None:
            options[option] = config[name]
    options |= _lengths(config)
    return _with_warning(options, left, where)


def _lengths(config):
    lengths = {}
    for name, new, option in (
        ("max_length", "max_new_tokens", "max_length"),
        ("min_length", "min_new_tokens", "min_length"),
    ):
        value = config.get(name)
        if config.get(new) is not None:
            value = config[new]
        elif isinstance(value, int):
            value = max(value - 1, 0)
        if value:
            lengths[option] = value
    return lengths


def search_of_marian(settings: Mapping, where: str) -> dict:
    """Returns the search defaults of Marian's settings, such as decoder.yml."""
    numbers = {}
    for name, default in (
        ("beam-size", None),
        ("normalize", None),
        ("max-length-factor", 3.0),
        ("word-penalty", 0.0),
    ):
        try:
            numbers[name] = float(settings[name]) if name in settings else default
            int(numbers[name] or 0)  # Infinity and NaN are no numbers to search with.
        except (TypeError, ValueError, OverflowError):
            numbers[name] = default
    options = {"max_length_ratio": numbers["max-length-factor"], "narrowing": True}
    if numbers["beam-size"]:
        options["beam_size"] = int(numbers["beam-size"])
    if numbers["normalize"] is not None:
        options |= {"length_penalty": numbers["normalize"], "length_offset": 0.0}
    left = {"word-penalty": numbers["word-penalty"]} if numbers["word-penalty"] else {}
    return _with_warning(options, left, where)


def _with_warning(options, left, where):
    """Returns the valid `options`; warns of the invalid ones and of `left`."""
    kept, check = {}, SearchDefaults()
    for name, value in options.items():
        try:
            check.search_defaults = {name: value, **({"sample": True} if name in _SAMPLING else {})}
            kept[name] = value
        except (TypeError, ValueError):
            left |= {name: value}
    try:
        check.search_defaults = kept
    except ValueError:  # They contradict each other.
        left, kept = left | kept, {}
    if left:
        names = ", ".join(f"{name}={value!r:.60}" for name, value in left.items())
        warnings.warn(
            f"The search cannot follow some settings of the model, which are left out: {names}. "
            f"Received: {where!r}.",
            stacklevel=2,
        )
    return kept


def forbidden_ids(config: Mapping, size: int, where: str) -> set[int]:
    """Returns the ids that `generate` never chooses: bad words and suppressed ids."""
    words = config.get("bad_words_ids") or []
    try:
        several = [ids for ids in words if len(ids) != 1]
        # `generate` lets the end be chosen, whatever is listed here.
        single = {i for ids in words if len(ids) == 1 for i in ids} - {config["eos_token_id"]}
        forbidden = {*single, *(config.get("suppress_tokens") or [])}
    except TypeError:
        forbidden, several = {-1}, []
    if not all(type(i) is int and 0 <= i < size for i in forbidden):
        raise ValueError(
            f"`bad_words_ids` must be lists of ids, and `suppress_tokens` a list, below {size}. "
            f"Received: bad_words_ids={words!r:.99}, "
            f"suppress_tokens={config.get('suppress_tokens')!r:.99} in {where!r}."
        )
    if several:
        warnings.warn(
            "The search can leave out single ids alone: `bad_words_ids` of several are left out. "
            f"Received: {several!r:.99} in {where!r}.",
            stacklevel=2,
        )
    return forbidden
