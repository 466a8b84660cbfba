"""The memory of the input pipeline: a sample of `make bench-input`."""

import sys
from pathlib import Path

import pytest

from support.processes import printed_by

BENCHMARK = Path(__file__).parent / "input_pipeline.py"


@pytest.mark.prove
@pytest.mark.skipif(sys.platform != "linux", reason="Memory is read from /proc.")
def test_text_of_several_windows_is_read_over_and_over_in_bounded_memory():
    options = ["--megabytes=60", "--seconds=0"]  # Six passes, however long they take.
    printed = printed_by(BENCHMARK, *options)
    head, _, large = (line.split(" | ") for line in printed.splitlines())
    row = dict(zip(head, map(float, large), strict=True))
    peaks = [row["MB passes 1-3"], row["MB passes 4-"]]
    assert max(*peaks, row["MB counting"]) < 1024
    assert peaks[1] < 1.3 * peaks[0]  # A text that is never freed would add half in three passes.
