"""The `kformer` command: one module for each subcommand, errors in one line.

- `train`, `distill`, `classify`, `tag`, `lm`, `split`, `prepare`, `shortlist_command`: train
  models, and make the data that they are trained on. `run_flags`: the flags that every run shares.
- `documents_command`: `translate` of a web page or another document.
- `translate`, `encode`, `score`, `align`, `evaluate`, `compare`, `tune`, `request`: use
  models. `calibrate`: quality estimates of translations.
- `identify`: the language of text. `serve`: a server of models.
- `export`, `importing`: other forms of a model, and models of others. `models_command`: published
  models in the cache. `publish`: a model for others, on the Hugging Face hub. `export_options`,
  `export_writing`: shared with the demos.
- `inspect`, `attention_command`, `plot_command`: look into models and runs. `recipe_command`: the
  numbers of recipes.
- `demos`: `kformer demo`, the whole way on the built-in text.
- `commands`: the table of subcommands. `command_options`, `common_models`: options and models that
  several subcommands share. `on_runner`: subcommands on Apache Beam.
- `unfinished`: a translation of a large file that continues after its process was killed;
  `answered_before`: that of a document.
- `terminal`: standard input, output and errors.

The subcommands check their arguments before they import anything heavy.
"""

import contextlib
import os
import signal
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import typer

import kformer
from kformer.cli.commands import app_for
from kformer.cli.terminal import command_errors as system_errors
from kformer.cli.terminal import command_errors as usage_errors
from kformer.cli.terminal.streams import remark, remark_on_the_others
from kformer.serving.errors import printable

PACKAGE = Path(kformer.__file__).parent


def main():
    """Runs the command: a user's error is one line on stderr and exit code 2."""
    _replace_closed_streams()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow's greetings.
    warnings.showwarning = _show_warning
    if sys.argv[1:2] == ["help"]:
        sys.argv[1:] = [*sys.argv[2:], "--help"]
    try:
        with _ended_by_exceptions():
            code = app_for(sys.argv[1:] or _completed_words())(standalone_mode=False)
            sys.stdout.flush()
    except typer.TyperException as error:
        code = _complain(usage_errors.usage_error_line(error))
    except OSError as error:
        code = _complain(system_errors.system_error_line(error))
    except (ValueError, FloatingPointError) as error:
        code = _complain(error)
    except ImportError as error:
        if (message := system_errors.missing_package_line(error)) is None:
            raise
        code = _complain(message)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except _Ended as ended:
        code = 128 + ended.number
    except Exception as error:
        if (message := system_errors.tensorflow_error_line(error)) is None:
            raise
        code = _complain(message)
    finally:
        remark_on_the_others()
        _drop_what_cannot_be_written()
    sys.exit(code)


def _completed_words() -> list[str]:
    """Returns the words that a shell completes, behind `kformer`, if the first one is whole."""
    if "_KFORMER_COMPLETE" not in os.environ:
        return []
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    words = line.split(" ")[1:]
    return words if len(words) > 1 else []


def _replace_closed_streams():
    """Replaces standard streams that are closed.

    Otherwise the next file that is opened gets their number, and the output of the stream.
    Reading a closed stdin and writing to a closed stdout are errors; messages are dropped.
    """
    flags = {0: os.O_WRONLY, 1: os.O_RDONLY, 2: os.O_WRONLY}
    for number, flag in flags.items():
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flag)  # Gets the smallest free number: this one.
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def _drop_what_cannot_be_written():
    """Spares the end of the process a second error of a stream that failed before."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class _Ended(BaseException):
    """A signal asked the process to end: half-written files are removed on the way out."""

    def __init__(self, number: Any):
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def _ended_by_exceptions():
    """Has SIGTERM and SIGHUP raise `_Ended`, as SIGINT raises KeyboardInterrupt.

    The C code of a library may lose such an exception and raise another. The signal still counts.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    received = []

    def end(number, frame):
        received.append(number)
        raise KeyboardInterrupt if number == signal.SIGINT else _Ended(number)

    handlers = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,  # `nohup` ignores it.
    }
    replaced = [
        number for number, handler in handlers.items() if signal.getsignal(number) == handler
    ]
    for number in replaced:
        signal.signal(number, end)
    try:
        yield
    except Exception as error:
        if received:
            raise _Ended(received[0]) from error
        raise
    finally:
        for number in replaced:
            signal.signal(number, handlers[number])


def _complain(error) -> int:
    lines = (printable(line.strip()) for line in str(error).splitlines())
    print("kformer:", *lines, file=sys.stderr)
    return 2


def _show_warning(message, category, filename, lineno, file=None, line=None):
    """Shows kformer's own warnings to the user, and hides the warnings of libraries."""
    if category is UserWarning and Path(filename).is_relative_to(PACKAGE):
        remark(str(message))
