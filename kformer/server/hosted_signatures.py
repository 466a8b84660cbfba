"""The functions of a hosted model by the names of TensorFlow Serving: rows of texts to rows.

A SavedModel has them as signatures. Those of other forms have the same outputs, but there are
fewer: `serving_default`, the same by the name of the kind's own signature, and `encode`. All
translators also have `with_glossary`, whose second input holds the terms of each text.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from kformer.inference.glossary import Glossary
from kformer.kinds import CLASSIFIER, LANGUAGE_MODEL, TAGGER, TRANSLATOR, Kind
from kformer.serving.request_rows import WITH_GLOSSARY, rows_from_columns

Columns = dict[str, list[str]]
Rows = list[dict[str, Any]]
_OF_TERMS = ("translation", "score", "flags")  # Outputs of `with_glossary`.
_DTYPES = {"string": "DT_STRING", "float32": "DT_FLOAT", "int32": "DT_INT32", "bool": "DT_BOOL"}


class HostedSignature(NamedTuple):
    """A function of a hosted model.

    Attributes:
        inputs: Names of its inputs, strings (B,).
        outputs: Types and numbers of axes of its outputs by name, such as ("DT_FLOAT", 2).
        answer: Returns a row of outputs for each row of inputs, which are given by column.
    """

    inputs: tuple[str, ...]
    outputs: Mapping[str, tuple[str, int]]
    answer: Callable[[Columns], Rows]


def signatures_of(model: Any, kind: Kind) -> dict[str, HostedSignature]:
    """Returns the functions of a model by name."""
    signatures = _plain_signatures(model, kind)
    if model.facts.no_terms is None:
        answer = functools.partial(answer_with_terms, model)
        signatures[WITH_GLOSSARY] = with_glossaries(signatures["serving_default"], answer)
    return signatures


def _plain_signatures(model, kind):
    facts = model.facts
    if facts.signatures is not None:
        return {name: _served_signature(name, each) for name, each in facts.signatures.items()}
    inputs = ("text", "target_language") if facts.target_languages else ("text",)
    signatures = {}
    if kind in _OWN:
        names, outputs, answer = _OWN[kind]
        if facts.quality_estimate:
            outputs = {**outputs, "quality": _NUMBER}
        own = HostedSignature(inputs, outputs, _by_language(model, answer))
        signatures = dict.fromkeys(names, own)
    if facts.encodes:
        vectors = {"vector": ("DT_FLOAT", 2), "flags": ("DT_STRING", 1)}
        signatures["encode"] = HostedSignature(inputs, vectors, _by_language(model, _encoded))
    return signatures


def with_glossaries(signature: HostedSignature, answer: Callable) -> HostedSignature:
    """Returns the function of rows that have a glossary each, such as a client sends.

    Args:
        answer: (columns, `kformer.Glossary`) -> rows.
    """

    def answer_columns(columns):
        texts, written = columns["text"], columns["glossary"]
        plain = {name: columns[name] for name in signature.inputs}
        rows: list[Any] = [None] * len(texts)
        for chosen, glossary in _together(texts, written):
            part = {name: [column[i] for i in chosen] for name, column in plain.items()}
            answers = answer(part, glossary) if glossary else signature.answer(part)
            for i, row in zip(chosen, answers, strict=True):
                rows[i] = {name: row[name] for name in _OF_TERMS}
        return rows

    outputs = {name: signature.outputs[name] for name in _OF_TERMS}
    return HostedSignature((*signature.inputs, "glossary"), outputs, answer_columns)


def _together(texts, written):
    """Yields indices of texts, and the glossary of all of them, or None if they have none.

    Texts of one client usually have parts of one glossary, so they can be translated together.
    """
    groups: dict[str, list[int]] = {}
    for i, terms in enumerate(written):
        groups.setdefault(terms if terms.strip() else "", []).append(i)
    if plain := groups.pop("", []):
        yield plain, None
    glossaries = {terms: Glossary.from_text(terms) for terms in groups}
    if len(glossaries) > 1:
        try:
            union = Glossary.from_text("\n".join(glossaries))
        except ValueError:  # A term has two translations.
            union = None
        numbers = sorted(i for chosen in groups.values() for i in chosen)
        if union and all(
            union.find(texts[i]) == glossaries[written[i]].find(texts[i]) for i in numbers
        ):
            yield numbers, union
            return
    for terms, chosen in groups.items():
        yield chosen, glossaries[terms]


def answer_with_terms(model: Any, columns: Columns, glossary: Glossary) -> Rows:
    """Returns the translations of texts that have the terms of a glossary."""
    return _by_language(model, functools.partial(_translated, glossary=glossary))(columns)


def has_several(model: Any) -> bool:
    """Returns whether a translator has more than one translation of a sentence."""
    choices = model.facts.choices
    return choices is None or "n_best" in choices


def answer_with_several(model: Any, columns: Columns, number: int) -> list:
    """Returns lists of so many `kformer.Translation`s of each text, the best first."""
    options = {"n_best": number}
    if model.facts.choices is None:
        options["beam_size"] = max(number, model.facts.search.beam_size)
    answer = functools.partial(_several, options=options)
    return _by_language(model, answer)(columns)


def _several(model, texts, options):
    return model.translations(texts, details=False, split=False, **options)


def _served_signature(name, function):
    import tensorflow as tf

    from kformer.export.saved_model.served_model import as_lists

    def answer(columns):
        tensors = {key: tf.constant(texts, tf.string) for key, texts in columns.items()}
        try:
            outputs = function(**tensors)
        except tf.errors.OpError as error:
            raise ValueError(error.message) from error
        lists = {key: as_lists(value) for key, value in outputs.items()}
        return rows_from_columns(lists, len(next(iter(columns.values()))), name)

    outputs = {
        key: (_DTYPES[spec.dtype.name], spec.shape.rank)
        for key, spec in function.structured_outputs.items()
    }
    return HostedSignature(tuple(function.structured_input_signature[1]), outputs, answer)


def _by_language(model, answer):
    """Returns the function of columns, of which one may be the target languages."""

    def answer_columns(columns):
        texts = columns["text"]
        languages = columns.get("target_language", [None] * len(texts))
        rows: list[Any] = [None] * len(texts)
        for language in dict.fromkeys(languages):
            chosen = [i for i, wanted in enumerate(languages) if wanted == language]
            into = model if language is None else model.into(language)
            answers = answer(into, [texts[i] for i in chosen])
            for i, row in zip(chosen, answers, strict=True):
                rows[i] = row
        return rows

    return answer_columns


def _translated(model, texts, glossary=None):
    return [
        {
            "translation": best.text,
            **_scored(best),
            "truncated": "source cut" in best.flags,
            **({} if best.quality is None else {"quality": best.quality}),
        }
        for best, *_ in model.translations(texts, details=False, split=False, glossary=glossary)
    ]


def _generated(model, texts):
    return [
        {"generation": best.text, **_scored(best)}
        for best, *_ in model.generations(texts, details=False)
    ]


def _classified(model, texts):
    labels, probabilities = model.predict(texts)
    return [
        {"label": label, "probabilities": row, "labels": [*model.labels], "flags": ""}
        for label, row in zip(labels, probabilities.tolist(), strict=True)
    ]


def _tagged(model, texts):
    return [
        {"labels": tagging.labels, "probabilities": tagging.probabilities, "flags": ""}
        for tagging in model.tag(texts)
    ]


def _encoded(model, texts):
    return [{"vector": row, "flags": ""} for row in model.encode(texts).tolist()]


def _scored(best):
    return {"score": best.score, "flags": ", ".join(best.flags)}


_TEXT, _TEXTS, _NUMBER, _NUMBERS = (
    (dtype, rank) for dtype in ("DT_STRING", "DT_FLOAT") for rank in (1, 2)
)
_OWN = {  # By kind: the names of its signature, its outputs, and its function.
    TRANSLATOR: (
        ("serving_default",),
        {"translation": _TEXT, "score": _NUMBER, "flags": _TEXT, "truncated": ("DT_BOOL", 1)},
        _translated,
    ),
    LANGUAGE_MODEL: (
        ("serving_default", "generate"),
        {"generation": _TEXT, "score": _NUMBER, "flags": _TEXT},
        _generated,
    ),
    CLASSIFIER: (
        ("serving_default", "classify"),
        {"label": _TEXT, "probabilities": _NUMBERS, "labels": _TEXTS, "flags": _TEXT},
        _classified,
    ),
    TAGGER: (
        ("serving_default", "tag"),
        {"labels": _TEXTS, "probabilities": _NUMBERS, "flags": _TEXT},
        _tagged,
    ),
}
