"""Samples of sentences: what each depends on, and several samples of one sentence."""

import json
import re
from types import SimpleNamespace

import keras
import numpy as np
import pytest

from kformer import SearchOptions, Transformer
from kformer.cli.terminal.line_streams import one_line
from kformer.decoding.batch_decoder import BatchDecoder
from support import toy
from support.reference import perturbed

V = 4000
SETTINGS = [
    {},
    {"temperature": 1.5},
    {"temperature": 3.0, "repetition_penalty": 1.2, "no_repeat_ngram": 2},
    {"top_k": 50, "min_length": 3},
    {"top_p": 0.9, "temperature": 0.7},
]


@pytest.fixture(scope="module")
def undecided():
    """A decoder for which thousands of ids are about equally likely, and random rows."""
    keras.utils.set_random_seed(1)
    model = perturbed(Transformer(V, 1, 16, 2, 24, norm_first=True))
    norm = model.decoder.norm
    norm.gamma.assign(norm.gamma * 0.3)
    random = np.random.default_rng(0)
    rows = [[*random.integers(4, V, size=size).tolist(), 3] for size in random.integers(1, 20, 40)]
    return BatchDecoder(model, SimpleNamespace(padding_id=0, start_id=2, end_id=3)), rows


def ids_of(decoded):
    return [[one.ids for one in several] for several in decoded]


@pytest.mark.sample(8)
@pytest.mark.parametrize("settings", SETTINGS)
def test_a_sample_depends_on_its_row_alone(undecided, settings):
    """Not on the size, order or padding of the batch, even where logits are nearly equal."""
    decode, rows = undecided
    options = SearchOptions(sample=True, n_best=2, max_length=8, seed=3, **settings)
    alone = ids_of(decode(rows, options, batch_size=1))
    together = ids_of(decode(rows, options, batch_size=32))
    backwards = ids_of(decode(rows[::-1], options, batch_size=7))[::-1]
    long = [[5] * 60 + [3]]  # The others are padded.
    padded = ids_of(decode(rows + long, options, batch_size=2 * len(rows) + 2))[:-1]
    assert len(set(map(str, alone))) > 30
    for others in (together, backwards, padded):
        differ = sum(one != other for one, other in zip(alone, others, strict=True))
        assert differ <= 1  # An exact tie occurs once in some 100,000 draws.


@pytest.mark.prove
def test_a_sample_is_the_same_however_many_there_are(undecided):
    decode, rows = undecided
    some = {}
    for count in (1, 2, 7):
        options = SearchOptions(sample=True, n_best=count, max_length=6)
        some[count] = ids_of(decode(rows, options, batch_size=5))
        assert {len(several) for several in some[count]} == {count}
    assert [several[:2] for several in some[7]] == some[2]
    assert [several[:1] for several in some[7]] == some[1]
    assert all(len(set(map(tuple, several))) == 7 for several in some[7])
    longer = SearchOptions(sample=True, max_length=12)
    for one, other in zip(some[1], ids_of(decode(rows, longer)), strict=True):
        assert other[0][:5] == one[0][:5]


def test_progress_counts_sentences_and_not_samples(undecided):
    decode, rows = undecided
    done = []
    options = SearchOptions(sample=True, n_best=3, max_length=2)
    decode([*rows[:5], [3]], options, batch_size=4, progress=done.append)
    assert sum(done) == 6 and len(done) > 3


def test_the_number_of_samples_does_not_change_the_graph():
    one, five = (SearchOptions(sample=True, n_best=count) for count in (1, 5))
    assert one.graph() == five.graph()


@pytest.mark.prove
def test_several_samples_of_a_sentence(toy_translator):
    options = SearchOptions(sample=True, n_best=5, temperature=2.0, seed=4)
    texts = [*toy.SOURCES[:4], ""]
    several = toy_translator.translations(texts, options)
    assert [len(samples) for samples in several] == [5, 5, 5, 5, 1]
    assert [samples[0].text for samples in several] == toy_translator.translate(
        texts, sample=True, temperature=2.0, seed=4
    )
    for samples in several[:4]:
        assert len({one.text for one in samples}) > 1
        for one in samples:
            assert sum(one.token_log_probabilities) == pytest.approx(one.score, abs=1e-3)


@pytest.mark.prove
def test_several_samples_on_the_command_line(command, refused, toy_keras, toy_translator):
    options = ("--sample", "--n-best", 5, "--temperature", 2.0, "--seed", 4)
    text = "\n".join(toy.SOURCES[:3]).encode()
    result = command("translate", toy_keras, *options, "--format", "jsonl", stdin=text)
    assert result.returncode == 0
    # The toy model knows few words, and a sample of a high temperature may be anything.
    assert re.fullmatch(r"(kformer: Line \d: its translation .*\n)*", result.stderr)
    written = [json.loads(line) for line in result.stdout.split("\n")[:-1]]
    expected = toy_translator.translations(
        toy.SOURCES[:3], SearchOptions(sample=True, n_best=5, temperature=2.0, seed=4)
    )
    assert [(one["line"], one["text"]) for one in written] == [
        (line, one.text) for line, samples in enumerate(expected, start=1) for one in samples
    ]
    tsv = command("translate", toy_keras, *options, "--format", "tsv", stdin=text).stdout
    assert [line.split("\t")[2] for line in tsv.split("\n")[:-1]] == [
        one_line(one["text"]).replace("\t", " ") for one in written
    ]
    assert "--format tsv or jsonl" in refused("translate", toy_keras, *options, stdin=text)
