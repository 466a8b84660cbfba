"""A folder of MarianMTModel becomes a translator: without PyTorch, without transformers."""

import json
import pickle

import keras
import numpy as np
import pytest
import sentencepiece

import kformer
from kformer import Tokenizer
from kformer.imports.id_table import IdTable, read_model, with_ids_of
from support.pretrained import marian
from support.pretrained.torch_file import write_torch_file

TEXTS = ["der hund schläft .", "meine mutter trinkt 猫 ☃☂ tee", "", "ein ☃ haus", " a  b "]
WORDS = marian.vocabulary()
SHAPES = {
    "swish": {},
    "relu, as many decoder layers": {"activation": "relu", "num_decoder_layers": None},
    "a table for each side": {"target_vocab_size": len(WORDS.pieces)},
    "the output's own table": {"tied_output": False},
}


def expected_of(network):
    """The translator that a folder of `network` holds."""
    special = {"end": marian.END, "unknown": marian.UNKNOWN}
    table = IdTable(WORDS.pieces, **special, padding=marian.PADDING, start=marian.PADDING)
    models = [with_ids_of(read_model(model, ""), table) for model in WORDS.models]
    tokenizer, target_tokenizer = map(Tokenizer, models)
    bias = network.target_embedding.bias.numpy()
    bias[WORDS.padding_id] = -1e4
    network.target_embedding.bias.assign(bias)
    return kformer.Translator(tokenizer, network, target_tokenizer)


@pytest.fixture(scope="module")
def network():
    keras.utils.set_random_seed(1)
    return marian.transformer(WORDS.pieces)


@pytest.fixture
def folder(network, tmp_path):
    return marian.write_folder(tmp_path / "marian", WORDS, network)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"encoder_layers": 100_000}, "100000 layers of the encoder in the settings, 2 in the wei"),
        ({"decoder_layers": 5}, "5 layers of the decoder in the settings, . in the weights"),
        ({"encoder_ffn_dim": 10**9, "decoder_ffn_dim": 10**9}, "d_ff=1000000000, which need"),
        ({"num_beams": "4"}, r"config.json' \('num_beams' must be an integer or null"),
        ({"activation_function": {}}, r"config.json' \('activation_function' must be a string"),
    ],
)
def test_settings_that_the_weights_lack_build_no_network(changes, message, network, tmp_path):
    path = marian.write_folder(tmp_path / "marian", WORDS, network, **changes)
    with pytest.raises(ValueError, match=message):
        kformer.from_marian(path)


@pytest.mark.sample(6)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_weight_finds_its_place(shape, tmp_path):
    network = marian.transformer(WORDS.pieces, **SHAPES[shape])
    found = kformer.from_marian(marian.write_folder(tmp_path / "a", WORDS, network))
    expected = expected_of(network)
    config = found.transformer.get_config()
    assert config["num_decoder_layers"] == network.decoder.num_layers
    settings = (
        "activation",
        "padding_id",
        "output_bias",
        "tied_output",
        "target_vocab_size",
        "d_ff",
    )
    assert {n: config[n] for n in settings} == {n: network.get_config()[n] for n in settings}
    weights = [{w.path: w for w in one.weights} for one in (found.transformer, network)]
    assert weights[0].keys() == weights[1].keys()
    for path, weight in weights[0].items():
        if "seed" not in path:
            np.testing.assert_array_equal(weight, weights[1][path], err_msg=path)
    assert found.tokenizer.model == expected.tokenizer.model
    assert found.translate(TEXTS) == expected.translate(TEXTS)
    assert len({*found.translate(TEXTS)}) > 2


def test_float16_weights_and_those_of_a_bin_file_are_read(network, tmp_path):
    half = kformer.from_marian(marian.write_folder(tmp_path / "a", WORDS, network, "float16"))
    folder = marian.write_folder(tmp_path / "b", WORDS, network)
    (folder / "model.safetensors").unlink()
    arrays = {n: a.astype("float16") for n, a in marian.state_dict_of(network).items()}
    arrays["lm_head.weight"] = arrays["model.decoder.embed_tokens.weight"] = arrays[
        "model.shared.weight"
    ]
    arrays["model.encoder.embed_positions.weight"] = np.zeros((64, 32), "float16")
    write_torch_file(folder / "pytorch_model.bin", arrays)
    whole = kformer.from_marian(folder)
    for one, other in zip(half.transformer.weights, whole.transformer.weights, strict=True):
        if "seed" not in one.path:
            np.testing.assert_array_equal(one, other)
    assert half.transformer.compute_dtype == "float32"


def test_special_ids_are_those_of_the_config(folder):
    translator = kformer.from_marian(folder)
    for tokenizer in (translator.tokenizer, translator.target_tokenizer):
        assert (tokenizer.end_id, tokenizer.unknown_id) == (0, 1)
        assert tokenizer.padding_id == tokenizer.start_id == len(WORDS.pieces) - 1
        assert tokenizer.pieces(range(tokenizer.vocab_size)) == WORDS.pieces
    assert translator.max_source_length == 64


@pytest.mark.parametrize("side", [0, 1], ids=["source", "target"])
def test_text_is_split_as_by_the_model_of_its_side(side, folder):
    translator = kformer.from_marian(folder)
    tokenizer = (translator.tokenizer, translator.target_tokenizer)[side]
    library = sentencepiece.SentencePieceProcessor(model_proto=marian.with_near(WORDS.models[side]))
    texts = [*TEXTS, "the dog seeks a house", "Straße ŝŝ ŝ", "９９ ﬁ", "中文"]
    for text, ids in zip(texts, tokenizer.tokenize(texts).to_list(), strict=True):
        split = zip(library.encode(text), library.encode(text, out_type=str), strict=True)
        unknown = library.unk_id()
        expected = [1 if i == unknown else WORDS.pieces.index(piece) for i, piece in split]
        assert ids == expected, text


def test_a_piece_that_the_table_lacks_is_unknown(network, tmp_path):
    lacking = "▁hund"
    pieces = [piece for piece in WORDS.pieces if piece != lacking]
    words = marian.Vocabulary(WORDS.models, pieces)
    network = marian.transformer(pieces)
    translator = kformer.from_marian(marian.write_folder(tmp_path / "a", words, network))
    [ids] = translator.tokenizer.tokenize(["hund der"]).to_list()
    assert translator.tokenizer.pieces(ids)[0] == lacking
    assert ids[0] == len(pieces)
    table = translator.transformer.source_embedding.table.numpy()
    np.testing.assert_array_equal(table[ids[0]], table[translator.tokenizer.unknown_id])
    assert translator.transformer.target_embedding.bias.numpy()[ids[0]] == -1e4
    [ids] = translator.target_tokenizer.tokenize(["hund"]).to_list()
    assert max(ids) < len(pieces)


def test_pieces_of_neither_model_are_written_and_never_read(network, tmp_path):
    words = marian.vocabulary((">>fra<<", "▁nowhere"))
    network = marian.transformer(words.pieces)
    translator = kformer.from_marian(marian.write_folder(tmp_path / "a", words, network))
    assert translator.tokenizer.prefix == ">>fra<<"  # One label stands before all sources.
    extra = [words.pieces.index(piece) for piece in (">>fra<<", "▁nowhere")]
    for tokenizer in (translator.tokenizer, translator.target_tokenizer):
        ids = tokenizer.tokenize([">>fra<< nowhere"]).to_list()[0]
        assert not {*extra} & {*ids[tokenizer.prefix_length(ids) :]}
        written = ">>fra<< nowhere" if tokenizer is translator.target_tokenizer else "nowhere"
        assert tokenizer.detokenize([extra]).numpy()[0].decode() == written


def test_ids_that_must_not_be_chosen_are_never_chosen(network, tmp_path):
    more = {"bad_words_ids": [[WORDS.padding_id], [7]]}
    folder = marian.write_folder(tmp_path / "a", WORDS, network)
    (folder / "generation_config.json").write_text(json.dumps(more), "utf-8")
    found = kformer.from_marian(folder).transformer
    expected = kformer.from_marian(marian.write_folder(tmp_path / "b", WORDS, network)).transformer
    assert (found.forbidden_ids, expected.forbidden_ids) == ((7,), ())
    biases = [model.target_embedding.bias.numpy() for model in (found, expected)]
    np.testing.assert_array_equal(*biases)  # Its probability stays.
    assert [*np.flatnonzero(biases[0] == -1e4)] == [WORDS.padding_id]
    more |= {"bad_words_ids": [[0], [9], [3, 4]], "suppress_tokens": [5]}
    (folder / "generation_config.json").write_text(json.dumps(more), "utf-8")
    with pytest.warns(UserWarning, match=r"single ids alone.* Received: \[\[3, 4\]\] in"):
        found = kformer.from_marian(folder).transformer
    assert found.forbidden_ids == (5, 9)  # `generate` lets the end, 0, be chosen all the same.
    for wrong in ({"suppress_tokens": [999]}, {"suppress_tokens": 5}, {"bad_words_ids": [5]}):
        (folder / "generation_config.json").write_text(json.dumps(wrong), "utf-8")
        with pytest.raises(ValueError, match=r"lists of ids, .* below .* Received: bad_words_ids="):
            kformer.from_marian(folder)


def test_settings_of_generate_become_search_defaults(folder):
    with_config(folder, num_beams=6, max_length=33, forced_eos_token_id=0, renormalize_logits=True)
    beams = {"beam_size": 6, "length_penalty": 1.0, "length_offset": 0.0}
    found = kformer.from_marian(folder)
    assert found.search_defaults == {**beams, "max_length": 32}  # `generate` counts the start.
    more = {"length_penalty": 0.5, "min_new_tokens": 2, "no_repeat_ngram_size": 3}
    more |= {"repetition_penalty": 1.3, "early_stopping": False, "max_length": None}
    (folder / "generation_config.json").write_text(json.dumps(more), "utf-8")
    kept = {"min_length": 2, "no_repeat_ngram": 3, "repetition_penalty": 1.3}
    expected = beams | {"length_penalty": 0.5} | kept
    assert kformer.from_marian(folder).search_defaults == expected
    more = {"num_beams": 1, "max_length": None, "do_sample": True, "temperature": 0.7}
    (folder / "generation_config.json").write_text(json.dumps(more), "utf-8")
    sampled = {"sample": True, "temperature": 0.7, "top_k": 50, "top_p": 1.0}
    assert kformer.from_marian(folder).search_defaults == sampled


def test_settings_of_generate_that_cannot_be_followed_are_named(folder):
    with_config(folder, num_beams=4, length_penalty=-1.0, max_length=9, forced_bos_token_id=7)
    more = {"begin_suppress_tokens": [3], "early_stopping": True, "num_beam_groups": 2}
    (folder / "generation_config.json").write_text(json.dumps(more), "utf-8")
    names = ("forced_bos_token_id=7", r"begin_suppress_tokens=\[3\]", "early_stopping=True")
    pattern = ", ".join((*names, "num_beam_groups=2", "length_penalty=-1.0"))
    with pytest.warns(UserWarning, match=rf"left out: {pattern}. Received: "):
        found = kformer.from_marian(folder)
    assert found.search_defaults == {"beam_size": 4, "length_offset": 0.0, "max_length": 8}


def test_rows_without_a_piece_are_left_out(network, folder):
    state = marian.state_dict_of(network)
    expected = kformer.from_marian(folder)
    for name, axis in (("model.shared.weight", 0), ("final_logits_bias", 1)):
        more = [(0, 7 * (axis == 0)), (0, 7 * (axis == 1))]
        state[name] = np.pad(state[name], more, constant_values=3)
    marian.write_safetensors(folder / "model.safetensors", state)
    found = kformer.from_marian(folder)
    for one, other in zip(found.transformer.weights, expected.transformer.weights, strict=True):
        np.testing.assert_array_equal(one, other)


def test_tokens_that_were_added_behind_the_vocabulary_are_written_and_never_read(network, folder):
    state = marian.state_dict_of(network)
    state["model.shared.weight"] = np.pad(state["model.shared.weight"], [(0, 8), (0, 0)])
    state["final_logits_bias"] = np.pad(state["final_logits_bias"], [(0, 0), (0, 8)])
    marian.write_safetensors(folder / "model.safetensors", state)
    number = len(WORDS.pieces)
    (folder / "added_tokens.json").write_text(json.dumps({"<hl>": number}))
    with pytest.warns(UserWarning, match=r"written, but never read.*Received: <hl> in .*added"):
        found = kformer.from_marian(folder)
    assert found.tokenizer.pieces([number]) == ["<hl>"]
    assert found.tokenizer.vocab_size == number + 1
    assert number not in found.tokenizer.tokenize(["<hl> der <hl>"]).to_list()[0]
    (folder / "added_tokens.json").write_text(json.dumps({"<hl>": "x"}))
    message = r"a number for each piece. Received: 'x' for '<hl>'"
    with pytest.raises(ValueError, match=message), pytest.warns(UserWarning, match="<hl>"):
        kformer.from_marian(folder)


def test_weights_in_shards_are_read(network, folder):
    expected = kformer.from_marian(folder)
    (folder / "model.safetensors").unlink()
    state = marian.state_dict_of(network)
    places = {name: f"model-{len(name) % 2}.safetensors" for name in state}
    for file in {*places.values()}:
        held = {name: array for name, array in state.items() if places[name] == file}
        marian.write_safetensors(folder / file, held)
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": places}))
    found = kformer.from_marian(folder)
    for one, other in zip(found.transformer.weights, expected.transformer.weights, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["model.shared.weight", "model.decoder.layers.0.fc1.weight"])
def test_weights_that_are_not_finite_are_refused(name, network, folder):
    state = marian.state_dict_of(network)
    state[name][1, 2] = np.nan
    marian.write_safetensors(folder / "model.safetensors", state)
    with pytest.raises(ValueError, match=r"must be finite numbers. Received: .* with NaN"):
        kformer.from_marian(folder)


@pytest.mark.prove
def test_a_saved_translator_answers_like_the_imported_one(folder, tmp_path):
    translator = kformer.from_marian(folder)
    translator.save(tmp_path / "a.keras")
    loaded = kformer.load(tmp_path / "a.keras")
    for beams in (1, 4):
        said = translator.translate(TEXTS, beam_size=beams)
        assert loaded.translate(TEXTS, beam_size=beams) == said


# What is refused.


def refused(folder, kind=ValueError):
    with pytest.raises(kind) as error:
        kformer.from_marian(folder)
    message = str(error.value)
    assert "\n" not in message and ". Received: " in message
    assert str(folder) in message
    return message.replace(str(folder), "FOLDER")


def with_config(folder, **changes):
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | changes), "utf-8")
    return folder


@pytest.mark.parametrize(
    "name", ["config.json", "vocab.json", "source.spm", "target.spm", "model.safetensors"]
)
def test_a_missing_file_is_named(name, folder):
    (folder / name).unlink()
    assert refused(folder, FileNotFoundError) == (
        f"A folder of MarianMTModel must hold {name}. Received: 'FOLDER', which does not."
    )


def test_a_file_is_no_folder(folder):
    message = refused(folder / "vocab.json", NotADirectoryError)
    rule = "A folder is needed, or an archive of one (.zip, .argosmodel), not another file."
    assert message == f"{rule} Received: 'FOLDER'."


@pytest.mark.parametrize(
    ("name", "value", "needed"),
    [
        ("model_type", "bart", "'marian'"),
        ("static_position_embeddings", False, "True"),
        ("scale_embedding", False, "True"),
        ("normalize_before", True, "False"),
        ("add_final_layer_norm", True, "False"),
    ],
)
def test_another_architecture_is_named(name, value, needed, folder):
    assert f"must have {name}={needed}. Received: {name}={value!r} in 'FOLDER'" in refused(
        with_config(folder, **{name: value})
    )


def test_other_settings_that_no_transformer_has_are_named(folder):
    assert "one of swish, silu, relu, gelu. Received: 'tanh'" in refused(
        with_config(folder, activation_function="tanh")
    )
    with_config(folder, activation_function="relu", decoder_attention_heads=2)
    assert "the same attention_heads in config.json. Received: 4 and 2 in" in refused(folder)
    with_config(folder, decoder_attention_heads=4, d_model=None)
    assert "`d_model` in config.json must be a number. Received: None" in refused(folder)


def test_a_vocabulary_that_does_not_fit_the_weights_is_refused(folder):
    ids = json.loads((folder / "vocab.json").read_text("utf-8"))
    del ids[marian.PADDING]
    (folder / "vocab.json").write_text(json.dumps(ids | {"<one>": len(ids), "<two>": len(ids) + 1}))
    assert "The source vocabulary must fit the weights: " in refused(folder)
    (folder / "vocab.json").write_text(json.dumps({"a": 0, "b": 2}))
    assert "one piece for each id, from 0 on. Received: 'FOLDER/vocab.json'" in refused(folder)
    (folder / "vocab.json").write_text(json.dumps({"a": 0}))
    assert "must hold <unk> and the special ids of config.json" in refused(folder)
    (folder / "vocab.json").write_text("[1]")
    assert refused(folder) == (
        "The file must hold a JSON object. Received: 'FOLDER/vocab.json' (it must be an object)."
    )


def test_damaged_weights_are_refused(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ValueError, match=r"must hold all bytes of its tensors"):
        kformer.from_marian(folder)


def test_a_pickle_that_runs_code_is_refused(folder):
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(print))
    assert "tensors, and nothing else. " in refused(folder)


def test_weights_that_are_missing_or_too_many_are_named(network, folder):
    state = marian.state_dict_of(network)
    more = {**state, "model.decoder.layers.1.fc1.bias": np.zeros(48, "float32")}
    marian.write_safetensors(folder / "model.safetensors", more)
    with pytest.raises(ValueError, match=r"no weights beside .*'model.decoder.layers.1.fc1.bias'"):
        kformer.from_marian(folder)
    more = {**state, "lm_head.weight": state["model.shared.weight"][1:]}
    marian.write_safetensors(folder / "model.safetensors", more)
    assert "The target vocabulary must fit the weights: " in refused(folder)
    del state["model.encoder.layers.1.self_attn.k_proj.bias"]
    marian.write_safetensors(folder / "model.safetensors", state)
    with pytest.raises(ValueError, match=r"no 'model.encoder.layers.1.self_attn.k_proj.bias'"):
        kformer.from_marian(folder)
    del state["model.shared.weight"]
    marian.write_safetensors(folder / "model.safetensors", state)
    assert "a table of vectors. Received: no 'model.shared.weight' in 'FOLDER'" in refused(folder)


def test_a_bpe_model_is_refused_with_the_reason(folder):
    model = marian.trained(["ein hund", "eine katze"], model_type="bpe", vocab_size=20)
    (folder / "source.spm").write_bytes(model)
    assert refused(folder) == (
        "SentencePiece models must be unigram models or of characters: a .tflite file splits "
        "text by no others. "
        "Received: 'FOLDER/source.spm', of type BPE."
    )
    (folder / "source.spm").write_bytes(b"no model")
    assert "must be a SentencePiece model. Received: 'FOLDER/source.spm', 8 bytes" in refused(
        folder
    )
