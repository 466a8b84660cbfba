"""The protocols of a server, asked by their own clients where there are any."""

import asyncio
import warnings

import numpy as np
import pytest
import tensorflow as tf

import kformer
from kformer.inference.splitting import SentenceTranslation, SplitTranslation
from kformer.kinds import TRANSLATOR
from kformer.server import openai_style
from kformer.serving import Client, ServerError
from support import toy

LETTER = "der hund sucht das haus .\n\n  wir ruft uns .\n"


@pytest.fixture(scope="module")
def translator(toy_tflite):
    return kformer.load(toy_tflite)


def test_libretranslates_client_gets_the_translations_of_the_model(api, translator):
    libretranslatepy = pytest.importorskip("libretranslatepy")
    client = libretranslatepy.LibreTranslateAPI(f"{api.url}/")
    expected = translator.translate([LETTER], split=True)
    assert [client.translate(LETTER, "de", "en")] == expected
    assert [client.translate(LETTER, "auto", "en")] == expected
    german, english = client.languages()
    assert german == {"code": "de", "name": "German", "targets": ["de", "en"]}
    assert english == {"code": "en", "name": "English", "targets": ["en"]}
    detected = client.detect(LETTER)
    assert detected[0]["language"] == "de" and detected[0]["confidence"] > 90


def test_a_text_has_the_lowest_quality_of_its_sentences():
    sentences = [SentenceTranslation("x", "a", (), 0.9), SentenceTranslation("y", "b", (), 0.23456)]

    class Model:
        name, kind = "de-en", TRANSLATOR

        async def paragraphs(self, texts, *settings):
            return [SplitTranslation("a b", (), tuple(sentences)) for text in texts]

    fields = {"input": ["x y"], "model": "de-en"}
    [item] = asyncio.run(openai_style.translations([Model()], None, fields))["data"]
    assert item["quality"] == 0.2346
    assert [sentence["quality"] for sentence in item["sentences"]] == [0.9, 0.2346]
    sentences[:] = [SentenceTranslation("x", "a", ())]
    [item] = asyncio.run(openai_style.translations([Model()], None, fields))["data"]
    assert "quality" not in item and "quality" not in item["sentences"][0]


def test_alternatives_are_the_other_texts_of_a_beam_search(api, translator, toy_translator):
    text = toy.SOURCES[0]
    fields = {"q": text, "source": "de", "target": "en", "alternatives": 3}
    answer = api.ask("/translate", fields).json
    assert answer["translatedText"] == translator.translate(text)
    beams = [each.text for each in toy_translator.translations(text, beam_size=4, n_best=4)]
    assert answer["alternatives"] == [each for each in beams if each != beams[0]][:3]
    assert len({*answer["alternatives"]}) == 3
    several = api.ask("/translate", {**fields, "q": [f"{text} {text}", ""]}).json
    assert [len(each) for each in several["alternatives"]] == [3, 0]
    best, second = several["translatedText"][0], several["alternatives"][0][0]
    assert best == f"{beams[0]} {beams[0]}" and second == f"{beams[1]} {beams[1]}"
    html = api.ask("/translate", {**fields, "q": f"<b>{text}</b>", "format": "html"}).json
    assert html["alternatives"] == []  # As LibreTranslate.


def test_a_list_of_texts_gets_a_list_and_a_form_gets_json(api, translator):
    texts = toy.SOURCES[:3]
    assert api.translate(texts) == {"translatedText": translator.translate(texts)}
    form = b"q=der+hund+sucht+das+haus+.&source=de&target=en"
    response = api.ask("/translate", form, Content_Type="application/x-www-form-urlencoded")
    assert response.json == api.translate("der hund sucht das haus .")


def test_openais_client_gets_sentences_and_flags(api, translator):
    openai = pytest.importorskip("openai")
    body = {"model": "de-en", "input": [LETTER, ""]}
    with openai.OpenAI(base_url=f"{api.url}/v1", api_key="none", max_retries=0) as client:
        assert [model.id for model in client.models.list()] == ["de-en"]
        answer = client.post("/translations", body=body, cast_to=object)
        with pytest.raises(openai.NotFoundError, match="has the models de-en"):
            client.post("/translations", body={**body, "model": "fr-en"}, cast_to=object)
    expected = translator.split_translations(body["input"])
    assert [each["text"] for each in answer["data"]] == [each.text for each in expected]
    assert [tuple(each["flags"]) for each in answer["data"]] == [each.flags for each in expected]
    assert [each["source"] for each in answer["data"][0]["sentences"]] == [
        sentence.source for sentence in expected[0].sentences
    ]


def test_the_client_of_tensorflow_serving_gets_the_answers_of_the_model(api, translator):
    texts = [*toy.SOURCES[:5], ""]
    with Client(api.url, timeout=20) as client:
        expected = translator.translations(texts)
        assert [
            [(best.text, best.score, best.flags) for best in several]
            for several in client.translations(texts)
        ] == [[(best.text, best.score, best.flags) for best in several] for several in expected]
        np.testing.assert_array_equal(client.encode(texts), translator.encode(texts))
        assert client.translate([LETTER], split=True) == translator.translate([LETTER], split=True)
        assert [version.state for version in client.status()] == ["AVAILABLE"]
        assert {*client.metadata()} == {"serving_default", "with_glossary", "encode"}
        with pytest.raises(ServerError, match=r"has the signatures serving_default, .*encode"):
            client.score(texts, texts)


def test_rows_and_columns_are_answered_alike(api):
    path, texts = "/v1/models/de-en:predict", toy.SOURCES[:2]
    by_column = api.ask(path, {"inputs": {"text": texts}}).json["outputs"]
    for instances in (texts, [{"text": text} for text in texts]):
        rows = api.ask(path, {"instances": instances}).json["predictions"]
        assert {name: [row[name] for row in rows] for name in rows[0]} == by_column
    assert api.ask(path, {"inputs": texts}).json["outputs"] == by_column


def test_a_text_that_is_cut_has_a_flag(api, translator):
    text = " ".join(toy.SOURCES[:30])
    [row] = api.ask("/v1/models/de-en:predict", {"instances": [text]}).json["predictions"]
    with warnings.catch_warnings(action="ignore"):
        [[expected]] = translator.translations([text], split=False)
    assert row["truncated"] is True
    assert (row["translation"], row["flags"]) == (expected.text, ", ".join(expected.flags))


@pytest.mark.prove
@pytest.mark.parametrize("form", ["toy_keras", "toy_served"])
def test_other_forms_are_served_alike(form, request, api, translator):
    from support.serving.served_api import served_api

    texts = toy.SOURCES[:20]
    with served_api(f"own={request.getfixturevalue(form)}") as other:
        with Client(other.url, "own", timeout=60) as client:
            assert client.translate(texts) == translator.translate(texts)
            np.testing.assert_allclose(client.encode(texts), translator.encode(texts), atol=1e-5)
            if form == "toy_served":
                several = client.translations(texts, n_best=2)
                # Several come from beams, whose best one need not be that of greedy search.
                beam = kformer.load(request.getfixturevalue(form)).signatures["beam"]
                expected = beam(text=tf.constant(texts))["translation"].numpy()[:, :2]
                texts_of = [[answer.text.encode() for answer in row] for row in several]
                assert texts_of == expected.tolist()
                assert client.score(texts[:1], ["we"])[0].log_probability < 0
                assert client.tokenize(texts[:1])[0].ids == tuple(translator.tokenize(texts[0])[0])
        assert other.translate(LETTER) == api.translate(LETTER)
        html = [f"<p>{text.replace(' ', ' <b>', 1).replace(' .', '</b> .')}" for text in texts]
        answers = other.translate(html, format="html")["translatedText"]
    form_itself = kformer.load(request.getfixturevalue(form))
    assert answers == [text for text, _ in kformer.translate_markup(html, form_itself)]


def test_the_document_describes_every_route(api):
    document = api.ask("/openapi.json").json
    assert document["openapi"].startswith("3.")
    for path, operations in document["paths"].items():
        for method in operations:
            response = api.ask(path.replace("{model}", "de-en"), b"" if method == "post" else None)
            expected = 400 if method == "post" else 404 if "{name}" in path else 200
            assert response.status == expected, path
