"""Programs in C++ beside the tests: compiled by g++, where there is one."""

import shutil
import subprocess

import pytest

from support import TESTS

NATIVE = TESTS / "native"


def compiled(name, folder, *arguments, compiler="g++"):
    """Returns the path of the program of `native/<name>.cc`; skips the test without `compiler`.

    Args:
        folder: Where to put it.
        arguments: For the compiler, behind the source.
        compiler: g++, or that of another processor.
    """
    if shutil.which(compiler) is None:
        pytest.skip(f"There is no {compiler} to compile {name}.cc with.")
    output = folder / name
    command = [compiler, "-std=c++17", "-o", output, NATIVE / f"{name}.cc", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-2000:]
    return output
