"""What is costly is made once, by the worker that needs it first, and lent to all."""

import fcntl
import pickle
import shutil


class MadeOnce:
    """Folders that the workers of a run of tests share.

    Args:
        base: A folder of this run, the same for all workers.
    """

    def __init__(self, base):
        self._base = base

    def __call__(self, name, make):
        """Returns what `make(folder)` returned, here or in another worker: something to pickle.

        The folder is new and empty. Whoever asks meanwhile waits; where `make` fails, the next
        one tries again.
        """
        folder, result = self._base / name, self._base / f"{name}.pickle"
        with (self._base / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # Until the file is closed, or its process killed.
            if not result.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                content = pickle.dumps(make(folder))
                result.write_bytes(content)
        return pickle.loads(result.read_bytes())
