"""Errors of typer and pydantic in the form of ours: the rule first, then what was received."""

import re

import typer

_MUST_BE = {  # By how the type of pydantic's error begins.
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
}
_LIMITS = {
    "greater_than_equal": "at least {ge}",
    "greater_than": "greater than {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "less than {lt}",
}
_CHOICE = re.compile(r"'.*' is not one of (.*)\.", re.DOTALL)
_EXTRA = re.compile(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", re.DOTALL)


def usage_error_line(error: typer.TyperException) -> str:
    """Returns the message of an error in what was typed."""
    cause = error.__cause__
    if hasattr(cause, "errors") and getattr(error, "param", None) is not None:
        return _of_value(error.param, cause.errors()[0])
    message = error.format_message()
    if extra := _EXTRA.fullmatch(message.strip().removesuffix(".")):
        return _of_extra(getattr(error, "ctx", None), extra[1], message)
    return message


def _of_value(param, found):
    """Returns the message for a value that pydantic refused.

    Args:
        param: The parameter of the command.
        found: Its error, as a dict.
    """
    name, kind, message = param.name, found["type"], found["msg"]
    if kind in _LIMITS:
        rule = _LIMITS[kind].format(**found["ctx"])
    elif kind.partition("_")[0] in _MUST_BE:
        rule = _MUST_BE[kind.partition("_")[0]]
    elif choice := _CHOICE.fullmatch(message.removeprefix("Value error, ")):
        rule = f"one of {choice[1].replace(chr(39), '')}"
    else:
        message = message.removeprefix("Value error, ").removesuffix(".")
        rule = message.removeprefix("Input should be ")
        if rule == message:
            return f"`{name}` cannot be used: {message}. Received: {name}={found['input']!r:.99}."
    return f"`{name}` must be {rule}. Received: {name}={found['input']!r:.99}."


def _of_extra(context, extra, message):
    """Returns the message for arguments that a command does not take."""
    if context is None:
        return message
    options = [option for one in context.command.params for option in one.opts]
    takes = [name for name in ("--input", "--text", "--source", "--test") if name in options]
    arguments = [
        one.name.upper() for one in context.command.params if one.param_type_name == "argument"
    ]
    cure = f"; text is read from a file by {takes[0]} FILE" if takes else ""
    return (
        f"`{context.command_path}` takes {' and '.join(arguments) or 'options alone'}{cure}. "
        f"Received: {extra}."
    )
