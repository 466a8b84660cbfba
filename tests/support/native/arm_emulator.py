"""The program of `native/translate.cc` for Arm, and an emulator that runs it.

LiteRT's wheel for aarch64 is fetched by `make prove`: tests download nothing.
"""

import importlib.metadata
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from support.native.compiler import NATIVE
from support.native.compiling import compiled

COMPILER, EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64-static"
LIBRARIES = Path("/usr/aarch64-linux-gnu")
WHEELS = NATIVE.parent.parent / ".venv" / "arm"
# LiteRT reads there which processor it runs on, and crashes if that is none of Arm's.
CPUINFO = NATIVE / "arm_cpuinfo.txt"
_WITH_CPUINFO = 'mount --bind "$0" /proc/cpuinfo && exec "$@"'


def arm_program(folder) -> list:
    """Returns a command, of which the program is the end; skips the test where it cannot be had.

    Args:
        folder: Where to put what is compiled and unpacked.
    """
    if shutil.which(EMULATOR) is None:
        pytest.skip(f"There is no {EMULATOR}.")
    namespace, library = _namespace(), _unpacked(_wheel(), folder) / "ai_edge_litert"
    linked = [library / "libLiteRt.so", f"-Wl,-rpath,{library}", "-Wl,--allow-shlib-undefined"]
    program = compiled("translate", folder, *linked, compiler=COMPILER)
    emulated = [EMULATOR, "-cpu", "cortex-a76", "-L", LIBRARIES, program]
    return [*namespace, "sh", "-c", _WITH_CPUINFO, CPUINFO, *emulated]


def _wheel():
    version = importlib.metadata.version("ai-edge-litert")
    found = sorted(WHEELS.glob(f"ai_edge_litert-{version}-*aarch64.whl"))
    if not found:
        pytest.skip(f"There is no wheel of ai-edge-litert {version} for aarch64 in {WHEELS}.")
    return found[0]


def _unpacked(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "wheel")
    return folder / "wheel"


def _namespace():
    """What runs a command so that it may mount what no other process sees."""
    if shutil.which("unshare") is None:
        pytest.skip("There is no unshare.")
    for unshare in (["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]):
        probe = [*unshare, "sh", "-c", _WITH_CPUINFO, CPUINFO, "cat", "/proc/cpuinfo"]
        if subprocess.run(probe, capture_output=True, check=False).stdout == CPUINFO.read_bytes():
            return unshare
    return pytest.skip("Nothing may be mounted on /proc/cpuinfo here.")
