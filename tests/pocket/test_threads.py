"""One file in many threads and tasks, in forks, and in foreign folders."""

import asyncio
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from kformer.pocket import PocketTranslator, workers
from support import toy
from support.processes import printed_by

TEXTS = toy.SOURCES[:12]
sizes = pytest.mark.parametrize("large", [False, True], ids=["in threads", "in processes"])


@pytest.fixture(scope="module")
def path(short_tflite):
    return short_tflite()


@pytest.fixture
def translator(path, large, monkeypatch):
    if large:
        monkeypatch.setattr("kformer.pocket.worker_team._LARGE", 0)
    return PocketTranslator(path, workers=2)


@pytest.fixture(scope="module")
def expected(path):
    return {text: best for text, [best] in zip(TEXTS, translations(path), strict=True)}


def translations(path):
    return PocketTranslator(path, workers=1).translations(TEXTS)


@sizes
def test_each_thread_gets_the_answers_to_its_own_texts(translator, expected):
    rows = [TEXTS[i:] + TEXTS[:i] for i in range(len(TEXTS))] + [TEXTS * 4]

    def check(texts):
        found = [best for [best] in translator.translations(texts)]
        ids = [translator.tokenize(text) for text in texts[:3]]
        return found, ids

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(check, rows))
    for texts, (found, ids) in zip(rows, answers, strict=True):
        assert found == [expected[text] for text in texts]
        assert ids == [translator.tokenize(text) for text in texts[:3]]


@sizes
def test_a_cancelled_task_leaves_the_answers_of_others_alone(translator, expected):
    async def ask():
        tasks = [
            asyncio.create_task(asyncio.to_thread(translator.translations, [text]))
            for text in TEXTS
        ]
        await asyncio.sleep(0.02)
        for task in tasks[::3]:
            task.cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    found = asyncio.run(ask())
    for text, one in zip(TEXTS, found, strict=True):
        assert isinstance(one, asyncio.CancelledError) or one == [[expected[text]]]
    assert [best for [best] in translator.translations(TEXTS)] == [*expected.values()]


@pytest.mark.parametrize("large", [True])
def test_an_interrupted_call_leaves_no_answer_to_the_next_one(translator, expected, monkeypatch):
    def interrupted(file):
        raise KeyboardInterrupt

    with monkeypatch.context() as changed:
        changed.setattr(workers.pickle, "load", interrupted)
        with ThreadPoolExecutor(1) as pool, pytest.raises(KeyboardInterrupt):
            pool.submit(translator.translate, TEXTS[:1]).result()  # By a process.
    assert workers.pickle.load is pickle.load
    assert translator.translations(TEXTS[1:2]) == [[expected[TEXTS[1]]]]


_FORK = """
import os, sys
import kformer.pocket.worker_team
from kformer.pocket import PocketTranslator
kformer.pocket.worker_team._LARGE = int(sys.argv[2])
translator = PocketTranslator(sys.argv[1], workers=2)
first = translator.translate(sys.argv[3:])
if not os.fork():
    if translator.translate(sys.argv[3:]) == first and translator.tokenize("wir")[1]:
        del translator
        os._exit(0)
    os._exit(1)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
assert translator.translate(sys.argv[3:]) == first
print("equal")
"""


@pytest.mark.sample(2)
@pytest.mark.parametrize("least", [0, 10**9], ids=["in processes", "in threads"])
def test_a_fork_has_workers_of_its_own(path, tmp_path, least):
    printed = printed_by("-W", "ignore", "-c", _FORK, path, least, *TEXTS[:2], cwd=tmp_path)
    assert printed.split() == ["equal"]


_TRANSLATE = """
import sys
import kformer.pocket.worker_team
kformer.pocket.worker_team._LARGE = 0
print(*kformer.pocket.PocketTranslator(sys.argv[1]).translate([sys.argv[2]]))
"""


@pytest.mark.sample(2)
@pytest.mark.parametrize("flag", ["-P", "-I"])
def test_nothing_is_imported_from_the_working_folder(path, tmp_path, expected, flag):
    for name in ("pickle", "numpy", "kformer", "ai_edge_litert", "contextlib"):
        (tmp_path / f"{name}.py").write_text("open('was run', 'w').close()\nraise SystemExit\n")
    printed = printed_by(flag, "-c", _TRANSLATE, path, TEXTS[0], cwd=tmp_path)
    assert printed.strip() == expected[TEXTS[0]].text
    assert not (tmp_path / "was run").exists()
