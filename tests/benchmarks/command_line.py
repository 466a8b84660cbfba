"""What the commands share: errors of one line, and a word about the machine."""

import argparse
import os
import time
from pathlib import Path


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and ends with code 2.

    Args:
        name: Of the command.
        description: What `--help` shows, as it is.
    """

    def __init__(self, name: str, description: str):
        super().__init__(
            name, description=description, formatter_class=argparse.RawDescriptionHelpFormatter
        )

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}\n")

    def parse_args(self, *args):
        """Returns the options; numbers must be positive, files must exist."""
        chosen = super().parse_args(*args)
        for option, given in vars(chosen).items():
            for value in given if isinstance(given, list) else [given]:
                if isinstance(value, int) and value < 1:
                    self.error(f"`--{option}` must be positive. Received: --{option} {value}.")
                if isinstance(value, Path) and not value.is_file():
                    self.error(f"There must be such a file. Received: {str(value)!r}.")
        return chosen

    def check_together(self, chosen, one: str, other: str):
        """Ends with an error if only one of two options was given."""
        values = getattr(chosen, one), getattr(chosen, other)
        if values.count(None) == 1:
            self.error(
                f"`--{one}` and `--{other}` belong together. "
                f"Received: --{one} {values[0]} --{other} {values[1]}."
            )


def show(line: str):
    print(f"  {line}", flush=True)


def show_machine():
    """Says how many cores there are, and whether others use them."""
    load = _busy_cores()
    print(f"{os.cpu_count()} cores, of which others keep {load:.1f} busy.", flush=True)
    if load > 0.3:
        print("Do not trust these figures: measure again on a machine that is idle.", flush=True)


def _busy_cores(seconds: float = 1.0) -> float:
    """Returns how many cores are busy while this process waits.

    Systems without `/proc/stat` only tell the mean of the last minute.
    """
    if not Path("/proc/stat").exists():
        return os.getloadavg()[0]
    before = _ticks()
    time.sleep(seconds)
    spent = [now - then for now, then in zip(_ticks(), before, strict=True)]
    idle = spent[3] + spent[4]  # The other one waits for a disk.
    return (sum(spent) - idle) / max(sum(spent), 1) * os.cpu_count()


def _ticks() -> list[int]:
    """Returns the time of all cores by kind, as `man 5 proc_stat` lists them, but for guests'."""
    return [int(ticks) for ticks in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
