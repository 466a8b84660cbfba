"""Checks texts for a request, and reads the rows of a server's answer."""

import dataclasses
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from kformer.arguments import as_texts, check_text, replace_lone_surrogates, stacklevel_of_user
from kformer.inference.engine import Rated
from kformer.inference.results import Generation, Translation
from kformer.inference.search_options import SearchOptions
from kformer.serving.answers import ServedClass, ServedScore, Tokenized
from kformer.serving.errors import MalformedAnswer

WITH_GLOSSARY = "with_glossary"  # A signature of `kformer serve` alone.
NEEDED = {  # Outputs that each signature must have.
    "serving_default": ("translation", "score"),
    "classify": ("label", "probabilities", "labels"),
    "tag": ("labels", "probabilities"),
    WITH_GLOSSARY: ("translation", "score"),
    "beam": ("translation", "score", "flags"),
    "generate": ("generation", "score", "flags"),
    "generate_beam": ("generation", "score", "flags"),
    "score": ("log_probability", "tokens"),
    "align": ("attention", "source_pieces", "target_pieces"),
    "encode": ("vector",),
    "tokenize": ("ids", "length"),
}
_NONE = -1e8  # The score of a missing translation is lower.
_LARGEST = 3.5e38  # No float32 is larger.


def checked(inputs: Mapping[str, Iterable]) -> dict[str, list[str]]:
    """Returns lists of texts that UTF-8 can encode: lone surrogates are replaced."""
    lists = {name: as_texts(texts, name) for name, texts in inputs.items()}
    if len({len(texts) for texts in lists.values()}) > 1:
        numbers = ", ".join(f"{len(texts)} of {name}" for name, texts in lists.items())
        raise ValueError(f"There must be as many of each. Received: {numbers}.")
    return {name: list(map(replace_lone_surrogates, texts)) for name, texts in lists.items()}


def inputs_of(target_language: str | None, **texts: Any) -> dict[str, list[str]]:
    """Returns the inputs of a signature by name: texts, and their target language if it is set."""
    inputs = {name: as_texts(several, name) for name, several in texts.items()}
    if target_language is not None:
        check_text("target_language", target_language)
        inputs["target_language"] = [target_language] * len(next(iter(inputs.values())))
    return inputs


def rows_from_columns(outputs: dict, number: int, signature: str) -> list[dict]:
    """Returns the outputs for each row, by name."""
    needed = NEEDED[signature]
    for name in needed:
        if name not in outputs:
            raise MalformedAnswer(
                f"The model must be a kformer export with a signature {signature!r}, which answers "
                f"{', '.join(needed)} for each text. Received: {', '.join(outputs) or 'nothing'}."
            )
    for name, values in outputs.items():
        if not isinstance(values, list) or len(values) != number:
            raise MalformedAnswer.of(name, f"a list of {number}, one for each text", values)
    return [dict(zip(outputs, row, strict=True)) for row in zip(*outputs.values(), strict=True)]


def warn_of_cut(flags: Iterable[tuple[str, ...]], did: str):
    """Warns of each text that was cut."""
    for number, raised in enumerate(flags, start=1):
        if "source cut" in raised:
            warnings.warn(
                f"Sentence {number} is over the model's limit of ids: only its beginning was "
                f"{did}.",
                stacklevel=stacklevel_of_user(),
            )


def read_best(row: Any) -> list[Translation]:
    """Reads a row of the signature `serving_default`: its one translation."""
    text, score = _text("translation", row["translation"]), _number("score", row["score"])
    return [Translation(text, score, _flags(row), quality=_quality(row.get("quality")))]


def read_several(row: Any) -> list[Translation]:
    """Reads a row of the signature `beam`: its translations, at least one."""
    translations = _several(row, "translation", Translation)
    if "quality" not in row:
        return translations
    numbers = [_quality(number) for number in _list("quality", row["quality"])]
    if len(numbers) < len(translations):
        raise MalformedAnswer.of("quality", "a number for each translation", row["quality"])
    return [
        dataclasses.replace(translation, quality=quality)
        for translation, quality in zip(translations, numbers, strict=False)
    ]


def read_generation(row: Any) -> list[Generation]:
    """Reads a row of the signature `generate`: its one continuation."""
    text, score = _text("generation", row["generation"]), _number("score", row["score"])
    return [Generation(text, score, _flags(row))]


def read_generations(row: Any) -> list[Generation]:
    """Reads a row of the signature `generate_beam`: its continuations, at least one."""
    return _several(row, "generation", Generation)


def _several(row, name, kind):
    """Reads the answers of a row: texts with the name `name`, scores and flags."""
    columns = {name: _list(name, row[name]) for name in (name, "score", "flags")}
    lengths = {name: len(values) for name, values in columns.items()}
    if len({*lengths.values()}) > 1 or not all(lengths.values()):
        raise MalformedAnswer(
            f"A text must have one or more {name}s, and as many scores and flags. Received: "
            f"{', '.join(f'{length} of {name}' for name, length in lengths.items())}."
        )
    several = [
        kind(_text(name, text), _number("score", score), _split(flags))
        for text, score, flags in zip(*columns.values(), strict=True)
    ]
    return several[:1] + [answer for answer in several[1:] if answer.score > _NONE]


def read_class(row: Any) -> ServedClass:
    """Reads a row of the signature `classify`."""
    label = _text("label", row["label"])
    labels = [_text("labels", value) for value in _list("labels", row["labels"])]
    numbers = [_number("probabilities", p) for p in _list("probabilities", row["probabilities"])]
    if len(numbers) != len(labels):
        raise MalformedAnswer(
            "A text must have as many probabilities as there are labels. Received: "
            f"{len(numbers)} of probabilities, {len(labels)} of labels."
        )
    if label not in labels or len({*labels}) < len(labels):
        raise MalformedAnswer.of("label", "one of the labels, which are distinct", label)
    return ServedClass(label, dict(zip(labels, numbers, strict=True)), _flags(row))


def read_tags(row: Any) -> tuple[list[str], list[float], tuple[str, ...]]:
    """Reads a row of the signature `tag`: labels of words, their probabilities, and flags."""
    labels = [_text("labels", label) for label in _list("labels", row["labels"])]
    numbers = [_number("probabilities", p) for p in _list("probabilities", row["probabilities"])]
    if len(numbers) != len(labels):
        raise MalformedAnswer.of("probabilities", f"a list of {len(labels)}", numbers)
    places = [place for place, label in enumerate(labels) if label]  # Where words begin.
    return [labels[i] for i in places], [numbers[i] for i in places], _flags(row)


def read_score(row: Any) -> ServedScore:
    """Reads a row of the signature `score`."""
    value = _number("log_probability", row["log_probability"])
    tokens, quality = _count("tokens", row["tokens"]), _quality(row.get("quality"))
    return ServedScore(value, tokens, _flags(row), quality)


def scored_translation(
    text: str, scored: ServedScore, options: SearchOptions, estimate: Any
) -> Rated:
    """Returns a given translation as a search would return it, with its probability."""
    total = scored.log_probability
    score = options.normalized(total, scored.length) if options.beam_size > 1 else total
    flags = tuple(flag for flag in scored.flags if flag == "source cut")
    flags += estimate.flags(scored.quality) if estimate else ()
    return Rated(Translation(text, score, flags, quality=scored.quality), total)


def read_vector(row: Any) -> tuple[list[float], tuple[str, ...]]:
    """Reads a row of the signature `encode`: the vector and flags."""
    return [_number("vector", value) for value in _list("vector", row["vector"])], _flags(row)


def read_tokenized(row: Any) -> Tokenized:
    """Reads a row of the signature `tokenize`."""
    ids, length = _list("ids", row["ids"]), _count("length", row["length"])
    if length > len(ids):
        raise MalformedAnswer.of("length", f"at most {len(ids)}, the number of ids", length)
    return Tokenized(tuple(_id(value) for value in ids[:length]), _flags(row))


def _flags(row):
    """Reads the flags of a row; exports of kformer 0.1.0 have only `truncated`."""
    if "flags" in row:
        return _split(row["flags"])
    truncated = row.get("truncated", False)
    if not isinstance(truncated, bool):
        raise MalformedAnswer.of("truncated", "true or false", truncated)
    return ("source cut",) if truncated else ()


def _split(flags):
    flags = _text("flags", flags)
    return tuple(flags.split(", ")) if flags else ()


def _text(name, value):
    if not isinstance(value, str):
        raise MalformedAnswer.of(name, "a string", value)
    return replace_lone_surrogates(value)


def _list(name, value):
    if not isinstance(value, list):
        raise MalformedAnswer.of(name, "a list", value)
    return value


def _number(name, value):
    # Rejects NaN, infinity, and integers too large for a float.
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= _LARGEST:
        raise MalformedAnswer.of(name, "a finite number", value)
    return float(value)


def _quality(value):
    """Reads the estimate of a translation, which models without a calibration lack."""
    return None if value is None else _number("quality", value)


def _count(name, value):
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise MalformedAnswer.of(name, "a positive integer", value)
    return value


def _id(value):
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise MalformedAnswer.of("ids", "integers from 0 on", value)
    return value
