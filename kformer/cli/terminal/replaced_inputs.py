"""Refuses a command whose output would replace one of its inputs, before it reads any of them."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kformer.files import is_same_file

# Parameters that name a file or a folder to write; all other paths are read.
OUTPUTS = {
    "output",
    "tmx",
    "html",
    "picture",
    "dropped",
    "translations",
    "saved_model",
    "tflite",
    "web",
    "android",
    "ios",
    "ctranslate2",
    "argos",
}
_READ_OR_WRITTEN = {"shortlist": ("import bergamot", "import published")}  # They write it.
_REPLACING = ("overwrite", "restart")  # With them, an output folder loses what it holds.


class _Place(NamedTuple):
    """A file or a folder that a command reads or writes.

    Attributes:
        shown: How the user named it, for a message.
        path: Its path, or the descriptor of a standard stream.
    """

    shown: str
    path: Path | int


def is_output(command: str, parameter: str) -> bool:
    """Returns whether a command writes to the path of a parameter."""
    return parameter in OUTPUTS or command in _READ_OR_WRITTEN.get(parameter, ())


def check_inputs_stay(context: Any):
    """Raises a ValueError if an output of a command is one of its inputs, by whatever name.

    Links and hard links lead to the same file. Devices and pipes may be both.
    """
    command, parameters = _command(context), context.params
    inputs: list[_Place] = []
    outputs: list[_Place] = []
    for parameter in context.command.get_params(context):
        writes = is_output(command, parameter.name)
        (outputs if writes else inputs).extend(_places(parameter, parameters.get(parameter.name)))
    inputs += _redirected(parameters, "input", sys.stdin, "stdin")
    replacing = any(parameters.get(name) for name in _REPLACING)
    for output in outputs:
        for read in inputs:
            if is_same_file(read.path, output.path):
                raise ValueError(
                    "The output must be another file than the input, which it would replace. "
                    f"Received: {output.shown}, the same as {read.shown}."
                )
            if replacing and _is_inside(read.path, output.path):
                raise ValueError(
                    "A folder that is replaced must not hold an input. "
                    f"Received: {output.shown}, which holds {read.shown}."
                )
    for output in _redirected(parameters, "output", sys.stdout, "stdout"):
        if read := next((read for read in inputs if is_same_file(read.path, output.path)), None):
            raise ValueError(
                "The output must be another file than the input. "
                f"Received: stdout, the same as {read.shown}."
            )


def _command(context):
    """Returns the name of a command behind `kformer`."""
    names = []
    while context.parent is not None:
        names.insert(0, context.info_name)
        context = context.parent
    return " ".join(names)


def _places(parameter, value) -> Iterator[_Place]:
    """Yields the files and folders that a parameter names."""
    is_option = parameter.param_type_name == "option"
    name = parameter.opts[0] if is_option else parameter.name.upper()
    for path in value if isinstance(value, list | tuple) else [value]:
        if isinstance(path, Path):
            yield _Place(f"{name} {str(path)!r}", path)


def _redirected(parameters, name, stream, shown) -> Iterator[_Place]:
    """Yields the file behind a standard stream, where it stands for a parameter without a value."""
    if name in parameters and parameters[name] is None:
        try:
            yield _Place(shown, stream.fileno())
        except (OSError, ValueError):  # It has no descriptor, or is closed.
            return


def _is_inside(path, folder):
    if isinstance(path, int) or isinstance(folder, int) or not folder.is_dir():
        return False
    return path.resolve().is_relative_to(folder.resolve())
