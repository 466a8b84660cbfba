"""The TFLite file: what Python says, from every signature, at static edges."""

import numpy as np
import pytest
from ai_edge_litert.compiled_model import CompiledModel
from ai_edge_litert.interpreter import Interpreter

import kformer
from kformer.decoding.search_ids import search_ids, search_of_options
from kformer.export import export_tflite
from kformer.inference.search_options import EXTRA_LENGTH, SearchOptions
from kformer.pocket import PocketTranslator
from kformer.pocket.metadata import read_metadata
from support import toy
from support.reference import perturbed

S = toy.SHORT  # Most ids of a source.
SIGNATURES = [
    "decode_step",
    "detokenize",
    "encode",
    "encode_text",
    "tokenize",
    "translate",
    "translate_ids",
]


@pytest.fixture(
    scope="module", params=[1, pytest.param(3, marks=pytest.mark.prove)], ids=["greedy", "beam"]
)
def exported(request, short_tflite):
    """A search's number of beams, and the file that has it."""
    return request.param, short_tflite(request.param)


def bytes_of(text, room=6 * S):
    content = np.frombuffer(text.encode(), np.uint8)
    return np.pad(content, (0, room - len(content)))


def text_in(translation):
    return translation.tobytes().rstrip(b"\0").decode()


@pytest.mark.prove
def test_the_search_gives_the_ids_and_the_score_that_it_gives_in_python(exported, toy_translator):
    beam_size, path = exported
    tokenizer = toy_translator.tokenizer
    runner = Interpreter(str(path)).get_signature_runner("translate_ids")
    search = search_of_options(SearchOptions(beam_size), tokenizer)
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
    expected = toy_translator.translate(texts, beam_size=beam_size, split=False)
    assert [text_in(result["translation"]) for result in found] == expected
    assert not any(result["truncated"][0] for result in found)
    whole = runner(source=bytes_of(" ".join(toy.SOURCES[:9])[: 6 * S]))
    assert whole["truncated"][0] == 1


def test_without_signatures_the_first_runs_and_its_outputs_are_ordered_by_name(exported):
    interpreter = Interpreter(str(exported[1]))
    interpreter.allocate_tensors()
    [source], outputs = interpreter.get_input_details(), interpreter.get_output_details()
    names = [output["name"] for output in outputs]
    assert source["name"] == "source"
    assert names == ["ids", "score", "source_ids", "translation", "truncated"]
    compiled = CompiledModel.from_file(str(exported[1]))
    assert compiled.get_signature_by_index(0)["outputs"] == names
    interpreter.set_tensor(source["index"], bytes_of("wir ruft uns ."))
    interpreter.invoke()
    translate = Interpreter(str(exported[1])).get_signature_runner("translate")
    expected = translate(source=bytes_of("wir ruft uns ."))
    assert "we" in text_in(expected["translation"])
    for name, output in zip(names, outputs, strict=True):
        np.testing.assert_array_equal(interpreter.get_tensor(output["index"]), expected[name])


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
    assert_searches_by_itself(exported[1], toy_translator, {"cache_keys", "cache_values"})


@pytest.mark.prove
def test_an_app_can_search_by_itself_with_the_state_of_a_recurrent_decoder(
    toy_translator, tmp_path
):
    settings = {**toy_translator.transformer.get_config(), "decoder_cell": "ssru"}
    network = perturbed(kformer.Transformer.from_config(settings))
    translator = kformer.Translator(toy_translator.tokenizer, network)
    path = export_tflite(translator, tmp_path / "toy.tflite", max_source_length=S)
    assert_searches_by_itself(path, translator, {"state"})


def assert_searches_by_itself(path, translator, state):
    """Translates with `encode` and `decode_step`, whose state has these names."""
    interpreter = Interpreter(str(path))
    encode, step = (interpreter.get_signature_runner(name) for name in ("encode", "decode_step"))
    shapes = {name: of["shape"] for name, of in step.get_input_details().items()}
    for text in toy.SOURCES[:3]:
        ids = translator.tokenizer.encode([text]).numpy()
        memory = encode(source=np.pad(ids, ((0, 0), (0, S - ids.shape[1]))))
        cache = {name: np.zeros(shapes[name], np.float32) for name in state}
        del memory["memory"]
        said = [2]
        while said[-1] != 3 and len(said) <= ids.shape[1] + EXTRA_LENGTH:
            now = {"ids": np.array([[said[-1]]], np.int32), "position": [len(said) - 1]}
            now["position"] = np.array(now["position"], np.int32)
            found = step(**now, **memory, **cache)
            cache = {name: found[name] for name in cache}
            said.append(int(found["logits"].argmax()))
        [expected] = translator.translate([text])
        assert translator.tokenizer.detokenize([said]).numpy()[0].decode() == expected


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


@pytest.mark.prove
def test_two_vocabularies_make_two_codecs(two_vocabularies, tmp_path):
    path = export_tflite(two_vocabularies, tmp_path / "two.tflite", max_source_length=S)
    said = read_metadata(path)
    assert (said["end_id"], said["target_end_id"]) == (3, 2)
    assert (said["source_vocab_size"], said["target_vocab_size"]) == (285, 290)
    expected = two_vocabularies.translate(toy.SOURCES[:9])
    assert "⁇" in "".join(expected)  # Id 3 of the target, which ends a source.
    assert PocketTranslator(path).translate(toy.SOURCES[:9]) == expected


@pytest.mark.prove
def test_batches_have_signatures_of_their_own(short_tflite):
    with_batches = short_tflite(batch_size=5)
    shapes = {
        "translate_ids": (1, S),
        "translate_ids_5x16": (5, 16),
        f"translate_ids_5x{S}": (5, S),
    }
    batches = read_metadata(with_batches)["batches"]
    assert batches == {name: list(shape) for name, shape in shapes.items()}
    interpreter = Interpreter(str(with_batches))
    assert {*interpreter.get_signature_list()} == {*shapes, *SIGNATURES}
    for name, shape in shapes.items():
        details = interpreter.get_signature_runner(name).get_input_details()["source"]
        assert tuple(details["shape"]) == shape


@pytest.mark.prove
@pytest.mark.parametrize("batch_size", [1, 5])
def test_an_int8_file_translates_as_well(short_tflite, toy_translator, batch_size):
    expected = toy_translator.translate(toy.SOURCES)
    path = short_tflite(precision="int8", batch_size=batch_size)
    translations = PocketTranslator(path).translate(toy.SOURCES)
    same = sum(one == other for one, other in zip(translations, expected, strict=True))
    assert same > 0.9 * len(expected)
