"""The demo model in the package: what it answers, how it was made, and what `demo` stands for."""

import dataclasses
import shutil

import pytest

import kformer
from kformer import phrasebook
from kformer.export.loading import named_model
from kformer.files import sha256
from kformer.pocket import PocketTranslator
from kformer.pocket.demo_translator import DEMO_FILE
from kformer.server import host
from kformer.training.recipes.recipe import Recipe
from support.demo_model import write
from support.processes import run_python

SHOWN = {  # In the guides.
    "Ich möchte ein Bier.": "I want a beer.",
    "Ein Hund läuft.": "A dog runs.",
    "Guten Morgen!": "Good morning!",
}


@pytest.fixture(scope="module")
def translator():
    return kformer.demo()


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    """The working folder, where nothing is named `demo`."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def held_out():
    return zip(*(*phrasebook.phrasebook().test, *phrasebook.phrasebook().unseen), strict=True)


def test_the_demo_translates_what_the_guides_show(translator):
    assert isinstance(translator, PocketTranslator)
    assert translator.translate([*SHOWN]) == [*SHOWN.values()]
    assert not any(best.flags for [best] in translator.translations([*SHOWN]))


def test_the_demo_is_right_about_nineteen_of_twenty_sentences_that_it_never_saw(translator):
    sources, references = held_out()
    right = sum(map(str.__eq__, translator.translate(sources), references))
    assert right >= 0.95 * len(sources)


def test_the_packaged_file_is_made_of_todays_phrasebook_and_recipe(translator, tmp_path):
    """Otherwise `make demo-model` makes another, which is to be packaged."""
    facts = translator.manifest["training"]
    for name, path in phrasebook.write(tmp_path).items():
        part, language = name.split(".")
        side = {"de": "source", "en": "target"}[language]
        side = {"train": side, "valid": f"valid_{side}"}.get(part)
        if side:
            assert [file["sha256"] for file in facts["files"][side]] == [sha256(path)], name
    recipe = dataclasses.asdict(Recipe.named("demo"))
    changed = {name for name in recipe if recipe[name] != facts["recipe"].get(name, recipe[name])}
    assert changed == set() and facts["recipe"].keys() <= recipe.keys()


def test_the_packaged_file_names_its_languages_and_its_licence(translator):
    about = translator.manifest
    assert (about["source_language"], about["target_language"]) == ("de", "en")
    assert about["licence"] == "Apache-2.0" and "phrasebook" in about["citation"]


def test_the_demo_needs_neither_tensorflow_nor_a_second():
    code = (
        "import sys, time\n"
        "sys.modules['tensorflow'] = sys.modules['keras'] = None\n"
        "start = time.process_time()\n"
        "import kformer\n"
        "print(kformer.demo().translate('Ich möchte ein Bier.'))\n"
        "print(time.process_time() - start)\n"
    )
    answer, seconds = run_python("-c", code).stdout.splitlines()
    assert answer == "I want a beer."
    assert float(seconds) < 1


def test_the_word_demo_is_a_model_at_the_command_line(command, empty_folder):
    result = command("translate", "demo", stdin="\n".join(SHOWN).encode())
    assert result.stdout.splitlines() == [*SHOWN.values()]
    assert "licence     Apache-2.0" in command("inspect", "demo").stdout
    assert command("encode", "demo", "--output", "v.npy", stdin=b"Hallo\n").returncode == 0


def test_the_word_demo_is_a_model_of_a_server(empty_folder):
    [first, second] = host(["demo", "phrases=demo"])
    assert (first.name, second.name) == ("de-en", "phrases")
    assert first.path == second.path == DEMO_FILE


@pytest.mark.parametrize("name", ["./demo", "demo/", "Demo", "demo.tflite"])
def test_a_path_is_not_the_word_demo(refused, empty_folder, name):
    assert "There is no such file or folder." in refused("translate", name, stdin=b"Hallo\n")


def test_what_needs_the_keras_model_says_so_of_the_demo(refused, empty_folder):
    message = refused("export", "demo", "--tflite", "demo.tflite")
    assert message.startswith("kformer: Only a .keras file can be exported.")


def test_a_file_or_folder_named_demo_comes_first(refused, empty_folder):
    demo = empty_folder / "demo"
    shutil.copy(DEMO_FILE, demo)
    assert named_model("demo") == demo.relative_to(empty_folder)
    demo.unlink()
    (demo / "run").mkdir(parents=True)
    message = refused("translate", "demo", stdin=b"Hallo\n")
    assert message.endswith(
        "which holds no model. The model in the package is `demo` only where no file or folder has "
        "that name."
    )
    model = demo / "run" / "translator.keras"  # As `kformer demo` writes it.
    model.write_bytes(b"")
    assert named_model("demo") == model.relative_to(empty_folder)
    shutil.copy(model, demo)  # Of a run in the folder itself.
    assert named_model("demo") == (demo / model.name).relative_to(empty_folder)


@pytest.mark.prove
def test_the_command_makes_the_packaged_file(demo, translator, tmp_path):
    """From the run of another `kformer demo`; other processors round otherwise."""
    folder, _ = demo
    made = kformer.load(write(folder / "run", tmp_path / "demo.tflite"))
    sources, _ = held_out()
    equal = sum(map(str.__eq__, made.translate(sources), translator.translate(sources)))
    assert equal >= 0.98 * len(sources)
    for field in ("parameters", "precision", "signatures", "source_vocab_size", "training"):
        ours, theirs = made.manifest[field], translator.manifest[field]
        if field == "training":
            ours, theirs = ({**facts, "best": None} for facts in (ours, theirs))
        assert ours == theirs


def test_an_unknown_argument_is_answered_with_the_near_one():
    with pytest.raises(TypeError, match=r"`translate` has no argument `progres`; use `progress`"):
        kformer.demo().translate("Ein Hund läuft.", progres=print)
