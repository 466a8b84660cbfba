"""The compiler of the C++ programs, for tests and benchmarks."""

import subprocess

from support import TESTS

NATIVE = TESTS / "native"


def compile_program(name, folder, *arguments, compiler="g++"):
    """Returns the path of the program of `native/<name>.cc`.

    Args:
        folder: Where to put it.
        arguments: For the compiler, behind the source.
        compiler: g++, or that of another processor.
    """
    output = folder / name
    command = [compiler, "-std=c++17", "-o", output, NATIVE / f"{name}.cc", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-2000:]
    return output
