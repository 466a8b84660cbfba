"""Costly fixtures, made by the worker that needs them first and kept until their sources change."""

import fcntl
import hashlib
import importlib.metadata
import os
import pickle
import platform
import shutil
import time
from pathlib import Path

import keras

from support import REPOSITORY, TESTS

_SKIPPED = (
    "cli",
    "documents",
    "plot",
    "scale",
    "server",
    "serving",
)  # Packages that change no model and no export.
_LIBRARIES = ("keras", "numpy", "sentencepiece", "tensorflow", "tensorflow-text")
_SECONDS = 14 * 86_400


class MadeOnce:
    """Folders that the workers of a run of tests share, and later runs with the same sources.

    Args:
        base: A folder that outlives the run, such as one of pytest's cache.
    """

    def __init__(self, base):
        self._base = Path(base) / digest_of_sources()
        self._base.mkdir(parents=True, exist_ok=True)
        os.utime(self._base)

    def __call__(self, name, make):
        """Returns the picklable value that `make(folder)` returned, in this worker or another.

        The folder is new and empty. Other workers wait for it; if `make` fails, the next worker
        tries again.
        """
        folder, result = self._base / name, self._base / f"{name}.pickle"
        with (self._base / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # Until the file is closed, or its process killed.
            if not result.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                content = pickle.dumps(make(folder))
                temporary = result.with_suffix(".part")
                temporary.write_bytes(content)
                temporary.replace(result)
        return pickle.loads(result.read_bytes())

    def forget_older(self):
        """Removes the folders of sources that no run has used for two weeks."""
        for folder in self._base.parent.iterdir():
            if time.time() - folder.stat().st_mtime > _SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def digest_of_sources() -> str:
    """Returns a digest of the package, the tests' support, the libraries and Keras's backend."""
    digest = hashlib.sha256(f"{platform.python_version()} {keras.backend.backend()}".encode())
    for library in _LIBRARIES:
        digest.update(importlib.metadata.version(library).encode())
    support = [*(TESTS / "support").rglob("*"), TESTS / "browser" / "package.json"]
    for path in sorted([*(REPOSITORY / "kformer").rglob("*"), *support]):
        place = path.relative_to(REPOSITORY)
        is_source = path.is_file() and "__pycache__" not in place.parts and path.suffix != ".md"
        if is_source and place.parts[:2] not in [("kformer", name) for name in _SKIPPED]:
            digest.update(str(place).encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
