"""The server of the toy translator, by a short name."""

import pytest


@pytest.fixture(scope="session")
def api(toy_api):
    return toy_api
