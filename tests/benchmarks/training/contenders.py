"""The contenders, and the command that starts each."""

import sys
from pathlib import Path

COMMANDS = {  # The file beside this one, and its options.
    "kformer": ("kformer_fit",),
    "torch": ("torch_loop",),
    "torch-1-thread": ("torch_loop", "1"),
    "torch-compile": ("torch_loop", "compile"),
    "torch-compile-1-thread": ("torch_loop", "compile", "1"),
    "kerashub": ("kerashub_fit",),
    "kerashub-xla": ("kerashub_fit", "xla"),
    "kformer-jax": ("kformer_fit",),
    "kerashub-jax": ("kerashub_fit", "xla"),
    "marian": ("marian_train",),
    "marian-1-thread": ("marian_train", "1"),
}
PEAK = "matmul-peak"  # Runs with the contenders, for the machine may be slower at times.


def trains_in(name: str, dtype: str) -> bool:
    """Returns whether a contender can train in `dtype`: Marian has float32 alone."""
    return dtype == "float32" or not name.startswith("marian")


def command(name: str, size: str, dtype: str, batches: Path) -> list[str]:
    """Returns the command of the contender `name` of COMMANDS, or of PEAK."""
    file, *options = COMMANDS[name] if name != PEAK else ("matmul_peak",)
    module = f"benchmarks.training.{file}"
    backend = "jax" if name.endswith("-jax") else "tensorflow"
    return [
        "env",
        f"KERAS_BACKEND={backend}",
        sys.executable,
        "-m",
        module,
        size,
        dtype,
        str(batches),
        *options,
    ]
