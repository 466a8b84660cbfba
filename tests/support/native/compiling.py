"""Programs in C++ beside the tests: compiled by g++, where there is one."""

import shutil

import pytest

from support.native.compiler import compile_program


def compiled(name, folder, *arguments, compiler="g++"):
    """Returns the path of the program of `native/<name>.cc`; skips the test without `compiler`.

    The arguments are those of `compile_program`.
    """
    if shutil.which(compiler) is None:
        pytest.skip(f"There is no {compiler} to compile {name}.cc with.")
    return compile_program(name, folder, *arguments, compiler=compiler)
