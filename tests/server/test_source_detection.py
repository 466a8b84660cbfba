"""The source language of requests that name none."""

import asyncio

import pytest

import kformer
from kformer.server import libre_translate, openai_style
from kformer.server.hosted_documents import HostedDocuments
from kformer.server.request_bodies import NamedFile
from kformer.server.source_detection import detect, source_for
from server.test_hosted_documents import hosted

GERMAN = "Gestern sind wir lange durch die alte Stadt gelaufen."
FRENCH = "Hier, nous avons longtemps marché dans la vieille ville."
NORWEGIAN = "Jeg vet ikke hva jeg skal gjøre med den gamle bilen min i morgen."
ENGLISH = "Yesterday we walked through the old town for a long time."
GREEK = "Χθες περπατήσαμε πολλή ώρα στην παλιά πόλη."


def models(*pairs):
    """Models whose translations begin with their source language."""
    made = []
    for pair in pairs:
        source, target = pair.split("-")
        model = hosted(lambda texts, source=source: [f"{source}: {text}" for text in texts])
        model.about, model.target_language = {"source_language": source}, target
        model.name = pair
        made.append(model)
    return made


SERVED = ("de-en", "fr-en", "no-en", "en-de", "fr-de")


@pytest.mark.parametrize(
    ("text", "target", "source", "named"),
    [
        (GERMAN, "en", "de", "de"),
        (FRENCH, "en", "fr", "fr"),
        (FRENCH, "de", "fr", "fr"),
        (ENGLISH, "de", "en", "en"),
        (NORWEGIAN, "en", "no", "no"),
        (ENGLISH, "en", "en", "en"),  # Nothing is to translate.
        ("42", "en", "en", "en"),
    ],
)
def test_the_source_is_the_language_of_the_text(text, target, source, named):
    served = models(*SERVED)
    chosen, detected = asyncio.run(source_for(served, [text], target))
    assert detected["language"] == named
    assert chosen == source and (text == "42" or detected["confidence"] > 80)


def test_a_text_that_may_be_in_another_language_than_the_target_is_translated(monkeypatch):
    def identify(_text, languages):
        return kformer.Identification("en", 0.2, [("de", 1.0) if languages else ("en", 0.2)])

    monkeypatch.setattr(kformer, "identify", identify)
    assert asyncio.run(source_for(models(*SERVED), ["Hand"], "en")) == (
        "de",
        {"language": "en", "confidence": 20.0},
    )


def test_detection_gives_any_language_by_the_code_of_the_models():
    served = models(*SERVED)
    for text, code in ((GERMAN, "de"), (NORWEGIAN, "no"), (GREEK, "el")):
        best, *others = asyncio.run(detect(served, [text]))
        assert best["language"] == code and 80 < best["confidence"] <= 100
        assert all(other["confidence"] <= best["confidence"] for other in others)
    assert asyncio.run(detect(served, ["42"])) == [{"language": "en", "confidence": 0.0}]


def test_each_protocol_takes_the_model_of_the_texts_language():
    async def answers(text):
        served = models(*SERVED)
        for each in served:
            each.start(10_000)
        fields = {"q": text, "source": "auto", "target": "en"}
        model, libre = await libre_translate.translate(served, None, fields)
        several = {**fields, "q": [text, text]}
        _, list_answer = await libre_translate.translate(served, None, several)
        fields = {"input": text, "target_language": "en"}
        openai = await openai_style.translations(served, None, fields)
        return model.name, libre, list_answer, openai

    for text, source in ((GERMAN, "de"), (FRENCH, "fr")):
        name, libre, several, openai = asyncio.run(answers(text))
        assert name == openai["model"] == f"{source}-en"
        assert libre["translatedText"] == f"{source}: {text}"
        assert libre["detectedLanguage"]["language"] == source
        assert several["detectedLanguage"] == [libre["detectedLanguage"]] * 2
        assert openai["data"][0]["text"] == f"{source}: {text}"


def test_the_source_may_be_reached_through_two_models():
    served = models("fr-de", "de-en")
    source, _ = asyncio.run(source_for(served, [FRENCH], "en"))
    assert source == "fr"


def test_a_request_that_names_its_source_has_no_detected_language():
    async def answer():
        [model] = models("de-en")
        model.start(10_000)
        fields = {"q": FRENCH, "source": "de", "target": "en"}
        return (await libre_translate.translate([model], None, fields))[1]

    assert asyncio.run(answer()) == {"translatedText": f"de: {FRENCH}"}


def test_models_that_do_not_know_their_languages_take_any_text():
    [unnamed] = models("de-en")
    unnamed.about, unnamed.target_language = {}, None
    assert asyncio.run(source_for([unnamed], [FRENCH], "en"))[0] == "auto"


def test_a_file_goes_to_the_model_of_its_language():
    async def answer(text):
        served = models(*SERVED)
        for each in served:
            each.start(10_000)
        documents = HostedDocuments(1_000, 100_000, 60)
        content = f"<h1>1.</h1><p>{text}</p>".encode() + f"<p>{ENGLISH}</p>".encode() * 80
        try:
            fields = {"source": "auto", "target": "en"}
            file = NamedFile("page.html", content)
            model, file, _ = await libre_translate.translate_file(served, documents, fields, file)
        finally:
            documents.close()
        return model.name, file.content.decode()

    for text, source in ((GERMAN * 40, "de"), (FRENCH * 40, "fr")):
        name, content = asyncio.run(answer(text))
        assert name == f"{source}-en"
        assert content.lower().count(f"<p>{source}: ") == 81  # All of it.
