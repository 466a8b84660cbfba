"""Models that are loaded when they are used: against a memory that is counted by hand."""

import concurrent.futures
import contextlib
import gc
import subprocess
import sys
import threading
import weakref

import pytest

from kformer.server import model_memory
from kformer.server.model_memory import HeldModel, ModelCounts, ModelMemory
from kformer.server.refusals import Refusal

SIZE = 100  # Of each model.


@pytest.fixture
def of_three(monkeypatch):
    """Three models of one memory, in which two and a half have room."""
    memory = ModelMemory(2 * SIZE + SIZE // 2)
    models = [HeldModel(name, lambda: object(), memory, ModelCounts()) for name in "abc"]
    used = lambda: SIZE * sum(held.model is not None for held in models)  # noqa: E731
    monkeypatch.setattr(model_memory, "used_bytes", used)
    return models


def loaded(models):
    return [held.name for held in models if held.model is not None]


def loaded_with(held, models):
    """Returns the names of the models that are loaded while one of them is used."""
    with held.used():
        return loaded(models)


def test_the_least_recently_used_model_is_unloaded_for_another(of_three):
    a, b, c = of_three
    for held in (a, b, a, c):
        with held.used():
            pass
    assert loaded(of_three) == ["a", "c"]
    assert [(held.counts.loads, held.counts.unloads) for held in of_three] == [
        (1, 0),
        (1, 1),
        (1, 0),
    ]
    with b.used():
        assert loaded(of_three) == ["b", "c"]


def test_models_in_use_stay_and_another_comes_again_later(of_three, monkeypatch):
    monkeypatch.setattr(model_memory, "_PATIENCE_SECONDS", 0.01)
    a, b, c = of_three
    for held in (c, a, b):  # Now its size is known.
        with held.used():
            pass
    with a.used(), b.used():
        with pytest.raises(Refusal, match="Received: a request for c,") as refused, c.used():
            pass
        assert (refused.value.status, refused.value.headers["Retry-After"]) == (503, "5")
    with c.used():
        assert loaded(of_three) == ["b", "c"]


def test_a_call_waits_for_a_model_that_is_soon_idle(of_three):
    a, b, c = of_three
    for held in (c, a, b):  # Now its size is known.
        with held.used():
            pass
    in_use = contextlib.ExitStack()
    with b.used(), concurrent.futures.ThreadPoolExecutor(1) as threads:
        in_use.enter_context(a.used())
        waiting = threads.submit(loaded_with, c, of_three)
        with pytest.raises(concurrent.futures.TimeoutError):
            waiting.result(0.1)
        in_use.close()
        assert waiting.result(10) == ["b", "c"]


def test_a_model_that_is_too_large_is_loaded_alone(of_three):
    of_three[0]._memory.most = SIZE // 2
    for held in of_three:
        with held.used():
            assert loaded(of_three) == [held.name]


def test_many_calls_at_once_load_a_model_once():
    loads, all_there = [], threading.Barrier(8)

    def load():
        loads.append(1)
        return "model"

    held = HeldModel("a", load, ModelMemory(), ModelCounts())

    def ask(_):
        all_there.wait(10)
        with held.used() as model:
            return model

    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        assert [*threads.map(ask, range(8))] == ["model"] * 8
    assert loads == [1]


def test_a_replaced_model_stays_for_those_that_use_it(of_three):
    class Model:
        pass

    memory = of_three[0]._memory
    held = HeldModel("d", Model, memory, ModelCounts())
    with held.used() as model:
        gone = weakref.ref(model)
        del model
        held.replace()
    memory.most = 0
    memory.keep_to_limit()
    with held.used() as model:  # Of a request that began before.
        assert model is gone()
    del held, model
    gc.collect()
    assert gone() is None


def test_a_model_that_cannot_be_loaded_is_tried_again():
    answers = iter([ValueError("damaged"), "model"])

    def load():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    held = HeldModel("a", load, ModelMemory(), ModelCounts())
    with pytest.raises(ValueError, match="damaged"), held.used():
        pass
    with held.used() as model:
        assert model == "model"
    assert (held.calls, held.is_loading) == (0, False)


def test_the_memory_of_processes_that_were_started_counts():
    before = model_memory.used_bytes()
    child = subprocess.Popen(
        [sys.executable, "-c", "held = bytearray(b'1') * 200_000_000; print(flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with child:
        child.stdout.readline()
        model_memory.give_back()
        assert model_memory.used_bytes() - before > 200_000_000
        child.communicate(b"\n")
