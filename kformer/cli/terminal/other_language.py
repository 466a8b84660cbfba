"""A remark on text in another language than the model translates."""

import functools
from collections.abc import Callable, Iterable
from typing import Any

import kformer
from kformer.cli.terminal.streams import remark
from kformer.identification.identifier import MIXED, is_other

_MOST_CHARACTERS = 2000  # Of the first lines; more would tell no more.
_LEAST_LETTERS = 20  # Fewer may be names.
_LEAST_CONFIDENCE = 0.9


def remarking(work: Callable, translator: Any, text_of: Callable = str) -> Callable:
    """Returns `work`, which first remarks on its first chunk if that is in another language.

    Args:
        work: callable (items, ...) -> results.
        translator: A translator, whose facts may tell the language that it translates.
        text_of: callable (item) -> text.
    """
    pending = [translator]

    @functools.wraps(work)
    def with_remark(items, *arguments, **settings):
        if pending:
            remark_on_language(pending.pop(), map(text_of, items))
        return work(items, *arguments, **settings)

    return with_remark


def remark_on_language(translator: Any, texts: Iterable[str]):
    """Writes a warning to stderr if texts are surely in another language than the translator's."""
    language = translator.facts.source_language or ""
    text = "\n".join(texts)[:_MOST_CHARACTERS]
    known = kformer.identification.languages()
    code = {"no": "nb"}.get(language, language).partition("-")[0]
    if code not in known or sum(map(str.isalpha, text)) < _LEAST_LETTERS:
        return
    answer = kformer.identify(text)
    sure = answer.language != MIXED and answer.confidence >= _LEAST_CONFIDENCE
    if sure and is_other(answer, code):
        remark(
            f"the text looks like {answer.language!r} ({answer.confidence:.0%}), and the model "
            f"translates from {language!r}"
        )
