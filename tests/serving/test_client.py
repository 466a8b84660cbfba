"""The client against a stand-in for TensorFlow Serving, over REST and over gRPC."""

import numpy as np
import pytest

from kformer import SearchOptions
from kformer.export.saved_model.served_translator import ServedTranslator
from kformer.serving import Client, ServedTranslation, ServerError, Tensor
from support import toy
from support.processes import printed_by
from support.serving.server_process import (
    BATCHING,
    batching_of,
    stand_in,
    write_scripted,
)

ODD = [
    "",
    "   ",
    "der 🐕‍🦺 sucht das häus .",
    "日本 e\u0301 ﬁ ½",
    "ruft\x00wir",
    "wir ruft uns .\x00",
    "\x00",
    'a"\\\n\t\u2028',
    "\ud800",
]
LOOPING = "wir ruft " * 20


LONG = [pytest.param(name, marks=pytest.mark.prove) for name in ("alone", "batched")]


@pytest.fixture(scope="module", params=["export", *LONG])
def server(request, toy_served):
    batchings = {"alone": {}, "batched": BATCHING, "export": batching_of(toy_served)}
    with stand_in(toy_served, batching=batchings[request.param]) as server:
        yield server


@pytest.fixture(scope="module")
def scripted(tmp_path_factory):
    """A server of the versions 1, 2 and 3 of a scripted model, which sign their answers."""
    folder = tmp_path_factory.mktemp("scripted")
    for version in (1, 2, 3):
        write_scripted(folder, version, f"{version}: ")
    with stand_in(folder, versions=3, labels={"stable": 2}, model="a b/c") as server:
        yield server


@pytest.mark.sample(10)
@pytest.mark.parametrize("batch_size", [1, 7, 64])
def test_it_translates_as_python_does(server, toy_translator, protocol, batch_size):
    texts = [*toy.SOURCES, *ODD, LOOPING]
    expected = [best for best, *_ in toy_translator.translations(texts, split=False)]
    with server.client(protocol, batch_size=batch_size) as client:
        done = []
        assert client.translate(texts, progress=done.append) == [best.text for best in expected]
        assert sum(done) == len(texts) and max(done) == min(batch_size, len(texts))
        translations = [best for [best] in client.translations(texts)]
    assert [one.text for one in translations] == [best.text for best in expected]
    assert [one.flags for one in translations] == [best.flags for best in expected]
    scores = [one.score for one in translations]
    np.testing.assert_allclose(scores, [best.score for best in expected], atol=1e-3)
    assert any(one.flags for one in translations)


@pytest.mark.prove
def test_several_translations_are_those_of_python(server, toy_translator, protocol):
    texts = [*toy.SOURCES[:20], "", "der"]
    several = server.client(protocol, batch_size=7).translations(texts, n_best=9)
    expected = toy_translator.translations(texts, SearchOptions(beam_size=4, n_best=4))
    for row, rows in zip(several, expected, strict=True):
        assert [one.text for one in row] == [one.text for one in rows]
        scores = [one.score for one in row]
        np.testing.assert_allclose(scores, [one.score for one in rows], atol=1e-3)
        assert scores == sorted(scores, reverse=True)
        assert len({one.text for one in row}) == len(row)
    assert {len(row) for row in several[:20]} == {4}
    [[*two]] = server.client(protocol).translations(texts[:1], n_best=2)
    assert [one.text for one in two] == [one.text for one in expected[0][:2]]


@pytest.mark.prove
def test_scores_are_those_of_python(server, toy_translator, protocol):
    sources, targets = toy.SOURCES[:20], [*toy.TARGETS[:18], "", "the the the"]
    scored = server.client(protocol, batch_size=7).score(sources, targets)
    expected = toy_translator.score(sources, targets)
    np.testing.assert_allclose(
        [one.log_probability for one in scored],
        [one.log_probability for one in expected],
        atol=1e-3,
    )
    assert [one.length for one in scored] == [len(one.tokens) for one in expected]
    np.testing.assert_allclose([s.mean for s in scored], [e.mean for e in expected], atol=1e-3)


@pytest.mark.prove
def test_vectors_are_means_of_the_memory(server, toy_translator, protocol):
    texts = [*toy.SOURCES[:20], "", "wir"]
    vectors = server.client(protocol, batch_size=7).encode(texts)
    assert (vectors.dtype, vectors.shape) == (np.float32, (len(texts), 32))
    for text, vector in zip(texts, vectors, strict=True):
        alone = toy_translator.transformer.encode(toy_translator.tokenizer.encode([text]))
        np.testing.assert_allclose(vector, np.mean(alone[0], axis=0), atol=1e-4)
    np.testing.assert_allclose(vectors, toy_translator.encode(texts), atol=1e-5)
    assert server.client(protocol).encode([]).shape == (0, 0)


def test_ids_are_those_of_the_tokenizer(server, toy_translator, protocol):
    texts = [*toy.SOURCES[:20], *ODD[:-1]]
    ids = [one.ids for one in server.client(protocol, batch_size=7).tokenize(texts)]
    read = [text.rstrip("\0") for text in texts]
    pieces = toy_translator.tokenizer.tokenize(read).to_list()
    assert ids == [(*row, toy_translator.tokenizer.end_id) for row in pieces]


def test_no_texts_need_no_server(scheme):
    """A server that merges requests would not answer one without rows."""
    with Client(f"{scheme}://127.0.0.1:1", "m", retries=0) as client:
        for ask in (client.translate, client.translations, client.tokenize):
            assert ask([]) == []
        assert client.score([], []) == []
        assert client.encode([]).shape == (0, 0)
        with pytest.raises((ConnectionError, ServerError)):  # It would have been asked.
            client.translate(["wir"])


def test_cut_texts_are_flagged(server, protocol):
    client = server.client(protocol)
    texts = ["wir", toy.SOURCES[0] * 99]
    for ask, did in ((client.translate, "translated"), (client.encode, "encoded")):
        with pytest.warns(UserWarning, match=f"Sentence 2 is over the .* beginning was {did}"):
            ask(texts)
    for n_best in (1, 2):
        with pytest.warns(UserWarning, match="Sentence 2 is over the .* translated") as caught:
            (whole, *_), (cut, *_) = client.translations(texts, n_best=n_best)
        assert "source cut" not in whole.flags and "source cut" in cut.flags
        assert [one.filename for one in caught] == [__file__]  # Of the caller.
    [scored] = client.score([toy.SOURCES[0] * 99], [toy.TARGETS[0] * 99])
    assert scored.flags == ("source cut", "target cut")
    [tokenized] = client.tokenize([toy.SOURCES[0] * 99])
    assert tokenized.flags == ("source cut",) and len(tokenized.ids) == 256


def test_it_returns_status_and_metadata_of_the_model(server, protocol):
    client = server.client(protocol)
    [one] = client.status()
    assert (one.version, one.state, one.error) == (1, "AVAILABLE", "")
    signature = client.metadata()["serving_default"]
    assert signature.inputs == {"text": Tensor("DT_STRING", (-1,))}
    assert signature.outputs["score"] == Tensor("DT_FLOAT", (-1,))
    assert not any(name.startswith("__") for name in client.metadata())


def test_a_version_is_chosen_by_number_or_label(scripted, protocol):
    def says(**choice):
        return scripted.client(protocol, model="a b/c", **choice).translate(["x"])

    assert says() == ["3: x"]
    assert says(version=1) == ["1: x"]
    assert says(label="stable") == ["2: x"]
    all_versions = scripted.client(protocol, model="a b/c").status()
    assert [one.version for one in all_versions] == [3, 2, 1]
    [only] = scripted.client(protocol, model="a b/c", version=2).status()
    assert only.version == 2


def test_order_is_kept_for_every_batch_size(scripted, protocol):
    texts = [f"{i} {'x' * (i * 37 % 101)}" for i in range(1000)]
    client = scripted.client(protocol, model="a b/c", batch_size=13, connections=5)
    assert client.translate(texts) == [f"3: {text}" for text in texts]
    expected = ServedTranslation("3: ab", -5.0, ())
    assert client.translations(["ab"]) == [[expected]]


@pytest.mark.parametrize(
    ("protocol", "not_found", "refused"),
    [("rest", 404, 400), ("grpc", "NOT_FOUND", "INVALID_ARGUMENT")],
)
def test_errors_of_the_server_are_shown_as_they_are(scripted, server, protocol, not_found, refused):
    for choice in ({"model": "other"}, {"model": "a b/c", "version": 9}):
        with pytest.raises(ServerError, match="Servable not found for request") as error:
            scripted.client(protocol, **choice).translate(["x"])
        assert error.value.code == not_found
        assert error.value.message.startswith("Servable not found")
    with pytest.raises(ServerError, match=r"Unrecognized servable version label: nix") as error:
        scripted.client(protocol, model="a b/c", label="nix").translate(["x"])
    assert error.value.code == refused
    with pytest.raises(ServerError, match='"tokenise" not found in signature def') as error:
        client = server.client(protocol)
        client._server.predict("tokenise", {"text": ["x"]}, dict)
    assert error.value.code == refused


@pytest.mark.prove
def test_a_batch_over_the_servers_limit_is_refused_in_its_words(tmp_path):
    write_scripted(tmp_path, 1, "")
    with stand_in(tmp_path, batching={"max_batch_size": 8}) as server:
        for protocol in ("rest", "grpc"):
            with pytest.raises(ServerError, match="9 is larger than maximum input batch size 8"):
                server.client(protocol).translate(["x"] * 9)
            assert server.client(protocol, batch_size=8).translate(["x"] * 9) == ["x"] * 9


def test_another_model_is_no_kformer_export(scripted, monkeypatch):
    from kformer.serving import request_rows as rows

    client = scripted.client(model="a b/c")
    monkeypatch.setitem(rows.NEEDED, "serving_default", ("vector",))
    with pytest.raises(ServerError, match=r"answers vector for each text\. Received: .*score"):
        client.translate(["x"])


def test_there_are_as_many_targets_as_sources(scripted, protocol):
    with pytest.raises(ValueError, match="Received: 1 of source, 2 of target"):
        scripted.client(protocol).score(["a"], ["b", "c"])


def test_rest_needs_neither_tensorflow_nor_keras():
    code = (
        "import sys; from kformer.serving import Client; Client('http://127.0.0.1:1', 'm')\n"
        "print({'tensorflow', 'keras', 'numpy', 'grpc'} & {*sys.modules})"
    )
    assert printed_by("-c", code).strip() == "set()"


@pytest.mark.prove
def test_terms_of_a_glossary_are_searched_by_scores(server, toy_saved_model, protocol):
    texts, terms = ["", "der hund sucht das haus .", *toy.SOURCES[:3]], {"hund": "hound"}
    expected = ServedTranslator(toy_saved_model).translate(texts, glossary=terms)
    with server.client(protocol) as client:
        assert client.translate(texts, glossary=terms) == expected
        [split] = client.split_translations(texts[1:2], glossary=terms)
    assert "hound" in expected[1] and split.text == expected[1]
