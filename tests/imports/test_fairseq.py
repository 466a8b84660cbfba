"""A checkpoint of fairseq becomes a translator."""

import argparse
import os

import keras
import numpy as np
import pytest

import kformer
from kformer.export import export_saved_model, export_tflite
from support.pretrained import fairseq
from support.reference import Model, transformer, weights_of

TEXTS = ["der hund schläft .", "meine mutter trinkt 猫 ☃☂ tee", "", "ein ☃ haus", " a  b "]
PIECES = fairseq.pieces()
SHAPES = {
    "one table": {},
    "pre-norm, gelu": {"norm_first": True, "activation": "gelu", "num_decoder_layers": 2},
    "two tables": {"target_vocab_size": len(PIECES), "activation": "relu"},
    "the output's own table": {"tied_output": False, "num_decoder_layers": 2},
    "three tables": {"target_vocab_size": len(PIECES), "tied_output": False},
}


@pytest.fixture(scope="module")
def network():
    keras.utils.set_random_seed(1)
    return fairseq.transformer(PIECES)


@pytest.fixture
def folder(network, tmp_path):
    return fairseq.write_folder(tmp_path / "folder", network, PIECES)


def weights_by_path(network):
    return {w.path: w.numpy() for w in network.weights if "seed" not in w.path}


@pytest.mark.sample(6)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_weight_and_setting_finds_its_place(shape, tmp_path):
    keras.utils.set_random_seed(1)
    expected = fairseq.transformer(PIECES, **SHAPES[shape])
    found = kformer.from_fairseq(fairseq.write_folder(tmp_path / "a", expected, PIECES))
    config = expected.get_config() | {"output_bias": True, "dropout": 0.1}
    received = found.transformer.get_config()
    names = config.keys() - {"name", "num_decoder_layers"}
    assert {name: received[name] for name in names} == {name: config[name] for name in names}
    weights, wanted = map(weights_by_path, (found.transformer, expected))
    [bias] = [weights.pop(path) for path in list(weights) if path.endswith("embedding/bias")]
    assert weights.keys() == wanted.keys()
    for path, value in wanted.items():
        np.testing.assert_array_equal(weights[path], value, err_msg=path)
    assert bias[1] == -1e4 and not np.delete(bias, 1).any()  # Padding is never chosen.


def test_special_ids_are_those_of_fairseq(folder):
    for tokenizer in (one := kformer.from_fairseq(folder)).tokenizer, one.target_tokenizer:
        assert tokenizer.pieces([0, 1, 2, 3]) == ["<s>", "<pad>", "</s>", "<unk>"]
        ids = (tokenizer.start_id, tokenizer.padding_id, tokenizer.end_id, tokenizer.unknown_id)
        assert ids == (2, 1, 2, 3)
        assert tokenizer.pieces(range(tokenizer.vocab_size)) == PIECES
    assert one.max_source_length == 64
    assert one.encode([""]).shape == (1, 32)


def test_the_logits_are_those_of_the_equations_with_the_positions_of_fairseq(folder, network):
    """In NumPy, of fairseq's formula: sines, then cosines, counted from 2."""
    translator = kformer.from_fairseq(folder)
    source = np.array([[9, 8, 7, 2], [5, 4, 2, 1]])
    target = np.array([[2, 6, 11], [2, 12, 13]])
    half = network.d_model // 2
    frequencies = np.exp(-np.log(10000) / (half - 1) * np.arange(half))

    def positions(length, d_model):
        angles = np.arange(2, 2 + length)[:, None] * frequencies
        return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_model)

    model = Model(weights_of(network), network.num_heads, 2, False, "swish", 1, positions, 1)
    expected = transformer(source, target, model)
    found = keras.ops.convert_to_numpy(translator.transformer((source, target))).copy()
    found[..., 1] = expected[..., 1]  # Padding has another bias.
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.ptp(expected))


@pytest.mark.prove
def test_a_keras_file_says_the_same(folder, tmp_path):
    translator = kformer.from_fairseq(folder)
    expected = translator.translate(TEXTS)
    assert len({*expected}) > 3 and expected[2] == ""
    translator.save(tmp_path / "a.keras")
    loaded = kformer.load(tmp_path / "a.keras")
    assert loaded.translate(TEXTS) == expected
    [beams] = translator.translations(TEXTS[:1], kformer.SearchOptions(4, n_best=3))
    [again] = loaded.translations(TEXTS[:1], kformer.SearchOptions(4, n_best=3))
    assert [one.text for one in beams] == [one.text for one in again]


@pytest.mark.prove
def test_the_tflite_file_says_what_python_says(folder, tmp_path):
    translator = kformer.from_fairseq(folder)
    pocket = kformer.load(export_tflite(translator, tmp_path / "a.tflite", max_source_length=24))
    assert pocket.translate(TEXTS) == translator.translate(TEXTS)
    np.testing.assert_allclose(pocket.encode(TEXTS), translator.encode(TEXTS), atol=1e-4)


@pytest.mark.prove
def test_the_saved_model_says_what_python_says(folder, tmp_path):
    translator = kformer.from_fairseq(folder)
    served = kformer.load(export_saved_model(translator, tmp_path / "served"))
    assert served.translate(TEXTS) == translator.translate(TEXTS)


@pytest.mark.prove
def test_a_folder_of_ctranslate2_is_the_same_model(folder, tmp_path):
    pytest.importorskip("ctranslate2", reason="Not installed: ctranslate2.")
    from kformer.export import CTranslate2Translator, export_ctranslate2

    translator = kformer.from_fairseq(folder)
    exported = export_ctranslate2(translator, tmp_path / "exported")
    expected = translator.translate(TEXTS)
    assert CTranslate2Translator(exported).translate(TEXTS) == expected
    again = kformer.from_ctranslate2(exported)
    one, other = again.transformer, translator.transformer
    assert (one.first_position, one.max_wavelength) == (2, other.max_wavelength)
    assert again.translate(TEXTS) == expected


@pytest.mark.prove
def test_the_forms_of_the_settings_are_read(folder, network, tmp_path):
    expected = kformer.from_fairseq(folder).translate(TEXTS)

    def as_dicts(arguments):
        config = vars(arguments)
        names = ("source_lang", "target_lang")
        task = {"_name": "translation", **{name: config.pop(name) for name in names}}
        return {"task": task, "model": {"_name": "transformer", **config}, "bpe": None}

    def with_a_namespace(arguments):
        return {"task": {"_name": "translation"}, "model": arguments, "bpe": {"_name": None}}

    for name, config in (("dicts", as_dicts), ("namespace", with_a_namespace)):
        other = fairseq.write_folder(tmp_path / name, network, PIECES, config=config)
        assert kformer.from_fairseq(other).translate(TEXTS) == expected


@pytest.mark.prove
def test_files_may_be_elsewhere(folder, tmp_path):
    expected = kformer.from_fairseq(folder).translate(TEXTS)
    data = tmp_path / "data"
    data.mkdir()
    for name in ("dict.de.txt", "dict.en.txt", "source.spm", "target.spm"):
        (folder / name).rename(data / name)
    models = (data / "source.spm", data / "target.spm")
    found = kformer.from_fairseq(folder / "checkpoint_best.pt", *models, dictionaries=data)
    assert found.translate(TEXTS) == expected


def test_the_checkpoint_in_a_folder_is_the_only_one_or_the_best(folder):
    best = folder / "checkpoint_best.pt"
    (folder / "checkpoint_last.pt").write_bytes(b"another")
    assert kformer.from_fairseq(folder).max_source_length == 64
    best.rename(folder / "checkpoint1.pt")
    assert refused(folder, FileNotFoundError) == (
        "The folder of a checkpoint of fairseq must hold one .pt file, or checkpoint_best.pt. "
        "Received: 'FOLDER', which holds checkpoint1.pt, checkpoint_last.pt."
    )


# What is refused.


def refused(folder, kind=ValueError):
    with pytest.raises(kind) as error:
        kformer.from_fairseq(folder)
    message = str(error.value)
    assert "\n" not in message and " Received: " in message
    assert str(folder) in message
    return message.replace(str(folder), "FOLDER")


def with_settings(network, tmp_path, **changes):
    return fairseq.write_folder(tmp_path / "changed", network, PIECES, **changes)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("encoder_learned_pos", True, "learned positions"),
        ("no_token_positional_embeddings", True, "positions that are turned off"),
        ("layernorm_embedding", True, "a norm of the embedded ids"),
        ("no_scale_embedding", True, "embeddings that are not scaled"),
        ("adaptive_softmax_cutoff", "5000,10000", "an adaptive softmax"),
        ("quant_noise_pq", 0.1, "quantization noise"),
        ("cross_self_attention", True, "attention to source and target at once"),
        ("no_cross_attention", True, "a decoder that does not attend to the source"),
        ("decoder_langtok", True, "tokens of languages"),
    ],
)
def test_a_feature_that_no_transformer_has_is_named(name, value, words, network, tmp_path):
    assert refused(with_settings(network, tmp_path, **{name: value})) == (
        f"Models of fairseq with {words} cannot be imported. "
        f"Received: {name}={value!r} in 'FOLDER/checkpoint_best.pt'."
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"activation_fn": "tanh"}, "`activation_fn` must be one of relu, gelu, swish. Received: "),
        ({"decoder_attention_heads": 2}, "encoder_attention_heads=4, decoder_attention_heads=2"),
        ({"decoder_normalize_before": True}, "Received: encoder_normalize_before=False, decoder_n"),
        ({"task": "multilingual_translation"}, "Received: task='multilingual_translation' in"),
        ({"bpe": "fastbpe"}, "must be split by SentencePiece. Received: bpe='fastbpe' in"),
        ({"encoder_layers": "[(512, 3)]"}, "Received: encoder_layers='[(512, 3)]' in 'FOLDER"),
        ({"source_lang": "../x"}, "must name the languages of the dictionaries. Received: source_"),
    ],
)
def test_settings_of_another_model_are_named(changes, message, network, tmp_path):
    assert message in refused(with_settings(network, tmp_path, **changes))


def test_a_missing_file_is_named(folder):
    (folder / "source.spm").unlink()
    assert refused(folder, FileNotFoundError) == (
        "The folder of a checkpoint of fairseq must hold source.spm, or give the SentencePiece "
        "model of its sources as `source_model`, --source-model. "
        "Received: 'FOLDER', which does not."
    )
    (folder / "dict.en.txt").unlink()
    assert refused(folder, FileNotFoundError) == (
        "The folder of the dictionaries of fairseq must hold dict.en.txt. "
        "Received: 'FOLDER', which does not."
    )
    (folder / "checkpoint_best.pt").unlink()
    assert "Received: 'FOLDER', which holds none." in refused(folder, FileNotFoundError)
    with pytest.raises(FileNotFoundError, match=r"There is no such file. Received: .*model.pt"):
        kformer.from_fairseq(folder / "model.pt")


def test_dictionaries_that_do_not_fit_are_refused(folder):
    path = folder / "dict.en.txt"
    lines = path.read_text("utf-8")
    path.write_text(lines.replace("▁", "@@"), "utf-8")
    message = refused(folder)
    assert "where words begin with ▁; other ways to split text, such as subword-nmt" in message
    path.write_text(f"{lines}▁more 3\n", "utf-8")
    assert "The dictionaries must fit the weights: 'decoder.embed_tokens.weight' must" in refused(
        folder
    )
    path.write_text(f"{lines}{lines}", "utf-8")
    assert "The pieces of a vocabulary must differ. Received: 'FOLDER/dict.en.txt'." in refused(
        folder
    )
    path.write_text("▁a\n", "utf-8")
    assert "a piece and its count on each line. Received: 'FOLDER/dict.en.txt'." in refused(folder)


@pytest.mark.prove
def test_weights_that_are_missing_or_too_many_are_named(folder, network):
    arguments = argparse.Namespace(**fairseq.arguments_of(network))
    state = fairseq.state_dict_of(network)
    more = {**state, "decoder.embed_length.weight": np.ones((3, 5), "f4")}
    fairseq.write_checkpoint(folder, more, args=arguments)
    with pytest.raises(ValueError, match=r"no weights beside .*'decoder.embed_length.weight'"):
        kformer.from_fairseq(folder)
    output = "decoder.output_projection.weight"
    fairseq.write_checkpoint(folder, {**state, output: state[output][1:]}, args=arguments)
    assert f"must fit the weights: {output!r} must have shape " in refused(folder)
    untied = argparse.Namespace(**fairseq.arguments_of(network))
    untied.share_all_embeddings = untied.share_decoder_input_output_embed = False
    without = {name: array for name, array in state.items() if name != output}
    fairseq.write_checkpoint(folder, without, args=untied)
    assert f"{output!r} must have shape (320, 32). Received: None in" in refused(folder)
    fairseq.write_checkpoint(folder, {**without, "decoder.embed_out": state[output]}, args=untied)
    kformer.from_fairseq(folder)  # As fairseq once called it.
    del state["encoder.layers.1.fc1.bias"]
    fairseq.write_checkpoint(folder, state, args=arguments)
    with pytest.raises(ValueError, match=r"no 'encoder.layers.1.fc1.bias'"):
        kformer.from_fairseq(folder)


@pytest.mark.prove
def test_what_is_learned_nowhere_is_no_weight(folder, network):
    state = fairseq.state_dict_of(network)
    for side in ("encoder", "decoder"):
        state[f"{side}.embed_positions._float_tensor"] = np.ones(1, "f4")
        state[f"{side}.version"] = np.ones(1, "f4")
    expected = kformer.from_fairseq(folder).translate(TEXTS)
    arguments = argparse.Namespace(**fairseq.arguments_of(network))
    fairseq.write_checkpoint(folder, state, args=arguments)
    assert kformer.from_fairseq(folder).translate(TEXTS) == expected


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_a_checkpoint_that_runs_code_is_refused_and_runs_nothing(folder, network, tmp_path):
    state, made = fairseq.state_dict_of(network), tmp_path / "made"
    fairseq.write_checkpoint(folder, state, args=Evil(made))
    assert "names posix.mkdir" in refused(folder)
    fairseq.write_checkpoint(folder, {})
    assert "must hold its settings. Received: args=None, cfg=None in 'FOLDER/" in refused(folder)
    fairseq.write_torch_file(folder / "checkpoint_best.pt", {"weight": np.ones(3, "f4")})
    assert "A checkpoint of fairseq must hold `model`, the weights by name." in refused(folder)
    assert not made.exists()
