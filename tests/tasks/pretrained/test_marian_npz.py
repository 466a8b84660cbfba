"""A folder of Marian's own becomes the translator that Hugging Face's folder of it becomes."""

import importlib.util
import itertools
import json
import random

import keras
import numpy as np
import pytest

import kformer
from kformer import phrasebook
from support.pretrained import marian
from support.pretrained.marian_npz import write_npz_folder
from support.processes import run_python

TEXTS = ["der hund schläft .", "meine mutter trinkt 猫 ☃☂ tee", "", "ein ☃ haus", " a  b "]
WORDS = marian.vocabulary((">>deu<<", ">>fra<<"))
SHAPES = {
    "swish": {},
    "relu, as many decoder layers": {"activation": "relu", "num_decoder_layers": None},
    "a table for each side": {"target_vocab_size": len(WORDS.pieces)},
}


@pytest.fixture
def network():
    keras.utils.set_random_seed(1)
    return marian.transformer(WORDS.pieces)


@pytest.fixture
def folder(network, tmp_path):
    return write_npz_folder(tmp_path / "npz", WORDS, network)


@pytest.mark.sample(3)
@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_the_same_translator(shape, tmp_path):
    network = marian.transformer(WORDS.pieces, **SHAPES[shape])
    found = kformer.from_marian(write_npz_folder(tmp_path / "npz", WORDS, network), "fra")
    expected = kformer.from_marian(marian.write_folder(tmp_path / "hub", WORDS, network), "fra")
    weights = zip(found.transformer.weights, expected.transformer.weights, strict=True)
    for one, other in weights:
        if "seed" not in one.path:
            np.testing.assert_array_equal(one, other, err_msg=one.path)
    assert found.tokenizer.model == expected.tokenizer.model
    assert found.target_tokenizer.model == expected.target_tokenizer.model
    config = found.transformer.get_config()
    assert config["activation"] == network.get_config()["activation"]
    assert found.source_rows(TEXTS) == expected.source_rows(TEXTS)


@pytest.mark.prove
@pytest.mark.skipif(
    importlib.util.find_spec("ctranslate2") is None, reason="Not installed: ctranslate2."
)
def test_ctranslate2_converts_the_folder_to_what_says_the_same(folder, tmp_path):
    translator = kformer.from_marian(folder, "fra")
    pairs = itertools.islice(phrasebook.sample(random.Random(5)), 30)
    texts = [source for (source, _), _ in pairs]
    rows = [translator.tokenizer.pieces(row[:-1]) for row in translator.source_rows(texts)]
    (tmp_path / "rows.json").write_text(json.dumps(rows), "utf-8")
    script = ("-m", "support.pretrained.with_ctranslate2")
    made = run_python(*script, folder, tmp_path / "rows.json", tmp_path / "said.json")
    assert made.returncode == 0, made.stderr
    said = json.loads((tmp_path / "said.json").read_text("utf-8"))
    options = kformer.SearchOptions(max_length=60)
    found = translator.translations(texts, options, details=False)
    assert [list(best.tokens) for [best] in found] == said
    assert len({best.text for [best] in found}) > 20


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("type", "s2s"),
        ("transformer-preprocess", "n"),
        ("transformer-decoder-autoreg", "rnn"),
        ("transformer-train-position-embeddings", "true"),
    ],
)
def test_another_architecture_is_refused_by_its_name(name, value, network, tmp_path):
    folder = write_npz_folder(tmp_path / "npz", WORDS, network, {name: value})
    with pytest.raises(ValueError, match=rf"whose {name} is .* Received: {name}='{value}' in"):
        kformer.from_marian(folder)


def test_what_a_transformer_lacks_is_refused_by_its_name(folder):
    [path] = folder.glob("*.npz")
    arrays = dict(np.load(path))
    np.savez(path, **arrays, decoder_l1_rnn_W=np.zeros((3, 3)))
    with pytest.raises(ValueError, match="decoder_l1_rnn_W"):
        kformer.from_marian(folder)
    del arrays["decoder_l1_context_Wq"]
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=r"decoder\.layers\.0\.encoder_attn\.q_proj\.weight"):
        kformer.from_marian(folder)


def test_a_damaged_folder_is_refused(folder):
    [weights], [vocabulary] = folder.glob("*.npz"), folder.glob("*.yml")
    whole, lines = weights.read_bytes(), vocabulary.read_text("utf-8")
    weights.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"must be an \.npz file.*best\.npz"):
        kformer.from_marian(folder)
    weights.write_bytes(whole)
    for text, message in (
        (lines.rpartition('\n"')[0] + "\n", "vocabulary must fit the weights"),
        ("a: [", r"YAML of names.*vocab\.yml"),
        (f"{lines}{json.dumps('x')}: 1\n", "one piece for each id"),
    ):
        vocabulary.write_text(text, "utf-8")
        with pytest.raises(ValueError, match=message):
            kformer.from_marian(folder)
    (folder / "other.npz").write_bytes(b"")
    with pytest.raises(ValueError, match=r"one file \*\.npz.*which holds opus.*, other\.npz"):
        kformer.from_marian(folder)
    (folder / "other.npz").unlink()
    vocabulary.unlink()
    with pytest.raises(FileNotFoundError, match=r"one file \*vocab\.yml.*holds none"):
        kformer.from_marian(folder)
