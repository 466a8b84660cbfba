"""What the commands share: errors of one line, and a word about the machine."""

import argparse
import os
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

    def check_positive(self, option: str, value: int):
        if value < 1:
            self.error(f"`{option}` must be positive. Received: {option} {value}.")

    def check_files(self, *paths: Path | None):
        for path in filter(None, paths):
            if not path.is_file():
                self.error(f"There must be such a file. Received: {str(path)!r}.")


def show_machine():
    """Says how many cores there are, and whether others use them."""
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, of which others keep {load:.1f} busy.", flush=True)
    if load > 0.5:
        print("Do not trust these figures: measure again on a machine that is idle.", flush=True)
