"""One `.keras` file holds the translator, and nothing else is needed to use it."""

import io
import json
import zipfile
from pathlib import Path

import h5py
import keras
import numpy as np
import pytest

import kformer
from kformer import Tokenizer, Transformer, Translator
from kformer.tasks.keras_file import FORMAT, transformer_config
from kformer.training import MaskedCrossEntropy
from support.processes import printed_by
from support.reference import perturbed

TEXTS = ["ich möchte ein bier", "", "das haus ist groß", "👍🏽 ᚠ"]


@pytest.fixture
def translator(tokenizer):
    return Translator(tokenizer, perturbed(Transformer(400, 2, 16, 2, 24)), max_source_length=77)


def forged(path, replace):
    """Rewrites a `.keras` file: `replace` maps the name and bytes of a member to new bytes."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            if (new := replace(name, content)) is not None:
                archive.writestr(name, new)
    return path


def with_config(path, change):
    """Rewrites the config in a `.keras` file: `change` changes it in place."""

    def replace(name, content):
        if name != "config.json":
            return content
        config = json.loads(content)
        change(config)
        return json.dumps(config).encode()

    return forged(path, replace)


@pytest.mark.parametrize(
    ("settings", "number"),
    [({}, 2), ({"decoder_cell": "ssru"}, 4), ({"decoder_d_ff": 8, "forbidden_ids": [1]}, 5)],
)
def test_an_older_format_holds_whatever_older_readers_understand(
    tokenizer, tmp_path, settings, number
):
    transformer = Transformer(400, 1, 16, 2, 24, **settings)
    Translator(tokenizer, transformer).save(tmp_path / "t.keras")
    with zipfile.ZipFile(tmp_path / "t.keras") as archive:
        assert json.loads(archive.read("config.json"))["config"]["format"] == number
    found = transformer_config(tmp_path / "t.keras")
    assert found.items() >= settings.items()
    assert kformer.load(tmp_path / "t.keras").transformer.get_config() == transformer.get_config()


@pytest.mark.prove
def test_a_fresh_process_gives_the_same_answers(two_vocabularies, tmp_path):
    path = tmp_path / "translator.keras"
    two_vocabularies.save(path)
    expected = two_vocabularies.translate(TEXTS)
    code = """
import json, sys
import kformer
answers = kformer.load(sys.argv[1]).translate(json.loads(sys.stdin.readline()))
learning = [name for name in sys.modules if name.startswith("kformer.training.")]
print(json.dumps({"answers": answers, "learning": learning}))
"""
    printed = printed_by("-c", code, path, input=json.dumps(TEXTS), cwd=tmp_path)
    assert json.loads(printed) == {"answers": expected, "learning": []}


def test_all_settings_come_back(translator, two_vocabularies, tmp_path):
    for one in (translator, two_vocabularies):
        one.save(tmp_path / "t.keras")
        loaded = kformer.load(str(tmp_path / "t.keras"))
        assert loaded.max_source_length == one.max_source_length
        assert loaded.tokenizer.model == one.tokenizer.model
        assert loaded.target_tokenizer.model == one.target_tokenizer.model
        shared = one.target_tokenizer is one.tokenizer
        assert (loaded.target_tokenizer is loaded.tokenizer) == shared
        assert loaded.transformer.get_config() == one.transformer.get_config()
        for a, b in zip(loaded.get_weights(), one.get_weights(), strict=True):
            np.testing.assert_array_equal(a, b)


def trained(translator):
    translator.transformer.compile(
        keras.optimizers.Adam(0.1), MaskedCrossEntropy(), run_eagerly=True
    )
    ids = np.array([[4, 5, 3], [6, 3, 0]])
    translator.transformer.fit((ids, ids), ids, verbose=0)
    return translator


@pytest.mark.prove
def test_the_optimizer_stays_behind(translator, tmp_path):
    translator.save(tmp_path / "plain.keras")
    trained(translator).save(tmp_path / "trained.keras", include_optimizer=False)
    sizes = [(tmp_path / name).stat().st_size for name in ("plain.keras", "trained.keras")]
    assert sizes[1] == pytest.approx(sizes[0], rel=0.02)
    with zipfile.ZipFile(tmp_path / "trained.keras") as archive:
        assert json.loads(archive.read("config.json")).get("compile_config") in (None, {})
        with archive.open("model.weights.h5") as member, h5py.File(member) as weights:
            groups = []
            weights.visit(groups.append)
            numbers = sum(w.size for w in each_dataset(weights))
    assert not any("optimizer" in group for group in groups)
    assert numbers == translator.transformer.count_params()
    # And saving leaves the model in training alone.
    assert translator.transformer.optimizer.iterations == 1
    loaded = kformer.load(tmp_path / "trained.keras")
    assert loaded.translate(TEXTS) == translator.translate(TEXTS)


def each_dataset(group):
    found = []
    group.visititems(lambda _, item: found.append(item) if isinstance(item, h5py.Dataset) else None)
    return found


@pytest.mark.prove
def test_a_loaded_translator_can_be_saved_and_trained_again(translator, tmp_path):
    translator.save(tmp_path / "one.keras")
    loaded = trained(kformer.load(tmp_path / "one.keras"))
    loaded.save(tmp_path / "two.keras")
    again = kformer.load(tmp_path / "two.keras")
    assert again.translate(TEXTS) == loaded.translate(TEXTS) != translator.translate(TEXTS)


def test_a_saving_that_fails_leaves_the_old_file(translator, tmp_path, monkeypatch):
    path = tmp_path / "t.keras"
    translator.save(path)
    before = path.read_bytes()

    def half(model, temporary):
        temporary.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(keras.saving, "save_model", half)
    with pytest.raises(OSError, match="disk full"):
        translator.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_the_name_must_end_in_keras(translator, tmp_path):
    with pytest.raises(ValueError, match=r"end in .keras. Received: path='.*t\.h5'"):
        translator.save(tmp_path / "t.h5")
    assert not any(tmp_path.iterdir())


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no such file. Received: path='.*missing\.keras'"):
        kformer.Translator.load(tmp_path / "missing.keras")


@pytest.mark.parametrize("name", ["text.keras", "folder.keras", "zip.keras", "json.keras"])
def test_what_is_no_keras_file_is_an_error(tmp_path, name):
    path = tmp_path / name
    if name == "text.keras":
        path.write_text("a text")
    elif name == "folder.keras":
        path.mkdir()
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("config.json" if name == "json.keras" else "a", '["a list"]')
    with pytest.raises(ValueError, match=f"Received: path='.*{name}', which holds none"):
        kformer.Translator.load(path)


def test_another_model_of_keras_is_an_error(tmp_path):
    keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)]).save(tmp_path / "dense.keras")
    Transformer(11, 1, 16, 2, 24).save(tmp_path / "transformer.keras")
    for name in ("dense.keras", "transformer.keras"):
        with pytest.raises(ValueError, match=f"Received: path='.*{name}', which holds none"):
            kformer.Translator.load(tmp_path / name)


def test_a_file_of_a_newer_format_is_an_error_that_says_what_to_do(translator, tmp_path):
    translator.save(tmp_path / "t.keras")

    def newer(config):
        config["config"]["format"] = FORMAT + 1

    path = with_config(tmp_path / "t.keras", newer)
    message = f"up to format {FORMAT}; update it. Received: format={FORMAT + 1}"
    for load in (kformer.load, keras.saving.load_model):
        with pytest.raises(ValueError, match=message):
            load(path)


def halve(name, content):
    return content[: len(content) // 2] if name.endswith(".h5") else content


def drop_tokenizer(name, content):
    return None if name.endswith("sentencepiece.model") else content


def break_tokenizer(name, content):
    return b"junk" if name.endswith("sentencepiece.model") else content


@pytest.mark.prove
@pytest.mark.parametrize("damage", [halve, drop_tokenizer, break_tokenizer])
def test_a_damaged_translator_is_an_error_of_one_line(translator, tmp_path, damage):
    translator.save(tmp_path / "t.keras")
    path = forged(tmp_path / "t.keras", damage)
    with pytest.raises(ValueError, match=r"a whole translator.* Received: path='.*t\.keras'") as e:
        kformer.load(path)
    assert "\n" not in str(e.value)


def with_weight(path, change):
    """Rewrites the weights in a `.keras` file: `change` gives a matrix for one of them."""

    def replace(name, content):
        if not name.endswith(".h5"):
            return content
        with h5py.File(io.BytesIO(content), "r+") as file:
            place = file["layers/transformer/encoder/layers/encoder_layer/feed_forward/inner/vars"]
            changed = change(place["0"][()])
            del place["0"]
            place["0"] = changed
            file.flush()
            return file.id.get_file_image()

    return forged(path, replace)


@pytest.mark.prove
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda kernel: np.full_like(kernel, np.nan), "must be finite, and .*inner/kernel has NaN"),
        (lambda kernel: np.full_like(kernel, np.inf), "must be finite, .*has infinite numbers"),
        (lambda kernel: np.ones(kernel.shape, "uint8"), r"those of shape \(16, 24\) are uint8"),
    ],
)
def test_weights_that_are_no_finite_numbers_are_an_error(change, message, translator, tmp_path):
    translator.save(tmp_path / "t.keras")
    path = with_weight(tmp_path / "t.keras", change)
    with pytest.raises(ValueError, match=rf"a whole translator.* Received: path=.*{message}"):
        kformer.load(path)


@pytest.mark.prove
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_layers": 100_000}, "weights must be as many as the settings say"),
        ({"num_decoder_layers": 100_000}, "weights must be as many as the settings say"),
        ({"d_model": 10**6}, "weights must be as many as the settings say"),
        ({"d_ff": 10**9}, "weights must be as many as the settings say"),
        ({"decoder_d_ff": 10**9}, "weights must be as many as the settings say"),
        ({"vocab_size": 10**10}, "weights must be as many as the settings say"),
        ({"d_model": [16]}, r"its config\['transformer'\]\['d_model'\] must be an integer"),
        ({"num_layers": None}, r"\['num_layers'\] must be an integer"),
    ],
)
def test_a_network_that_its_file_does_not_hold_is_not_built(changes, message, translator, tmp_path):
    translator.save(tmp_path / "t.keras")
    path = with_config(
        tmp_path / "t.keras", lambda config: config["config"]["transformer"].update(changes)
    )
    with pytest.raises(ValueError, match=rf"a whole translator.* Received: path=.*{message}"):
        kformer.load(path)


@pytest.mark.prove
@pytest.mark.parametrize("name", ["config.json", "assets/more", "model.weights.h5"])
def test_a_member_that_would_fill_memory_or_disk_is_refused(name, translator, tmp_path):
    translator.save(tmp_path / "t.keras")
    path = forged(tmp_path / "t.keras", lambda one, content: None if one == name else content)
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open(name, "w") as one,
    ):
        for _ in range(70):
            one.write(bytes(10**6))
    message = r"(translator|is a \.keras file).* Received: path='.*t\.keras'"
    with pytest.raises(ValueError, match=message):
        kformer.load(path)


@pytest.mark.prove
def test_a_tokenizer_of_another_size_is_an_error(translator, parallel_text, tmp_path):
    translator.save(tmp_path / "t.keras")
    other = Tokenizer.train(parallel_text["train.de"], 350).model

    def replace(name, content):
        return other if name.endswith("sentencepiece.model") else content

    with pytest.raises(ValueError, match=r"\(400, 400\) of the transformer, \(350, 350\) of the"):
        kformer.load(forged(tmp_path / "t.keras", replace))


@pytest.mark.prove
def test_no_code_of_the_file_is_run(translator, tmp_path):
    """Neither of a model that is none of ours, nor smuggled into one that says it is."""
    mark = str(tmp_path / "mark")
    code = keras.layers.Lambda(lambda x: __import__("pathlib").Path(mark).touch() or x)
    foreign = tmp_path / "foreign.keras"
    keras.Sequential([keras.Input((3,)), code]).save(foreign)
    Path(mark).unlink()
    with pytest.raises(ValueError, match=r"path='.*foreign\.keras' \(ValueError: .*lambda"):
        kformer.load(foreign)

    for place in ("dtype", "name", "d_model"):
        translator.save(tmp_path / "ours.keras")

        def smuggle(config, place=place):
            config["config"]["transformer"][place] = keras.saving.serialize_keras_object(code)

        with_config(tmp_path / "ours.keras", smuggle)
        with pytest.raises(
            ValueError, match=r"a whole translator.* Received: path='.*ours\.keras'"
        ):
            kformer.load(tmp_path / "ours.keras")
    assert not Path(mark).exists()
    keras.saving.load_model(foreign, safe_mode=False)  # It would have worked.
    assert Path(mark).exists()


def test_other_backends_are_refused_in_a_sentence(translator, tmp_path, monkeypatch, refused):
    translator.save(tmp_path / "t.keras")
    monkeypatch.setattr(keras.backend, "backend", lambda: "torch")
    sentence = "KERAS_BACKEND to tensorflow or jax. Received: backend='torch'"
    with pytest.raises(ValueError, match=sentence):
        kformer.load(tmp_path / "t.keras")
    with pytest.raises(ValueError, match=sentence):
        Translator(translator.tokenizer, translator.transformer)
    assert sentence in refused("translate", tmp_path / "t.keras", stdin=b"ein haus\n")
