"""Reads JSON from elsewhere: of bounded size and depth, and of the types that a schema demands.

A schema is a type: `int`, `float`, `str`, `bool`, `dict`, `list`, `list[X]`, `dict[str, X]`,
`tuple[X, Y]` for an array of two, `X | Y`, a TypedDict or a dataclass. It works where NumPy is all
that is installed, as for `kformer.pocket`, so it is no package.
"""

import dataclasses
import functools
import json
import re
import types
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints, is_typeddict

from kformer.files import check_file

MOST_BYTES = 2**26  # Of a file: ten times the largest vocabulary of a known model.
_IN_WORDS = {
    int: "an integer",
    float: "a number",
    str: "a string",
    bool: "true or false",
    dict: "an object",
    list: "an array",
    type(None): "null",
}
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]", re.ASCII)
_HALF = re.compile("[\ud800-\udfff]")  # Whole pairs are one character of a string.


def read_json(path: str | Path, schema: Any = dict, *, rule: str, most: int = MOST_BYTES) -> Any:
    """Returns the content of a JSON file.

    Args:
        most: The largest number of bytes.
    """
    path = Path(path)
    check_file(path)
    try:
        if path.stat().st_size > most:
            raise ValueError(f"more than {most:,} bytes")
        return parse_json(path.read_bytes(), schema)
    except ValueError as error:
        raise ValueError(f"{rule} Received: {str(path)!r} ({error}).") from error


def parse_json(content: bytes | str, schema: Any = dict, *, mended: bool = False) -> Any:
    """Returns the value that JSON describes.

    Args:
        mended: Whether half of a surrogate pair in UTF-8 becomes U+FFFD instead.
    """
    try:
        value = json.loads(content if isinstance(content, str) else content.decode("utf-8-sig"))
        if not isinstance(content, str) and _SURROGATE.search(content):
            written = json.dumps(value, ensure_ascii=False)
            if mended:
                value = json.loads(_HALF.sub("\ufffd", written))
            else:
                written.encode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: {error.reason}") from error
    except UnicodeEncodeError as error:
        raise ValueError("a string with half of a surrogate pair") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except ValueError as error:  # Python has a limit.
        raise ValueError("an integer of thousands of digits") from error
    check_schema(value, schema)
    return value


def check_schema(value: Any, schema: Any, place: str = "it"):
    """Raises a ValueError unless a value of JSON has the types of a schema."""
    if schema in (Any, object):
        return
    origin, arguments = get_origin(schema), get_args(schema)
    if origin in (Union, types.UnionType):
        _check_union(value, arguments, place)
    elif is_typeddict(schema) or dataclasses.is_dataclass(schema):
        _check_object(value, schema, place)
    elif origin is tuple:
        _check_kind(value, list, place)
        if len(value) != len(arguments):
            raise ValueError(f"{place} must have {len(arguments)} elements")
        for number, (element, element_schema) in enumerate(zip(value, arguments, strict=True)):
            check_schema(element, element_schema, f"{place}[{number}]")
    elif origin is list:
        _check_kind(value, list, place)
        for number, element in enumerate(value):
            check_schema(element, arguments[0], f"{place}[{number}]")
    elif origin is dict:
        _check_kind(value, dict, place)
        for name, element in value.items():
            check_schema(element, arguments[1], f"{place}[{name!r:.40}]")
    else:
        _check_kind(value, schema, place)


def _check_kind(value, kind, place):
    kinds = (int, float) if kind is float else (kind or type(None),)
    if type(value) not in kinds:  # Not isinstance: True is no integer.
        raise ValueError(f"{place} must be {_IN_WORDS[kind or type(None)]}")


def _check_union(value, schemas, place):
    """Checks by the schema of the value's own kind, so that a message names the fault in it."""
    errors = []
    for schema in schemas:
        try:
            check_schema(value, schema, place)
            return
        except ValueError as error:
            errors.append(error)
    inside = [error for error in errors if not str(error).startswith(f"{place} must be ")]
    if inside:
        raise inside[0]
    names = (str(error).partition(" must be ")[2] for error in errors)
    raise ValueError(f"{place} must be {' or '.join(names)}")


def _check_object(value, schema, place):
    _check_kind(value, dict, place)
    hints, required = _fields(schema)
    if lacking := [name for name in required if name not in value]:
        raise ValueError(f"{place} must have {', '.join(map(repr, lacking))}")
    for name, field_schema in hints.items():
        if name in value:
            field = repr(name) if place == "it" else f"{place}[{name!r}]"
            check_schema(value[name], field_schema, field)
    if dataclasses.is_dataclass(schema) and (unknown := value.keys() - hints.keys()):
        raise ValueError(f"{place} must not have {', '.join(map(repr, sorted(unknown))):.99}")


@functools.cache
def _fields(schema):
    """Returns the types of an object by name, and the names that it must have."""
    hints = get_type_hints(schema)
    if is_typeddict(schema):
        return hints, sorted(schema.__required_keys__)
    without_default = (
        field.name
        for field in dataclasses.fields(schema)
        if field.default is field.default_factory is dataclasses.MISSING
    )
    return hints, [*without_default]
