"""A server reaches by two models what no single one of them translates."""

import asyncio
import itertools
from pathlib import Path

import pytest

from kformer.inference.facts import SINGLE_SENTENCES
from kformer.inference.glossary import Glossary
from kformer.inference.results import Translation
from kformer.kinds import TRANSLATOR
from kformer.server import libre_translate, openai_style
from kformer.server.hosted_documents import HostedDocuments
from kformer.server.hosted_models import HostedModel
from kformer.server.hosted_routes import for_languages, routes
from kformer.server.hosted_signatures import HostedSignature
from kformer.server.refusals import Refusal

PAGE = '<p class="a">Ein <b>Hund</b> &amp; zwei.</p><code>x = 1</code><p>Guten Morgen!</p>'


def hosted(source, target, quality=0.9, flags=""):
    """Returns a model whose translations tell its languages, word for word."""

    def answer(columns, glossary=None):
        for text in columns["text"]:
            words = [f"{word}_{target}" for word in text.split()]
            words += [f"({each.translation})" for each in (glossary.find(text) if glossary else ())]
            row = {"translation": " ".join(words), "score": -1.5, "flags": flags}
            yield {**row, "quality": quality}

    signature = HostedSignature(("text",), {}, lambda columns: [*answer(columns)])
    return HostedModel(
        f"{source}-{target}",
        Path("a"),
        "keras",
        TRANSLATOR,
        {"source_language": source},
        {"serving_default": signature},
        (),
        target,
        8,
        1,
        term_search=lambda columns, glossary: [*answer(columns, glossary)],
    )


@pytest.fixture
def ask():
    """A function that asks models for something, in an event loop in which they have started."""

    def run(models, function):
        async def asked():
            for model in models:
                model.start(10_000)
            documents = HostedDocuments(1_000, 10_000, 60)
            try:
                return await function(documents)
            finally:
                documents.close()
                for model in models:
                    await model.stop()

        return asyncio.run(asked())

    return run


def request(models, **fields):
    async def answer(documents):
        return (await libre_translate.translate(models, documents, fields))[1]["translatedText"]

    return answer


def test_two_models_translate_one_behind_the_other(ask):
    models = [hosted("de", "en"), hosted("en", "pt")]
    found = ask(models, request(models, q="Ein Hund. Guten Tag.", source="de", target="pt-BR"))
    assert found == "Ein_en_pt Hund._en_pt Guten_en_pt Tag._en_pt"
    texts = ["a\n\nb", ""]
    found = ask(models, request(models, q=texts, source="de", target="pt"))
    assert found == ["a_en_pt\n\nb_en_pt", ""]


def test_a_direct_model_wins(ask):
    models = [hosted("de", "en"), hosted("en", "pt"), hosted("de", "pt")]
    for order in itertools.permutations(models):
        assert ask(models, request(order, q="Hund", source="de", target="pt")) == "Hund_pt"
    assert not [*routes(models)]


def test_a_route_says_what_both_doubt(ask):
    first, second = hosted("de", "en", 0.4, "length limit"), hosted("en", "pt", 0.7, "repetition")

    async def answer(_documents):
        [route] = routes([first, second])
        return await route.paragraphs(["Hund"]), await route.rows(
            "serving_default", {"text": ["a"]}
        )

    [text], [row] = ask([first, second], answer)
    assert text.flags == ("length limit", "repetition")
    assert text.sentences[0].quality == 0.4
    assert row == {
        "translation": "a_en_pt",
        "score": -3.0,
        "flags": "length limit, repetition",
        "truncated": False,
        "quality": 0.4,
    }


def test_markup_and_terms_survive_a_route(ask):
    models = [hosted("de", "en"), hosted("en", "pt")]
    page = ask(models, request(models, q=PAGE, source="de", target="pt", format="html"))
    assert page.startswith('<p class="a">Ein_en_pt <b>Hund') and page.count("</b>") == 1
    assert "<code>x = 1</code>" in page and "&amp;" in page

    async def answer(_documents):
        [route] = routes(models)
        return await route.paragraphs(["Hund"], glossary=Glossary({"Hund_en": "cão"}))

    [text] = ask(models, answer)
    assert text.text == "Hund_en_pt (cão)"


def test_alternatives_of_a_route_are_those_of_its_last_model(ask):
    models = [hosted("de", "en"), hosted("en", "pt")]

    def several(columns, number):
        return [
            [Translation(f"{text} {rank}", -rank, ()) for rank in range(number)]
            for text in columns["text"]
        ]

    models[1].several = several

    async def answer(_documents):
        [route] = routes(models)
        return await route.alternatives(["Hund. Tag."], "de", "pt", 2)

    assert ask(models, answer) == [
        ["Hund._en 0 Tag._en 0", "Hund._en 1 Tag._en 1", "Hund._en 2 Tag._en 2"]
    ]


def test_the_languages_are_those_of_all_routes():
    codes = ("de", "en", "fr", "pt")
    models = [hosted(code, "en") for code in codes if code != "en"]
    models += [hosted("en", code) for code in codes if code != "en"]
    listed = {each["code"]: {*each["targets"]} for each in libre_translate.languages(models)}
    assert listed == {code: {*codes} for code in codes}
    assert openai_style.model_named(models, "fr-pt").directions == [("fr", "pt")]
    assert len({route.name for route in routes(models)}) == 6


def test_what_no_two_models_reach_is_refused_with_what_there_is():
    models = [hosted("de", "en"), hosted("en", "pt"), hosted("pt", "it")]
    with pytest.raises(
        Refusal, match=r"translates de to en, .*through two.*source='de', target='it"
    ):
        for_languages(models, "de", "it")
    assert for_languages(models, "en", "it").name == "en-it"


def test_a_route_of_models_of_single_sentences_learned_from_these():
    models = [hosted("de", "en"), hosted("en", "pt")]
    models[1].about = {**models[1].about, SINGLE_SENTENCES: True}
    [route] = routes(models)
    assert route.about == {"source_language": "de", SINGLE_SENTENCES: True}
