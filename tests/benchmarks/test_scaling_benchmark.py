"""The model of the time of a step, and the plan that it gives."""

import pytest

from benchmarks.scaling import plan
from benchmarks.scaling.__main__ import DIVISIONS, table
from benchmarks.scaling.step_time import Device, Network, step_time
from benchmarks.sizes import VOCAB_SIZE
from benchmarks.training.sizes import SIZES
from kformer import Transformer
from support import REPOSITORY

NETWORK = Network(num_layers=2, d_model=22, d_ff=13, vocab_size=VOCAB_SIZE)


def test_the_parameters_are_those_of_the_models_matrices():
    model = Transformer(VOCAB_SIZE, num_layers=2, d_model=22, num_heads=11, d_ff=13)
    model.build([(None, None), (None, None)])
    matrices = [one for one in model.trainable_variables if len(one.shape) > 1]
    vectors = [one for one in matrices if "bias" in one.path]
    assert not vectors or all(max(one.shape) < 100 for one in vectors)
    expected = sum(int(one.value.shape.num_elements()) for one in matrices if one not in vectors)
    assert NETWORK.parameters == expected


def test_devices_share_the_products_and_not_the_update():
    device = Device(flops=7e9, memory=3e9, link=2e9, latency=1e-4)
    one, five = (step_time(NETWORK, device, number, 1100, 1300) for number in (1, 5))
    assert one.exchange == 0
    assert five.compute == pytest.approx(one.compute / 5)
    assert five.update == one.update == pytest.approx(9 * 4 * NETWORK.parameters / 3e9)
    assert five.exchange == pytest.approx(2 * 4 / 5 * 4 * NETWORK.parameters / 2e9 + 8e-4)
    assert five.total == five.compute + five.update + five.exchange


def test_simulated_devices_are_no_faster_than_the_machine_that_they_share():
    machine = Device(flops=7e9, memory=3e9, link=3e9)
    alone = step_time(NETWORK, machine, 1, 1100, 1300)
    eight = step_time(NETWORK, machine.shared(8), 8, 1100, 1300)
    assert eight.compute == pytest.approx(alone.compute)
    assert eight.update == pytest.approx(8 * alone.update)


def test_the_report_predicts_what_was_measured_of_one_device():
    size = SIZES["tiny"]
    measured = {name: [{"seconds": 2.0 * size.steps}] for name in DIVISIONS}
    measured |= {kind: [{"seconds": 1.0, "bytes": 5e9}] for kind in ("memory", "link")}
    lines = list(table(size, measured))
    assert len(lines) == 2 + len(DIVISIONS)
    assert lines[2].split() == ["1", "device", "2000.0", "1.00", "2000.0"]


def test_the_guide_has_the_tables_of_the_plan():
    guide = (REPOSITORY / "kformer" / "training" / "SCALING.md").read_text("utf-8")
    assert "\n".join(plan.lines()) in guide
