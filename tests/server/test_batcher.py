"""The queue in which the texts of many requests are answered together."""

import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer.server.batcher import Batcher
from kformer.server.refusals import Refusal


def upper(rows, key):
    return [f"{key}{text.upper()}" for (text,) in rows]


def rows_of(texts):
    return [(text,) for text in texts]


@given(
    requests=st.lists(
        st.tuples(st.sampled_from("ab"), st.lists(st.text(max_size=5), max_size=20)), max_size=12
    ),
    batch_size=st.integers(1, 9),
    calls=st.integers(1, 3),
)
def test_every_request_gets_its_own_answers_in_their_order(requests, batch_size, calls):
    async def ask():
        batcher = Batcher(upper, batch_size, calls, 10_000)
        waiting = [batcher.submit(rows_of(texts), key) for key, texts in requests]
        answers = await asyncio.gather(*waiting)
        await batcher.close()
        return answers, batcher.characters

    answers, characters = asyncio.run(ask())
    assert answers == [[f"{key}{text.upper()}" for text in texts] for key, texts in requests]
    assert characters == 0


class Blocked:
    """A model that answers when it is told to, and keeps the texts of each call."""

    def __init__(self):
        self.calls = []
        self.go = threading.Semaphore(0)

    def __call__(self, rows, key):
        self.go.acquire()
        self.calls.append([text for (text,) in rows])
        return upper(rows, key)


def test_models_share_threads_and_none_waits_for_another():
    used = set()

    def answer(rows, key):
        used.add(threading.get_ident())
        return upper(rows, key)

    async def ask():
        models = [Blocked() for _ in range(20)]
        blocked = [Batcher(model, 1, 1, 100) for model in models]
        waiting = [asyncio.ensure_future(each.submit(rows_of(["b"]), "")) for each in blocked]
        await asyncio.sleep(0)
        free = [Batcher(answer, 1, 1, 100) for _ in range(40)]
        answers = [await asyncio.wait_for(each.submit(rows_of(["a"]), ""), 10) for each in free]
        for model in models:
            model.go.release()
        answers += await asyncio.gather(*waiting)
        for batcher in (*blocked, *free):
            await batcher.close()
        return answers

    assert asyncio.run(ask()) == [["A"]] * 40 + [["B"]] * 20
    assert len(used) < 10


async def until(condition):
    while not condition():
        await asyncio.sleep(0.001)


def test_a_long_request_delays_a_short_one_by_its_share_alone():
    async def ask():
        model = Blocked()
        batcher = Batcher(model, 4, 1, 10_000)
        long = asyncio.ensure_future(batcher.submit(rows_of(["long"] * 100), ""))
        await asyncio.sleep(0)
        short = [asyncio.ensure_future(batcher.submit(rows_of([f"s{i}"]), "")) for i in range(2)]
        model.go.release(2)
        await asyncio.gather(*short)
        assert not long.done()
        assert model.calls[1] == ["long", "s0", "s1", "long"]
        model.go.release(100)
        assert await long == ["LONG"] * 100
        await batcher.close()

    asyncio.run(ask())


def test_texts_that_come_while_the_model_works_are_answered_together():
    async def ask():
        model = Blocked()
        batcher = Batcher(model, 32, 1, 10_000)
        waiting = [asyncio.ensure_future(batcher.submit(rows_of([f"{i}"]), "")) for i in range(9)]
        await asyncio.sleep(0)
        model.go.release(2)
        await asyncio.gather(*waiting)
        await batcher.close()
        return model.calls

    assert asyncio.run(ask()) == [["0"], [f"{i}" for i in range(1, 9)]]


def test_what_exceeds_the_queue_is_refused_with_a_time_to_wait():
    async def ask():
        model = Blocked()
        batcher = Batcher(model, 1, 1, 100)
        first = asyncio.ensure_future(batcher.submit(rows_of(["a" * 90]), ""))
        await asyncio.sleep(0)
        with pytest.raises(Refusal, match="At most 100 characters may wait") as refusal:
            await batcher.submit(rows_of(["b" * 20]), "")
        assert refusal.value.status == 429
        assert int(refusal.value.headers["Retry-After"]) >= 1
        model.go.release(2)
        await first
        assert await batcher.submit(rows_of(["b" * 20]), "") == ["B" * 20]
        await batcher.close()

    asyncio.run(ask())


def test_a_client_that_goes_away_frees_its_place():
    async def ask():
        model = Blocked()
        batcher = Batcher(model, 1, 1, 100)
        first = asyncio.ensure_future(batcher.submit(rows_of(["a"] * 30), ""))
        await asyncio.sleep(0)
        first.cancel()
        model.go.release(9)
        await until(lambda: batcher.characters == 0)
        assert await batcher.submit(rows_of(["b" * 80]), "") == ["B" * 80]
        await batcher.close()
        return model.calls

    assert asyncio.run(ask()) == [["a"], ["b" * 80]]


def test_an_error_is_of_the_request_that_causes_it():
    def answer(rows, key):
        if ("bad",) in rows:
            raise ValueError("no")
        return upper(rows, key)

    async def ask():
        batcher = Batcher(answer, 32, 1, 10_000)
        texts = ["good", "bad", "good"]
        waiting = [batcher.submit(rows_of([text] * 3), "") for text in ["first", *texts]]
        answers = await asyncio.gather(*waiting, return_exceptions=True)
        await batcher.close()
        return answers, batcher.characters

    [_, good, bad, again], characters = asyncio.run(ask())
    assert good == again == ["GOOD"] * 3
    assert isinstance(bad, ValueError)
    assert characters == 0
