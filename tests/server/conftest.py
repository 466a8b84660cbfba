"""A running `kformer serve`."""

import pytest

from support.serving.served_api import served_api


@pytest.fixture(scope="module")
def api(toy_tflite):
    """A server of the toy translator, a `.tflite` file."""
    with served_api(toy_tflite) as api:
        yield api
