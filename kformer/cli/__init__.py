"""The `kformer` command: one file for each subcommand, errors in one line.

The subcommands check their arguments before they import anything heavy.
"""

import contextlib
import os
import signal
import sys
import threading
import warnings
from pathlib import Path

import typer

import kformer
from kformer.cli import classify, importing, lm
from kformer.cli.demos.demo import demo
from kformer.cli.encode import encode
from kformer.cli.evaluate import evaluate
from kformer.cli.export import export
from kformer.cli.insight import plot
from kformer.cli.insight.align import align
from kformer.cli.insight.attention import attention
from kformer.cli.insight.inspect import inspect
from kformer.cli.on_runner import RunnerCommand
from kformer.cli.request import request
from kformer.cli.score import score
from kformer.cli.terminal import system_errors
from kformer.cli.training.distill import distill
from kformer.cli.training.prepare import prepare
from kformer.cli.training.shortlist import shortlist
from kformer.cli.training.train import train
from kformer.cli.translate import translate
from kformer.serving.errors import printable

PACKAGE = Path(kformer.__file__).parent

app = typer.Typer(
    help="Train a translator on your own text, serve it, put it on a phone.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    prepare,
    train,
    distill,
    shortlist,
    translate,
    evaluate,
    score,
    encode,
    align,
    inspect,
    export,
    request,
    attention,
    demo,
):
    app.command(cls=RunnerCommand if command in (prepare, translate) else None)(command)
app.add_typer(classify.app, name="classify")
app.add_typer(lm.app, name="lm")
app.add_typer(importing.app, name="import")
app.add_typer(plot.app, name="plot")


def _print_version(wanted: bool):
    if wanted:
        typer.echo(f"kformer {kformer.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Show the version."
    ),
):
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main():
    """Runs the command: one line on stderr and exit code 2 for what the user can mend."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow's greetings.
    warnings.showwarning = _show_warning
    try:
        with _ended_by_exceptions():
            code = app(standalone_mode=False)
    except typer.TyperException as error:
        code = _complain(error.format_message())
    except OSError as error:
        code = _complain(system_errors.in_our_form(error))
    except (ValueError, FloatingPointError) as error:
        code = _complain(error)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except _Ended as ended:
        code = 128 + ended.number
    except Exception as error:
        if (message := system_errors.of_tensorflow(error)) is None:
            raise
        code = _complain(message)
    sys.exit(code)


class _Ended(BaseException):
    """A signal asked the process to end: what is half-written is removed on the way out."""

    def __init__(self, number):
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
    """Our own warnings are for the user; those of libraries are for programmers."""
    if category is UserWarning and Path(filename).is_relative_to(PACKAGE):
        print(f"kformer: {printable(str(message))}", file=sys.stderr)
