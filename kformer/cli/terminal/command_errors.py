"""Errors of typer, pydantic, the operating system and TensorFlow in the form of kformer's errors.

The rule comes first, then the received value.
"""

import errno
import os
import re

import typer

from kformer.near_names import near_name

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
_LEFT_OUT = {  # By how a package is imported.
    "flatbuffers": "flatbuffers",
    "google": "protobuf",
    "keras": "keras",
    "matplotlib": "matplotlib",
    "sacrebleu": "sacrebleu",
    "tensorflow": "tensorflow",
    "tensorflow_text": "tensorflow-text",
    "yaml": "pyyaml",
}
_CHOICE = re.compile(r"'.*' is not one of (.*)\.", re.DOTALL)
_COMMAND = re.compile(r"No such command '(.*)'\.", re.DOTALL)
_EXTRA = re.compile(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", re.DOTALL)


def usage_error_line(error: typer.TyperException) -> str:
    """Returns the message of an error in the typed command."""
    parameter, context = getattr(error, "param", None), getattr(error, "ctx", None)
    if (errors := getattr(error.__cause__, "errors", None)) and parameter is not None:
        return _value_error_line(parameter, errors()[0])
    message = error.format_message()
    if (option := getattr(error, "option_name", None)) and hasattr(error, "possibilities"):
        return _unknown_option_line(context, option)
    if unknown := _COMMAND.match(message):
        return _unknown_command_line(context, unknown[1])
    if extra := _EXTRA.fullmatch(message.strip().removesuffix(".")):
        return _extra_error_line(context, extra[1], message)
    return message


def missing_package_line(error: ImportError) -> str | None:
    """Returns the message of an error about a package that kformer-runtime leaves out.

    Of other errors it returns None.
    """
    missing = error if isinstance(error, ModuleNotFoundError) else error.__cause__
    if not isinstance(missing, ModuleNotFoundError):
        return None
    name = (missing.name or "").partition(".")[0]
    if name not in _LEFT_OUT:
        return None
    return (
        f"This command needs the package {_LEFT_OUT[name]}: pip install kformer, with Python 3.11 "
        "to 3.13, on Linux or macOS, or in WSL 2 on Windows. Files named .tflite need none of it. "
        f"Received: no module named {name!r}."
    )


def _value_error_line(param, error):
    """Returns the message for a value that pydantic refused."""
    name, kind, message = param.name, error["type"], error["msg"]
    if kind in _LIMITS:
        rule = _LIMITS[kind].format(**error["ctx"])
    elif kind.partition("_")[0] in _MUST_BE:
        rule = _MUST_BE[kind.partition("_")[0]]
    elif choice := _CHOICE.fullmatch(message.removeprefix("Value error, ")):
        rule = f"one of {choice[1].replace(chr(39), '')}"
    else:
        message = message.removeprefix("Value error, ").removesuffix(".")
        rule = message.removeprefix("Input should be ")
        if rule == message:
            return f"`{name}` cannot be used: {message}. Received: {name}={error['input']!r:.99}."
    return f"`{name}` must be {rule}. Received: {name}={error['input']!r:.99}."


def _unknown_option_line(context, option):
    """Returns the message for an option that a command does not have, with the one meant."""
    command = context.command_path
    names = [
        name
        for parameter in context.command.get_params(context)
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name.startswith("--")
    ]
    near = near_name(option, names)
    cure = f": use {near}" if near else f"; `{command} --help` lists all"
    return f"`{command}` has no option {option}{cure}. Received: {option}."


def _unknown_command_line(context, name):
    """Returns the message for a command that does not exist, with the one meant."""
    path = context.command_path
    near = near_name(name, context.command.list_commands(context))
    cure = f": use `{path} {near}`" if near else f"; `{path} --help` lists all"
    return f"`{path}` has no command {name!r}{cure}. Received: {name!r}."


def _extra_error_line(context, extra, message):
    """Returns the message for arguments that a command does not take."""
    if context is None:
        return message
    options = [option for parameter in context.command.params for option in parameter.opts]
    takes = [name for name in ("--input", "--text", "--source", "--test") if name in options]
    arguments = [
        parameter.name.upper()
        for parameter in context.command.params
        if parameter.param_type_name == "argument"
    ]
    cure = f"; text is read from a file by {takes[0]} FILE" if takes else ""
    return (
        f"`{context.command_path}` takes {' and '.join(arguments) or 'options alone'}{cure}. "
        f"Received: {extra}."
    )


_RULES = {
    errno.ENOENT: "There is no such file or folder.",
    errno.EISDIR: "A file is needed, not a folder.",
    errno.ENOTDIR: "A folder is needed, not a file.",
    errno.EACCES: "This user lacks the permission to read or write it.",
    errno.EPERM: "This user lacks the permission to read or write it.",
    errno.ENOSPC: "The disk is full.",
    errno.EDQUOT: "This user's quota of the disk is used up.",
    errno.EROFS: "The file system can only be read.",
    errno.ENAMETOOLONG: "The name of a file or folder is too long.",
    errno.EBADF: "A standard stream that the command needs must be open.",
    errno.ENOTEMPTY: "The folder must be empty.",
}
# TensorFlow's form: "{{...}} FILE; No such file or directory [Op:...]", on a line of its own.
_IN_TENSORFLOW = re.compile(r"^(?:\{\{.*\}\} )?(.+?); ([A-Z][\w -]+?)(?: \[Op:.*)?$", re.MULTILINE)


def system_error_line(error: OSError) -> str:
    """Returns an error's message, in kformer's form if the operating system made it."""
    if error.errno is None:  # One of ours.
        return str(error)
    rule = _RULES.get(error.errno, f"{error.strerror or os.strerror(error.errno)}.")
    if error.errno == errno.EBADF:  # A file in the error would be the one being written.
        return rule
    files = [file for file in (error.filename, error.filename2) if file is not None]
    return f"{rule} Received: {', '.join(map(repr, map(str, files)))}." if files else rule


def tensorflow_error_line(error: Exception) -> str | None:
    """Returns the message of an error that TensorFlow met with a file; None for other errors."""
    if not type(error).__module__.startswith("tensorflow."):
        return None
    rules = {os.strerror(number): rule for number, rule in _RULES.items()}
    match = _IN_TENSORFLOW.search(str(error))
    if not match or match[2] not in rules:
        return None
    return f"{rules[match[2]]} Received: {match[1]!r}."
