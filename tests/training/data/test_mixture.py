"""Several corpora with weights: how often a pass reads each."""

import bz2
import gzip
import lzma
from collections import Counter

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from kformer.training import translation_dataset
from kformer.training.data import mixture as reading
from kformer.training.data.mixture import Mixture
from kformer.training.data.pairs import corpus_weights

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@pytest.fixture
def write(write):
    """Writes a corpus of numbered lines: "a0", "a1", and so on; returns its two paths."""
    return lambda name, number: write([(f"{name}{i}",) * 2 for i in range(number)], name)


def windows_of(mixture):
    """The windows as lists of (source, target, round), equal in a graph and without one."""
    eager, in_graph = (
        [
            [
                (source.decode(), target.decode(), int(number))
                for source, target, number in zip(*map(np.asarray, window), strict=True)
            ]
            for window in windows
        ]
        for windows in (mixture.eager_windows(), mixture.windows().as_numpy_iterator())
    )
    assert eager == in_graph
    return eager


@pytest.mark.prove
@settings(max_examples=min(20, settings.default.max_examples))
@given(
    corpora=st.lists(
        st.tuples(st.integers(1, 30), st.sampled_from([0.2, 0.5, 1.0, 1.3, 2.0])),
        min_size=1,
        max_size=3,
    ),
    window=st.integers(1, 100),
)
def test_every_corpus_is_read_as_often_as_its_weight_rounded_up(tmp_path_factory, corpora, window):
    folder = tmp_path_factory.mktemp("corpora")
    files, expected = [], Counter()
    for i, (number, weight) in enumerate(corpora):
        lines = [f"{LETTERS[i]}{j}" for j in range(number)]
        files.append(folder / LETTERS[i])
        files[-1].write_text("\n".join(lines))
        expected.update({(line, line, 2 * i): int(weight) for line in lines if weight >= 1})
        expected.update({(line, line, 2 * i + 1): 1 for line in lines if weight % 1})
    mixture = Mixture(files, files, [weight for _, weight in corpora], window=window)
    windows = windows_of(mixture)
    assert sum(map(Counter, windows), Counter()) == expected
    assert all(len(lines) <= window + len(corpora) for lines in windows)


def test_every_window_has_a_share_of_every_corpus(write):
    corpora = [write("a", 60), write("b", 30), write("c", 2)]
    mixture = Mixture(*zip(*corpora, strict=True), window=23)
    shares = [Counter(source[0] for source, _, _ in window) for window in windows_of(mixture)]
    assert shares == [{"a": 15, "b": 8, "c": 1}] * 2 + [{"a": 15, "b": 8}, {"a": 15, "b": 6}]


@given(
    rounds=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=60),
    seed=st.integers(0, 1000),
)
def test_a_partial_round_keeps_the_same_share_of_every_bucket(tmp_path_factory, rounds, seed):
    file = tmp_path_factory.mktemp("text") / "text"
    file.write_text("a\n")
    mixture = Mixture([file] * 2, [file] * 2, [0.3, 1.5])
    groups = np.array(rounds, np.int32).reshape(-1, 2)
    kept = mixture.thin(*tf.unstack(groups, axis=1), tf.constant([0, seed], tf.int64)).numpy()
    assert list(kept) == sorted({*kept})
    of_all, of_kept = Counter(rounds), Counter(rounds[i] for i in kept)
    share = {0: (1, 1), 1: (3, 10), 2: (1, 1), 3: (1, 2)}
    for (number, bucket), count in of_all.items():
        part, of = share[number]
        assert of_kept[number, bucket] == -(-count * part // of)


@pytest.mark.prove
def test_a_pass_reads_each_corpus_as_often_as_its_weight(write, tokenizer):
    corpora = [write("a", 40), write("b", 60), write("c", 30)]
    epoch = tf.Variable(0, dtype=tf.int64)
    dataset = translation_dataset(
        *zip(*corpora, strict=True),
        tokenizer,
        weights=[2, 0.25, 1.5],
        tokens_per_batch=128,
        epoch=epoch,
    )
    seen, passes = Counter(), 8
    for number in range(passes):
        epoch.assign(number)
        batches = list(dataset)
        assert len(batches) == dataset.cardinality()
        lines = Counter(line for _, target in batches for line in texts(target, tokenizer))
        assert {line: times for line, times in lines.items() if line[0] == "a"} == {
            f"a{i}": 2 for i in range(40)
        }
        assert 60 / 4 <= sum(times for line, times in lines.items() if line[0] == "b") < 60 / 4 + 4
        assert {times for line, times in lines.items() if line[0] == "b"} == {1}
        assert {times for line, times in lines.items() if line[0] == "c"} == {1, 2}
        seen.update(lines)
    assert len([line for line in seen if line[0] == "b"]) > 50  # 8 passes of a fixed quarter: 15.
    assert max(times for line, times in seen.items() if line[0] == "b") < passes


def texts(target, tokenizer):
    return [text.decode() for text in tokenizer.detokenize(target).numpy()]


def test_temperature_weighs_by_a_root_of_the_size_and_keeps_the_total():
    pairs = [1000, 10, 200]
    for temperature in (1, 2, 5, 100):
        weights = corpus_weights(pairs, temperature=temperature)
        drawn = np.multiply(weights, pairs)
        root = np.power(pairs, 1 / temperature)
        np.testing.assert_allclose(drawn / drawn.sum(), root / root.sum(), rtol=1e-4)
        np.testing.assert_allclose(drawn.sum(), sum(pairs), rtol=1e-4)
    assert corpus_weights(pairs, temperature=1) == corpus_weights(pairs) == [1, 1, 1]


def test_temperature_weighs_texts_of_one_direction_together():
    several = corpus_weights([700, 60, 300], temperature=3, groups=["de-en", "en-de", "de-en"])
    whole = corpus_weights([1000, 60], temperature=3)
    assert several == [whole[0], whole[1], whole[0]]


@pytest.mark.parametrize("weights", [[1.0], [1.0, 0.0], [1.0, -1.0], [1.0, float("nan")], []])
def test_every_corpus_needs_a_positive_weight(write, weights):
    corpora = [write("a", 3), write("b", 3)]
    with pytest.raises(ValueError, match=r"a positive number for each .* Received: weights=\[.* 2"):
        Mixture(*zip(*corpora, strict=True), weights)


def test_weights_and_temperature_exclude_each_other(write):
    with pytest.raises(ValueError, match=r"not by both. Received: weights=\[1\], temperature=2"):
        Mixture(*write("a", 3), weights=[1], temperature=2)


@pytest.mark.parametrize("temperature", [0, -1.0, float("nan")])
def test_a_temperature_is_positive(write, temperature):
    with pytest.raises(ValueError, match=f"over 0. Received: temperature={temperature}"):
        Mixture(*write("a", 3), temperature=temperature)


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", [".gz", ".bz2", ".xz", ".zst"])
def test_compressed_text_is_read_as_the_plain_text_with_zeros_behind_it(written, name):
    compress = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}.get(name)
    if compress is None:
        compress = pytest.importorskip("zstandard").ZstdCompressor().compress
    content = compress(b"eins\nzwei\n") + compress(b"drei\n") + bytes(512)
    path = written(f"a{name}", content)
    [window] = windows_of(Mixture([path], [path]))
    assert window == [(word, word, 0) for word in ("eins", "zwei", "drei")]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r"])
def test_chunks_of_any_size_give_the_same_texts_in_a_graph_and_without_one(
    end, written, monkeypatch
):
    lines = [b"a\r", b"b", b"", b"c\rd", b"\r", b"abcdefgh", b"ij"]
    path = written("text", b"\n".join(lines) + end)
    monkeypatch.setattr(reading, "_CHUNK", 3 + len(end))
    mixture = Mixture([path], [path], window=3, longest=5)
    eager, in_graph = (
        [[list(np.asarray(side)) for side in window] for window in windows]
        for windows in (mixture.eager_windows(), mixture.windows().as_numpy_iterator())
    )
    assert eager == in_graph
    texts = [text for window in eager for text in window[0]]
    assert texts == [b"a", b"b", b"", b"c\rd", b"", b"abcde", b"ij"]
