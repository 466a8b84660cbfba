"""The TFLite file: what Python says, in built-in ops of static shape."""

import json
import zipfile

import numpy as np
import pytest
import toy
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

import kformer
from kformer import Transformer, Translator
from kformer.export import export_tflite
from kformer.export.byte_codec.tables import tables_of
from kformer.export.tflite import limits_of
from kformer.pocket import PocketTranslator
from kformer.translator import EXTRA_LENGTH, make_search, search_ids

BEAMS = [1, 3]
S = 29  # Most ids of a source.


@pytest.fixture(scope="module", params=BEAMS, ids=["greedy", "beam"])
def exported(request, toy_translator, tmp_path_factory):
    """A search's number of beams, and the file that has it."""
    path = tmp_path_factory.mktemp("tflite") / "toy.tflite"
    return request.param, export_tflite(
        toy_translator,
        path,
        beam_size=request.param,
        max_source_length=S,
        examples=[" ".join(toy.SOURCES[:20]), *toy.SOURCES],
        about={"licence": "CC0"},
    )


def model_in(path):
    return schema.ModelT.InitFromPackedBuf(path.read_bytes(), 0)


def said_in(path, name="kformer.json"):
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read(name))


def bytes_of(text, room=6 * S):
    content = np.frombuffer(text.encode(), np.uint8)
    return np.pad(content, (0, room - len(content)))


def text_in(translation):
    return translation.tobytes().rstrip(b"\0").decode()


def test_the_search_gives_the_ids_and_the_score_that_it_gives_in_python(exported, toy_translator):
    beam_size, path = exported
    tokenizer = toy_translator.tokenizer
    runner = Interpreter(str(path)).get_signature_runner("translate_ids")
    search = make_search(tokenizer, beam_size)
    for text in ["", *toy.SOURCES[:9]]:
        ids = tokenizer.encode([text]).numpy()
        source = np.pad(ids, ((0, 0), (0, S - ids.shape[1])))
        found = search_ids(toy_translator.transformer, source, search, max_length=S + EXTRA_LENGTH)
        result = runner(source=source)
        np.testing.assert_array_equal(result["ids"], found.ids[:, 0])
        np.testing.assert_allclose(result["score"], found.scores[:, 0], atol=1e-4)


def test_text_goes_in_and_comes_out(exported, toy_translator):
    beam_size, path = exported
    runner = Interpreter(str(path)).get_signature_runner("translate")
    texts = ["", " ", "e\u0301 ﬁ 🐕", *toy.SOURCES[:9]]
    found = [runner(source=bytes_of(text)) for text in texts]
    expected = toy_translator.translate(texts, beam_size)
    assert [text_in(result["translation"]) for result in found] == expected
    assert not any(result["truncated"][0] for result in found)
    whole = runner(source=bytes_of(" ".join(toy.SOURCES[:9])[: 6 * S]))
    assert whole["truncated"][0] == 1


def test_the_first_signature_is_the_one_that_runs_by_itself(exported):
    interpreter = Interpreter(str(exported[1]))
    interpreter.allocate_tensors()
    [source] = interpreter.get_input_details()
    interpreter.set_tensor(source["index"], bytes_of("wir ruft uns ."))
    interpreter.invoke()
    texts = [of for of in interpreter.get_output_details() if of["dtype"] == np.uint8]
    assert "we" in text_in(interpreter.get_tensor(texts[0]["index"]))


def test_its_parts_make_the_whole(exported, toy_translator):
    interpreter = Interpreter(str(exported[1]))
    run = {name: interpreter.get_signature_runner(name) for name in SIGNATURES}
    for text in toy.SOURCES[:5]:
        tokens = run["tokenize"](source=bytes_of(text))
        [expected] = toy_translator.tokenizer.encode([text]).numpy()
        assert tokens["ids"][0, : tokens["count"][0]].tolist() == expected.tolist()
        found = run["translate_ids"](source=tokens["ids"])
        text_of_parts = run["detokenize"](ids=found["ids"])["translation"]
        whole = run["translate"](source=bytes_of(text))
        np.testing.assert_array_equal(text_of_parts, whole["translation"])
        np.testing.assert_array_equal(found["score"], whole["score"])


def test_an_app_can_search_by_itself(exported, toy_translator):
    interpreter = Interpreter(str(exported[1]))
    encode, step = (interpreter.get_signature_runner(name) for name in ("encode", "decode_step"))
    shapes = {name: of["shape"] for name, of in step.get_input_details().items()}
    for text in toy.SOURCES[:3]:
        ids = toy_translator.tokenizer.encode([text]).numpy()
        memory = encode(source=np.pad(ids, ((0, 0), (0, S - ids.shape[1]))))
        cache = {
            name: np.zeros(shapes[name], np.float32) for name in ("cache_keys", "cache_values")
        }
        del memory["memory"]
        said = [2]
        while said[-1] != 3:
            now = {"ids": np.array([[said[-1]]], np.int32), "position": [len(said) - 1]}
            now["position"] = np.array(now["position"], np.int32)
            found = step(**now, **memory, **cache)
            cache = {name: found[name] for name in cache}
            said.append(int(found["logits"].argmax()))
        [expected] = toy_translator.translate([text])
        assert toy_translator.tokenizer.detokenize([said]).numpy()[0].decode() == expected


SIGNATURES = ["decode_step", "detokenize", "encode", "tokenize", "translate", "translate_ids"]


def test_at_the_edges_are_int32_uint8_and_float32_in_static_shapes(exported):
    interpreter = Interpreter(str(exported[1]))
    assert sorted(interpreter.get_signature_list()) == sorted(SIGNATURES)
    shapes = {}
    for name in SIGNATURES:
        runner = interpreter.get_signature_runner(name)
        for side in (runner.get_input_details(), runner.get_output_details()):
            for edge, of in side.items():
                assert of["dtype"] in (np.int32, np.uint8, np.float32)
                shapes[name, edge] = (tuple(of["shape_signature"]), of["dtype"])
    expected = {
        ("translate", "source"): ((6 * S,), np.uint8),
        ("translate", "translation"): ((6 * (S + 50),), np.uint8),
        ("translate", "score"): ((1,), np.float32),
        ("translate", "truncated"): ((1,), np.int32),
        ("translate_ids", "source"): ((1, S), np.int32),
        ("translate_ids", "ids"): ((1, S + 50), np.int32),
        ("tokenize", "ids"): ((1, S), np.int32),
        ("detokenize", "ids"): ((1, S + 50), np.int32),
        ("encode", "memory"): ((1, S, 32), np.float32),
        ("decode_step", "logits"): ((1, 308), np.float32),
    }
    assert expected.items() <= shapes.items()


def test_every_op_is_built_in(exported):
    names = {code: name for name, code in vars(schema.BuiltinOperator).items()}
    codes = model_in(exported[1]).operatorCodes
    ops = {names[code.builtinCode] for code in codes}
    assert {"WHILE", "FULLY_CONNECTED", "SOFTMAX"} <= ops  # All subgraphs were looked into.
    assert not ops & {"CUSTOM", "DELEGATE"}
    assert all(code.customCode is None for code in codes)


def test_every_shape_is_static(exported):
    tensors = [tensor for graph in model_in(exported[1]).subgraphs for tensor in graph.tensors]
    assert len(tensors) > 100
    assert all(t.shapeSignature is None or min(t.shapeSignature, default=1) > 0 for t in tensors)


def test_weights_are_stored_once(exported, toy_translator):
    buffers = model_in(exported[1]).buffers
    stored = [buffer.data for buffer in buffers if buffer.data is not None]
    floats = sum(len(data) for data in stored) - bytes_of_tables(toy_translator)
    parameters = toy_translator.transformer.count_params()
    assert 4 * parameters <= floats < 6 * parameters + 30_000
    assert len({data.tobytes() for data in stored}) == len(stored)


def bytes_of_tables(translator):
    tables = tables_of(translator.tokenizer.model)
    arrays = [part for group in tables for part in group]
    arrays += [part for keys in (tables.normalizer.keys, tables.pieces.keys) for part in keys]
    return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))


def test_the_file_says_what_it_is(exported, toy_translator):
    beam_size, path = exported
    assert [file.name for file in path.parent.iterdir()] == ["toy.tflite"]
    said = said_in(path)
    expected = {
        "format": 2,
        "kformer": kformer.__version__,
        "licence": "CC0",
        "precision": "float32",
        "beam_size": beam_size,
        "length_penalty": 0.6,
        "d_model": 32,
        "parameters": toy_translator.transformer.count_params(),
        "padding_id": 0,
        "end_id": 3,
        "target_start_id": 2,
        "max_source_length": S,
        "max_target_length": S + 50,
        "max_source_bytes": 6 * S,
        "max_target_bytes": 6 * (S + 50),
        "batches": {},
    }
    assert expected.items() <= said.items()


def test_an_app_can_check_itself(exported, toy_translator):
    beam_size, path = exported
    vectors = said_in(path, "test_vectors.json")
    texts = [vector["text"] for vector in vectors]
    assert texts == toy.SOURCES[:8]  # The first, which is too long for the file, is left out.
    assert [vector["translation"] for vector in vectors] == toy_translator.translate(
        texts, beam_size
    )
    for vector in vectors:
        assert (
            vector["ids"] == toy_translator.tokenizer.encode([vector["text"]])[0].numpy().tolist()
        )


def test_the_same_export_gives_the_same_archive(exported):
    with zipfile.ZipFile(exported[1]) as archive:
        assert {entry.date_time[0] for entry in archive.infolist()} == {1980}


def test_two_vocabularies_make_two_codecs(two_vocabularies, tmp_path):
    path = export_tflite(two_vocabularies, tmp_path / "two.tflite", max_source_length=S)
    said = said_in(path)
    assert (said["end_id"], said["target_end_id"]) == (3, 2)
    assert (said["source_vocab_size"], said["target_vocab_size"]) == (285, 290)
    expected = two_vocabularies.translate(toy.SOURCES[:9])
    assert "⁇" in "".join(expected)  # Id 3 of the target, which ends a source.
    assert PocketTranslator(path).translate(toy.SOURCES[:9]) == expected


def test_a_model_of_mixed_precision_is_exported_in_float32(toy_translator, tmp_path):
    mixed = Transformer.from_config(
        {**toy_translator.transformer.get_config(), "dtype": "mixed_bfloat16"}
    )
    mixed.set_weights(toy_translator.transformer.get_weights())
    translator = Translator(toy_translator.tokenizer, mixed)
    path = export_tflite(translator, tmp_path / "mixed.tflite", max_source_length=S)
    bfloat16 = schema.TensorType.BFLOAT16
    graphs = model_in(path).subgraphs
    assert not any(tensor.type == bfloat16 for graph in graphs for tensor in graph.tensors)
    texts = toy.SOURCES[:9]
    assert PocketTranslator(path).translate(texts) == toy_translator.translate(texts)


def test_the_length_is_128_where_the_translator_allows_it(toy_translator):
    short = Translator(toy_translator.tokenizer, toy_translator.transformer, max_source_length=13)
    for translator, length in [(toy_translator, 128), (short, 13)]:
        limits = limits_of(translator)
        assert (limits.source_length, limits.target_length) == (length, length + 50)
        assert (limits.source_bytes, limits.target_bytes) == (6 * length, 6 * (length + 50))
    assert limits_of(toy_translator).lengths == [32, 64, 128]
    assert limits_of(toy_translator, 40).lengths == [32, 40]


@pytest.mark.parametrize("length", [1, 257])
def test_the_length_must_be_one_that_the_translator_has(toy_translator, tmp_path, length):
    with pytest.raises(ValueError, match=f"translator's 256. Received: max_source_length={length}"):
        export_tflite(toy_translator, tmp_path / "toy.tflite", max_source_length=length)


def test_the_name_must_end_in_tflite(toy_translator, tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.tflite. Received: path='.*toy.bin'"):
        export_tflite(toy_translator, tmp_path / "new" / "toy.bin")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_check_leaves_nothing_new_and_everything_old(toy_translator, tmp_path):
    (tmp_path / "toy.tflite").write_text("old")

    def check(path):
        assert PocketTranslator(path).translate([""]) == [""]
        raise ValueError("not as it should be")

    with pytest.raises(ValueError, match="not as it should be"):
        export_tflite(toy_translator, tmp_path / "toy.tflite", max_source_length=S, check=check)
    assert [path.name for path in tmp_path.iterdir()] == ["toy.tflite"]
    assert (tmp_path / "toy.tflite").read_text() == "old"


@pytest.fixture(scope="module")
def with_batches(toy_translator, tmp_path_factory):
    """An int8 file of several lengths and batches."""
    path = tmp_path_factory.mktemp("batches") / "toy.tflite"
    return export_tflite(toy_translator, path, max_source_length=40, precision="int8", batch_size=5)


def test_batches_have_signatures_of_their_own(with_batches):
    shapes = {
        "translate_ids": (1, 40),
        "translate_ids_5x32": (5, 32),
        "translate_ids_5x40": (5, 40),
    }
    batches = said_in(with_batches)["batches"]
    assert batches == {name: list(shape) for name, shape in shapes.items()}
    interpreter = Interpreter(str(with_batches))
    assert {*interpreter.get_signature_list()} == {*shapes, *SIGNATURES}
    for name, shape in shapes.items():
        details = interpreter.get_signature_runner(name).get_input_details()["source"]
        assert tuple(details["shape"]) == shape


@pytest.mark.parametrize(("precision", "bytes_each"), [("float16", 2), ("int8", 1)])
def test_rounded_weights_take_less_room(toy_translator, tmp_path, precision, bytes_each):
    path = export_tflite(
        toy_translator, tmp_path / "toy.tflite", max_source_length=S, precision=precision
    )
    stored = [buffer.data for buffer in model_in(path).buffers if buffer.data is not None]
    rest = sum(len(data) for data in stored) - bytes_of_tables(toy_translator)
    parameters = toy_translator.transformer.count_params()
    assert bytes_each * parameters <= rest < bytes_each * parameters + 50_000
    table = toy_translator.transformer.target_embedding.table
    assert sum(len(data) == bytes_each * table.numpy().size for data in stored) == 1


def test_an_int8_file_translates_as_well(with_batches, toy_translator):
    expected = toy_translator.translate(toy.SOURCES)
    translations = PocketTranslator(with_batches).translate(toy.SOURCES)
    same = sum(one == other for one, other in zip(translations, expected, strict=True))
    assert same > 0.9 * len(expected)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"precision": "int4"}, "Received: precision='int4'"),
        ({"batch_size": 0}, "Received: batch_size=0"),
    ],
)
def test_what_cannot_be_exported_is_refused(toy_translator, tmp_path, wrong, message):
    with pytest.raises(ValueError, match=message):
        export_tflite(toy_translator, tmp_path / "toy.tflite", **wrong)
    assert not any(tmp_path.iterdir())
