"""A checkpoint of OpenNMT-tf becomes a translator, whose sources have no end."""

import keras
import numpy as np
import pytest

import kformer
from kformer.export import export_saved_model, export_tflite
from support.pretrained import marian, opennmt_tf
from support.reference import Model, transformer, weights_of

TEXTS = ["der hund schläft .", "meine mutter trinkt 猫 ☃☂ tee", "", "ein ☃ haus", "hund", " a  b "]
WORDS = marian.vocabulary()
SHARED = opennmt_tf.pieces(WORDS.pieces)
OWN = [opennmt_tf.pieces(marian.pieces_of(model)) for model in WORDS.models]
TWO = {"target_vocab_size": len(OWN[1]) + 1}
SHAPES = {  # As `share_embeddings` says it in OpenNMT-tf.
    "NONE": (OWN, {**TWO, "tied_output": False}),
    "TARGET": (OWN, {**TWO, "norm_first": False, "num_decoder_layers": 2}),
    "SOURCE_TARGET_INPUT": ([SHARED] * 2, {"tied_output": False}),
    "ALL": ([SHARED] * 2, {}),
}


def made(shape):
    """A random network and its vocabularies."""
    keras.utils.set_random_seed(1)
    vocabularies, settings = SHAPES[shape]
    network = opennmt_tf.transformer(vocabularies[0], **settings)
    if "target_vocab_size" in settings:
        opennmt_tf.with_ends(network, vocabularies[1])
    return network, vocabularies


@pytest.fixture(scope="module", params=SHAPES)
def network_of(request):
    return made(request.param)


@pytest.fixture(scope="module")
def folder(network_of, tmp_path_factory):
    return opennmt_tf.write_folder(tmp_path_factory.mktemp("run"), *network_of)


@pytest.fixture(scope="module")
def translator(folder):
    return kformer.from_opennmt_tf(folder, num_heads=4)


def test_every_weight_and_setting_finds_its_place(translator, network_of):
    expected, (source, _) = network_of
    config = expected.get_config() | {"dropout": 0.1}
    config["num_decoder_layers"] = expected.decoder.num_layers
    received = translator.transformer.get_config()
    names = config.keys() - {"name"}
    assert {name: received[name] for name in names} == {name: config[name] for name in names}
    for weight, value in zip(translator.transformer.weights, expected.weights, strict=True):
        if value.dtype != "uint32":  # Of dropout.
            np.testing.assert_array_equal(weight, value, err_msg=value.path)
    for tokenizer in (translator.tokenizer, translator.target_tokenizer):
        assert (tokenizer.padding_id, tokenizer.start_id, tokenizer.end_id) == (0, 1, 2)
        assert tokenizer.unknown_id == tokenizer.vocab_size - 1
    assert translator.tokenizer.pieces(range(len(source))) == source


def test_the_logits_are_those_of_the_equations_with_its_positions(translator, network_of):
    """In NumPy, of OpenNMT-tf's formula: sines, then cosines, counted from 1; its epsilon."""
    network, (_, pieces) = network_of
    source = np.array([[9, 8, 7], [5, 4, 0]])
    target = np.array([[1, 6, 11], [1, 12, 13]])
    half = network.d_model // 2
    frequencies = np.exp(-np.log(10000) / (half - 1) * np.arange(half))

    def positions(length, d_model):
        angles = np.arange(1, 1 + length)[:, None] * frequencies
        return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_model)

    model = Model(
        weights_of(network),
        network.num_heads,
        2,
        network.norm_first,
        "relu",
        network.decoder.num_layers,
        positions,
        epsilon=1e-3,
    )
    expected = transformer(source, target, model) + network.target_embedding.bias.numpy()
    found = translator.transformer((source, target))
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.ptp(expected))
    assert expected.shape[-1] == len(pieces) + 1


@pytest.mark.prove
def test_a_keras_file_says_the_same(translator, tmp_path):
    expected = translator.translate(TEXTS)
    assert len({*expected}) > 3 and expected[2] == ""
    translator.save(tmp_path / "a.keras")
    assert kformer.load(tmp_path / "a.keras").translate(TEXTS) == expected


@pytest.mark.prove
def test_the_tflite_file_says_what_python_says(translator, tmp_path):
    pocket = kformer.load(export_tflite(translator, tmp_path / "a.tflite", max_source_length=24))
    assert pocket.translate(TEXTS) == translator.translate(TEXTS)


@pytest.mark.prove
def test_the_saved_model_says_what_python_says(translator, tmp_path):
    served = kformer.load(export_saved_model(translator, tmp_path / "served"))
    assert served.translate(TEXTS) == translator.translate(TEXTS)


@pytest.mark.prove
def test_a_folder_of_ctranslate2_is_the_same_model(translator, tmp_path):
    pytest.importorskip("ctranslate2", reason="Not installed: ctranslate2.")
    from kformer.export import CTranslate2Translator, export_ctranslate2

    exported = export_ctranslate2(translator, tmp_path / "exported")
    expected = translator.translate(TEXTS)
    assert CTranslate2Translator(exported).translate(TEXTS) == expected
    assert kformer.from_ctranslate2(exported).translate(TEXTS) == expected


def test_biases_of_projections_may_be_missing(tmp_path):
    network, vocabularies = made("ALL")
    for layer in (*network.encoder.layers, *network.decoder.layers):
        for weight in layer.weights:
            if weight.path.endswith("bias") and "attention" in weight.path:
                weight.assign(0 * weight)
    weights = opennmt_tf.weights_of(network)
    weights = {n: a for n, a in weights.items() if "linear_" not in n or n.endswith("kernel")}
    folder = opennmt_tf.write_folder(tmp_path, network, vocabularies, weights=weights)
    found = kformer.from_opennmt_tf(folder, num_heads=4)
    for weight, value in zip(found.transformer.weights, network.weights, strict=True):
        np.testing.assert_array_equal(weight, value)


def test_one_checkpoint_of_several_is_read_by_its_name(tmp_path):
    network, vocabularies = made("ALL")
    opennmt_tf.write_folder(tmp_path, network, vocabularies)
    changed = opennmt_tf.weights_of(network)
    changed["decoder/output_layer/bias"] = changed["decoder/output_layer/bias"] + 1
    opennmt_tf.write_checkpoint(tmp_path, changed, step=5)

    def bias(path):
        read = kformer.from_opennmt_tf(path, num_heads=4)
        return read.transformer.target_embedding.bias.numpy()

    before = network.target_embedding.bias.numpy()
    np.testing.assert_array_equal(bias(tmp_path), before + 1)
    for name in ("ckpt-3", "ckpt-3.index"):
        np.testing.assert_array_equal(bias(tmp_path / name), before)


@pytest.mark.parametrize(
    ("d_model", "num_heads"), [(64, 2), pytest.param(512, 8, marks=pytest.mark.prove)]
)
def test_heads_are_those_of_the_toolkits_own_models(d_model, num_heads, tmp_path):
    network = opennmt_tf.transformer(
        SHARED, num_layers=1, d_model=d_model, num_heads=num_heads, d_ff=11
    )
    folder = opennmt_tf.write_folder(tmp_path, network, [SHARED] * 2)
    assert kformer.from_opennmt_tf(folder).transformer.num_heads == num_heads


# What is refused.


@pytest.fixture
def run(tmp_path):
    return opennmt_tf.write_folder(tmp_path, *made("ALL"))


def refused(path, kind=ValueError, folder=None, **options):
    with pytest.raises(kind) as error:
        kformer.from_opennmt_tf(path, **{"num_heads": 4, **options})
    message = str(error.value)
    assert "\n" not in message and " Received: " in message
    return message.replace(str(folder or path), "FOLDER")


def test_the_number_of_heads_must_be_known(run):
    assert refused(run, num_heads=None) == (
        "A checkpoint does not contain the number of attention heads: give `num_heads`. "
        "Received: num_heads=None, a d_model of 32 in 'FOLDER/ckpt-3'."
    )


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("encoder/layers/0/self_attention/layer/relative_position_keys", "relative positions"),
        ("encoder/position_encoder/embedding", "learned positions"),
        ("decoder/layers/0/attention/1/layer/linear_keys/kernel", "several sources"),
        ("encoder/cell/cells/0/kernel", "recurrent layers"),
    ],
)
def test_a_feature_that_no_transformer_has_is_named(name, words, run):
    opennmt_tf.write_checkpoint(
        run, {**opennmt_tf.weights_of(made("ALL")[0]), name: np.ones((3, 5), "f4")}, step=5
    )
    assert refused(run) == (
        f"Models of OpenNMT-tf with {words} cannot be imported. "
        f"Received: {name!r} in 'FOLDER/ckpt-5'."
    )


@pytest.mark.prove
def test_weights_that_are_missing_or_too_many_are_named(run):
    weights = opennmt_tf.weights_of(made("ALL")[0])
    more = {**weights, "decoder/layers/0/ffn/layer/gate/kernel": np.ones((3, 5), "f4")}
    opennmt_tf.write_checkpoint(run, more, step=5)
    with pytest.raises(ValueError, match=r"no weights beside .*'decoder/layers/0/ffn/layer/gate"):
        kformer.from_opennmt_tf(run, num_heads=4)
    del weights["encoder/layers/1/ffn/layer/inner/kernel"]
    opennmt_tf.write_checkpoint(run, weights, step=6)
    with pytest.raises(ValueError, match=r"no 'encoder.layers.1.fc1.weight'"):
        kformer.from_opennmt_tf(run, num_heads=4)
    opennmt_tf.write_checkpoint(run, {}, step=7)
    assert "must hold `model`; `onmt-main` converts those of version 1. Rec" in refused(run)


def test_vocabularies_that_do_not_fit_are_refused(run):
    path = run / "source.vocab"
    lines = path.read_text("utf-8")
    path.write_text(f"{lines}▁more\n", "utf-8")
    rows = f"must have {len(SHARED) + 2} rows, one for each line and one for <unk>."
    assert rows in refused(run)
    path.write_text(lines.replace("▁", "@@"), "utf-8")
    assert "where words begin with ▁; other ways to split text" in refused(run)
    path.write_text(f"{lines}{lines}", "utf-8")
    assert f"each once. Received: 'FOLDER/source.vocab' ('{SHARED[0]}' twice)" in refused(run)


def test_damaged_and_missing_files_are_named(run):
    data = run / "ckpt-3.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:100])
    assert "The files of a checkpoint must be whole. Received: 'FOLDER/ckpt-3': " in refused(run)
    (run / "ckpt-3.index").write_bytes(b"none")
    assert "The files of a checkpoint must be whole. Received: 'FOLDER/ckpt-3': " in refused(run)
    (run / "target.spm").unlink()
    (run / "source.vocab").unlink()
    assert refused(run, FileNotFoundError) == (
        "The folder of a checkpoint of OpenNMT-tf must hold source.vocab. "
        "Received: 'FOLDER', which does not."
    )
    missing = run / "none"
    assert refused(missing, FileNotFoundError, run) == (
        "A checkpoint of OpenNMT-tf is a folder with the file `checkpoint`, or the common "
        "beginning of the names of its files. Received: 'FOLDER/none'."
    )
