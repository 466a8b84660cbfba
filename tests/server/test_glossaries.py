"""Terms of a glossary in the answers of a server, in each of its protocols."""

import pytest

import kformer
from kformer.documents.document_translation import translate_content, translate_markup
from kformer.server.hosted_files import host
from kformer.server.hosted_signatures import HostedSignature, with_glossaries
from kformer.serving import Client
from server.test_files_and_html import fetched, posted

TERMS = {"hund": "hound", "haus": "barn"}
WRITTEN = "hund\thound\nhaus\tbarn\n"
TEXT = "der hund sucht das haus .\n\nwir ruft uns ."


@pytest.fixture(scope="module")
def translator(toy_tflite):
    return kformer.load(toy_tflite)


@pytest.fixture(scope="module")
def expected(translator):
    [text] = translator.translate([TEXT], split=True, glossary=TERMS)
    assert "hound" in text and "barn" in text
    return text


@pytest.mark.parametrize("glossary", [TERMS, WRITTEN])
def test_each_protocol_takes_the_terms_of_a_request(api, translator, expected, glossary):
    assert api.translate(TEXT, glossary=glossary)["translatedText"] == expected
    plain = translator.translate([TEXT], split=True)
    assert [
        api.translate(TEXT, glossary=nothing)["translatedText"] for nothing in ({}, "")
    ] == 2 * plain
    body = {"model": "de-en", "input": TEXT, "glossary": glossary}
    assert api.ask("/v1/translations", body).json["data"][0]["text"] == expected
    html = "<p>der <b>hund</b> sucht</p>"
    [(marked, _)] = translate_markup([html], translator, glossary=TERMS)
    assert api.translate(html, glossary=glossary, format="html")["translatedText"] == marked
    assert "hound" in marked


def test_a_file_gets_the_terms_of_its_request(api, translator):
    content = b'["der hund sucht"]'
    response = fetched(api, posted(api, "a.json", content, glossary=WRITTEN))
    assert response.content == translate_content(content, "a.json", translator, glossary=TERMS)[0]
    assert b"hound" in response.content


@pytest.mark.parametrize("split", [False, True])
def test_a_client_sends_the_terms_of_each_text(api, translator, split):
    texts = [*TEXT.split("\n\n"), "das haus .", ""]
    with Client(api.url, timeout=30) as client:
        answers = client.translate(texts, split=split, glossary=TERMS)
        assert answers == translator.translate(texts, split=split, glossary=TERMS)
        with pytest.raises(ValueError, match="Received: glossary, n_best"):
            client.translations(texts, n_best=2, glossary=TERMS)


@pytest.mark.parametrize(
    ("glossary", "message"),
    [("hund", "a term, a tab and its translation"), ({"": "a"}, "must not be blank")],
)
def test_a_malformed_glossary_is_refused(api, glossary, message):
    fields = {"q": TEXT, "source": "de", "target": "en", "glossary": glossary}
    response = api.ask("/translate", fields)
    assert response.status == 400 and message in response.json["error"]
    response = api.ask("/translate", {**fields, "glossary": {"a" * 60_000: "b"}})
    assert response.status == 400 and "50,000 characters" in response.json["error"]


def test_a_glossary_at_the_start_is_for_requests_without_one(toy_tflite, tmp_path):
    (tmp_path / "terms.tsv").write_text(WRITTEN, "utf-8")
    [model] = host([toy_tflite], [tmp_path / "terms.tsv"])
    assert model.glossary.find("hund")
    [model] = host([f"toy={toy_tflite}"], [f"toy={tmp_path / 'terms.tsv'}"])
    assert model.glossary.find("hund")
    with pytest.raises(ValueError, match=r"NAME=PATH names one of de-en\. Received: 'fr-en="):
        host([toy_tflite], [f"fr-en={tmp_path / 'terms.tsv'}"])


@pytest.mark.parametrize(
    ("texts", "written", "calls"),
    [
        (["a", "c", "e"], ["a\tb", "c\td", ""], 2),  # Parts of one glossary.
        (["a", "a", "e"], ["a\tb", "a\td", ""], 3),  # A term with two translations.
        (["a c", "a c", "e"], ["a\tb", "a c\td", "e\tf"], 3),  # A term of one client alone.
    ],
)
def test_rows_with_other_glossaries_are_translated_apart(texts, written, calls):
    asked = []

    def row(text):
        return {"translation": text, "score": 0.0, "flags": "", "truncated": False}

    def answer(columns, glossary=None):
        asked.append(columns["text"])
        found = [glossary.find(text) if glossary else () for text in columns["text"]]
        return [row(" ".join(each.translation for each in terms)) for terms in found]

    outputs = dict.fromkeys(row(""), ("DT_STRING", 1))
    signature = with_glossaries(HostedSignature(("text",), outputs, answer), answer)
    rows = signature.answer({"text": texts, "glossary": written})
    expected = [
        " ".join(each.translation for each in kformer.Glossary.from_text(terms).find(text))
        if terms
        else ""
        for text, terms in zip(texts, written, strict=True)
    ]
    assert [each["translation"] for each in rows] == expected
    assert len(asked) == calls and {*rows[0]} == {"translation", "score", "flags"}
