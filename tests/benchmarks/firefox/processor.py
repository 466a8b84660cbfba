"""Processor time of a process and of those that it started."""

import os
from pathlib import Path


def processor_seconds(process: int | str = "self") -> float:
    """Returns the seconds of a process, of its ended children, and of those that run, theirs too.

    Linux counts in ticks of 10 ms.
    """
    try:
        content = Path(f"/proc/{process}/stat").read_text()
        lists = [file.read_text() for file in Path(f"/proc/{process}/task").glob("*/children")]
    except (FileNotFoundError, ProcessLookupError):  # It has ended, and its parent counts it.
        return 0.0
    ticks = sum(map(int, content.rpartition(")")[2].split()[11:15]))
    running = sum(processor_seconds(child) for child in " ".join(lists).split())
    return ticks / os.sysconf("SC_CLK_TCK") + running
