"""Models of the hub: the real huggingface_hub library asks a stand-in on 127.0.0.1."""

import errno
import hashlib
import json
import subprocess
import sys

import keras
import numpy as np
import pytest

import kformer
from kformer.imports.published.hugging_face import languages_in_name, offers, snapshot
from kformer.imports.published.model_cache import cached_models
from support.hub_stand_in import TOKEN
from support.pretrained import marian

NAME = "Helsinki-NLP/opus-mt-de-en"
CARD = b"---\nlanguage:\n- de\n- en\nlicense: cc-by-4.0\n---\n# opus-mt-de-en\n"
READ = {
    *("README.md", "config.json", "model.safetensors", "source.spm", "target.spm"),
    "vocab.json",
}
UNREAD = ("tf_model.h5", "rust_model.ot", "pytorch_model.bin", "flax_model.msgpack")
LOAD = """
import json, sys
from kformer.imports.published.hugging_face import snapshot
try:
    folder, facts = snapshot(sys.argv[1], None, lambda line: None)
    print(json.dumps([str(folder), *facts]))
except OSError as error:
    print(json.dumps([type(error).__name__, str(error)]))
"""


def files_of(folder):
    """Returns the files of a folder, as a repository has them."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def marian_folder(tmp_path_factory):
    """A folder of a small MarianMTModel."""
    keras.utils.set_random_seed(1)
    words = marian.vocabulary()
    folder = tmp_path_factory.mktemp("folder") / "marian"
    return marian.write_folder(folder, words, marian.transformer(words.pieces))


@pytest.fixture
def files(marian_folder):
    """The files of a repository such as OPUS-MT's, with weights of other frameworks."""
    unread = {name: name.encode() * 9 for name in UNREAD}
    return files_of(marian_folder) | {"README.md": CARD} | unread


@pytest.fixture
def small(hub):
    """The name of a repository of small files, which are a translator by their names."""
    hub.add("me/small", {"a.keras": b"k" * 5000, "a.tflite": b"t" * 3000, "README.md": CARD})
    return "me/small"


def downloads(hub):
    """Returns the files that were asked for with their content."""
    return [
        path.rpartition("/")[2]
        for method, path, _ in hub.requests
        if method == "GET" and ("/resolve/" in path or "/content/" in path)
    ]


def silent(line):
    """Shows nothing."""


def test_a_translator_comes_from_the_hub_as_from_its_folder(hub, files, marian_folder):
    commit = hub.add(NAME, files)
    folder, facts = snapshot(NAME, None, silent)
    translator, expected = kformer.from_marian(folder), kformer.from_marian(marian_folder)
    for weights, original in zip(translator.weights, expected.weights, strict=True):
        np.testing.assert_array_equal(weights, original)
    assert translator.about["licence"] == "cc-by-4.0"
    assert {path.name for path in folder.iterdir()} == READ == {*dict(facts.files)}
    assert not {*downloads(hub)} & {*UNREAD}
    assert facts[:4] == ("marian", commit, "cc-by-4.0", ("de", "en"))
    assert facts.bytes == sum(len(files[name]) for name in READ)
    digests = {name: hashlib.sha256(files[name]).hexdigest() for name in READ}
    assert dict(facts.files) == digests


def test_pickled_weights_are_read_where_there_are_no_others(hub, files):
    del files["model.safetensors"]
    hub.add(NAME, files)
    _, facts = snapshot(NAME, None, silent)
    assert {*dict(facts.files)} == READ - {"model.safetensors"} | {"pytorch_model.bin"}


def test_the_hubs_own_cache_is_used_and_filled(hub, small, tmp_path):
    from huggingface_hub import hf_hub_download, scan_cache_dir

    theirs = hf_hub_download(small, "a.tflite")
    hub.requests.clear()
    folder, _ = snapshot(small, None, silent)
    assert str(folder / "a.tflite") == theirs
    assert "a.tflite" not in downloads(hub)
    assert hf_hub_download(small, "a.keras", local_files_only=True) == str(folder / "a.keras")
    assert [repo.repo_id for repo in scan_cache_dir().repos] == [small]
    assert folder.is_relative_to(tmp_path / "hf-home" / "hub")


def test_a_second_load_downloads_nothing_and_says_nothing(hub, small, capfd):
    lines = []
    first = snapshot(small, None, lines.append)
    assert capfd.readouterr() == ("", "")  # Bars are for terminals.
    assert lines == [f"Downloading me/small from {hub.address}: 0.0 MB"]
    hub.requests.clear()
    assert snapshot(small, None, lines.append) == first
    assert len(lines) == 1 and downloads(hub) == []


def test_a_revision_is_a_commit_of_its_own(hub, small):
    old = snapshot(small, None, silent)
    new = hub.add(small, {"a.tflite": b"new" * 999})
    assert snapshot(small, None, silent)[1].revision == new
    assert snapshot(small, old[1].revision, silent) == old
    assert (old[0] / "a.tflite").read_bytes() == b"t" * 3000


def test_offline_an_earlier_download_is_used_and_nothing_is_asked(hub, small, monkeypatch):
    first = snapshot(small, None, silent)
    hub.requests.clear()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert snapshot(small, None, silent) == first
    assert snapshot(small, first[1].revision, silent) == first
    with pytest.raises(FileNotFoundError, match="HF_HUB_OFFLINE, a model must have been downl"):
        snapshot("me/another", None, silent)
    with pytest.raises(ConnectionError, match=r"With HF_HUB_OFFLINE, http.* is not asked"):
        [*offers("de", {})]
    assert hub.requests == []


def test_offline_half_a_download_is_no_model(hub, files, monkeypatch):
    from huggingface_hub import snapshot_download

    hub.add(NAME, files)
    snapshot_download(NAME, allow_patterns=["*.spm", "*.json", "*.md"])
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ValueError, match=r"kformer reads .* with README.md, config.json, "):
        snapshot(NAME, None, silent)


def test_without_a_network_an_earlier_download_is_used(hub, small):
    first = snapshot(small, None, silent)
    hub.close()
    assert snapshot(small, None, silent) == first
    for ask in (lambda: snapshot("me/another", None, silent), lambda: [*offers("de", {})]):
        with pytest.raises(ConnectionError, match=r"^http://127\S+ must be reachable\. Received: "):
            ask()


def test_a_lost_connection_goes_on_where_it_stopped(hub, small, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1000)  # Of 10 MB.
    hub.cut["a.keras"] = 2000
    folder, _ = snapshot(small, None, silent)
    assert (folder / "a.keras").read_bytes() == b"k" * 5000
    ranges = [headers["range"] for _, _, headers in lowered(hub) if "range" in headers]
    assert ranges == ["bytes=2000-"]


def lowered(hub):
    """Returns the requests, with the names of headers in small letters."""
    return [(m, p, {k.lower(): v for k, v in h.items()}) for m, p, h in hub.requests]


@pytest.mark.parametrize("file", ["a.keras", "README.md"])  # In LFS, and in Git.
def test_a_damaged_file_is_refused_and_not_kept(file, hub, small):
    hub.damaged.add(file)
    with pytest.raises(ValueError, match=f"must arrive as the hub .* Received: {file!r} with dig"):
        snapshot(small, None, silent)
    hub.damaged.clear()
    folder, _ = snapshot(small, None, silent)
    assert (folder / "a.keras").read_bytes() == b"k" * 5000
    assert (folder / "README.md").read_bytes() == CARD


@pytest.mark.parametrize(
    ("name", "revision", "kind", "message"),
    [
        ("me/absent", None, FileNotFoundError, r"must have the model; .* Received: 'me/absent' at"),
        ("me/private", None, FileNotFoundError, "must have the model; .* 'me/private'"),
        ("me/small", "v9", FileNotFoundError, "branch, tag or .*'me/small' at revision 'v9'"),
        ("me/gated", None, PermissionError, r"is gated: ask for it at http://127.*/me/gated, and"),
        ("a/b/c", None, ValueError, "named hf://OWNER/NAME. Received: 'a/b/c'"),
        ("me/text", None, ValueError, "kformer reads MarianMTModels .*'me/text', with config.json"),
    ],
)
def test_what_cannot_be_had_is_said_in_one_line(name, revision, kind, message, hub, small):
    hub.add("me/private", {"a.keras": b"1"}, private=True)
    hub.add("me/gated", {"a.keras": b"1"}, gated=True)
    hub.add("me/text", {"config.json": b"{}", "tokenizer.json": b"{}"})
    with pytest.raises(kind, match=message) as error:
        snapshot(name, revision, silent)
    assert "\n" not in str(error.value)


def test_a_host_that_refuses_is_said_with_its_answer(hub, small):
    hub.failing = 418
    with pytest.raises(ConnectionError, match=r"must answer. .*, 418 The stand-in fails"):
        snapshot(small, None, silent)


def test_a_full_disk_is_an_error_with_the_folder(hub, small, monkeypatch, tmp_path):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("huggingface_hub.file_download.http_get", full)
    with pytest.raises(OSError) as error:
        snapshot(small, None, silent)
    assert error.value.errno == errno.ENOSPC
    assert error.value.filename == str(tmp_path / "hf-home" / "hub")
    assert not [*tmp_path.rglob("*.incomplete")]


def test_the_environment_of_the_hubs_users_counts(hub, tmp_path):
    hub.add("me/private", {"a.keras": b"1"}, private=True)
    home = tmp_path / "another-home"
    environment = hub.environment(home, PATH="", HF_TOKEN=TOKEN)
    started = [
        subprocess.Popen(
            [sys.executable, "-c", LOAD, "me/private"], env=environment, stdout=subprocess.PIPE
        )
        for _ in range(2)  # Two processes at once have one cache.
    ]
    first, second = (json.loads(process.communicate()[0]) for process in started)
    assert first == second
    assert first[0].startswith(str(home / "hub")) and first[1] == "keras"
    hub.requests.clear()
    offline = hub.environment(home, PATH="", HF_HUB_OFFLINE="1")
    command = [sys.executable, "-c", LOAD, "me/private"]
    assert json.loads(subprocess.check_output(command, env=offline)) == first
    assert hub.requests == []


def test_models_of_a_language_are_listed_over_all_pages(hub):
    for pair, licence in [("de-en", "cc-by-4.0"), ("en-de", "apache-2.0"), ("de-fr", "mit")]:
        card = f"---\nlanguage: [{pair.replace('-', ', ')}]\nlicense: {licence}\n---\n".encode()
        hub.add(f"Helsinki-NLP/opus-mt-{pair}", {"README.md": card}, tags=("marian",))
    hub.add("Helsinki-NLP/opus-mt-fi-sv", {"README.md": b""}, tags=("marian", "fi", "sv"))
    hub.add("Helsinki-NLP/a-corpus", {"README.md": b""}, tags=("marian", "de"))
    hub.add("me/opus-mt-de-nl", {"README.md": b""}, tags=("marian", "de"))
    assert [*offers("de", {})] == [
        ("hf://Helsinki-NLP/opus-mt-de-en", "de", "en", None, "cc-by-4.0"),
        ("hf://Helsinki-NLP/opus-mt-de-fr", "de", "fr", None, "mit"),
        ("hf://Helsinki-NLP/opus-mt-en-de", "en", "de", None, "apache-2.0"),
    ]
    assert [*offers("fi", {})] == [("hf://Helsinki-NLP/opus-mt-fi-sv", "fi", "sv", None, None)]


@pytest.mark.parametrize(
    ("name", "languages"),
    [
        ("Helsinki-NLP/opus-mt-de-en", ("de", "en")),
        ("Helsinki-NLP/opus-mt-tc-big-en-pt", ("en", "pt")),
        ("Helsinki-NLP/opus-mt-tc-bible-big-deu_eng-itc", ("deu_eng", "itc")),
        ("Helsinki-NLP/opus-tatoeba-en-ja", ()),
    ],
)
def test_a_repository_of_opus_mt_is_named_by_its_languages(name, languages):
    assert languages_in_name(name) == languages


def test_without_its_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ValueError, match=r"pip install 'kformer\[hub\]'"):
        snapshot(NAME, None, silent)


def test_a_name_leads_to_the_translator_of_the_repository(hub, files, marian_folder, monkeypatch):
    monkeypatch.setenv("KFORMER_HOME", str(marian_folder.with_name("home")))
    commit = hub.add(NAME, files)
    texts = ["der hund schläft .", "ein haus"]
    expected = kformer.from_marian(marian_folder).translate(texts)
    assert kformer.from_published(f"hf://{NAME}").translate(texts) == expected
    hub.close()
    assert kformer.from_published(f"hf://{NAME}").translate(texts) == expected
    [cached] = cached_models()
    assert cached.facts["version"] == commit
    assert cached.facts["licence"] == "cc-by-4.0"
