"""The client of a served language model, over REST and over gRPC."""

import pytest

from kformer import SearchOptions
from kformer.serving import Client, ServerError
from support import toy

PROMPTS = [*(text[:14] for text in toy.SOURCES[:20]), "", "der 🐕‍🦺", "ruft\x00wir", "\ud800"]


@pytest.fixture
def client(language_model_server, protocol):
    with language_model_server.client(protocol, model="language_model", batch_size=7) as client:
        yield client


@pytest.mark.prove
def test_continuations_are_those_of_python(client, tiny_language_model):
    done = []
    assert client.generate(PROMPTS, progress=done.append) == tiny_language_model.generate(PROMPTS)
    assert sum(done) == len(PROMPTS)
    expected = tiny_language_model.generations(PROMPTS, SearchOptions(4, n_best=4), details=False)
    found = client.generations(PROMPTS, n_best=3)
    assert [[one.text for one in row] for row in found] == [
        [one.text for one in row[:3]] for row in expected
    ]
    assert [row[0].flags for row in found] == [row[0].flags for row in expected]


@pytest.mark.prove
def test_a_prompt_that_is_too_long_is_refused(client):
    with pytest.raises(ValueError, match="Received: prompt 2, which is too long"):
        client.generate(["wir", "wir " * 40])


@pytest.mark.prove
def test_no_prompts_need_no_server(scheme):
    with Client(f"{scheme}://127.0.0.1:1", "language_model", retries=0) as client:
        assert client.generate([]) == []


@pytest.mark.prove
def test_a_translator_continues_nothing(toy_server, protocol):
    with pytest.raises(ServerError, match='name: "generate" not found in signature def'):
        toy_server.client(protocol).generate(["wir"])
