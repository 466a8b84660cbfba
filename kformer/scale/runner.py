"""Runs a pipeline: the options of Beam, and errors of workers in one line."""

import contextlib
import io
import re
from collections.abc import Callable, Sequence

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.runners.runner import PipelineResult, PipelineState

# Runners whose options Beam's Python library knows completely: job servers have further ones.
_KNOW_ALL = ("directrunner", "dataflowrunner")
# Marks around a message, which a runner usually embeds in a traceback of its own.
_BEGIN, _END = "kformer[[", "]]kformer"
_MARKED = re.compile(f"{re.escape(_BEGIN)}(.*?){re.escape(_END)}", re.DOTALL)


class UserError(Exception):
    """An error of a worker because of its input; `run` raises a ValueError for it."""


@contextlib.contextmanager
def errors_of_users():
    """Turns a worker's errors about its input into a `UserError`."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise UserError(f"{_BEGIN}{error}{_END}") from error


def pipeline_options(runner: str, flags: Sequence[str]) -> PipelineOptions:
    """Returns the options of a pipeline."""
    messages = io.StringIO()
    try:
        with contextlib.redirect_stderr(messages):  # The parser prints an error, and exits.
            options = PipelineOptions([f"--runner={runner}", *flags])
            chosen = options.get_all_options(retain_unknown_options=True)
            known = PipelineOptions([]).get_all_options()
    except SystemExit as error:
        reason = messages.getvalue().strip().rpartition("error: ")[2]
        raise ValueError(
            f"The options must be options of Beam. Received: {' '.join(flags)} ({reason})."
        ) from error
    unknown = [f"--{name}" for name in chosen if name not in known]
    if unknown and runner.lower() in _KNOW_ALL:
        raise ValueError(
            "An option must be one of the command or of Beam. "
            f"Received: {' '.join(unknown)} with the runner {runner}."
        )
    return options


def run(build: Callable[[beam.Pipeline], None], options: PipelineOptions) -> PipelineResult:
    """Runs a pipeline, and waits for its end."""
    try:
        name = options.view_as(StandardOptions).runner
        # Beam's own choice for this name may download a program first.
        runner = FnApiRunner() if name.lower() == "directrunner" else None
        pipeline = beam.Pipeline(runner, options)
        build(pipeline)
        result = pipeline.run()
        result.wait_until_finish()
    except Exception as error:
        if marked := _MARKED.search(str(error)):
            raise ValueError(marked[1]) from error
        raise
    if result.state != PipelineState.DONE:
        raise RuntimeError(f"The pipeline must end well. Received: state {result.state}.")
    return result
