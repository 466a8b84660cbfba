"""A line that says what to do next, for people: pipes and files do not get it."""

import shlex
import sys
from pathlib import Path

import typer


def suggest(*words: str | Path):
    """Prints a command line that can be pasted, if stdout is a terminal."""
    advise(shlex.join(map(str, words)))


def advise(sentence: str):
    """Prints what to do next in words, if stdout is a terminal."""
    if sys.stdout.isatty():
        typer.echo(f"Next: {sentence}")
