"""The client of a served classifier, over REST and over gRPC."""

import numpy as np
import pytest

from kformer.serving import Client, ServerError, Tensor
from support import toy

TEXTS = [*toy.SOURCES[:20], "", "der 🐕‍🦺 sucht das häus .", "ruft\x00wir", "\x00", "\ud800"]


@pytest.fixture
def client(classifier_server, protocol):
    with classifier_server.client(protocol, model="classifier", batch_size=7) as client:
        yield client


def test_labels_and_probabilities_are_those_of_python(client, tiny_classifier):
    done = []
    found = client.classify(TEXTS, done.append)
    expected = tiny_classifier.predict(TEXTS)
    assert [one.label for one in found] == expected.labels
    assert {tuple(one.probabilities) for one in found} == {tiny_classifier.labels}
    probabilities = [[*one.probabilities.values()] for one in found]
    np.testing.assert_allclose(probabilities, expected.probabilities, atol=1e-5)
    assert all(one.flags == () for one in found) and sum(done) == len(TEXTS)


def test_vectors_and_ids_are_those_of_python(client, tiny_classifier):
    np.testing.assert_allclose(client.encode(TEXTS), tiny_classifier.encode(TEXTS), atol=1e-5)
    ids = [[*one.ids] for one in client.tokenize(TEXTS)]
    assert ids == tiny_classifier.source_rows(TEXTS)


def test_cut_texts_are_flagged(client):
    with pytest.warns(UserWarning, match="Sentence 2 is over the .* was classified") as caught:
        whole, cut = client.classify(["wir", "uns " * 300])
    assert (whole.flags, cut.flags) == ((), ("source cut",))
    assert [one.filename for one in caught] == [__file__]  # Of the caller.


def test_the_metadata_tell_the_number_of_labels(client):
    outputs = client.metadata()["classify"].outputs
    assert outputs["labels"] == Tensor("DT_STRING", (-1, 3))
    assert outputs["probabilities"] == Tensor("DT_FLOAT", (-1, 3))


def test_no_texts_need_no_server(scheme):
    with Client(f"{scheme}://127.0.0.1:1", "classifier", retries=0) as client:
        assert client.classify([]) == []


def test_a_classifier_does_not_translate(client):
    for call, missing in (
        (lambda: client.translate(["wir"]), "a signature 'serving_default', which answers trans"),
        (lambda: client.translations(["wir"], n_best=2), 'name: "beam" not found'),
        (lambda: client.score(["wir"], ["we"]), 'name: "score" not found'),
    ):
        with pytest.raises(ServerError, match=missing):
            call()


def test_a_translator_does_not_classify(toy_server, protocol):
    with pytest.raises(ServerError, match='name: "classify" not found in signature def'):
        toy_server.client(protocol).classify(["wir"])
