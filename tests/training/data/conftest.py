"""What the tests of the data share."""

from functools import partial

import pytest

from support.training import pairs


@pytest.fixture
def write(tmp_path):
    """A function that writes pairs as two files and returns their paths."""
    return partial(pairs.write, tmp_path)
