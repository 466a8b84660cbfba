"""The arithmetic of `make bench-train`, and its rounds, with contenders that only pretend."""

import contextlib
import itertools
import sys
from importlib.util import find_spec
from math import prod

import numpy as np
import pytest
import tensorflow as tf

from benchmarks.contender import Contender, ContenderFailed
from benchmarks.medians import best, ratio
from benchmarks.round_robin import round_robin
from benchmarks.sizes import VOCAB_SIZE
from benchmarks.training import batches as batch_files
from benchmarks.training import report
from benchmarks.training.__main__ import check_first_loss
from benchmarks.training.batches import Batch, random_batches, target_tokens
from benchmarks.training.contenders import COMMANDS, PEAK, command, trains_in
from benchmarks.training.keras_fit import dataset
from benchmarks.training.marian_train import lines_of, update_of
from benchmarks.training.sizes import SIZES, Size, step_flops
from kformer import Transformer


def multiply_adds(operation):
    """Those of one matrix product of a graph, by its own shapes."""
    left, right = (tensor.shape.as_list() for tensor in operation.inputs)
    transposed = operation.type == "MatMul" and operation.get_attr("transpose_a")
    adjoint = operation.type == "BatchMatMulV2" and operation.get_attr("adj_x")
    inner = left[-2] if transposed or adjoint else left[-1]
    assert inner in right[-2:]
    return prod(operation.outputs[0].shape.as_list()) * inner


def test_the_work_of_a_step_is_that_of_the_products_in_the_models_graph():
    size = Size(num_layers=2, d_model=22, d_ff=13, num_heads=11, batch=3, length=0, steps=0)
    batch, source, target = 3, 5, 7
    model = Transformer(VOCAB_SIZE, size.num_layers, size.d_model, size.num_heads, size.d_ff)
    ids = [tf.TensorSpec((batch, length), tf.int32) for length in (source, target)]
    graph = tf.function(lambda *ids: model(ids)).get_concrete_function(*ids).graph
    products = [op for op in graph.get_operations() if op.type in ("MatMul", "BatchMatMulV2")]
    expected = 2 * sum(map(multiply_adds, products))
    assert "Einsum" not in {op.type for op in graph.get_operations()}
    assert step_flops(size, batch, source, target) == 3 * expected > 0


class Scripted:
    """Takes the given seconds, one after the other; notes when it was asked."""

    def __init__(self, name, asked, seconds, **more):
        self.name, self.asked, self.more = name, asked, more
        self.seconds = iter(seconds)

    def round(self):
        self.asked.append(self.name)
        return {"seconds": next(self.seconds), "peak_bytes": 2**30, **self.more}


def test_contenders_take_turns_and_only_rounds_of_processes_that_are_awake_count():
    asked = []
    contenders = {
        "kformer": Scripted("kformer", asked, [99, 98, 1, 97, 2]),
        "torch": Scripted("torch", asked, [99, 98, 3, 97, 4]),
    }
    measured = round_robin(contenders, 2, check_first_loss, show=lambda line: None)
    twice = ["kformer", "kformer", "torch", "torch"]
    assert asked == ["kformer", "torch", *twice, *twice]
    times = {name: [report["seconds"] for report in of] for name, of in measured.items()}
    assert times == {"kformer": [1, 2], "torch": [3, 4]}


def test_a_contender_that_fails_is_named_and_the_others_go_on():
    class Broken:
        def round(self):
            raise ContenderFailed("no compiler")

    contenders = {"torch-compile": Broken(), "kformer": Scripted("kformer", [], itertools.count(1))}
    shown = []
    measured = round_robin(contenders, 3, check_first_loss, show=shown.append)
    assert list(measured) == ["kformer"] and len(measured["kformer"]) == 3
    assert [line for line in shown if "FAILED" in line] == [
        "warm-up: torch-compile FAILED: no compiler"
    ]


@pytest.mark.parametrize("loss", [0.1, 20.0, float("nan")])
def test_a_new_model_that_does_not_guess_is_not_measured(loss):
    contenders = {
        "right": Scripted("right", [], itertools.count(1), loss=np.log(VOCAB_SIZE) + 0.4),
        "wrong": Scripted("wrong", [], itertools.count(1), loss=loss),
    }
    assert list(round_robin(contenders, 1, check_first_loss, lambda line: None)) == ["right"]


def rounds_of(*seconds, **more):
    return [{"seconds": time, "peak_bytes": 3 * 2**29, **more} for time in seconds]


def test_ratios_are_of_rounds_that_were_neighbours():
    """The machine halves its speed after the first round: the ratio is 3 all the same."""
    found = ratio(rounds_of(1, 2, 2), rounds_of(3, 6, 6))
    assert found == (3, 3, 3)
    assert ratio(rounds_of(2, 2, 2), rounds_of(2, 8, 6)) == (3, 1, 4)


def test_the_best_of_a_rival_is_the_fastest_by_median():
    measured = {
        "kformer": rounds_of(1, 1, 1),
        "torch": rounds_of(2, 2, 90),
        "torch-compile": rounds_of(3, 3, 1),
    }
    assert best(measured, "torch") == "torch"
    assert best(measured, "kerashub") is None


def test_the_table_says_speed_share_of_the_peak_memory_and_ratios():
    measured = {
        "kformer": rounds_of(2, 1, 4),
        "torch-1-thread": rounds_of(4, 4, 4),
        PEAK: rounds_of(1, 2, 4, flops=2e12),
    }
    header, ours, theirs, peak, ratio = report.table(measured, tokens=6000, flops=10**12)
    assert len(header) == len(ours) == len(theirs)
    assert ours.split() == ["kformer", "3,000", "1,500", "6,000", "50%", "1.50", "GiB"]
    assert theirs.split()[:2] == ["torch-1-thread", "1,500"]
    assert "1,000 GFLOP/s" in peak
    assert ratio == "kformer is 2.00 x PyTorch's best (torch-1-thread); by round 1.00 to 4.00"


def test_the_table_does_without_a_peak_and_without_the_systems_word_on_memory():
    measured = {"kformer": [{"seconds": 1, "peak_bytes": None}]}
    _, line = report.table(measured, tokens=10, flops=1)
    assert line.split() == ["kformer", "10", "10", "10", "?", "?"]


def process(tmp_path, script):
    return Contender([sys.executable, "-c", script], tmp_path / "log")


def test_a_process_trains_a_round_whenever_it_is_told_to(tmp_path):
    script = """
from benchmarks.process import Rounds
rounds = Rounds()
print("Epoch 1/1")
for number in range(2):
    rounds.begin()
    rounds.end(loss=number)
"""
    contender = process(tmp_path, script)
    first, second = contender.round(), contender.round()
    assert (first["loss"], second["loss"]) == (0, 1)
    assert first["seconds"] > 0
    assert second["peak_bytes"] is None or second["peak_bytes"] > 2**20
    with pytest.raises(ContenderFailed, match=r"^Epoch 1/1$"):  # The last that it said.
        contender.round()
    contender.close()


def test_a_process_that_ends_says_why(tmp_path):
    script = "raise RuntimeError('no C++ compiler')"
    contender = process(tmp_path, script)
    with pytest.raises(ContenderFailed, match=r"^RuntimeError: no C\+\+ compiler$"):
        contender.round()
    contender.close()
    contender = process(tmp_path, "import os; os.kill(os.getpid(), 9)")
    with pytest.raises(ContenderFailed, match="ended by SIGKILL"):
        contender.round()
    contender.close()


def test_batches_come_back_from_their_file(tmp_path):
    first = Batch(*(np.arange(rows * 3, dtype=np.int32).reshape(rows, 3) for rows in (2, 2, 2)))
    second = Batch(*(np.ones((5, width), np.int32) for width in (7, 11, 11)))
    batch_files.save(tmp_path / "batches", [first, second])
    loaded = batch_files.load(tmp_path / "batches")
    read_by_tensorflow = [
        (source, target_in, target_out)
        for (source, target_in), target_out in dataset(loaded).as_numpy_iterator()
    ]
    for found in (loaded, read_by_tensorflow):
        for batch, expected in zip(found, (first, second), strict=True):
            for ids, of_batch in zip(batch, expected, strict=True):
                np.testing.assert_array_equal(ids, of_batch, strict=True)


def test_random_batches_have_no_padding_and_their_inputs_lag_by_one():
    size = SIZES["tiny"]
    batches = random_batches(size)
    assert target_tokens(batches) == size.steps * size.batch * size.length
    for source, target_in, target_out in batches:
        assert source.shape == target_in.shape == (size.batch, size.length)
        assert source.min() >= 4 and source.max() < VOCAB_SIZE
        np.testing.assert_array_equal(target_in[:, 1:], target_out[:, :-1])
        assert set(target_in[:, 0]) == {2}


def test_marian_gets_lines_without_padding_and_without_the_ends_that_it_adds():
    source = np.array([[7, 8, 3, 0], [9, 10, 11, 3]], np.int32)
    target = np.array([[5, 3], [6, 3]], np.int32)
    assert lines_of([Batch(source, target, target)] * 2) == ["7 8\t5", "9 10 11\t6"] * 2


def test_marians_log_has_the_number_of_sentences_and_the_loss():
    line = "Ep. 1 : Up. 9 : Sen. 1,152 : Cost 9.30338669 : Time 3.28s : 937.60 words/s"
    assert update_of(f"[2026-01-02 03:04:05] {line}\n") == (1152, 9.30338669)
    assert update_of(line.replace("9.30338669", "-nan"))[0] == 1152
    assert update_of("[2026-01-02 03:04:05] [training] Using 1 CPUs\n") is None


def test_marian_trains_in_float32_alone():
    assert all(trains_in(name, "float32") for name in COMMANDS)
    assert {name for name in COMMANDS if not trains_in(name, "bfloat16")} == {
        "marian",
        "marian-1-thread",
    }


@pytest.mark.prove
def test_marian_learns_the_batches_of_a_round_and_waits_for_the_next(tmp_path):
    if not find_spec("pymarian"):
        pytest.skip("Not installed: pymarian.")
    size = SIZES["tiny"]
    ids = [np.random.randint(4, VOCAB_SIZE, (size.batch, size.length), np.int32) for _ in range(3)]
    batch_files.save(tmp_path / "batches", [Batch(*ids)] * 2)
    process = Contender(
        command("marian", "tiny", "float32", tmp_path / "batches"), tmp_path / "log"
    )
    with contextlib.closing(process) as marian:
        losses = [marian.round()["loss"] for _ in range(3)]
    assert abs(losses[0] - np.log(VOCAB_SIZE)) < 1
    assert losses == sorted(losses, reverse=True)


def test_padding_is_no_token():
    ids = np.array([[5, 6, 0], [7, 0, 0]], np.int32)
    assert target_tokens([Batch(ids, ids, ids)] * 2) == 6
