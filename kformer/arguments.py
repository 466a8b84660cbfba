"""Checks of arguments of public functions: numbers, and lists of texts.

Every message gives the rule first, then the received values.
"""

import functools
import inspect
import itertools
import math
import operator
import re
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from numbers import Integral, Real
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

from kformer.near_names import check_names

# The range of float32, in which everything is computed.
_LARGEST, _SMALLEST = 3.4e38, 1.2e-38
UNKNOWN_LANGUAGE = "unknown target language"  # How a flag of a server's answer begins.
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


def check_integer(name: str, value: Any, least: int | None = None, most: int | None = None) -> int:
    """Returns the argument `name` as an int.

    Args:
        least, most: Smallest and largest allowed value; None for no limit.
    """
    if not _is_number(value, Integral):
        raise TypeError(f"`{name}` must be an integer. Received: {name}={value!r:.99}.")
    if least is not None and value < least:
        raise ValueError(f"`{name}` must be at least {least}. Received: {name}={value}.")
    if most is not None and value > most:
        raise ValueError(f"`{name}` must be at most {most}. Received: {name}={value}.")
    return int(value)


def check_number(
    name: str,
    value: Any,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> float:
    """Returns the argument `name` as a float.

    Args:
        least, most: Smallest and largest allowed value; None for no limit.
        above, below: Limits that `value` must not reach; None for no limit.
    """
    if not _is_number(value, Real):
        raise TypeError(f"`{name}` must be a number. Received: {name}={value!r:.99}.")
    received = f"Received: {name}={value}."
    if not math.isfinite(value) or abs(value) > _LARGEST:
        raise ValueError(f"`{name}` must be finite, in float32. {received}")
    if least is not None and value < least:
        raise ValueError(f"`{name}` must be at least {least}. {received}")
    if above is not None and value < above + _SMALLEST:
        raise ValueError(f"`{name}` must be greater than {above}. {received}")
    if most is not None and value > most:
        raise ValueError(f"`{name}` must be at most {most}. {received}")
    if below is not None and value >= below:
        raise ValueError(f"`{name}` must be less than {below}. {received}")
    return float(value)


def _is_number(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def check_flag(name: str, value: Any) -> bool:
    """Returns the argument `name`; raises a TypeError unless it is True or False."""
    if not isinstance(value, bool):
        raise TypeError(f"`{name}` must be True or False. Received: {name}={value!r:.99}.")
    return value


def check_text(name: str, value: Any) -> str:
    """Returns the argument `name`; raises a TypeError unless it is a string."""
    if not isinstance(value, str):
        raise TypeError(f"`{name}` must be a string. Received: {name}={value!r:.99}.")
    return value


def check_languages_known(flags: Iterable[Iterable[str]], target_language: str | None):
    """Raises a ValueError if a text has the flag of an unknown target language."""
    for flag in itertools.chain.from_iterable(flags):
        if flag.startswith(UNKNOWN_LANGUAGE):
            raise ValueError(
                "`target_language` must be one of the model's languages. "
                f"Received: target_language={target_language!r}: {flag}."
            )


def check_target_language(value: Any, known: Collection[str]):
    """Raises a ValueError unless `value` is one of the `known` languages, or None if none are."""
    if value in known or (value is None and not known):
        return
    among = ", ".join(known) or "none, because it has no choice"
    raise ValueError(
        f"`target_language` must be one of the model's languages: {among}. "
        f"Received: target_language={value!r}."
    )


def check_choice(name: str, value: Any, among: Collection):
    """Returns the argument `name`; raises a ValueError unless it is one of `among`."""
    if value not in among:
        choices = ", ".join(map(str, among))
        raise ValueError(f"`{name}` must be one of {choices}. Received: {name}={value!r}.")
    return value


def as_texts(texts: Any, name: str) -> list[str]:
    """Returns the argument `name` as a list of strings; methods of a single one: `one_or_many`.

    Args:
        texts: list of strings, or another iterable of them: a pandas Series, a NumPy array (B,), a
            TensorFlow tensor (B,). These three may hold UTF-8 bytes.
    """
    # Iterating over these would yield characters, keys or columns; a set has no order.
    if isinstance(texts, str | bytes | dict | set | frozenset) or getattr(texts, "ndim", 1) != 1:
        raise _no_texts(name, texts)
    is_array = hasattr(texts, "__array__")
    if hasattr(texts, "numpy"):
        texts = texts.numpy()
    try:
        elements = texts.tolist() if is_array else list(texts)
    except (AttributeError, TypeError) as error:  # A symbolic tensor raises these, too.
        raise _no_texts(name, texts) from error
    for i, text in enumerate(elements):
        if is_array and isinstance(text, bytes):
            elements[i] = _decoded(f"{name}[{i}]", text)
        elif not isinstance(text, str):
            raise _no_texts(name, text, f"[{i}]")
    return elements


def single_text(name: str, value: Any) -> str | None:
    """Returns the argument `name` as a string if it is one text: a string or a scalar of strings.

    Args:
        value: Any object. A scalar of NumPy or of TensorFlow may hold UTF-8 bytes.
    """
    if isinstance(value, str):
        return str(value)  # Not NumPy's subclass.
    if getattr(value, "shape", None) != ():
        return None
    for method in ("numpy", "item"):  # Of a tensor, and of an array.
        value = getattr(value, method, lambda scalar=value: scalar)()
    if isinstance(value, bytes):
        return _decoded(name, value)
    return value if isinstance(value, str) else None


Self = TypeVar("Self")
P = ParamSpec("P")
One = TypeVar("One", covariant=True)
Many = TypeVar("Many", covariant=True)
Answer = TypeVar("Answer")
Texts = Iterable[str]


class _OfTexts(Protocol[P, One, Many]):
    """A bound method of one text or of several."""

    @overload
    def __call__(self, texts: str, *args: P.args, **kwargs: P.kwargs) -> One: ...
    @overload
    def __call__(self, texts: Texts, *args: P.args, **kwargs: P.kwargs) -> Many: ...


class _OfPrompts(Protocol[P, One, Many]):
    """The same of prompts."""

    @overload
    def __call__(self, prompts: str, *args: P.args, **kwargs: P.kwargs) -> One: ...
    @overload
    def __call__(self, prompts: Texts, *args: P.args, **kwargs: P.kwargs) -> Many: ...


class _OfPairs(Protocol[P, One, Many]):
    """The same of sources and their translations."""

    @overload
    def __call__(self, sources: str, targets: str, *args: P.args, **kwargs: P.kwargs) -> One: ...
    @overload
    def __call__(
        self, sources: Texts, targets: Texts, *args: P.args, **kwargs: P.kwargs
    ) -> Many: ...


Bound = TypeVar("Bound", covariant=True)


class _Method(Protocol[Bound]):
    """Such a method before it is bound."""

    def __get__(self, instance: Any, owner: type) -> Bound: ...


def text_or_texts(
    method: Callable[Concatenate[Self, Texts, P], list[Answer]],
) -> _Method[_OfTexts[P, Answer, list[Answer]]]:
    """Returns a method of several texts that answers a single one, too, as `one_or_many` does."""
    return cast(_Method, one_or_many(method))


def for_text_or_texts(
    function: Callable[Concatenate[Texts, P], list[Answer]],
) -> _OfTexts[P, Answer, list[Answer]]:
    """Returns such a function that is no method."""
    return cast(_OfTexts, one_or_many(function))


def prompt_or_prompts(
    method: Callable[Concatenate[Self, Texts, P], list[Answer]],
) -> _Method[_OfPrompts[P, Answer, list[Answer]]]:
    """Returns a method of several prompts that continues a single one, too."""
    return cast(_Method, one_or_many(method))


def pair_or_pairs(
    method: Callable[Concatenate[Self, Texts, Texts, P], list[Answer]],
) -> _Method[_OfPairs[P, Answer, list[Answer]]]:
    """Returns a method of several sources and targets that answers a single pair, too."""
    return cast(_Method, one_or_many(method))


_Function = TypeVar("_Function", bound=Callable)


def one_or_many(
    method: _Function, only: Callable[[Any], Any] = operator.itemgetter(0)
) -> _Function:
    """Returns a method of several texts that answers a single text with the answer to it alone.

    Arguments that belong to the texts one by one, `targets` and `prefixes`, are then single, too.
    """
    signature = inspect.signature(method)
    names = [*signature.parameters]
    place = 1 if names[0] == "self" else 0
    name, parallel = names[place], {"targets", "prefixes"} & {*names}
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    checks_names = inspect.Parameter.VAR_KEYWORD not in kinds  # Otherwise the method does.
    by_place = sum(
        parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        for parameter in signature.parameters.values()
    )

    @functools.wraps(method)
    def answer(*args, **kwargs):
        if len(args) > by_place:
            raise TypeError(
                f"`{method.__name__}` must get its arguments by name after the first "
                f"{by_place - place}. Received: {args[by_place]!r:.99} without a name."
            )
        if checks_names:
            check_names(method.__name__, kwargs, names[place:])
        text = single_text(name, args[place] if len(args) > place else kwargs.get(name))
        if text is None:
            return method(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        bound.arguments[name] = [text]
        for companion in parallel:
            single = single_text(companion, bound.arguments.get(companion))
            if single is not None:
                bound.arguments[companion] = [single]
        return only(method(*bound.args, **bound.kwargs))

    return cast(_Function, answer)


def stacklevel_of_user() -> int:
    """Returns the `stacklevel` with which the calling function warns of the user's own line.

    That is the first line outside of the package, or in its command line.
    """
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _is_inside(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    return level


def _is_inside(module):
    return f"{module}.".startswith("kformer.") and not module.startswith("kformer.cli")


def replace_lone_surrogates(text: str) -> str:
    """Returns the text with halves of surrogate pairs, which UTF-8 cannot hold, as U+FFFD."""
    return _LONE_SURROGATES.sub("\ufffd", text)


def check_as_many(**lists: Sequence):
    """Raises a ValueError if two lists, given by name, have different lengths."""
    (first_name, first), (second_name, second) = lists.items()
    if len(first) != len(second):
        raise ValueError(
            f"There must be as many `{second_name}` as `{first_name}`. "
            f"Received: {len(first)} {first_name}, {len(second)} {second_name}."
        )


def _no_texts(name, value, place=""):
    alone = isinstance(value, str | bytes) and not place
    cure = f"; put a single one into a list: [{value!r:.50}]" if alone else ""
    return TypeError(
        f"`{name}` must be a list of strings{cure}. Received: {name}{place}={value!r:.99}."
    )


def _decoded(name, value):
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"Bytes must be UTF-8. Received: {name}={value!r:.99} ({error.reason})."
        ) from error
