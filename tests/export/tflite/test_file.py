"""The TFLite file as a file: built-in ops, every weight once, what it says of itself."""

import hashlib
import json
import zipfile

import flatbuffers
import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

import kformer
from kformer import Transformer, Translator
from kformer.export import export_tflite
from kformer.export.byte_codec.codec_tables import tables_of
from kformer.export.byte_codec.scan import narrowed
from kformer.export.tflite import tflite_writer as writer
from kformer.export.tflite.rounded_weights import store_as_float16
from kformer.export.tflite.tflite_signatures import limits_of
from kformer.pocket import PocketTranslator
from support import toy

S = toy.SHORT  # Most ids of a source.


@pytest.fixture(
    scope="module", params=[1, pytest.param(3, marks=pytest.mark.prove)], ids=["greedy", "beam"]
)
def exported(request, short_tflite):
    """A search's number of beams, and the file that has it."""
    return request.param, short_tflite(request.param)


@pytest.fixture(scope="module", params=["translator", "classifier"])
def file(request, short_tflite, classifier_tflite):
    """The file of each kind of model."""
    return short_tflite() if request.param == "translator" else classifier_tflite()


def model_in(path):
    return schema.ModelT.InitFromPackedBuf(path.read_bytes(), 0)


def metadata_in(path, name="kformer.json"):
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read(name))


def without_archive(path):
    with zipfile.ZipFile(path) as archive:
        return path.read_bytes()[: min(entry.header_offset for entry in archive.infolist())]


def test_the_checksum_is_that_of_the_model(file):
    metadata, model = metadata_in(file), without_archive(file)
    assert metadata["model_bytes"] == len(model)
    assert metadata["sha256"] == hashlib.sha256(model).hexdigest()


def test_every_op_is_built_in(file):
    names = {code: name for name, code in vars(schema.BuiltinOperator).items()}
    codes = model_in(file).operatorCodes
    ops = {names[code.builtinCode] for code in codes}
    assert {"WHILE", "FULLY_CONNECTED", "SOFTMAX"} <= ops  # All subgraphs were looked into.
    assert not ops & {"CUSTOM", "DELEGATE"}
    assert all(code.customCode is None for code in codes)


def test_its_description_says_what_it_is(file):
    metadata = metadata_in(file)
    assert model_in(file).description.decode() == (
        f"kformer {kformer.__version__}: {metadata['kind']}, float32; "
        "its metadata is kformer.json in the ZIP archive at the end of the file"
    )


def texts_of_tools(data):
    """The strings of a root table of FlatBuffers, by the offset of their fields in its vtable."""
    table = flatbuffers.table.Table(
        data, flatbuffers.encode.Get(flatbuffers.packer.uoffset, data, 0)
    )
    places = {place: table.Offset(place) for place in range(4, 20, 2)}
    return {
        place: table.String(table.Pos + offset).decode()
        for place, offset in places.items()
        if offset
    }


def test_other_tools_find_its_metadata_in_the_flatbuffer(file):
    model, metadata = model_in(file), metadata_in(file)
    entries = {
        entry.name.decode(): bytes(model.buffers[entry.buffer].data) for entry in model.metadata
    }
    known = json.loads(entries["kformer.json"])
    assert known.items() <= metadata.items()
    assert metadata.keys() - known.keys() <= {"model_bytes", "sha256", "tables"}
    assert entries["TFLITE_METADATA"][4:8] == b"M001"
    texts = texts_of_tools(entries["TFLITE_METADATA"])
    assert texts[4].startswith(metadata["kind"]) and texts[6] == f"{texts[4]}, float32"
    assert texts[18] == "1.0.0"  # The field `min_parser_version`.


def test_its_description_names_the_languages(toy_tflite):
    assert b": translator, from de to en, float32; " in model_in(toy_tflite).description


def test_inputs_and_outputs_are_in_the_order_of_their_names(file):
    model = model_in(file)
    for signature in model.signatureDefs:
        graph = model.subgraphs[signature.subgraphIndex]
        for entries, indices in [
            (signature.inputs, graph.inputs),
            (signature.outputs, graph.outputs),
        ]:
            names = [entry.name for entry in entries]
            assert names == sorted({*names})
            assert [entry.tensorIndex for entry in entries] == [*indices]
            assert [graph.tensors[index].name for index in indices] == names


def test_no_part_of_a_float16_graph_reads_constants_alone(file):
    """XNNPACK fails to run such a part in ai-edge-litert 1.1 to 1.3."""
    model = model_in(file)
    store_as_float16(model)
    computed = 0
    for graph in model.subgraphs:
        stored = [model.buffers[tensor.buffer].data is not None for tensor in graph.tensors]
        constants, unread = {-1, *np.flatnonzero(stored)}, set()
        for operator in graph.operators:
            read, written = {*operator.inputs}, {*operator.outputs}
            if read <= constants:
                constants |= written
                unread = (unread - read) | written
                computed += 1
            else:
                assert unread <= read
                unread = set()
        assert unread <= {*graph.outputs}
    assert computed


def test_every_shape_is_static(file):
    tensors = [tensor for graph in model_in(file).subgraphs for tensor in graph.tensors]
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
    return sum(narrowed(array).nbytes for array in arrays if isinstance(array, np.ndarray))


def test_the_file_holds_its_metadata(exported, toy_translator):
    beam_size, path = exported
    assert [file.name for file in path.parent.iterdir()] == ["toy.tflite"]
    metadata = metadata_in(path)
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
        "lengths": [16, S],
        "max_target_bytes": 6 * (S + 50),
        "batches": {},
    }
    assert expected.items() <= metadata.items()


def test_an_app_can_check_itself(exported, toy_translator):
    beam_size, path = exported
    vectors = metadata_in(path, "test_vectors.json")
    texts = [vector["text"] for vector in vectors]
    assert texts == toy.SOURCES[:8]  # The first, which is too long for the file, is left out.
    assert [vector["translation"] for vector in vectors] == toy_translator.translate(
        texts, beam_size=beam_size
    )
    for vector in vectors:
        assert (
            vector["ids"] == toy_translator.tokenizer.encode([vector["text"]])[0].numpy().tolist()
        )


def test_the_same_export_gives_the_same_archive(exported):
    with zipfile.ZipFile(exported[1]) as archive:
        assert {entry.date_time[0] for entry in archive.infolist()} == {1980}


@pytest.mark.prove
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


@pytest.mark.prove
@pytest.mark.parametrize(("precision", "bytes_each"), [("float16", 2), ("int8", 1)])
def test_rounded_weights_make_smaller_files(toy_translator, short_tflite, precision, bytes_each):
    path = short_tflite(precision=precision)
    stored = [buffer.data for buffer in model_in(path).buffers if buffer.data is not None]
    rest = sum(len(data) for data in stored) - bytes_of_tables(toy_translator)
    parameters = toy_translator.transformer.count_params()
    assert bytes_each * parameters <= rest < bytes_each * parameters + 50_000
    table = toy_translator.transformer.target_embedding.table
    assert sum(len(data) == bytes_each * table.numpy().size for data in stored) == 1


@pytest.mark.prove
@pytest.mark.parametrize(
    ("chosen", "batch_size", "kept"),
    [
        (["translate"], 1, {"translate", "tokenize"}),
        pytest.param(
            ["encode_text"],
            2,
            {"translate", "tokenize", "encode_text", "detokenize", "translate_ids"}
            | {f"translate_ids_2x{length}" for length in (16, S)},
            marks=pytest.mark.prove,
        ),
    ],
)
def test_a_file_without_the_other_signatures_is_smaller_and_answers_the_same(
    toy_translator, short_tflite, tmp_path, chosen, batch_size, kept
):
    path = tmp_path / "toy.tflite"
    export_tflite(toy_translator, path, 1, 0.6, S, batch_size=batch_size, signatures=chosen)
    complete = short_tflite(batch_size=batch_size)
    small, whole = PocketTranslator(path), PocketTranslator(complete)
    assert {*small.manifest["signatures"]} == kept
    assert path.stat().st_size < complete.stat().st_size
    texts = [*toy.SOURCES[:5], " ".join(toy.SOURCES[:20])]
    with pytest.warns(UserWarning, match="bytes, over the limit"):
        assert small.translate(texts, split=False) == whole.translate(texts, split=False)
    if "encode_text" not in kept:
        with pytest.raises(ValueError, match="Received: a file that was exported without it"):
            small.encode(texts)


def test_the_length_is_128_where_the_translator_allows_it(toy_translator):
    short = Translator(toy_translator.tokenizer, toy_translator.transformer, max_source_length=13)
    for translator, length in [(toy_translator, 128), (short, 13)]:
        limits = limits_of(translator)
        assert (limits.source_length, limits.target_length) == (length, length + 50)
        assert (limits.source_bytes, limits.target_bytes) == (6 * length, 6 * (length + 50))
    assert limits_of(toy_translator).lengths == [16, 32, 64, 128]
    assert limits_of(toy_translator, 40).lengths == [16, 32, 40]


@pytest.mark.parametrize("length", [1, 257])
def test_the_length_must_be_one_that_the_translator_has(toy_translator, tmp_path, length):
    with pytest.raises(ValueError, match=f"translator's 256. Received: max_source_length={length}"):
        export_tflite(toy_translator, tmp_path / "toy.tflite", max_source_length=length)


def test_the_name_must_end_in_tflite(toy_translator, tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.tflite. Received: path='.*toy.bin'"):
        export_tflite(toy_translator, tmp_path / "new" / "toy.bin")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"precision": "int2"}, "Received: precision='int2'"),
        ({"batch_size": 0}, "Received: batch_size=0"),
        ({"signatures": ["translate", "beam"]}, "decode_step. Received: signatures='beam'"),
    ],
)
def test_wrong_arguments_are_refused(toy_translator, tmp_path, wrong, message):
    with pytest.raises(ValueError, match=message):
        export_tflite(toy_translator, tmp_path / "toy.tflite", **wrong)
    assert not any(tmp_path.iterdir())


@pytest.mark.prove
def test_a_failed_check_leaves_nothing_new_and_everything_old(
    toy_translator, short_tflite, tmp_path, monkeypatch
):
    converted = without_archive(short_tflite())
    model = schema.ModelT.InitFromPackedBuf(converted, 0)
    monkeypatch.setattr(writer, "convert", lambda *_: model)  # It takes seconds.
    (tmp_path / "toy.tflite").write_text("old")

    def check(path):
        assert PocketTranslator(path).translate([""]) == [""]
        raise ValueError("not as it should be")

    with pytest.raises(ValueError, match="not as it should be"):
        export_tflite(toy_translator, tmp_path / "toy.tflite", max_source_length=S, check=check)
    assert [path.name for path in tmp_path.iterdir()] == ["toy.tflite"]
    assert (tmp_path / "toy.tflite").read_text() == "old"
