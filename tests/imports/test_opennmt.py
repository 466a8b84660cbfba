"""A checkpoint of OpenNMT-py becomes a translator, whose sources have no end."""

import importlib.util
import json

import keras
import numpy as np
import pytest

import kformer
from kformer.export import export_saved_model, export_tflite
from kformer.export.verify.agreement import TIE
from support.pretrained import marian, opennmt
from support.pretrained.sentences import sentences
from support.processes import run_python

TEXTS = ["der hund schläft .", "meine mutter trinkt 猫 ☃☂ tee", "", "ein ☃ haus", "hund", " a  b "]
WORDS = marian.vocabulary()
SHARED = opennmt.pieces(WORDS.pieces)
OWN = [opennmt.pieces(marian.pieces_of(model)) for model in WORDS.models]
WITHOUT_END = [piece for piece in OWN[0] if piece not in ("<s>", "</s>")]
# The source's vocabulary, and the pieces of the `Transformer`: what it lacks is behind it.
VOCABULARIES = {
    "two, the source's without start and end": (
        (WITHOUT_END, OWN[1]),
        [*WITHOUT_END, "</s>", "<s>"],
    ),
    "one vocabulary": ((SHARED, SHARED), SHARED),
}


def made(name, **settings):
    """A random network and the vocabularies of its checkpoint."""
    keras.utils.set_random_seed(1)
    vocabularies, source = VOCABULARIES[name]
    if vocabularies[0] != vocabularies[1]:
        # Also other positions, which OpenNMT-py calls SinusoidalConcat, and an output of its own.
        settings |= {
            "tied_output": False,
            "target_vocab_size": len(vocabularies[1]),
            "max_wavelength": 10000 ** (32 / 30),
        }
        network = opennmt.transformer(source, **settings)
        bias = np.zeros(len(vocabularies[1]), "f4")
        bias[vocabularies[1].index("</s>")] = 3
        network.target_embedding.bias.assign(bias)
        return network, vocabularies
    return opennmt.transformer(source, **settings), vocabularies


@pytest.fixture(scope="module", params=VOCABULARIES)
def network_of(request):
    return made(request.param)


@pytest.fixture
def checkpoint(network_of, tmp_path):
    return opennmt.write_checkpoint(tmp_path / "model.pt", *network_of)


def test_every_weight_and_setting_finds_its_place(checkpoint, network_of):
    expected, _ = network_of
    found = kformer.from_opennmt(checkpoint)
    config = expected.get_config() | {"dropout": 0.1}
    received = found.transformer.get_config()
    names = config.keys() - {"name"}
    assert {name: received[name] for name in names} == {name: config[name] for name in names}
    assert received["ignored_source_id"] == found.tokenizer.end_id
    size = len(VOCABULARIES["two, the source's without start and end"][0][0])
    for weight, value in zip(found.transformer.weights, expected.weights, strict=True):
        path, weight, value = value.path, weight.numpy(), value.numpy()
        if value.dtype.kind != "f":  # Of dropout.
            continue
        if path == "source_embedding/table" and len(value) == size + 2:
            value[size:] = 0  # Of ids that the checkpoint lacks.
        np.testing.assert_array_equal(weight, value)
    tokenizer = found.target_tokenizer
    special = (tokenizer.unknown_id, tokenizer.padding_id, tokenizer.start_id, tokenizer.end_id)
    assert special == (0, 1, 2, 3)


@pytest.mark.sample(2)
def test_sources_have_no_end(checkpoint):
    """The vector of the end id makes no difference, in a source of one id neither."""
    translator = kformer.from_opennmt(checkpoint)
    source = np.array([[9, 8, 7], [5, 1, 1]])
    end = np.full((2, 1), translator.tokenizer.end_id)
    ended = np.concatenate([source, end], axis=1)
    ended[1] = [5, end[1, 0], 1, 1]
    target = np.array([[2, 6], [2, 7]])
    network = translator.transformer
    without = kformer.Transformer.from_config({**network.get_config(), "ignored_source_id": None})
    without.set_weights(network.get_weights())
    expected = keras.ops.convert_to_numpy(without((source, target)))
    np.testing.assert_allclose(network((ended, target)), expected, atol=1e-4)
    assert np.abs(without((ended, target)) - expected).max() > 1e-2


@pytest.mark.prove
def test_a_keras_file_says_the_same(checkpoint, tmp_path):
    translator = kformer.from_opennmt(checkpoint)
    expected = translator.translate(TEXTS)
    assert len({*expected}) > 3 and expected[2] == ""
    translator.save(tmp_path / "a.keras")
    assert kformer.load(tmp_path / "a.keras").translate(TEXTS) == expected


@pytest.mark.prove
def test_the_tflite_file_says_what_python_says(checkpoint, tmp_path):
    translator = kformer.from_opennmt(checkpoint)
    expected = translator.translate(TEXTS)
    pocket = kformer.load(export_tflite(translator, tmp_path / "a.tflite", max_source_length=24))
    assert pocket.translate(TEXTS) == expected
    np.testing.assert_allclose(pocket.encode(TEXTS), translator.encode(TEXTS), atol=1e-4)


@pytest.mark.prove
def test_the_saved_model_says_what_python_says(checkpoint, tmp_path):
    translator = kformer.from_opennmt(checkpoint)
    served = kformer.load(export_saved_model(translator, tmp_path / "served"))
    assert served.translate(TEXTS) == translator.translate(TEXTS)


@pytest.mark.prove
def test_a_folder_of_ctranslate2_is_the_same_model(checkpoint, tmp_path):
    pytest.importorskip("ctranslate2", reason="Not installed: ctranslate2.")
    from kformer.export import CTranslate2Translator, export_ctranslate2

    translator = kformer.from_opennmt(checkpoint)
    exported = export_ctranslate2(translator, tmp_path / "exported")
    config = json.loads((exported / "config.json").read_text("utf-8"))
    assert config["add_source_eos"] is False
    expected = translator.translate(TEXTS)
    assert CTranslate2Translator(exported).translate(TEXTS) == expected
    assert kformer.from_ctranslate2(exported).translate(TEXTS) == expected


@pytest.mark.prove
def test_attention_to_the_end_is_none(checkpoint):
    translator = kformer.from_opennmt(checkpoint)
    [[best]] = translator.translations(["der hund schläft ."])
    np.testing.assert_allclose(best.attention.sum(axis=1), 1, atol=1e-5)
    assert not best.attention[:, -1].any()


@pytest.mark.prove
@pytest.mark.parametrize("activation", ["gelu", "swish"])
def test_activations_are_read(activation, tmp_path):
    network, vocabularies = made("one vocabulary", activation=activation)
    path = opennmt.write_checkpoint(tmp_path / "model.pt", network, vocabularies)
    assert kformer.from_opennmt(path).transformer.activation == activation


@pytest.mark.prove
def test_older_names_and_missing_biases_are_read(tmp_path):
    network, vocabularies = made("one vocabulary")
    for layer in (*network.encoder.layers, *network.decoder.layers):
        for weight in layer.weights:
            if weight.path.endswith("bias") and "attention" in weight.path:
                weight.assign(0 * weight)
    state = opennmt.state_of(network, [len(SHARED)] * 2)
    for name in [name for name in state["model"] if "attn.linear" in name and "bias" in name]:
        del state["model"][name]
    for name in [name for name in state["model"] if "layer_norm" in name]:
        place, _, kind = name.rpartition(".")
        array = state["model"].pop(name)
        state["model"][f"{place}.{'a_2' if kind == 'weight' else 'b_2'}"] = array
    state["generator"] = {f"0.{name}": array for name, array in state["generator"].items()}
    path = opennmt.write_checkpoint(tmp_path / "model.pt", network, vocabularies, state)
    found = kformer.from_opennmt(path)
    for weight, value in zip(found.transformer.weights, network.weights, strict=True):
        np.testing.assert_array_equal(weight.numpy(), value.numpy(), err_msg=weight.path)


# CTranslate2's own converter of OpenNMT-py.


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="Not installed: torch.")
def test_the_imports_say_what_ctranslate2_says(checkpoint, tmp_path):
    pytest.importorskip("ctranslate2", reason="Not installed: ctranslate2.")
    translator, texts = kformer.from_opennmt(checkpoint), sentences(24)
    rows = [translator.tokenizer.pieces(row) for row in translator.tokenizer.tokenize(texts)]
    files = {name: tmp_path / f"{name}.json" for name in ("rows", "answers")}
    files["rows"].write_text(json.dumps(rows), "utf-8")
    folder = tmp_path / "converted"
    script = ("-m", "support.pretrained.opennmt")
    ran = run_python(*script, checkpoint, folder, files["rows"], files["answers"])
    assert ran.returncode == 0, ran.stderr
    answers = json.loads(files["answers"].read_text("utf-8"))
    models = [tmp_path / f"{side}.spm" for side in ("source", "target")]
    for one in (translator, kformer.from_ctranslate2(folder, *models)):
        for beams in opennmt.BEAMS:
            options = kformer.SearchOptions(beams, 0, n_best=beams, max_length=opennmt.LONGEST)
            found = one.translations(texts, options, details=False)
            for text, (said, score), (best, *_) in zip(
                texts, answers[str(beams)], found, strict=True
            ):
                assert list(best.tokens) == said, text
                assert best.score == pytest.approx(score, abs=TIE, rel=1e-4), text
            assert len({best.text for best, *_ in found}) > 3


# What is refused.


@pytest.fixture(scope="module")
def network():
    return made("one vocabulary")[0]


def refused(path, kind=ValueError):
    with pytest.raises(kind) as error:
        kformer.from_opennmt(path)
    message = str(error.value)
    assert "\n" not in message and " Received: " in message
    return message.replace(str(path.parent), "FOLDER")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_relative_positions": 20}, "with relative or rotary positions or ALiBi cannot be"),
        ({"copy_attn": True}, "with a copy mechanism cannot be imported. Received: copy_attn=True"),
        ({"num_kv": 2}, "with fewer heads for keys than for queries cannot be imported."),
        ({"encoder_type": "brnn"}, "of the type 'transformer'. Received: encoder_type='brnn'"),
        (
            {"model_task": "lm"},
            "that do not translate cannot be imported. Received: model_task='lm'",
        ),
        ({"self_attn_type": "average"}, "self_attn_type is not 'scaled-dot' cannot be imported."),
        (
            {"layer_norm": "rms"},
            "layer_norm is not 'standard' cannot be imported. Received: layer_norm",
        ),
        ({"pos_ffn_activation_fn": "fast_gelu"}, "must be one of relu, gelu, silu. Received: pos"),
        ({"heads": None}, "with its sizes as numbers. Received: heads=None in 'FOLDER/model.pt'"),
    ],
)
def test_settings_of_another_model_are_named(changes, message, network, tmp_path):
    path = opennmt.write_checkpoint(tmp_path / "model.pt", network, (SHARED, SHARED), **changes)
    assert message in refused(path)


def test_weights_of_another_model_are_named(network, tmp_path):
    path = tmp_path / "model.pt"

    def refusal(change, vocabulary=SHARED):
        state = opennmt.state_of(network, [len(SHARED)] * 2)
        change(state["model"])
        opennmt.write_checkpoint(path, network, (vocabulary, vocabulary), state)
        return refused(path)

    def gated(model):
        model["encoder.transformer.0.feed_forward.w_3.weight"] = np.ones((48, 32), "f4")

    def learned(model):
        model["decoder.embeddings.make_embedding.pe.pe"] = np.ones((200, 1, 32), "f4")

    def more(model):
        model["encoder.transformer.0.self_attn.other.weight"] = np.ones((3, 3), "f4")

    def less(model):
        del model["decoder.embeddings.make_embedding.emb_luts.0.weight"]

    assert "with gated feed-forward networks cannot be imported" in refusal(gated)
    assert "Positions must be sines and cosines, the same on both sides." in refusal(learned)
    assert "no weights beside those of the layers. Received: 'encoder.transformer.0" in refusal(
        more
    )
    assert "must hold all weights. Received: no 'decoder.embeddings" in refusal(less)
    assert "The vocabularies must fit the weights: 'encoder.emb" in refusal(dict, SHARED[:-1])
    old = [piece.replace("▁", "@@") for piece in SHARED]
    assert "where words begin with ▁; other ways to split text" in refusal(dict, old)
    without = ["▁x" if piece == "</s>" else piece for piece in SHARED]
    assert "must hold </s>, <unk>, <s>. Received: no </s> in 'FOLDER/model.pt'" in refusal(
        dict, without
    )
    opennmt.write_checkpoint(path, network, ("words", SHARED), {"model": {}})
    assert "must hold `vocab`, with lists of pieces `src` and `tgt`, as version 3" in refused(path)
    with pytest.raises(FileNotFoundError, match=r"There is no such file. Received: .*none.pt"):
        kformer.from_opennmt(tmp_path / "none.pt")
