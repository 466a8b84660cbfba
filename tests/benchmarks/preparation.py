"""What must be done before a race, in a process of its own: the benchmark itself stays small."""

import subprocess
import sys

from benchmarks.contender import environment, reason


def prepare(program: str, module: str, arguments: list[str]):
    """Runs a module of `benchmarks`; if it fails, ends `program` with a line that says why."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        sys.exit(f"{program}: {reason(done.stderr) or f'exit code {done.returncode}'}")
