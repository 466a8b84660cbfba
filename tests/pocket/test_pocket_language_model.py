"""The pocket language model: a `.tflite` file, run without TensorFlow, says what Python says."""

import json

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter

import kformer
from kformer.pocket import PocketLanguageModel, PocketTranslator
from support import toy
from support.processes import printed_by

PROMPTS = [*(text[:14] for text in toy.SOURCES[:20]), "", "das häus 🐕", "wir ruft\0uns", "wir  "]


@pytest.fixture(scope="module")
def exported(language_model_tflite):
    return language_model_tflite()


def assert_says(pocket, model, prompts, **search):
    expected = model.generations(prompts, kformer.SearchOptions(**search), details=False)
    found = pocket.generations(prompts)
    assert [one.text for [one] in found] == [one.text for one, *_ in expected]
    assert [one.flags for [one] in found] == [one.flags for one, *_ in expected]


@pytest.mark.sample(2)
@pytest.mark.parametrize("workers", [1, 2])
def test_it_says_what_python_says(exported, tiny_language_model, workers):
    pocket, done = PocketLanguageModel(exported, workers), []
    assert_says(pocket, tiny_language_model, PROMPTS)
    assert pocket.generate(PROMPTS, progress=done.append) == tiny_language_model.generate(PROMPTS)
    assert sum(done) == len(PROMPTS)
    assert type(kformer.load(exported)) is PocketLanguageModel


def test_vectors_and_ids_are_those_of_python(exported, tiny_language_model):
    pocket, texts = PocketLanguageModel(exported), [text for text in PROMPTS if text.strip()]
    np.testing.assert_allclose(pocket.encode(texts), tiny_language_model.encode(texts), atol=1e-4)
    [ids] = tiny_language_model.tokenizer.encode(texts[:1]).numpy().tolist()
    assert pocket.tokenize(texts[0]) == (ids, True)


def test_a_prompt_that_is_too_long_is_refused_without_a_warning(exported):
    for long in ("wir " * 30, "x" * 500):
        with pytest.raises(ValueError, match="Received: prompt 2, which is too long"):
            PocketLanguageModel(exported).generate(["wir", long])


def test_no_prompt_gives_no_text(exported):
    assert PocketLanguageModel(exported).generate([]) == []


@pytest.mark.prove
def test_its_bytes_go_in_and_come_out_in_plain_litert(exported, tiny_language_model):
    run = Interpreter(str(exported)).get_signature_runner("generate")
    source = np.zeros(run.get_input_details()["source"]["shape"], np.uint8)
    source[:3] = list(b"wir")
    outputs = run(source=source)
    text = outputs["generation"].tobytes().partition(b"\0")[0].decode()
    [[expected]] = tiny_language_model.generations(["wir"])
    assert text == expected.text
    np.testing.assert_allclose(outputs["score"], [expected.score], atol=1e-3)


def test_other_kinds_are_refused(exported):
    with pytest.raises(ValueError, match="PocketLanguageModel` runs a language model"):
        PocketTranslator(exported)


@pytest.mark.prove
@pytest.mark.parametrize("beam_size", [1, 3])
def test_beams_and_batches_change_no_answer(language_model_tflite, tiny_language_model, beam_size):
    for batch_size in (1, 5):
        pocket = PocketLanguageModel(language_model_tflite(beam_size, batch_size=batch_size))
        assert_says(pocket, tiny_language_model, PROMPTS, beam_size=beam_size)


@pytest.mark.prove
@pytest.mark.parametrize("precision", ["float16", "int8", "int4"])
def test_rounded_weights_still_continue_the_prompt(
    language_model_tflite, tiny_language_model, precision
):
    pocket = PocketLanguageModel(language_model_tflite(precision=precision))
    for prompt, text in zip(PROMPTS, pocket.generate(PROMPTS), strict=True):
        assert text.startswith(prompt.rstrip().split("\0")[0][:3])
    vectors = pocket.encode(PROMPTS[:5])
    assert np.abs(vectors - tiny_language_model.encode(PROMPTS[:5])).mean() < 0.3


@pytest.mark.prove
def test_it_runs_where_tensorflow_is_never_imported(exported, tiny_language_model):
    code = (
        "import json, sys\n"
        "from kformer.pocket import PocketLanguageModel\n"
        f"print(json.dumps(PocketLanguageModel({str(exported)!r}).generate(['wir'])))\n"
        "assert not {'tensorflow', 'keras'} & {*sys.modules}\n"
    )
    assert json.loads(printed_by("-c", code)) == tiny_language_model.generate(["wir"])
