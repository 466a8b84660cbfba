"""What the tests of the client share."""

import pytest


@pytest.fixture(params=["rest", "grpc"])
def protocol(request):
    return request.param


@pytest.fixture
def scheme(protocol):
    return {"rest": "http", "grpc": "grpc"}[protocol]


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
