"""Models by their names: downloaded once, checked, kept, and found again without a network."""

import hashlib
import itertools
import json
import random
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import filelock
import keras
import pytest

import kformer
from kformer.export.loading import local_file
from kformer.imports.published import downloads, model_cache
from kformer.imports.published.firefox_models import offers
from kformer.imports.published.model_names import published_name
from support import phrasebook, place_of_models
from support.pretrained import bergamot, ctranslate2, marian
from support.pretrained.marian_npz import spm_vocabulary

SENTENCES = ["der hund schläft .", "wir trinken tee .", "ein haus"]
SAMPLE = [source for (source, _), _ in itertools.islice(phrasebook.sample(random.Random(0)), 300)]
WORDS = spm_vocabulary(SAMPLE, vocab_size=300)
CONTENT = random.Random(3).randbytes(700_000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    keras.utils.set_random_seed(1)
    network = marian.transformer(WORDS.pieces, decoder_cell="ssru")
    path = tmp_path_factory.mktemp("firefox") / "deen"
    count = len(WORDS.pieces) - 1
    lists = [[*range(i % 7, count, 5)] for i in range(count)]
    return bergamot.write_bergamot_folder(path, WORDS, network, lists=lists, packed=False)


@pytest.fixture
def place(tmp_path, monkeypatch):
    with place_of_models.opened() as place:
        addresses = {
            "firefox": {"records": f"{place.url}/records", "attachments": f"{place.url}/"},
            "argos": {"index": f"{place.url}/index.json"},
        }
        (tmp_path / "sources.json").write_text(json.dumps(addresses))
        monkeypatch.setenv("KFORMER_SOURCES", str(tmp_path / "sources.json"))
        monkeypatch.setenv("KFORMER_HOME", str(tmp_path / "home"))
        yield place


def add(place, folder, **changes):
    kinds = {"model": "model*.bin", "vocab": "vocab*.spm", "lex": "lex*.bin"}
    files = {kind: next(folder.glob(pattern)) for kind, pattern in kinds.items()}
    contents = {kind: (path.name, path.read_bytes()) for kind, path in files.items()}
    place.add_firefox(contents, **changes)


def everything_in(home):
    return [path for path in home.rglob("*") if path.is_file() and path.suffix != ".lock"]


def test_the_name_of_a_firefox_model_gives_the_words_of_its_folder(place, folder, tmp_path, capfd):
    add(place, folder)
    original = kformer.from_bergamot(folder, shortlist=True)
    expected = original.translate(SENTENCES)
    model = kformer.from_published("firefox://de-en")
    assert model.translate(SENTENCES) == expected
    assert model.about["source_language"] == "de"
    assert sorted(place.paths()) == sorted({*place.paths()})  # Each file once.
    assert "Downloading firefox://de-en model" in capfd.readouterr().err
    place.files.clear()
    place.asked.clear()
    again = kformer.load("firefox://de-en")
    assert len({*again.translate(SENTENCES), *expected}) < 2 * len(SENTENCES)  # Of 8 bits.
    assert not place.asked  # Without a network.
    [cached] = model_cache.cached_models()
    assert cached.facts["name"] == "firefox://de-en"
    assert cached.facts["version"] == "3.0"
    assert not [*(tmp_path / "home" / "downloads").iterdir()]


def fetched(name, tmp_path):
    path = tmp_path / "fetched"
    path.mkdir()
    published_name(name).fetch(path)
    return {file.name for file in path.iterdir()}


def test_the_newest_released_version_is_chosen(place, tmp_path):
    for version, changes in {
        "2.0": {},
        "3.0": {},
        "3.2a1": {},
        "3.5": {"filter_expression": "env.channel == 'nightly'"},
        "3.10": {},
        "3.9": {},
    }.items():
        name = f"model.{version}.bin"
        files = {"model": (name, name.encode()), "vocab": (f"v{version}.spm", b"v")}
        place.add_firefox(files, version=version, **changes)
    assert fetched("firefox://de-en", tmp_path) >= {"model.3.10.bin", "v3.10.spm"}
    (tmp_path / "fetched").rename(tmp_path / "newest")
    assert fetched("firefox://de-en@3.2a1", tmp_path) >= {"model.3.2a1.bin", "v3.2a1.spm"}
    with pytest.raises(FileNotFoundError, match=r"versions are 3\.10, 3\.9, .*de-en@7"):
        published_name("firefox://de-en@7").fetch(tmp_path)


def test_a_pair_without_a_model_is_a_route_through_english(place, tmp_path, toy_tflite, capfd):
    files = {"model": ("m.bin", b"m"), "vocab": ("v.spm", b"v")}
    for pair in (("zh-Hans", "en"), ("en", "pt"), ("fr", "de")):
        place.add_firefox(files, *pair)
    names = ["firefox://zh-Hans-en", "firefox://en-pt"]
    for name in names:  # As if they had been downloaded.
        cached = tmp_path / "home" / "models" / published_name(name).folder
        cached.mkdir(parents=True)
        (cached / "facts.json").write_text(json.dumps({"name": name}))
        (cached / "model.tflite").symlink_to(toy_tflite)
    path = local_file("firefox://zh-Hans-pt")
    assert json.loads(path.read_text()) == {"route": names}
    with pytest.raises(ValueError, match=r"reads? .*'en' before one that reads 'de'"):
        kformer.load("firefox://zh-Hans-pt")  # Both are from German into English.
    with pytest.raises(ValueError, match=r"has no Keras model.*firefox://zh-Hans-pt"):
        kformer.from_published("firefox://zh-Hans-pt")
    with pytest.raises(FileNotFoundError, match=r"has 3 pairs.*firefox://fr-pt"):
        kformer.load("firefox://fr-pt")


def test_vocabularies_of_their_own_replace_a_common_one(place, tmp_path):
    kinds = ("model", "vocab", "srcvocab", "trgvocab")
    files = {kind: (f"{kind}.enja.spm", kind.encode()) for kind in kinds}
    place.add_firefox(files, "en", "ja")
    place.add_firefox({"model": ("model.enfr.bin", b"m")}, "en", "fr")  # It lacks the others.
    names = fetched("firefox://en-ja", tmp_path)
    assert names == {"metadata.json", *(f"{kind}.enja.spm" for kind in (*kinds[:1], *kinds[2:]))}
    addresses = {"records": f"{place.url}/records"}
    assert [offer.name for offer in offers("ja", addresses)] == ["firefox://en-ja"]
    assert not [*offers("fr", addresses)]


def test_a_download_continues_where_it_broke_off(place, tmp_path, monkeypatch):
    place.files["/file.keras"] = CONTENT
    place.breaks["/file.keras"] = 300_000
    monkeypatch.setattr(downloads, "_TRIES", 1)
    path = tmp_path / "file.keras"
    digest = hashlib.sha256(CONTENT).hexdigest()
    with pytest.raises(ConnectionError, match=r"needs the network.*file\.keras"):
        for _ in range(3):
            downloads.download(f"{place.url}/file.keras", path, "it", digest)
    assert not path.exists()
    place.breaks.clear()
    place.asked.clear()
    assert downloads.download(f"{place.url}/file.keras", path, "it", digest) == digest
    assert place.asked == [("/file.keras", "bytes=300000-")]
    assert path.read_bytes() == CONTENT
    assert [*tmp_path.glob("file*")] == [path]


def test_a_file_that_changed_meanwhile_is_downloaded_anew(place, tmp_path, monkeypatch):
    place.files["/file.keras"] = CONTENT
    place.breaks["/file.keras"] = 300_000
    monkeypatch.setattr(downloads, "_TRIES", 1)
    path = tmp_path / "file.keras"
    with pytest.raises(ConnectionError):
        downloads.download(f"{place.url}/file.keras", path, "it")
    place.breaks.clear()
    place.files["/file.keras"] = CONTENT[::-1]
    downloads.download(f"{place.url}/file.keras", path, "it")
    assert path.read_bytes() == CONTENT[::-1]


@pytest.mark.parametrize("fault", ["digest", "unpacked digest", "no zstd", "longer"])
def test_of_a_file_with_another_content_nothing_stays(fault, place, folder, tmp_path):
    changes = {"decompressedHash": "0" * 64} if fault == "unpacked digest" else {}
    add(place, folder, **changes)
    [*_, location] = [path for path in place.files if path.endswith(".zst")]
    if fault == "longer":
        place.files[location] += b"0"
    if fault == "digest":
        place.files[location] = place.files[location][::-1]
    if fault == "no zstd":
        records = json.loads(place.files["/records"])
        wrong = {"hash": hashlib.sha256(b"no").hexdigest(), "size": 2}
        records["data"][-1]["attachment"] |= wrong
        place.files["/records"] = json.dumps(records).encode()
        place.files[location] = b"no"
    with pytest.raises(ValueError, match=r"must be (the one|compressed).*Received: .*127\.0\.0"):
        kformer.load("firefox://de-en")
    assert not everything_in(tmp_path / "home")


def test_on_a_full_disk_nothing_stays(place, tmp_path):
    place.files["/model.tflite"] = CONTENT
    script = f"import kformer; kformer.load('{place.url}/model.tflite')"

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    command = [sys.executable, "-c", script]
    done = subprocess.run(command, preexec_fn=limit, capture_output=True, text=True, check=False)
    assert "File too large" in done.stderr
    assert not everything_in(tmp_path / "home")


_WITHOUT_TENSORFLOW = """
import sys
sys.modules |= dict.fromkeys(["tensorflow", "keras"])
import kformer
print(kformer.load(sys.argv[1]).translate("a b"))
kformer.load("firefox://de-en")
"""


def test_without_tensorflow_a_tflite_file_is_all_that_can_be_loaded(
    place, folder, toy_tflite, toy_translator
):
    add(place, folder)
    place.files["/toy.tflite"] = toy_tflite.read_bytes()
    command = [sys.executable, "-c", _WITHOUT_TENSORFLOW, f"{place.url}/toy.tflite"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == toy_translator.translate("a b")
    assert "needs TensorFlow and Keras" in done.stderr
    assert place.paths() == ["/toy.tflite"]  # Nothing that could not be read.
    [cached] = model_cache.cached_models()
    assert (cached.facts["source_language"], cached.facts["target_language"]) == ("de", "en")


_AT_ONCE = """
import sys
from kformer.imports.published.model_cache import cached_model
from kformer.imports.published.model_names import published_name
def keep(files, folder):
    (folder / "model.tflite").write_bytes(files.read_bytes())
    return {}
print(cached_model(published_name(sys.argv[1]), keep).bytes)
"""


def test_two_processes_at_once_download_one_time(place, tmp_path):
    place.files["/model.tflite"] = CONTENT
    name = f"{place.url}/model.tflite"
    locks = tmp_path / "home" / "locks"
    locks.mkdir(parents=True)
    with filelock.FileLock(locks / f"{published_name(name).folder}.lock"):
        command = [sys.executable, "-c", _AT_ONCE, name]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        both = [subprocess.Popen(command, **pipes) for _ in range(2)]
        for process in both:
            assert "Waiting for another process" in process.stderr.readline()
    sizes = [int(process.communicate()[0]) for process in both]
    assert sizes[0] == sizes[1] > len(CONTENT)
    assert place.paths() == ["/model.tflite"]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A package of Argos Translate, and the translator in it."""
    folder = tmp_path_factory.mktemp("argos")
    words = marian.vocabulary()
    network = marian.transformer(words.pieces)
    original = kformer.from_marian(marian.write_folder(folder / "a", words, network))
    ctranslate2.write_argos_folder(original, folder / "de_en", "de", "en")
    path = folder / "translate-de_en-1_9.argosmodel"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted((folder / "de_en").rglob("*")):
            archive.write(file, file.relative_to(folder))
    return path, original


def test_the_newest_package_of_argos_translate_is_loaded(place, package):
    path, original = package
    entry = {"from_code": "de", "to_code": "en", "from_name": "German", "to_name": "English"}
    index = [
        {**entry, "package_version": "1.10", "links": ["ipfs://Qm", f"{place.url}/{path.name}"]},
        {**entry, "package_version": "1.9", "links": [f"{place.url}/old.argosmodel"]},
        {"type": "sbd", "from_codes": ["de"], "package_version": "1.0", "links": []},
    ]
    place.files |= {"/index.json": json.dumps(index).encode(), f"/{path.name}": path.read_bytes()}
    model = kformer.from_published("argos://de-en")
    assert model.translate(SENTENCES) == original.translate(SENTENCES)
    [cached] = model_cache.cached_models()
    assert cached.facts["version"] == "1.10"
    with pytest.raises(FileNotFoundError, match=r"has 1 pairs.*argos://en-de"):
        kformer.load("argos://en-de")


@pytest.mark.parametrize("where", ["path", "address"])
def test_an_archive_of_another_program_is_read_once(where, place, package, monkeypatch):
    path, original = package
    place.files[f"/{path.name}"] = path.read_bytes()
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    name = path if where == "path" else f"{place.url}/{path.name}#sha256={digest}"
    assert kformer.from_published(name).translate(SENTENCES) == original.translate(SENTENCES)
    monkeypatch.setattr("kformer.export.loading._kept", None)
    assert kformer.from_published(name).about["target_language"] == "en"
    if where == "address":
        assert len(place.paths()) == 1
        with pytest.raises(ValueError, match="must be the one that was published: SHA-256 00"):
            kformer.load(f"{place.url}/{path.name}#sha256={'0' * 64}")


def test_a_file_of_kformer_stays_as_it_is(place, tmp_path, toy_translator):
    toy_translator.save(tmp_path / "toy.keras")
    place.files["/toy.keras"] = (tmp_path / "toy.keras").read_bytes()
    found = kformer.from_published(f"{place.url}/toy.keras")
    assert found.translate("a b") == toy_translator.translate("a b")
    [cached] = model_cache.cached_models()
    assert (cached.folder / "model.keras").read_bytes() == place.files["/toy.keras"]


def test_a_name_has_a_known_place(place):
    with pytest.raises(ValueError, match=r"begins with hf://, firefox://.*'fire://en-pt'"):
        kformer.load("fire://en-pt")
    with pytest.raises(ValueError, match=r"must end in \.zip, .*page\.html"):
        kformer.load(f"{place.url}/page.html")
    with pytest.raises(FileNotFoundError, match="no such file"):
        kformer.load(f"{place.url}/missing.tflite")
    with pytest.raises(ValueError, match="name of a published model is needed"):
        kformer.from_published("runs/de-en")
    assert published_name("C:/models/de-en.keras") is None
    assert published_name(Path("firefox://en-pt")) == ("firefox", "en-pt")  # It lost a slash.
    assert published_name("hf://a/b").folder != published_name("hf://a--c/b").folder


def test_the_commands_take_names(place, folder, tmp_path, command):
    add(place, folder)
    translated = command("translate", "firefox://de-en", "ein haus")
    assert translated.returncode == 0
    assert "Downloading firefox://de-en model" in translated.stderr
    listed = command("models")
    name, languages, size, _ = listed.stdout.strip().split("\t")
    assert (name, languages) == ("firefox://de-en", "de-en")
    assert size.endswith(" MB")
    command("import", "firefox://de-en", "--output", tmp_path / "it.keras")
    assert kformer.load(tmp_path / "it.keras").about["source_language"] == "de"
    assert "Removed: firefox://de-en" in command("models", "remove", name).stdout
    assert "No model is in" in command("models").stderr
