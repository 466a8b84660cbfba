"""What all tests share: a quiet TensorFlow, fixed seeds, and examples that never vary."""

import collections
import contextlib
import ctypes
import gc
import os
import signal

from support import TESTS

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # Before TensorFlow is imported.
# Scripts in processes of their own find `support`, too.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
)

import sys

import hypothesis
import keras
import pytest

from browser.chromium import NotHere, installed_packages
from kformer.backend import is_tensorflow
from support.backend import prepare_jax, reason_to_skip
from support.made_once import MadeOnce
from support.pairwise import covering

pytest_plugins = [
    f"support.fixtures.{name}"
    for name in ("classifier", "commands", "demo", "guides", "hub", "language_model", "runs", "toy")
]

if not is_tensorflow():
    prepare_jax()

same_for_all = {"deadline": None, "derandomize": True, "database": None}
# On JAX, an example may take a second: its shapes are compiled.
examples, every = (10, 1) if is_tensorflow() else (2, 1000)
hypothesis.settings.register_profile("kformer", max_examples=examples, **same_for_all)
hypothesis.settings.register_profile("prove", max_examples=100, **same_for_all)  # `make prove`
hypothesis.settings.load_profile("kformer")


def pytest_configure():
    """Has the garbage collector leave out TensorFlow's modules, which stay.

    A shell has its commands in the background ignore SIGINT, and so their processes. Tests that
    interrupt something need Python's own handler.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 10, 10)


@pytest.hookimpl(tryfirst=True)  # Before `-m` chooses.
def pytest_collection_modifyitems(config, items):
    """Marks all but every n-th case of a test with `sample(n)` as a long proof.

    Of a test with `pairs`, only the cases stay that bring each two values together.

    On JAX, so are all but the first case of the other tests, because compiling takes long; and the
    tests of TensorFlow itself are skipped, see `reason_to_skip`.

    The tests that need the toy translator come first, so that the process of another half of the
    tests does not wait until it is trained.
    """
    deselected = set(cases_beside_pairs(items))
    config.hook.pytest_deselected(items=[item for item in items if item in deselected])
    items[:] = [item for item in items if item not in deselected]
    toys = {item.path for item in items if "toy_run" in item.fixturenames}
    items.sort(key=lambda item: item.path not in toys)
    cases = collections.Counter()
    for item in items:
        if reason := reason_to_skip(item):
            item.add_marker(pytest.mark.skip(reason=reason))
        sample = item.get_closest_marker("sample")
        name = item.path, item.originalname
        if cases[name] % max(sample.args[0] if sample else 1, every):
            item.add_marker("prove")
        cases[name] += 1


def cases_beside_pairs(items):
    """Yields the cases of tests with `pairs` that are not needed for any pair of values."""
    tests = collections.defaultdict(list)
    for item in items:
        if item.get_closest_marker("pairs"):
            tests[item.path, item.originalname].append(item)
    for cases in tests.values():
        needed = covering([case.callspec.params for case in cases])
        yield from (case for i, case in enumerate(cases) if i not in needed)


@pytest.fixture(autouse=True)
def seed():
    keras.utils.set_random_seed(1)


@pytest.fixture(scope="module", autouse=True)
def memory():
    """Frees the graphs and arrays of a test file after its tests; one process runs many files.

    The garbage collector finds graphs, which are cycles, late, and glibc keeps what was freed. What
    is left belongs to all tests and stays, so the collector need not look at it after each file.
    """
    yield
    gc.collect()
    gc.freeze()
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError):  # Another C library than glibc.
            ctypes.CDLL(None).malloc_trim(0)


@pytest.fixture(scope="session")
def made_once(request):
    """A `MadeOnce`, whose folders belong to all tests: none may change them."""
    made_once = MadeOnce(request.config.rootpath / ".pytest_cache" / "made")
    made_once.forget_older()
    return made_once


@pytest.fixture(scope="session")
def packages(request, made_once):
    """The npm packages that the web page and its tests need."""
    cache = request.config.rootpath / ".pytest_cache" / "browser"
    cache.mkdir(parents=True, exist_ok=True)
    try:
        return made_once("browser_packages", lambda _: installed_packages(cache))
    except NotHere as reason:
        pytest.skip(str(reason))
