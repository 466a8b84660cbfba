"""Processes and compiled models answer as an interpreter does, and end when they should."""

import gc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter

from kformer.pocket import PocketTranslator
from kformer.pocket import worker_process as module
from kformer.pocket.workers import ABS_MODEL, CompiledWorker, InterpreterWorker, ProcessWorker
from support import toy
from support.processes import run_python

S = toy.SHORT  # Most ids of a source.
INPUTS = {
    "translate": {"source": (6 * S, np.uint8)},
    "tokenize": {"source": (6 * S, np.uint8)},
    "translate_ids": {"source": ((1, S), np.int32)},
    "detokenize": {"ids": ((1, S + 50), np.int32)},
}


@pytest.fixture(scope="module")
def path(short_tflite):
    return short_tflite()


def inputs_of(signature):
    inputs = {}
    for name, (shape, dtype) in INPUTS[signature].items():
        inputs[name] = np.zeros(shape, dtype)
        if dtype == np.uint8:
            text = toy.SOURCES[0].encode()
            inputs[name][: len(text)] = np.frombuffer(text, np.uint8)
        else:
            inputs[name][0, :4] = 5, 9, 7, 3
    return inputs


@pytest.fixture(scope="module")
def process(path):
    return ProcessWorker(path)


@pytest.fixture(scope="module")
def compiled(path):
    return CompiledWorker(path)


@pytest.mark.parametrize("signature", INPUTS)
@pytest.mark.parametrize("form", ["process", "compiled"])
def test_each_worker_answers_as_an_interpreter(path, form, signature, request):
    worker = request.getfixturevalue(form)
    inputs = inputs_of(signature)
    expected = InterpreterWorker(path, signature)(signature, **inputs)
    for _ in range(2):
        outputs = worker(signature, **inputs)
        assert outputs.keys() == expected.keys()
        for name, value in expected.items():
            assert outputs[name].dtype == value.dtype
            np.testing.assert_array_equal(outputs[name], value)


def test_a_process_uses_an_interpreter_with_an_older_litert(path, process, monkeypatch):
    monkeypatch.setitem(module.sys.modules, "ai_edge_litert.cpu_options", None)
    older, inputs = module.runner(str(path)), inputs_of("translate")
    expected = process("translate", **inputs)
    for name, value in older("translate", inputs).items():
        np.testing.assert_array_equal(value, expected[name])


def test_a_process_uses_an_interpreter_if_weights_cannot_be_shared(path, process, monkeypatch):
    compiled = pytest.importorskip("ai_edge_litert.compiled_model").CompiledModel

    def refuse(*_, **__):
        raise RuntimeError("no file in memory")

    monkeypatch.setattr(compiled, "from_file", refuse)
    plain, inputs = module.runner(str(path)), inputs_of("translate")
    expected = process("translate", **inputs)
    for name, value in plain("translate", inputs).items():
        np.testing.assert_array_equal(value, expected[name])


def test_a_process_that_has_ended_is_an_error(path):
    worker = ProcessWorker(path)
    worker("tokenize", **inputs_of("tokenize"))
    worker._process.kill()
    with pytest.raises(ChildProcessError, match=r"before the model\. Received: returncode=-9"):
        worker("tokenize", **inputs_of("tokenize"))


def test_a_large_file_is_translated_in_processes_that_end_with_their_translator(path, monkeypatch):
    monkeypatch.setattr("kformer.pocket.worker_team._LARGE", 0)
    started = []

    class Noted(ProcessWorker):
        def __init__(self, path):
            super().__init__(path)
            started.append(self._process)

    monkeypatch.setattr("kformer.pocket.worker_team.ProcessWorker", Noted)
    translator = PocketTranslator(path, workers=2)
    few = translator.translate(toy.SOURCES[:3])
    assert not started and translator._team._compiled  # The main thread runs few texts itself.
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(translator.translate, toy.SOURCES[:3]).result() == few
    assert len(started) == 1 and not translator._team._compiled
    assert translator.translate(toy.SOURCES[:3]) == few
    assert len(started) == 1 and not translator._team._compiled
    texts = [toy.SOURCES[i % len(toy.SOURCES)] for i in range(40)]
    first = translator.translate(texts)
    assert first[:3] == few
    assert len(started) == 2  # The first goes on.
    assert translator.translate(texts) == first
    assert len(started) == 2 and all(process.poll() is None for process in started)
    started[0].kill()
    with pytest.raises(ChildProcessError):
        translator.translate(texts)
    assert translator.translate(texts) == first  # By another.
    assert len(started) == 3 and started[1].poll() is None
    del translator
    gc.collect()
    assert all(process.poll() is not None for process in started)


def test_a_large_file_is_translated_as_a_small_one(path, monkeypatch):
    expected = PocketTranslator(path, workers=1).translations(toy.SOURCES)
    monkeypatch.setattr("kformer.pocket.worker_team._LARGE", 0)
    assert PocketTranslator(path, workers=1).translations(toy.SOURCES) == expected


def test_a_compiled_model_refuses_a_file_that_is_no_graph(tmp_path):
    path = tmp_path / "broken.tflite"
    path.write_bytes(ABS_MODEL[:40])
    with pytest.raises(ValueError, match=r"must be one that LiteRT runs\. Received: '.*broken"):
        CompiledWorker(path)


LARGE = """
import atexit, os, sys
import kformer, kformer.pocket.worker_team
kformer.pocket.worker_team._LARGE = int(sys.argv[1])
atexit.register(os.write, 2, b"last\\n")
print(kformer.demo().translate("Ein Hund läuft."))
raise KeyError("mine")
"""


@pytest.mark.parametrize("least", [0, 10**9], ids=["compiled", "interpreted"])
def test_python_shows_nothing_that_litert_logs_and_all_else(least):
    result = run_python("-c", LARGE, least)
    assert result.stdout == "A dog runs.\n"
    start, *_, error, last = result.stderr.splitlines()
    assert (start, error, last) == (
        "Traceback (most recent call last):",
        "KeyError: 'mine'",
        "last",
    )


NOISY = """
import os
from kformer.pocket import workers

class Noisy:
    def __init__(self, **_):
        pass

    def allocate_tensors(self):
        os.write(2, b"ERROR: disk\\nINFO: Created TensorFlow Lite XNNPACK delegate for CPU.\\n")
        os.write(2, b"INFO:     Started\\nWARNING: heat\\nWARNING: [npu.cc:3] none\\n")

workers.Interpreter = Noisy
for _ in range(2):
    workers._greet()
os.write(2, b"afterwards\\n")
"""


def test_all_other_lines_on_stderr_are_shown():
    assert run_python("-c", NOISY).stderr == (
        "ERROR: disk\nINFO:     Started\nWARNING: heat\nafterwards\n"
    )


def test_the_model_that_litert_greets_for_is_absolute_value():
    interpreter = Interpreter(model_content=ABS_MODEL)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], np.float32([-2]))
    interpreter.invoke()
    assert interpreter.get_tensor(interpreter.get_output_details()[0]["index"]) == [2]
