"""The folder of this user's downloaded models: one folder for each, complete or not there.

It is in the cache folder of the platform, or where the environment variable KFORMER_HOME says.
"""

import contextlib
import datetime
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import filelock
import platformdirs

import kformer
from kformer.files import replacing, write_json
from kformer.imports.published.downloads import tell
from kformer.imports.published.model_names import ROUTE_FILE, PublishedName
from kformer.json_files import read_json

HOME = "KFORMER_HOME"
_FACTS = "facts.json"
_RULE = "A model in the cache must have its facts."


class _Facts(TypedDict, total=False):
    name: str
    version: str
    licence: str
    source_language: str
    target_language: str
    files: dict[str, str]
    downloaded: str
    kformer: str


class CachedModel(NamedTuple):
    """A model in the cache.

    Attributes:
        folder: Its folder, with `model.keras`, `model.tflite` or both.
        facts: What is known of it, as JSON.
    """

    folder: Path
    facts: Any

    @property
    def bytes(self) -> int:
        """The size of its files."""
        return sum(file.stat().st_size for file in self.folder.iterdir())

    def file(self, suffix: str, make: Callable[[Path, Path], object]) -> Path:
        """Returns the path of one form; made once, where it is missing.

        A route has its own file, instead of a `.tflite` file.

        Args:
            suffix: Of the form, such as ".tflite".
            make: Called with the path of the other form and that of the new file.

        Raises:
            ValueError: A route has no such form.
        """
        route = self.folder / ROUTE_FILE
        path = self.folder / f"model{suffix}"
        if suffix == ".tflite" and route.exists():
            return route
        if route.exists():
            raise ValueError(
                "A route of two models has no Keras model: give the name of one of them. "
                f"Received: {self.facts['name']}, which is {route.read_text('utf-8')}."
            )
        if not path.exists():
            with _locked(self.folder.name), contextlib.ExitStack() as stack:
                if not path.exists():
                    [made_of] = [
                        file
                        for file in self.folder.glob("model.*")
                        if file.suffix in (".keras", ".tflite")
                    ]
                    make(made_of, stack.enter_context(replacing(path)))
        return path


def cache_folder() -> Path:
    """Returns the folder of everything that kformer keeps for this user."""
    return Path(os.environ.get(HOME) or platformdirs.user_cache_dir("kformer", appauthor=False))


def cached_model(
    name: PublishedName,
    keep: Callable[[Path, Path], dict[str, Any]],
    check: Callable[[], object] = bool,
) -> CachedModel:
    """Returns a model of the cache; at first, it is downloaded.

    A download that broke off continues at the next call. Of any other failure nothing stays.

    Args:
        check: Called before a download; an error prevents it.
        keep: Called with the downloaded files and a new folder, where it writes the model in a form
            of kformer; it returns facts.

    Raises:
        OSError, ValueError: It cannot be found, downloaded or read.
    """
    folder = _models() / name.folder
    if not folder.exists():
        with _locked(folder.name):
            if not folder.exists():
                check()
                _add(name, folder, keep)
    return CachedModel(folder, read_json(folder / _FACTS, _Facts, rule=_RULE))


def cached_models() -> Iterator[CachedModel]:
    """Yields the models in the cache, in the order of their names."""
    for facts in sorted(_models().glob(f"[!.]*/{_FACTS}")):
        yield CachedModel(facts.parent, read_json(facts, _Facts, rule=_RULE))


def remove_model(name: PublishedName):
    """Removes a model from the cache.

    Raises:
        FileNotFoundError: It is not there.
    """
    removed = [model for model in cached_models() if model.facts.get("name") == str(name)]
    if not removed:
        raise FileNotFoundError(f"The cache must hold the model. Received: {str(name)!r}.")
    for model in removed:
        with _locked(model.folder.name):
            shutil.rmtree(model.folder)


def _models():
    return cache_folder() / "models"


def _add(name, folder, keep):
    download = cache_folder() / "downloads" / folder.name
    download.mkdir(parents=True, exist_ok=True)
    try:
        files, facts = name.fetch(download)
        tell(f"Reading {name} ...")
        with replacing(folder) as temporary:
            temporary.mkdir()
            about = keep(files, temporary)
            known = {key: about[key] for key in _Facts.__annotations__ if about.get(key)}
            today = datetime.datetime.now(datetime.UTC).date().isoformat()
            own = {"name": str(name), "downloaded": today, "kformer": kformer.__version__}
            write_json(temporary / _FACTS, known | facts | own)
    except Exception as error:
        if not isinstance(error, ConnectionError):  # Then the next call goes on.
            shutil.rmtree(download, ignore_errors=True)
        raise
    shutil.rmtree(download)


@contextlib.contextmanager
def _locked(name):
    """Keeps other processes from adding or changing a model at the same time."""
    locks = cache_folder() / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(locks / f"{name}.lock")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        tell("Waiting for another process that reads this model ...")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
