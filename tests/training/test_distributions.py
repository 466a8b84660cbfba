"""The teachers' probabilities in shards and in batches, against those of NumPy."""

import json
import shutil
from collections import Counter
from functools import partial

import numpy as np
import pytest

from kformer import Ensemble, Transformer, Translator
from kformer.training import distributions as module
from kformer.training import distributions as shards_module
from kformer.training import shards_dataset
from kformer.training.distributions import add_distributions, write_shards
from kformer.training.preparation.raw_pairs import read_batches
from kformer.training.shards.shard_file import UNITS
from support import reference
from support.reference import perturbed
from support.training.pairs import expected_rows, many_pairs, rows_of, write

K = 5
PAIRS = [pair for pair in many_pairs(40) if all(side.strip() for side in pair)]
PAIRS += PAIRS[:5]  # What is there twice counts twice.


@pytest.fixture(scope="module")
def teacher(tokenizer):
    sizes = [(1, 16, 2, 24), (2, 12, 3, 20)]
    return Ensemble([Translator(tokenizer, perturbed(Transformer(400, *size))) for size in sizes])


@pytest.fixture
def shards(teacher, tmp_path):
    teacher.translators[0].save(tmp_path / "teacher.keras")
    files = ([file] for file in write(tmp_path, PAIRS, "text"))
    write_shards(tmp_path / "x", *files, tmp_path / "teacher.keras", 60)
    return tmp_path / "x"


@pytest.fixture
def in_chunks(monkeypatch):
    monkeypatch.setattr(module, "_CHUNK", 7)


def mean_probabilities(teacher, source, target, start):
    """The mean of the models' probabilities at each place of one target, float64 (T, V)."""
    read = np.array([[start, *target[:-1]]])
    found = []
    for translator, heads in zip(teacher.translators, (2, 3), strict=True):
        weights = reference.weights_of(translator.transformer)
        model = reference.Model(weights, heads, translator.transformer.encoder.num_layers)
        found.append(reference.softmax(reference.transformer(np.array([source]), read, model))[0])
    return np.mean(found, axis=0)


@pytest.mark.prove
@pytest.mark.parametrize("fixed", [False, True])
def test_each_id_of_a_batch_has_the_likeliest_ids_of_all_teachers(
    teacher, tokenizer, shards, in_chunks, fixed
):
    add_distributions(shards, teacher, K)
    sizes = {"tokens_per_batch": 300, "max_length": 60, "fixed_shapes": fixed}
    seen = 0
    for (source, _), expected in shards_dataset(shards, byte_spelling=0.0, **sizes):
        assert expected.shape[-1] == 1 + 2 * K
        for row, said in zip(source.numpy(), expected.numpy(), strict=True):
            target = said[:, 0]
            real = target != 0
            assert not said[~real].any()
            if not real.any():
                continue  # A row of padding.
            seen += 1
            probabilities = mean_probabilities(
                teacher, row[row != 0], target[real], tokenizer.start_id
            )
            found = np.take_along_axis(probabilities, said[real, 1 : 1 + K], axis=-1)
            np.testing.assert_allclose(said[real, 1 + K :] / UNITS, found, atol=1e-4)
            highest = -np.sort(-probabilities, axis=-1)[:, :K]
            np.testing.assert_allclose(found, highest, atol=1e-4)
    assert seen == len(PAIRS)


@pytest.mark.prove
def test_targets_keep_the_ids_that_teachers_speak_of(teacher, shards):
    add_distributions(shards, teacher, K)
    rates = {"piece_splitting": 0.5, "byte_spelling": 0.2, "shuffle": False}
    plain, respelled = (
        [(source, y) for (source, _), y in shards_dataset(shards, **some)]
        for some in ({"shuffle": False}, rates)
    )
    sources = [[side.numpy() for side, _ in batches] for batches in (plain, respelled)]
    assert not all(np.array_equal(*both) for both in zip(*sources, strict=True))

    def targets(batches):
        rows = [row[row != 0].tolist() for _, y in batches for row in y.numpy()[..., 0]]
        return sorted(rows)

    assert targets(plain) == targets(respelled)


@pytest.mark.prove
def test_teachers_go_on_where_they_were_stopped(teacher, shards, in_chunks, monkeypatch, tmp_path):
    done, whole = [], module._Reader.__call__

    def stopped(self, sources, targets):
        if len(done) == 2:
            done.append(0)
            raise KeyboardInterrupt
        done.append(len(sources))
        return whole(self, sources, targets)

    monkeypatch.setattr(module._Reader, "__call__", stopped)
    counted = []
    with pytest.raises(KeyboardInterrupt):
        add_distributions(shards, teacher, K)
    assert json.loads((shards / "manifest.json").read_text("utf-8"))["teacher_ids"] == 0
    [part] = shards.glob("*.part")
    with part.open("ab") as file:
        file.write(b"half a chunk")
    add_distributions(shards, teacher, K, counted.append)
    assert done[:3] == [7, 7, 0] and sum(done) == sum(counted) == len(PAIRS)
    assert json.loads((shards / "manifest.json").read_text("utf-8"))["teacher_ids"] == K
    assert not [*shards.glob("*.part")]
    said = np.load(shards / "00000.teachers.npy")

    monkeypatch.setattr(module._Reader, "__call__", whole)
    (shards / "00000.teachers.npy").unlink()
    add_distributions(shards, teacher, K)
    np.testing.assert_array_equal(np.load(shards / "00000.teachers.npy"), said)


def test_of_a_small_vocabulary_all_ids_are_kept(teacher, shards):
    add_distributions(shards, teacher, 1000)
    said = np.load(shards / "00000.teachers.npy")
    assert said.shape[1] == 2 * 400
    np.testing.assert_allclose(said[:, 400:].sum(axis=1) / UNITS, 1, atol=400 / UNITS)


@pytest.mark.prove
def test_shards_with_and_without_teachers_are_not_mixed(teacher, shards, tmp_path):
    shutil.copytree(shards, tmp_path / "without")
    add_distributions(shards, teacher, K)
    with pytest.raises(ValueError, match=r"as many ids of teachers .* Received: .* with 5 and"):
        shards_dataset([shards, tmp_path / "without"])


@pytest.mark.prove
def test_what_teachers_said_is_checked_as_the_ids_are(teacher, shards):
    add_distributions(shards, teacher, K)
    with (shards / "00000.teachers.npy").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"\xff")
    with pytest.raises(ValueError, match=r"00000.teachers.npy', which is damaged"):
        shards_dataset(shards)


@pytest.mark.prove
def test_text_is_written_as_several_shards_without_what_cannot_be_used(
    teacher, tokenizer, monkeypatch, tmp_path
):
    monkeypatch.setattr(shards_module, "PAIRS_PER_SHARD", 20)
    monkeypatch.setattr(shards_module, "read_batches", partial(read_batches, size=10))
    monkeypatch.setattr(shards_module, "BATCH", 10)
    teacher.translators[0].save(tmp_path / "teacher.keras")
    blank = [("", "x"), ("x", ""), ("y " * 90, "z")]
    files = [[file] for file in write(tmp_path, [*PAIRS, *blank])]
    write_shards(tmp_path / "x", *files, tmp_path / "teacher.keras", 60)
    assert len([*(tmp_path / "x").glob("*.ids.npy")]) == 3
    rows = rows_of(shards_dataset(tmp_path / "x", max_length=60), tokenizer)
    assert Counter(rows) == expected_rows(PAIRS, tokenizer, 60)
    files = [[file] for file in write(tmp_path, blank, "blank")]
    with pytest.raises(ValueError, match=r"Received: 3 pairs, all of them blank or of more than"):
        write_shards(tmp_path / "y", *files, tmp_path / "teacher.keras", 60)
    assert not (tmp_path / "y").exists()
