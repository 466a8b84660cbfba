"""Repositories of the Hugging Face hub: downloads by huggingface_hub, into the hub's own cache.

The library reads HF_HOME, HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE, as its users know them.
"""

import contextlib
import errno
import fnmatch
import glob
import hashlib
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import kformer
from kformer.files import sha256
from kformer.imports.published.downloads import tell
from kformer.imports.published.model_names import Fetched, Offer, PublishedName
from kformer.imports.readme_card import CARD, read_card

AUTHOR = "Helsinki-NLP"  # Of OPUS-MT.
_MARIAN = "marian"  # The hub's tag of a MarianMTModel.
_OPUS_MT = re.compile(r"[^/]+/opus-mt(?:-tc)?(?:-(?:tiny|base|big|bible))*-([^-]+)-([^-]+)\Z")
_SAFETENSORS = ("model.safetensors", "model.safetensors.index.json", "model-*-of-*.safetensors")
_PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json", "pytorch_model-*-of-*.bin")
_READ = {  # By kind of folder, whose first file must be there: the files that kformer reads.
    "tflite": ("*.tflite", "*.tflite.json", "*.keras", CARD),
    "keras": ("*.keras", CARD),
    "ctranslate2": (
        *("model.bin", "config.json", "kformer.json", "*vocabulary.json", "*vocabulary.txt"),
        *("source.spm", "target.spm", CARD),
    ),
    "marian": (
        *("source.spm", "target.spm", "config.json", "generation_config.json", "vocab.json"),
        *("target_vocab.json", "added_tokens.json", CARD),
    ),
}
_RULES = (  # By huggingface_hub's error, the first that fits: the built-in error and the rule.
    ("HFValidationError", ValueError, "A model of the hub is named hf://OWNER/NAME."),
    (
        "GatedRepoError",
        PermissionError,
        "This model is gated: ask for it at {host}/{repository}, and set HF_TOKEN to your token.",
    ),
    (
        "RepositoryNotFoundError",
        FileNotFoundError,
        "{host} must have the model; a private one needs its owner's token in HF_TOKEN.",
    ),
    ("RevisionNotFoundError", FileNotFoundError, "It must have the branch, tag or commit."),
    ("OfflineModeIsEnabled", ConnectionError, "With HF_HUB_OFFLINE, {host} is not asked."),
    ("HfHubHTTPError", ConnectionError, "{host} must answer."),
    ("HTTPError", ConnectionError, "{host} must be reachable."),
    ("LocalEntryNotFoundError", ConnectionError, "{host} must be reachable."),
)


class SnapshotFacts(NamedTuple):
    """What is known of a downloaded repository.

    Attributes:
        kind: What its files are: "tflite" or "keras", written by kformer, "ctranslate2" or
            "marian".
        revision: The commit, 40 hexadecimal digits.
        licence: As the model card names it, or None.
        languages: Codes, as the model card or the repository's name has them.
        bytes: Size of all files that kformer reads.
        files: (name, SHA-256 in hexadecimal) of each of them.
    """

    kind: str
    revision: str
    licence: str | None
    languages: tuple[str, ...]
    bytes: int
    files: tuple[tuple[str, str], ...]


def library() -> Any:
    """Returns the module `huggingface_hub`; raises a ValueError if it is not installed."""
    try:
        import huggingface_hub
        import huggingface_hub.constants
        import huggingface_hub.errors
    except ImportError as error:
        raise ValueError(
            "Models of the Hugging Face hub need a package: pip install 'kformer[hub]'. "
            "Received: no module named 'huggingface_hub'."
        ) from error
    return huggingface_hub


def fetch(name: PublishedName, folder: Path, addresses: dict[str, str]) -> Fetched:
    """Downloads a repository, OWNER/NAME or OWNER/NAME@REVISION, into the hub's own cache."""
    repository, _, revision = name.rest.partition("@")
    files, known = snapshot(repository, revision or None, tell)
    facts = {"version": known.revision, "files": dict(known.files), "licence": known.licence}
    if len(known.languages) == 2:
        facts |= dict(zip(("source_language", "target_language"), known.languages, strict=True))
    return Fetched(files, {key: value for key, value in facts.items() if value})


def snapshot(
    repository: str, revision: str | None, say: Callable[[str], object]
) -> tuple[Path, SnapshotFacts]:
    """Downloads the files of a repository that kformer reads, as far as they are not there.

    Each file must have the digest that the hub names. Without a network, and with HF_HUB_OFFLINE,
    the files of an earlier download are used.

    Args:
        repository: Such as "Helsinki-NLP/opus-mt-de-en".
        revision: A branch, a tag or a commit; None for the newest commit.
        say: Called with one line of text before a download.

    Returns:
        The folder in the hub's cache, and facts. The folder may hold files of other programs, too.

    Raises:
        FileNotFoundError: There is no such repository or revision; or it is not there offline.
        PermissionError: The repository is gated.
        ConnectionError: The host cannot be reached, or it refuses to answer.
        ValueError: The name is no repository's, kformer reads no model in it, a file is damaged,
            or huggingface_hub is not installed.
        OSError: The disk is full.
    """
    hub = library()
    revision = revision or "main"
    with plain_errors(repository, revision):
        try:
            info = hub_api().model_info(repository, revision=revision, files_metadata=True)
        except (hub.errors.HTTPError, hub.errors.OfflineModeIsEnabled) as error:
            if isinstance(error, hub.errors.HfHubHTTPError) and error.response.status_code < 500:
                raise
            folder = _earlier_download(repository, revision, error)
            kind, names = _files_to_read(repository, (path.name for path in folder.iterdir()))
            digests = {name: sha256(folder / name) for name in names}
        else:
            files = {file.rfilename: file for file in info.siblings or ()}
            kind, names = _files_to_read(repository, files)
            files = [files[name] for name in names]
            folder = _download(repository, revision, info.sha, files, say)
            digests = {name: sha256(folder / name) for name in names}
            _check_digests(folder, files, digests)
    about = read_card(folder)
    return folder, SnapshotFacts(
        kind,
        folder.name,
        about.get("licence"),
        tuple(about.get("languages") or languages_in_name(repository)),
        sum((folder / name).stat().st_size for name in names),
        tuple(digests.items()),
    )


def offers(language: str | None, addresses: dict[str, str]) -> Iterable[Offer]:
    """Yields OPUS-MT's models from or into a language, such as "de", by name; asks the host.

    Raises:
        ConnectionError: The host cannot be reached, or HF_HUB_OFFLINE is set.
        ValueError: huggingface_hub is not installed.
    """
    hub = library()
    with plain_errors(AUTHOR):
        hub.get_session().head(hub.constants.ENDPOINT)  # Without a network, a list takes 23 s.
        tags = [_MARIAN, language] if language else [_MARIAN]
        models = list(hub_api().list_models(author=AUTHOR, filter=tags))
    for model in sorted(models, key=lambda model: model.id):
        if languages := languages_in_name(model.id):
            source, target = languages
            named = [tag.partition(":") for tag in model.tags or ()]
            licence = next((value for name, _, value in named if name == "license"), None)
            yield Offer(f"hf://{model.id}", source, target, None, licence)


def languages_in_name(repository: str) -> tuple[str, str] | tuple[()]:
    """Returns (source, target) of one of OPUS-MT's repositories; () of others."""
    match = _OPUS_MT.match(repository)
    return (match[1], match[2]) if match else ()


def hub_api() -> Any:
    """Returns the `HfApi` with which kformer asks the hub."""
    return library().HfApi(library_name="kformer", library_version=kformer.__version__)


@contextlib.contextmanager
def plain_errors(repository: str, revision: str | None = None):
    """Raises the errors of huggingface_hub as built-in errors of one line."""
    hub = library()
    host = hub.constants.ENDPOINT
    try:
        yield
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            error.filename = error.filename or hub.constants.HF_HUB_CACHE
        fitting = (rule for rule in _RULES if isinstance(error, getattr(hub.errors, rule[0])))
        if (match := next(fitting, None)) is None:
            raise
        _, kind, rule = match
        at = f"{repository!r} at revision {revision!r}" if revision else repr(repository)
        if kind is ConnectionError:
            status = getattr(getattr(error, "response", None), "status_code", "")
            reason = getattr(error, "server_message", None) or error.__cause__ or error
            at += f", {status} {str(reason).partition(chr(10))[0]}".replace("  ", " ")
        rule = rule.format(host=host, repository=repository)
        raise kind(f"{rule} Received: {at}.") from error


def _files_to_read(repository: str, names: Iterable[str]) -> tuple[str, list[str]]:
    """Returns the kind of a repository by the names of its files, and those that are read."""
    names = sorted(name for name in names if "/" not in name)

    def matching(*patterns):
        return [name for name in names if any(fnmatch.fnmatchcase(name, p) for p in patterns)]

    for kind, patterns in _READ.items():
        if matching(patterns[0]):
            files = matching(*patterns)
            if kind != "marian":
                return kind, files
            if weights := matching(*_SAFETENSORS) or matching(*_PICKLES):  # The safe ones first.
                return kind, files + weights
    raise ValueError(
        "kformer reads MarianMTModels with source.spm and weights of PyTorch, such as OPUS-MT's, "
        "folders of CTranslate2 and its own .keras and .tflite files. "
        f"Received: {repository!r}, with {', '.join(names[:9]) or 'no files'}."
    )


def _download(repository, revision, commit, files, say):
    """Downloads files of a commit, which is the revision's newest, and returns their folder."""
    hub = library()

    def is_here(file):
        return isinstance(
            hub.try_to_load_from_cache(repository, file.rfilename, revision=commit), str
        )

    class Bar(hub.utils.tqdm):  # The library's own bars also go to files and pipes.
        def __init__(self, *args, disable=None, **kwargs):
            super().__init__(*args, disable=disable or None, **kwargs)

    if size := sum(file.size or 0 for file in files if not is_here(file)):
        say(f"Downloading {repository} from {hub.constants.ENDPOINT}: {size / 1e6:,.1f} MB")
    # The name of the revision, and not its commit, so that it is known offline.
    folder = hub.snapshot_download(
        repository,
        revision=revision,
        allow_patterns=[glob.escape(file.rfilename) for file in files],
        library_name="kformer",
        library_version=kformer.__version__,
        tqdm_class=Bar,
    )
    if Path(folder).name != commit:
        raise ConnectionError(
            "A repository must not change during a download: try again. "
            f"Received: {repository!r} at {commit}, then at {Path(folder).name}."
        )
    return Path(folder)


def _earlier_download(repository, revision, error):
    """Returns the folder of an earlier download; raises what says that there is none."""
    hub = library()
    try:
        # No pattern: which files are read depends on those that are there.
        folder = hub.snapshot_download(
            repository, revision=revision, local_files_only=True, allow_patterns=[]
        )
    except hub.errors.LocalEntryNotFoundError:
        if not isinstance(error, hub.errors.OfflineModeIsEnabled):
            raise error from None
        raise FileNotFoundError(
            "With HF_HUB_OFFLINE, a model must have been downloaded before. Received: "
            f"{repository!r} at revision {revision!r}, not in {hub.constants.HF_HUB_CACHE!r}."
        ) from error
    return Path(folder)


def _check_digests(folder, files, digests):
    """Raises a ValueError for a file without the digest that the hub names, and removes it."""
    for file in files:
        path = folder / file.rfilename
        if file.lfs:
            expected, digest = file.lfs.sha256, digests[file.rfilename]
        else:
            content = path.read_bytes()
            expected = file.blob_id
            digest = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        if digest != expected:
            path.resolve().unlink()
            path.unlink(missing_ok=True)
            raise ValueError(
                "A file must arrive as the hub describes it; it was removed, so try again. "
                f"Received: {file.rfilename!r} with digest {digest}, not {expected}."
            )
