"""A folder of CTranslate2 becomes a translator; its own library writes the folder, and runs it."""

import json

import keras
import numpy as np
import pytest

import kformer
from kformer.export import export_saved_model, export_tflite
from kformer.imports.id_table import IdTable, read_model, with_ids_of
from support.pretrained import ctranslate2 as written
from support.pretrained import marian

TEXTS = ["der hund schläft .", "meine mutter trinkt 猫 ☃☂ tee", "", "ein ☃ haus", " a  b "]
WORDS = marian.vocabulary()
SHAPES = {
    "pre-norm": {"norm_first": True, "activation": "relu", "num_decoder_layers": None},
    "post-norm, two tables": {"target_vocab_size": len(WORDS.pieces)},
    "the output's own table": {"tied_output": False},
}


def translator_of(network):
    special = {"end": marian.END, "unknown": marian.UNKNOWN}
    table = IdTable(WORDS.pieces, **special, padding=marian.PADDING, start=marian.PADDING)
    models = [with_ids_of(read_model(model, ""), table) for model in WORDS.models]
    source, target = map(kformer.Tokenizer, models)
    return kformer.Translator(source, network, target)


@pytest.fixture(scope="module")
def translator():
    keras.utils.set_random_seed(1)
    return translator_of(marian.transformer(WORDS.pieces))


@pytest.fixture
def folder(translator, tmp_path):
    return written.write_folder(translator, tmp_path / "folder")


def weights_of(translator):
    return {w.path: w.numpy() for w in translator.transformer.weights if "seed" not in w.path}


def differences(found, expected):
    """The largest difference of each weight, as a share of the largest number in it."""
    found, expected = weights_of(found), weights_of(expected)
    assert found.keys() == expected.keys()
    return {
        path: np.abs(found[path] - value).max() / np.abs(value).max()
        for path, value in expected.items()
    }


def with_labels(codes, folder):
    """A folder of a model with labels of target languages, and the translator it was made of."""
    words = marian.vocabulary(tuple(f">>{code}<<" for code in codes))
    network = marian.transformer(words.pieces)
    original = kformer.from_marian(marian.write_folder(folder / "marian", words, network))
    return words, original, written.write_folder(original, folder / "ctranslate2")


def test_labels_of_languages_are_languages_to_choose_from(tmp_path):
    words, original, folder = with_labels(["deu", "fra"], tmp_path)
    found = kformer.from_ctranslate2(folder)
    assert found.target_languages == ("deu", "fra")
    rows = found.into("fra").source_rows(TEXTS)
    assert rows == original.into("fra").source_rows(TEXTS)
    assert rows[0][0] == words.pieces.index(">>fra<<")
    fixed = kformer.from_ctranslate2(folder, target_language="deu")
    assert not fixed.target_languages
    assert fixed.about["target_language"] == "deu"
    assert fixed.source_rows(TEXTS) == original.into("deu").source_rows(TEXTS)
    with pytest.raises(ValueError, match=r"languages: deu, fra\. Received: target_language='ita'"):
        kformer.from_ctranslate2(folder, target_language="ita")


def test_a_single_label_stands_before_every_source(tmp_path):
    words, _, folder = with_labels(["fra"], tmp_path)
    rows = kformer.from_ctranslate2(folder).source_rows(["der hund"])
    assert rows[0][0] == words.pieces.index(">>fra<<")


@pytest.mark.sample(3)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_weight_finds_its_place(shape, tmp_path):
    expected = translator_of(marian.transformer(WORDS.pieces, **SHAPES[shape]))
    found = kformer.from_ctranslate2(written.write_folder(expected, tmp_path / "folder"))
    assert max(differences(found, expected).values()) == 0
    settings = ("activation", "norm_first", "padding_id", "target_vocab_size", "num_heads", "d_ff")
    one, other = (each.transformer.get_config() for each in (found, expected))
    assert [one[name] for name in settings] == [other[name] for name in settings]
    assert found.tokenizer.model == expected.tokenizer.model
    assert found.target_tokenizer.model == expected.target_tokenizer.model


@pytest.mark.sample(3)
@pytest.mark.parametrize(("dtype", "most"), [("float16", 1e-3), ("int8", 1 / 250), ("int16", 1e-3)])
def test_rounded_weights_are_read_by_their_scales(dtype, most, translator, tmp_path):
    found = kformer.from_ctranslate2(written.write_folder(translator, tmp_path / "a", dtype))
    difference = max(differences(found, translator).values())
    assert 0 < difference < most
    assert len(found.translate(TEXTS)) == len(TEXTS)


def test_vectors_in_which_all_sines_come_first_are_reordered(translator, tmp_path):
    plain = written.write_folder(translator, tmp_path / "a")
    found = kformer.from_ctranslate2(written.write_folder(translator, tmp_path / "b", halves=True))
    assert max(differences(found, kformer.from_ctranslate2(plain)).values()) == 0


@pytest.mark.parametrize("first", [None, 1, 2])
def test_positions_of_opennmt_tf_and_fairseq_are_read(first, translator, tmp_path):
    """CTranslate2 computes those of OpenNMT-tf by itself, counted from 1."""
    folder = written.write_folder(translator, tmp_path / "a", halves=True)
    variables = written.read(folder)
    d_model = translator.transformer.d_model
    settings = {"first_position": first or 1, "max_wavelength": 10000 ** (d_model / (d_model - 2))}
    table = np.array(kformer.PositionalEncoding(**settings).encodings(300, d_model))
    table = np.concatenate([table[:, ::2], table[:, 1::2]], axis=1)
    for side in ("encoder", "decoder"):
        name = f"{side}/position_encodings/encodings"
        variables[name] = table
        if first is None:
            del variables[name]
    written.write(folder, variables)
    found = kformer.from_ctranslate2(folder)
    config = found.transformer.get_config()
    assert {name: config[name] for name in settings} == settings
    assert max(differences(found, translator).values()) == 0


@pytest.mark.prove
def test_a_decoder_that_starts_from_zero_gets_an_id_of_zeros(translator, folder):
    variables = written.read(folder)
    variables["decoder/start_from_zero_embedding"] = np.int8(1)
    for name in written.TABLES:
        variables[name] = variables[name][:-1]  # Without padding, as the library converts Marian.
    written.write(folder, variables)
    vocabulary = folder / "shared_vocabulary.json"
    vocabulary.write_text(json.dumps(WORDS.pieces[:-1]), "utf-8")
    written.change(folder, "config.json", decoder_start_token="</s>", add_source_eos=False)
    found = kformer.from_ctranslate2(folder)
    padding = len(WORDS.pieces) - 1
    assert found.tokenizer.pieces([padding]) == [marian.PADDING]
    assert found.tokenizer.start_id == found.tokenizer.padding_id == padding
    table, bias = (getattr(found.transformer.target_embedding, n) for n in ("table", "bias"))
    assert not table.numpy()[padding].any() and bias.numpy()[padding] == -1e4
    assert found.translate(TEXTS) == translator.translate(TEXTS)


def test_a_vocabulary_of_lines_is_read(folder, translator):
    (folder / "shared_vocabulary.json").unlink()
    lines = "".join(f"{piece}\n" for piece in WORDS.pieces)
    (folder / "shared_vocabulary.txt").write_text(lines, "utf-8")
    assert kformer.from_ctranslate2(folder).tokenizer.model == translator.tokenizer.model


@pytest.mark.prove
def test_sentencepiece_models_may_be_elsewhere(folder, translator, tmp_path):
    for side in ("source", "target"):
        (folder / f"{side}.spm").rename(tmp_path / f"{side}.spm")
    found = kformer.from_ctranslate2(folder, tmp_path / "source.spm", tmp_path / "target.spm")
    assert found.translate(TEXTS) == translator.translate(TEXTS)
    one = kformer.from_ctranslate2(folder, tmp_path / "source.spm")
    assert one.target_tokenizer.model == one.tokenizer.model


# Older versions, and vocabularies without SentencePiece.

LETTERS = ["<blank>", "<s>", "</s>", *"abcdeعر", " "]
SOUNDS = ["<blank>", "<s>", "</s>", "HH", "H", "AH0", "L", "OW1"]


@pytest.fixture(scope="module")
def speller():
    """A network from letters to sounds, as OpenNMT-tf trained them for the first CTranslate2."""
    keras.utils.set_random_seed(2)
    settings = {"first_position": 1, "norm_epsilon": 1e-5, "num_heads": 8, "tied_output": False}
    settings |= {"norm_first": True, "activation": "relu", "target_vocab_size": len(SOUNDS) + 1}
    network = marian.transformer([*LETTERS, "<unk>"], "<blank>", ignored_source_id=2, **settings)
    bias = network.target_embedding.bias.numpy()
    network.target_embedding.bias.assign([-1e4, -1e4, bias[2] - 6, *bias[3:]])  # Sounds, and ends.
    return network


@pytest.mark.prove
@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_older_versions_are_read(version, speller, tmp_path):
    found = kformer.from_ctranslate2(
        written.write_old(tmp_path / "old", speller, (LETTERS, SOUNDS), version)
    )
    expected = kformer.Translator(found.tokenizer, speller, found.target_tokenizer)
    assert max(differences(found, expected).values()) == 0
    names = speller.get_config().keys() - {"name", "dropout"}
    received, wanted = (one.transformer.get_config() for one in (found, expected))
    assert {name: received[name] for name in names} == {name: wanted[name] for name in names}


@pytest.mark.sample(2)
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(("dtype", "most"), [("int8", 1 / 250), ("int16", 2e-3)])
def test_rounded_weights_of_older_versions_are_read(dtype, most, version, speller, tmp_path):
    if (dtype, version) == ("int8", 1):
        pytest.skip("The first version has no 8 bits.")
    folder = written.write_old(tmp_path / "old", speller, (LETTERS, SOUNDS), version, dtype)
    found = kformer.from_ctranslate2(folder)
    expected = kformer.Translator(found.tokenizer, speller, found.target_tokenizer)
    assert 0 < max(differences(found, expected).values()) < most


def test_text_is_split_into_characters_and_joined_at_spaces(speller, tmp_path):
    found = kformer.from_ctranslate2(
        written.write_old(tmp_path / "old", speller, (LETTERS, SOUNDS), 2)
    )
    unknown = len(LETTERS)
    texts = ["abba", "عر a", " b", "", "aXb", "aXYb"]
    expected = [[LETTERS.index(c) if c in LETTERS else unknown for c in text] for text in texts]
    expected[-1].remove(unknown)  # Adjacent unknown characters are one id.
    assert found.tokenizer.tokenize(texts).to_list() == expected
    for text, row in list(zip(texts, expected, strict=True))[:4]:
        assert found.tokenizer.detokenize([[*row, 2]]).numpy()[0].decode() == text
    sounds = "HH AH0 L OW1 H"
    ids = [SOUNDS.index(sound) for sound in sounds.split()]
    assert found.target_tokenizer.tokenize([sounds, "H  HH "]).to_list() == [ids, [4, 3]]
    assert found.target_tokenizer.detokenize([[*ids, 2, 0]]).numpy()[0].decode() == sounds


@pytest.mark.parametrize("version", [2, pytest.param(1, marks=pytest.mark.prove)])
def test_ctranslate2_says_the_same_of_an_older_version(version, speller, tmp_path):
    ctranslate2 = pytest.importorskip("ctranslate2", reason="Not installed: ctranslate2.")
    folder = written.write_old(tmp_path / "old", speller, (LETTERS, SOUNDS), version)
    library = ctranslate2.Translator(str(folder), intra_threads=1)
    texts = ["abcab", "dear", "عر", "bXd", "c", "ee dd"]
    rows = library.translate_batch(
        [[*text] for text in texts], beam_size=1, max_decoding_length=9, min_decoding_length=0
    )
    said = [" ".join(one.hypotheses[0]).replace("<unk>", "⁇") for one in rows]
    found = kformer.from_ctranslate2(folder).translate(texts, max_length=9)
    assert [text.replace(" ⁇ ", "⁇") for text in found] == said
    assert len({*said}) > 2


@pytest.mark.prove
def test_every_form_splits_text_into_characters(speller, tmp_path):
    translator = kformer.from_ctranslate2(
        written.write_old(tmp_path / "old", speller, (LETTERS, SOUNDS), 2)
    )
    translator.max_source_length = 24
    texts = ["abcab", "dear", "عر", "bXd", " c", "ee dd", "", "a b "]
    expected = translator.translate(texts)
    translator.save(tmp_path / "a.keras")
    export_saved_model(translator, tmp_path / "served")
    export_tflite(translator, tmp_path / "a.tflite")
    for form in ("a.keras", "served", "a.tflite"):
        assert kformer.load(tmp_path / form).translate(texts) == expected, form


# CTranslate2 itself.


@pytest.mark.prove
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_the_import_says_what_ctranslate2_says(dtype, translator, tmp_path):
    pytest.importorskip("ctranslate2", reason="Not installed: ctranslate2.")
    from kformer.export import CTranslate2Translator, export_ctranslate2

    folder = export_ctranslate2(translator, tmp_path / "folder", dtype)
    ours = written.read(written.write_folder(translator, tmp_path / "ours", dtype))
    # A translator without a trained head is aligned by the mean of all, in converters by the first.
    assert ours.pop("decoder/alignment_heads") == 1
    theirs = written.read(folder)
    assert theirs.pop("decoder/alignment_heads") == 0
    for name, array in theirs.items():
        np.testing.assert_allclose(ours[name], array, rtol=1e-6, err_msg=name)
    found = kformer.from_ctranslate2(folder)
    if dtype == "float32":
        assert max(differences(found, translator).values()) == 0
        said = CTranslate2Translator(folder).translate(TEXTS)
        assert found.translate(TEXTS) == said == translator.translate(TEXTS)


# What is refused.


def refused(folder, kind=ValueError):
    with pytest.raises(kind) as error:
        kformer.from_ctranslate2(folder)
    message = str(error.value)
    assert "\n" not in message and " Received: " in message
    assert str(folder) in message
    return message.replace(str(folder), "FOLDER")


@pytest.mark.parametrize("name", ["config.json", "model.bin", "source.spm"])
def test_a_missing_file_is_named(name, folder):
    (folder / name).unlink()
    lead = ", or give the SentencePiece model of its sources as `source_model`, --source-model"
    assert refused(folder, FileNotFoundError) == (
        f"A folder of CTranslate2 must hold {name}{lead if name == 'source.spm' else ''}. "
        "Received: 'FOLDER', which does not."
    )


def test_a_missing_vocabulary_is_named(folder):
    (folder / "shared_vocabulary.json").unlink()
    assert "must hold source_vocabulary.json. Received: 'FOLDER'" in refused(
        folder, FileNotFoundError
    )


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("encoder/layer_0/self_attention/relative_position_keys", [[1.0]], "relative positions"),
        ("decoder/layer_0/self_attention/rotary_dim", 8, "rotary positions"),
        ("decoder/alibi", 1, "ALiBi"),
        ("encoder/multi_query_attention", 1, "one head for all keys"),
        ("decoder/layer_0/self_attention/num_heads_kv", 2, "fewer heads for keys than for queries"),
        ("encoder/layer_0/ffn/linear_0_noact/weight", [[1.0]], "gated feed-forward networks"),
        ("encoder/layernorm_embedding/gamma", [1.0], "a norm of the embedded ids"),
        ("encoder/layer_0/ffn/layer_norm/beta", None, "RMSNorm"),
    ],
)
def test_a_feature_that_no_transformer_has_is_named(variable, value, words, folder):
    variables = written.read(folder)
    if value is None:
        del variables[variable]
    else:
        variables[variable] = np.array(value, "i1" if np.ndim(value) == 0 else "f4")
    written.write(folder, variables)
    assert refused(folder).startswith(
        f"Models of CTranslate2 with {words} cannot be imported. Received: "
    )


@pytest.mark.parametrize(
    ("variable", "changed", "message"),
    [
        ("encoder/activation", lambda old: np.int8(1), "same activation. Received: [1, 2]"),
        ("decoder/scale_embeddings", lambda old: np.int8(0), "same scale_embeddings."),
        ("decoder/projection/weight", lambda old: old[1:], "the shape of the target's table, ("),
        ("encoder/position_encodings/encodings", lambda old: None, "a table of others, learned"),
        ("encoder/position_encodings/encodings", lambda old: old[:, ::-1], "a table of others, l"),
        ("decoder/position_encodings/encodings", lambda old: old[5:], "learned or computed, of"),
        ("decoder/new", lambda old: np.ones(3, "f4"), "be those of a Transformer. Received: dec"),
        ("encoder/layer_0/ffn/linear_0/weight", lambda old: old[:, 1:], "must fit each other"),
    ],
)
def test_what_is_computed_otherwise_is_named(variable, changed, message, folder):
    variables = written.read(folder)
    variables[variable] = changed(variables.get(variable))
    written.write(folder, {name: value for name, value in variables.items() if value is not None})
    with pytest.raises(ValueError) as error:
        kformer.from_ctranslate2(folder)
    assert message in str(error.value)


def test_settings_that_do_not_fit_are_named(folder):
    written.change(folder, "config.json", add_source_eos=False, decoder_start_token="</s>")
    assert "Received: decoder_start_token='</s>' without add_source_eos in" in refused(folder)
    written.change(folder, "config.json", add_source_eos=True, eos_token="<end>")
    assert "Received: no eos_token='<end>' in 'FOLDER'." in refused(folder)


def test_other_text_than_sentencepieces_is_named(folder):
    pieces = [piece.replace("▁", "@@") for piece in WORDS.pieces]
    (folder / "shared_vocabulary.json").write_text(json.dumps(pieces), "utf-8")
    assert "Pieces must be those of SentencePiece, or characters, or words between" in refused(
        folder
    )


def test_damaged_files_are_refused(folder):
    path = folder / "model.bin"
    content = path.read_bytes()
    for damaged in (content[:-1], content + b"1", content[:99], b"", b"\7" + content[1:]):
        path.write_bytes(damaged)
        assert "A model.bin of CTranslate2 of version 1 to 6 must be whole" in refused(folder)
    path.write_bytes(content)
    (folder / "shared_vocabulary.json").write_text(json.dumps([*WORDS.pieces, "<new>"]), "utf-8")
    assert "The source vocabulary must fit the weights: " in refused(folder)
    (folder / "shared_vocabulary.json").write_text("{}")
    assert refused(folder) == (
        "The file must hold a JSON array of pieces. "
        "Received: 'FOLDER/shared_vocabulary.json' (it must be an array)."
    )
