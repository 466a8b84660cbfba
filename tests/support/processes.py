"""Python in a process of its own."""

import subprocess
import sys


def run_python(*arguments, **options):
    """Returns the `CompletedProcess` of Python with `arguments`; what it wrote is text."""
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def printed_by(*arguments, **options):
    """Returns what Python with `arguments` prints; it must succeed."""
    result = run_python(*arguments, **options)
    assert result.returncode == 0, result.stderr
    return result.stdout


def started_python(*arguments, **options):
    """Starts Python with `arguments`; returns its `Popen`, whose streams are text."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, *map(str, arguments)], **pipes, **options)
