"""Whether Apache Beam, the extra `beam`, is installed."""

import importlib.util

import pytest

needs_beam = pytest.mark.skipif(
    importlib.util.find_spec("apache_beam") is None,
    reason="Apache Beam is not installed: pip install 'kformer[beam]'.",
)
