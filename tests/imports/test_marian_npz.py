"""A folder of Marian's own becomes the translator that Hugging Face's folder of it becomes."""

import importlib.util
import itertools
import json
import random

import keras
import numpy as np
import pytest
import sentencepiece

import kformer
from support import phrasebook
from support.pretrained import marian
from support.pretrained.marian_npz import arrays_of, spm_vocabulary, write_npz_folder
from support.pretrained.marian_reference import MarianReference
from support.processes import run_python

TEXTS = ["der hund schläft .", "meine mutter trinkt 猫 ☃☂ tee", "", "ein ☃ haus", " a  b "]
SENTENCES = [
    source for (source, _), _ in itertools.islice(phrasebook.sample(random.Random(0)), 300)
]
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
    # Marian never writes it.
    assert found.transformer.forbidden_ids == (expected.target_tokenizer.unknown_id,)
    assert found.tokenizer.model == expected.tokenizer.model
    assert found.target_tokenizer.model == expected.target_tokenizer.model
    config = found.transformer.get_config()
    assert config["activation"] == network.get_config()["activation"]
    assert found.source_rows(TEXTS) == expected.source_rows(TEXTS)


def test_positions_and_norms_are_those_of_marian_unless_those_of_transformers_are_asked(folder):
    d_model, t = 32, np.arange(40)[:, None]
    waves = {
        False: 10_000.0 ** (np.arange(d_model // 2) / (d_model // 2 - 1)),  # Marian's.
        True: 10_000.0 ** (np.arange(d_model // 2) / (d_model // 2)),
    }
    for as_transformers, wave in waves.items():
        translator = kformer.from_marian(folder, as_transformers=as_transformers)
        found = translator.transformer.positions.encodings(40, d_model)
        np.testing.assert_allclose(found[:, ::2], np.sin(t / wave), atol=1e-5)
        np.testing.assert_allclose(found[:, 1::2], np.cos(t / wave), atol=1e-5)
        norm = translator.transformer.encoder.layers[0].feed_forward_residual.norm
        assert norm.epsilon == (1e-5 if as_transformers else 1e-6)


def test_lists_of_pieces_are_yaml_or_one_piece_a_line(folder):
    expected = kformer.from_marian(folder)
    [listed] = folder.glob("*vocab.yml")
    whole = listed.read_text("utf-8")
    listed.unlink()
    text = "".join(f"{piece}\n" for piece in WORDS.pieces[:-1])
    named = folder / "decoder.yml"
    for names, content in (
        (["vocab.txt"], text),
        (["opus.vocab.txt"], text.replace("\n", "\r\n")),
        (["opus.spm32k.src.vocab.yml", "opus.spm32k.trg.vocab.yml"], whole),
        (["a.pieces", "b.pieces"], text),  # Of any name, where the settings name them.
    ):
        for name in names:
            (folder / name).write_text(content, "utf-8", newline="")
        if names[0] == "a.pieces":
            named.write_text(f"vocabs: [{', '.join(names)}]\n")
        found = kformer.from_marian(folder)
        assert found.tokenizer.model == expected.tokenizer.model
        assert found.target_tokenizer.model == expected.target_tokenizer.model
        for name in names:
            (folder / name).unlink()
    named.unlink()
    for content, message in (
        (text.replace("</s>\n", ""), "must hold </s> and <unk>"),
        (text + "<unk>\n", r"each once\. .*vocab\.txt' \('<unk>' twice\)"),
        (text.replace("</s>", ""), "an empty line"),
        (text + "\udcff", r"in UTF-8.*can't decode"),
    ):
        (folder / "vocab.txt").write_bytes(content.encode("utf-8", "surrogateescape"))
        with pytest.raises(ValueError, match=message):
            kformer.from_marian(folder)


def test_one_spm_file_is_the_vocabulary_tokenizers_of_sides(tmp_path):
    words = spm_vocabulary(SENTENCES)
    network = marian.transformer(words.pieces)
    listed = write_npz_folder(tmp_path / "listed", words, network)
    joint = write_npz_folder(tmp_path / "joint", words, network)
    next(joint.glob("*vocab.yml")).unlink()
    (joint / "source.spm").rename(joint / "vocab.spm")
    (joint / "target.spm").unlink()
    (joint / "model.npz.optimizer.npz").write_bytes(b"")
    found, expected = map(kformer.from_marian, (joint, listed))
    library = sentencepiece.SentencePieceProcessor(model_proto=words.models[0])
    assert found.source_rows(TEXTS) == [[*library.encode(text), 0] for text in TEXTS]
    assert found.tokenizer.model == found.target_tokenizer.model == expected.tokenizer.model
    for one, other in zip(found.transformer.weights, expected.transformer.weights, strict=True):
        np.testing.assert_array_equal(one, other)
    (joint / "other.spm").write_bytes(words.models[0])
    with pytest.raises(ValueError, match=r"name those of both in `vocabs`.*other.spm, vocab.spm"):
        kformer.from_marian(joint)


@pytest.mark.prove
def test_settings_beside_the_weights_name_the_vocabulary_of_each_side(tmp_path):
    sides = [spm_vocabulary(SENTENCES, vocab_size=size) for size in (190, 180)]
    sizes = {"target_vocab_size": len(sides[1].pieces)}
    network = marian.transformer(sides[1].pieces, **sizes)
    folder = write_npz_folder(tmp_path / "npz", sides[1], network)
    [weights], [listed] = folder.glob("*.npz"), folder.glob("*vocab.yml")
    for path in (listed, folder / "source.spm", folder / "target.spm"):
        path.unlink()
    for name, side in zip(("b.de.spm", "a.en.spm"), sides, strict=True):
        (folder / name).write_bytes(side.models[0])
    settings = "relative-paths: true\nvocabs:\n  - /elsewhere/b.de.spm\n  - a.en.spm\n"
    (folder / f"{weights.name}.decoder.yml").write_text(settings)
    arrays = dict(np.load(weights))
    more = len(sides[0].pieces) - len(sides[1].pieces)
    rows = np.random.default_rng(0).normal(size=(more, network.d_model)).astype("float32")
    arrays["encoder_Wemb"] = np.concatenate([arrays["encoder_Wemb"], rows])
    np.savez(weights, **arrays)
    found = kformer.from_marian(folder)
    sizes = [len(side.pieces) - 1 for side in sides]
    for tokenizer, side in zip((found.tokenizer, found.target_tokenizer), sides, strict=True):
        library = sentencepiece.SentencePieceProcessor(model_proto=side.models[0])
        assert tokenizer.tokenize(TEXTS).to_list() == library.encode(TEXTS)
        assert tokenizer.padding_id == tokenizer.start_id == sizes[0]
    source = found.transformer.source_embedding.table.numpy()
    order = np.arange(network.d_model).reshape(2, -1).T.ravel()
    np.testing.assert_array_equal(source[: sizes[0]], arrays["encoder_Wemb"][:, order])
    bias = found.transformer.target_embedding.bias.numpy()
    assert {*np.flatnonzero(bias == -1e4)} == {*range(sizes[1], sizes[0] + 1)}
    assert found.transformer.forbidden_ids == (1,)
    of_marian = {"max_length_ratio": 3.0, "narrowing": True}
    assert found.search_defaults == of_marian
    (folder / "decoder.yml").write_text("allow-unk: true\nbeam-size: 6\nnormalize: 1\n")
    found = kformer.from_marian(folder)
    beams = {"beam_size": 6, "length_penalty": 1.0, "length_offset": 0.0}
    assert found.search_defaults == {**of_marian, **beams}
    (folder / "decoder.yml").write_text("allow-unk: true\nword-penalty: 0.5\n")
    with pytest.warns(UserWarning, match=r"cannot follow .* left out: word-penalty=0.5. Received:"):
        found = kformer.from_marian(folder)
    bias = found.transformer.target_embedding.bias.numpy()
    assert bias[1] == arrays["decoder_ff_logit_out_b"][0, 1]
    assert not found.transformer.forbidden_ids


def test_of_several_files_of_weights_one_is_chosen_by_its_path(folder):
    [path] = folder.glob("*.npz")
    expected = kformer.from_marian(folder).transformer.source_embedding.table.numpy()
    arrays = dict(np.load(path))
    np.savez(folder / "model.npz", **arrays | {"Wemb": arrays["Wemb"] + 1})
    with pytest.raises(ValueError, match="of several, give the path of one"):
        kformer.from_marian(folder)
    found = kformer.from_marian(path).transformer.source_embedding.table.numpy()
    np.testing.assert_array_equal(found, expected)
    assert kformer.from_marian(folder / "model.npz").transformer.source_embedding.table[0, 0] > 0.5


@pytest.mark.prove
@pytest.mark.skipif(
    importlib.util.find_spec("ctranslate2") is None, reason="Not installed: ctranslate2."
)
def test_ctranslate2_converts_the_folder_to_what_says_the_same(folder, tmp_path):
    translator = kformer.from_marian(folder, "fra", as_transformers=True)  # As CTranslate2 does.
    pairs = itertools.islice(phrasebook.sample(random.Random(5)), 30)
    texts = [source for (source, _), _ in pairs]
    rows = [translator.tokenizer.pieces(row[:-1]) for row in translator.source_rows(texts)]
    (tmp_path / "rows.json").write_text(json.dumps(rows), "utf-8")
    script = ("-m", "support.pretrained.with_ctranslate2")
    made = run_python(*script, folder, tmp_path / "rows.json", tmp_path / "said.json")
    assert made.returncode == 0, made.stderr
    said = json.loads((tmp_path / "said.json").read_text("utf-8"))
    options = kformer.SearchOptions(max_length=60, max_length_ratio=None)
    found = translator.translations(texts, options, details=False)
    assert [list(best.tokens) for [best] in found] == said
    assert len({best.text for [best] in found}) > 20


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("type", "s2s"),
        ("transformer-ffn-activation", "tanh"),
        ("transformer-decoder-autoreg", "average-attention"),
        ("transformer-train-position-embeddings", "true"),
    ],
)
def test_another_architecture_is_refused_by_its_name(name, value, network, tmp_path):
    folder = write_npz_folder(tmp_path / "npz", WORDS, network, {name: value})
    with pytest.raises(ValueError, match=rf"whose {name} is .* Received: {name}='{value}'"):
        kformer.from_marian(folder)


@pytest.mark.sample(3)
@pytest.mark.parametrize("cell", ["attention", "ssru"])
@pytest.mark.parametrize(
    ("norm_first", "activation"), [(True, "relu"), (True, "gelu"), (False, "gelu")]
)
def test_logits_are_those_of_marians_equations(cell, norm_first, activation, tmp_path):
    keras.utils.set_random_seed(1)
    settings = {"norm_first": norm_first, "activation": activation, "decoder_cell": cell}
    network = marian.transformer(WORDS.pieces, **settings, decoder_d_ff=24)
    found = kformer.from_marian(write_npz_folder(tmp_path / "npz", WORDS, network)).transformer
    reference = MarianReference(arrays_of(WORDS, network), 4, activation)
    source, target = [5, 77, 30, 8, 0], [9, 30, 4, 4, 17]
    logits = found([np.array([source]), np.array([[found.padding_id, *target]])])
    expected = reference.logits(source, target)
    atol = 5e-3 if cell == "attention" else 5e-4  # float32 rounds sharp attention most.
    np.testing.assert_allclose(np.array(logits[0])[:, : expected.shape[1]], expected, atol=atol)
    assert expected.std() > 0.5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"transformer-postprocess-top": '""'}, "transformer-postprocess-top=''"),
        ({"transformer-postprocess": "dan"}, "transformer-postprocess='dan'"),
        ({"transformer-preprocess": "r"}, "transformer-preprocess='r'"),
        ({"version": "v1.10.28 2022-01-24"}, r"version='v1\.10\.28 2022-01-24'"),
        ({"version": ""}, "version=''"),
    ],
)
def test_other_places_of_norms_are_refused(changes, message, tmp_path):
    network = marian.transformer(WORDS.pieces, norm_first=True)
    folder = write_npz_folder(tmp_path / "npz", WORDS, network, changes)
    with pytest.raises(ValueError, match=rf"must .*Received: .*{message}"):
        kformer.from_marian(folder)


def test_norms_elsewhere_than_in_the_settings_are_refused(tmp_path):
    network = marian.transformer(WORDS.pieces, norm_first=True)
    folder = write_npz_folder(tmp_path / "npz", WORDS, network)
    [path] = folder.glob("*.npz")
    arrays = dict(np.load(path))
    arrays["encoder_l1_self_Wo_ln_scale"] = arrays.pop("encoder_l1_self_Wo_ln_scale_pre")
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=r"no 'model\.encoder\.layers\.0\.self_attn_layer_norm"):
        kformer.from_marian(folder)


def test_sentencepiece_models_of_characters_split_text_as_the_library(tmp_path):
    settings = {"model_type": "char", "character_coverage": 0.99, "user_defined_symbols": ["<br>"]}
    words = spm_vocabulary([*SENTENCES, "猫"], vocab_size=60, hard_vocab_limit=False, **settings)
    network = marian.transformer(words.pieces)
    found = kformer.from_marian(write_npz_folder(tmp_path / "npz", words, network))
    library = sentencepiece.SentencePieceProcessor(model_proto=marian.with_near(words.models[0]))
    texts = [*TEXTS, "ein<br>haus", "ｆｕｌｌ１", "猫中", *SENTENCES[:50]]
    assert found.source_rows(texts) == [[*library.encode(text), 0] for text in texts]
    assert any(library.unk_id() in library.encode(text) for text in texts)


def test_characters_that_end_lines_for_yaml_alone_are_pieces(tmp_path):
    odd = ["\u2028", "\x85", "x\u2029", "\ufeff", "\x7f"]
    words = marian.vocabulary(tuple(odd))
    network = marian.transformer(words.pieces)
    folder = write_npz_folder(tmp_path / "npz", words, network)
    [path] = folder.glob("*vocab.yml")
    assert "\u2028" in path.read_bytes().decode()  # Raw, as Marian writes it.
    tokenizer = kformer.from_marian(folder).tokenizer
    assert tokenizer.pieces(range(tokenizer.vocab_size)) == words.pieces


def test_weights_that_are_no_floating_point_numbers_are_refused(folder):
    [path] = folder.glob("*.npz")
    arrays = dict(np.load(path))
    name = "encoder_l1_ffn_W1"
    np.savez(path, **arrays | {name: arrays[name].astype("uint8")})
    with pytest.raises(ValueError, match=r"floating-point numbers. .*fc1.weight' of dtype uint8"):
        kformer.from_marian(folder)


def test_what_a_transformer_lacks_is_refused_by_its_name(folder):
    [path] = folder.glob("*.npz")
    arrays = dict(np.load(path))
    np.savez(path, **arrays, decoder_l1_aan_W1=np.zeros((3, 3)))
    with pytest.raises(ValueError, match="decoder_l1_aan_W1"):
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
    with pytest.raises(
        ValueError, match=r"one file \*\.npz; of several, .*holds opus.*, other\.npz"
    ):
        kformer.from_marian(folder)
    (folder / "other.npz").unlink()
    vocabulary.unlink()
    with pytest.raises(FileNotFoundError, match=r"one \.spm file.*one \*vocab\.yml.*none"):
        kformer.from_marian(folder)
