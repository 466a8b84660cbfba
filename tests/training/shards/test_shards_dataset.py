"""Batches from shards; the reference is plain Python over the SentencePiece library."""

import dataclasses
from collections import Counter

import numpy as np
import pytest
import sentencepiece
import tensorflow as tf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kformer.text.tokenizer import Tokenizer
from kformer.text.vocabulary import with_languages
from kformer.training import shards_dataset, translation_dataset
from kformer.training.data import batching
from kformer.training.data.batching import Batching, BatchOptions
from kformer.training.shards.passes import Passes, Reading
from kformer.training.shards.shard_file import Shard
from kformer.training.shards.shard_set import shard_sets
from kformer.training.shards.shards_dataset import ShardBatches
from support.training.pairs import expected_rows, many_pairs, rows_of
from support.training.two_views import assert_views, values_of

PAIRS = [pair for pair in many_pairs(300) if all(side.strip() for side in pair)]


def bits(batches):
    return [
        (*map(np.ndarray.tolist, inputs), target.tolist())
        for inputs, target in batches.as_numpy_iterator()
    ]


def full(batches):
    """Batches of fixed shapes without their rows of padding."""
    for (source, target_in), target in batches:
        number = int(np.any(source.numpy() != 0, axis=1).sum())
        yield (source[:number], target_in[:number]), target[:number]


@pytest.mark.sample(4)
@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("shuffle", [False, True], ids=["in order", "shuffled"])
def test_every_pair_is_in_each_pass_once(shards, tokenizer, fixed, shuffle):
    dataset = shards_dataset(
        shards(PAIRS), tokens_per_batch=300, max_length=60, shuffle=shuffle, fixed_shapes=fixed
    )
    for _ in range(2):
        batches = list(dataset)
        assert len(batches) == dataset.cardinality() > 5
        rows = rows_of(full(batches) if fixed else batches, tokenizer)
        assert Counter(rows) == expected_rows(PAIRS, tokenizer, 60)


@pytest.mark.prove
def test_consistency_training_has_two_rows_for_each_pair(shards, tokenizer):
    folder = shards(PAIRS)
    plain = shards_dataset(folder, tokens_per_batch=300)
    views = shards_dataset(folder, tokens_per_batch=300, consistency="simcut", cutoff=0.3)
    assert_views(values_of(plain), values_of(views), [tokenizer] * 2, 0.3, left_out=True)


def of_processes(monkeypatch, processes):
    """Makes this process each of several in turn; yields their numbers."""
    monkeypatch.setattr(batching, "batch_devices", lambda: processes)
    for process in range(processes):
        share = process, processes
        monkeypatch.setattr(batching, "share_of_batches", lambda share=share: share)
        yield process


@pytest.mark.prove
@pytest.mark.parametrize("processes", [2, 5])  # Of five, some have no row of the last batch.
def test_each_process_reads_its_own_rows_of_each_batch(shards, tokenizer, monkeypatch, processes):
    sizes = {"tokens_per_batch": 300, "max_length": 60, "fixed_shapes": True}
    folder, rows, shapes, read = shards(PAIRS), [], [], []
    original = Passes.read

    def spy(self, *which):
        found = original(self, *which)
        read[-1] += len(found[1])
        return found

    monkeypatch.setattr(Passes, "read", spy)
    for _ in of_processes(monkeypatch, processes):
        read.append(0)
        batches = list(shards_dataset(folder, **sizes))
        shapes.append([target.shape for _, target in batches])
        rows.append(rows_of(full(batches), tokenizer))
        assert read[-1] == len(rows[-1])
    found = Counter(row for of_process in rows for row in of_process)
    assert found == expected_rows(PAIRS, tokenizer, 60)
    assert all(rows)
    assert all(one == shapes[0] for one in shapes)


@pytest.mark.prove
@pytest.mark.parametrize("rates", [{"piece_splitting": 0.3}, {"byte_spelling": 0.1}])
def test_processes_spell_their_own_rows_and_agree_on_shapes(shards, tokenizer, monkeypatch, rates):
    sizes = {"tokens_per_batch": 300, "max_length": 60, "fixed_shapes": True, "seed": 5}
    library = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model)
    folder, texts, shapes = shards(PAIRS), Counter(), set()
    for _ in of_processes(monkeypatch, 3):
        batches = list(shards_dataset(folder, **sizes, **rates))
        shapes.add(tuple(target.shape for _, target in batches))
        for (source, _), target in full(batches):
            sides = [
                [library.decode(row[row > 3].tolist()) for row in side.numpy()]
                for side in (source, target)
            ]
            texts.update(zip(*sides, strict=True))
    assert len(shapes) == 1
    rows = expected_rows(PAIRS, tokenizer, 60)
    assert texts == Counter(
        {
            tuple(library.decode([i for i in side if i > 3]) for side in row): n
            for row, n in rows.items()
        }
    )


@pytest.mark.prove
def test_pairs_over_the_length_limit_are_left_out(shards, tokenizer):
    dataset = shards_dataset(shards(PAIRS), max_length=20)
    expected = expected_rows(PAIRS, tokenizer, 20)
    assert Counter(rows_of(dataset, tokenizer)) == expected
    assert 0 < expected.total() < len(PAIRS)


@pytest.mark.prove
@pytest.mark.parametrize("fixed", [True, False])
def test_in_the_order_of_the_shards_text_gives_the_same_batches(shards, tokenizer, write, fixed):
    """So the losses of a run are the same, too."""
    sizes = {"tokens_per_batch": 300, "max_length": 60, "shuffle": False, "fixed_shapes": fixed}
    dataset = shards_dataset(shards(PAIRS), **sizes)
    rows = [
        row for (source, _), target in full(dataset) for row in zip(source, target, strict=True)
    ]
    library = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model)
    texts = [
        [library.decode(side[side > 3].tolist()) for side in map(np.array, row)] for row in rows
    ]
    expected = translation_dataset(*write(texts, "same"), tokenizer, **sizes)
    assert bits(dataset) == bits(expected)


@pytest.mark.prove
def test_a_pass_depends_only_on_its_number_and_the_seed(shards):
    folder, epoch = shards(PAIRS), tf.Variable(0, dtype=tf.int64)
    rates = {"piece_splitting": 0.1, "byte_spelling": 0.1, "tokens_per_batch": 300}
    dataset = shards_dataset(folder, seed=5, epoch=epoch, **rates)
    other_seed = shards_dataset(folder, seed=6, epoch=epoch, **rates)

    def batches(number, dataset=dataset):
        epoch.assign(number)
        return bits(dataset)

    first = batches(7)
    assert batches(7) == first
    others = [batches(*which) for which in [(8,), (2**40,), (7, other_seed)]]
    assert len({str(one) for one in (first, *others)}) == 4


def test_the_end_of_a_pass_waits_for_no_thread_that_tunes_it(shards):
    assert shards_dataset(shards(PAIRS)).options().autotune.enabled is False


@pytest.mark.prove
def test_a_pass_shuffles_over_all_shards(shards, tokenizer):
    """Pairs of one length, of which each shard has some, come in another order in each pass."""
    pairs = [(f"{i} ich", f"{i} wir") for i in range(100, 300)]
    dataset = shards_dataset(shards(pairs), tokens_per_batch=128, seed=3)
    orders = [rows_of(dataset, tokenizer) for _ in range(2)]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1])
    by_length = [[row for row in order if len(row[0]) == 8] for order in orders]
    batch = {*by_length[0][:12]}
    assert len(batch & {*by_length[1][:12]}) < 8


@pytest.mark.prove
@pytest.mark.parametrize("skipped", [7, 0, 1])
def test_it_begins_anywhere_without_reading_what_is_before(shards, skipped, monkeypatch):
    epoch = tf.Variable(2, dtype=tf.int64)
    dataset = shards_dataset(
        shards(PAIRS), tokens_per_batch=300, byte_spelling=0.1, seed=4, epoch=epoch
    )
    whole, read = bits(dataset), []
    assert bits(dataset.skip(skipped)) == whole[skipped:]
    original = Passes.read
    monkeypatch.setattr(
        Passes, "read", lambda self, *which: read.append(which) or original(self, *which)
    )
    rest = dataset.beginning_at(skipped)
    assert rest.cardinality() == len(whole) - skipped
    assert bits(rest) == whole[skipped:]
    assert sorted(i for _, i in read) == [*range(skipped, len(whole))]


@pytest.mark.prove
def test_weights_say_how_often_a_pass_reads_each_folder(shards, tokenizer):
    folders = [shards(PAIRS[:90], "a"), shards(PAIRS[90:150], "b")]
    dataset = shards_dataset(folders, weights=[1, 2.3], tokens_per_batch=300)
    passes = [Counter(rows_of(dataset, tokenizer)) for _ in range(2)]
    first, second = (expected_rows(some, tokenizer, 128) for some in (PAIRS[:90], PAIRS[90:150]))
    for one in passes:
        assert {one[row] for row in first} == {1}
        assert {one[row] for row in second} == {2, 3}
        assert 138 <= sum(one[row] for row in second) <= 138 + 40  # Rounded up in each class.
    assert passes[0] != passes[1]


def test_one_folder_serves_both_directions(shards, model, tokenizer):
    sets = shard_sets([shards(PAIRS)] * 2)
    languages = {"en": ">>en<<", "de": ">>de<<"}
    extended = Tokenizer(with_languages(tokenizer.model, languages), None, languages)
    into = [extended.language_ids["en"], extended.language_ids["de"]]
    directions = [("de-en", Reading(False, into[0])), ("en-de", Reading(True, into[1]))]
    plain = [extended.without_prefix()] * 2
    options = BatchOptions(300, 60, byte_spelling=0.1)
    batches = list(ShardBatches(sets, options, plain, directions).dataset())
    sources = [row[row > 0] for (source, _), _ in batches for row in source.numpy()]
    assert {*into} == {row[0] for row in sources}
    assert Counter(row[0] for row in sources)[into[0]] == len(sources) / 2
    rows = []
    for (source, _), target in batches:
        for ids, output in zip(source.numpy(), target.numpy(), strict=True):
            pair = [tokenizer.decode(side) for side in (ids[1:], output)]
            rows.append(tuple(pair if ids[0] == into[0] else pair[::-1]))
    usable = expected_rows(PAIRS, tokenizer, 59)  # Of the 60 ids one is the symbol.
    counts = Counter(rows)
    assert {*counts.values()} == {2} and len(counts) == len(usable)


@pytest.mark.parametrize(
    ("columns", "direction", "swapped"),
    [(["de", "en"], "de-en", False), (["de", "en"], "en-de", True)],
)
def test_columns_of_shards_are_their_languages(shards, columns, direction, swapped):
    [made] = shard_sets(shards(PAIRS[:40]))
    with pytest.raises(ValueError, match=r"prepare them with --columns .*columns source and targ"):
        made.is_swapped(direction)
    assert made.is_swapped(direction, named=False) is False
    manifest = dataclasses.replace(made.manifest, settings={"columns": columns})
    named = made._replace(manifest=manifest)
    assert named.is_swapped(direction) is swapped
    with pytest.raises(ValueError, match=r"Shards of the direction fr-en.* columns de and en"):
        named.is_swapped("fr-en", named=False)
    taught = named._replace(manifest=dataclasses.replace(manifest, teacher_ids=2))
    with pytest.raises(ValueError, match=r"one vocabulary.* no teachers.*teacher_ids=2"):
        taught.check_swapped(True)


@pytest.mark.prove
def test_a_temperature_reads_small_folders_more_often(shards, tokenizer):
    folders = [shards(PAIRS[:120], "a"), shards(PAIRS[120:130], "b")]
    rows = Counter(rows_of(shards_dataset(folders, temperature=5), tokenizer))
    assert min(rows[row] for row in expected_rows(PAIRS[120:130], tokenizer, 128)) > 2


@pytest.mark.prove
@settings(
    max_examples=settings.default.max_examples,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=80))
def test_batches_are_cut_as_those_of_text(lengths):
    counts = Counter(lengths)
    groups = np.array([(*pair, counts[pair]) for pair in sorted(counts)])
    ids = np.zeros(groups[:, :2].sum(axis=1) @ groups[:, 2], np.uint16)
    form = Batching(64, 31)
    passes = Passes([[Shard(ids, groups)]], [1.0], lambda s, t: np.zeros(len(s), int), form, False)
    source, target = np.array(lengths, np.int32).T + 1
    limits = tf.function(form.limits)(tf.constant(source), tf.constant(target)).numpy()
    found = [len(passes.read(0, i)[1]) for i in range(passes.number)]
    assert found == np.diff(limits).tolist()
