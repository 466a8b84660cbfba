"""LibreTranslate's clients, whose requests are repeated here as their sources send them.

Each row is what one of them sends, and what it reads of the answer. Of the same requests
LibreTranslate 1.9.6 itself makes the same answers, but for the words.
"""

import json
from typing import Any, NamedTuple

import pytest
from starlette.testclient import TestClient

from kformer.inference.results import Translation
from kformer.server import RequestLimits, create_app
from kformer.server.refusals import Refusal
from kformer.server.suggestions import Suggestions
from server.test_hosted_documents import hosted

GERMAN = "Gestern sind wir lange durch die alte Stadt gelaufen."
DE_EN = {"source": "de", "target": "en"}
EMPTY_FORM = {"content": b"", "headers": {"Content-Type": "multipart/form-data; boundary=b"}}
KEY = "tea"


def multipart(**fields):
    """Returns what sends a form as `FormData` of a browser does."""
    return {"files": {name: (None, str(value)) for name, value in fields.items()}}


def served(*pairs, **options):
    """Yields a client of models whose translations begin with their target language."""
    models = []
    for pair in pairs:
        source, target = pair.split("-")
        model = hosted(lambda texts, target=target: [f"{target}: {text}" for text in texts])
        model.name, model.about, model.target_language = pair, {"source_language": source}, target
        model.several = lambda columns, number, target=target: [
            [Translation(f"{target}{rank}: {text}", -rank, ()) for rank in range(number)]
            for text in columns["text"]
        ]
        models.append(model)
    with TestClient(create_app(models, log=None, **options)) as client:
        yield client


@pytest.fixture(scope="module")
def server():
    yield from served("de-en", "en-de")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A server with keys and suggestions."""
    file = tmp_path_factory.mktemp("suggestions") / "suggestions.jsonl"
    yield from served("de-en", "en-zt", keys=[KEY], suggestions=file)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert {(line["s"], line["source"], line["target"]) for line in lines} == {("Hi\n", "de", "en")}


class Call(NamedTuple):
    """A request of a client, and what it reads."""

    client: str
    method: str
    path: str
    request: dict[str, Any]
    reads: Any
    expected: Any


def status(response):
    return response.status_code


def text(response):
    return response.json()["translatedText"]


def codes(response):
    return [language["code"] for language in response.json()]


def first_language(response):
    return response.json()[0]["language"]


def error(response):
    return response.status_code, type(response.json()["error"])


CALLS = [
    Call("Weblate", "GET", "/languages", {}, codes, ["de", "en"]),
    Call(
        "Weblate",
        "POST",
        "/translate",
        {"json": {"api_key": "", "q": ["a", "b"], **DE_EN}},
        text,
        ["en: a", "en: b"],
    ),
    Call(
        "TranslateYou",
        "POST",
        "/translate",
        {"params": {"q": GERMAN, "source": "auto", "target": "en", "format": "text"}},
        lambda response: (text(response), response.json()["detectedLanguage"]["language"]),
        (f"en: {GERMAN}", "de"),
    ),
    Call(
        "deep-translator",
        "POST",
        "/translate",
        {"params": {"q": "a & b", **DE_EN, "format": "text", "api_key": "any"}},
        text,
        "en: a & b",
    ),
    # Its plugin asks by GET, which LibreTranslate refuses, too.
    Call("OmegaT", "GET", "/translate", {"params": {"q": "a", **DE_EN}}, status, 405),
    Call("libretranslatepy", "POST", "/translate", {"data": {"q": "a", **DE_EN}}, text, "en: a"),
    Call("libretranslatepy", "POST", "/detect", {"data": {"q": GERMAN}}, first_language, "de"),
    Call("libretranslatepy", "GET", "/languages", {"content": b"api_key="}, codes, ["de", "en"]),
    Call("argos-translate", "POST", "/languages", {"content": b""}, status, 405),
    Call("Nextcloud", "POST", "/", EMPTY_FORM, status, 405),
    Call(
        "Nextcloud",
        "GET",
        "/frontend/settings",
        EMPTY_FORM,
        lambda response: response.json()["language"]["target"],
        {"code": "en", "name": "English"},
    ),
    Call(
        "Nextcloud",
        "POST",
        "/detect",
        EMPTY_FORM | {"params": {"q": GERMAN, "api_key": ""}},
        first_language,
        "de",
    ),
    Call(
        "Nextcloud",
        "POST",
        "/translate",
        multipart(q="<b>a</b>", format="html", **DE_EN, api_key=""),
        text,
        "<b>en: a</b>",
    ),
    Call(
        "Mastodon",
        "POST",
        "/translate",
        {
            "json": {
                "q": [f"<p>{GERMAN}</p>", "<p>b</p>"],
                "source": "auto",
                "target": "en",
                "format": "html",
                "api_key": None,
            }
        },
        lambda response: (text(response), response.json()["detectedLanguage"][1]["language"]),
        ([f"<p>En: {GERMAN}</p>", "<p>en: b</p>"], "de"),
    ),
    Call(
        "Mastodon",
        "GET",
        "/languages",
        {"headers": {"Content-Type": "application/json"}},
        lambda response: {
            each["code"]: [*{*each["targets"]} - {each["code"]}] for each in response.json()
        },
        {"de": ["en"], "en": ["de"]},
    ),
    Call(
        "Linguist",
        "POST",
        "/translate",
        {
            "json": {"q": ["a"], **DE_EN, "format": "text", "api_key": ""},
            # As Chromium sends them for an extension that may ask this server.
            "headers": {"Origin": "chrome-extension://abc", "Sec-Fetch-Site": "none"},
        },
        text,
        ["en: a"],
    ),
    Call(
        "Discourse", "POST", "/detect", {"data": {"q": GERMAN, "api_key": ""}}, first_language, "de"
    ),
    Call(
        "Discourse",
        "POST",
        "/translate",
        {
            "data": {
                "q": "<p>a</p>",
                "source": "de",
                "target": "en",
                "format": "html",
                "api_key": "",
            }
        },
        text,
        "<p>en: a</p>",
    ),
    Call(
        "LibreTranslate's page",
        "POST",
        "/translate",
        multipart(
            q=GERMAN,
            source="auto",
            target="en",
            format="text",
            alternatives=3,
            api_key="",
            secret="x",
        ),
        lambda response: (response.json()["alternatives"], response.json()["detectedLanguage"]),
        ([f"en{rank}: {GERMAN}" for rank in range(3)], {"language": "de", "confidence": 100.0}),
    ),
    Call(
        "LibreTranslate's page",
        "POST",
        "/suggest",
        multipart(q="a", s="b", **DE_EN, api_key=""),
        error,
        (403, str),
    ),
    Call(
        "LiquidBounce",  # Its `confidence` is an Int.
        "POST",
        "/detect",
        {"data": {"q": GERMAN}},
        lambda response: response.json()[0]["confidence"].is_integer(),
        True,
    ),
    Call(
        "LiquidBounce",
        "GET",
        "/frontend/settings",
        {},
        lambda response: [type(response.json()[name]) for name in ("apiKeys", "charLimit")],
        [bool, int],
    ),
    Call(
        "SearXNG",
        "POST",
        "http://testserver//translate",  # Its base address may end with a slash.
        {"json": {"q": "a", **DE_EN, "alternatives": 3}},
        lambda response: (text(response), response.json()["alternatives"]),
        ("en: a", ["en0: a", "en1: a", "en2: a"]),
    ),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.client}{call.path}")
def test_a_client_reads_what_it_looks_for(server, call):
    response = server.request(call.method, call.path, **call.request)
    assert call.reads(response) == call.expected


WAYS = [
    {"json": {"q": "a", **DE_EN}},
    {"data": {"q": "a", **DE_EN}},
    multipart(q="a", **DE_EN),
    {"params": {"q": "a", **DE_EN}},
]


@pytest.mark.parametrize("way", WAYS, ids=["JSON", "form", "multipart", "query"])
@pytest.mark.parametrize(
    ("key", "expected"), [("", 400), ("te", 403), (KEY, 200)], ids=["none", "wrong", "right"]
)
def test_a_key_is_read_wherever_a_client_puts_it(guarded, way, key, expected):
    [(kind, fields)] = way.items()
    sent = {kind: {**fields, "api_key": (None, key) if kind == "files" else key}}
    assert guarded.post("/translate", **sent).status_code == expected
    if expected != 200:
        assert error(guarded.post("/translate", **sent)) == (expected, str)


def test_languages_need_no_key_and_have_libretranslates_codes(guarded):
    assert guarded.get("/frontend/settings").json()["keyRequired"] is True
    assert guarded.get("/frontend/settings").json()["suggestions"] is True
    languages = {each["code"]: each["targets"] for each in guarded.get("/languages").json()}
    assert languages == {
        "de": ["de", "en", "zh-Hant"],
        "en": ["en", "zh-Hant"],
        "zh-Hant": ["zh-Hant"],
    }
    for code in ("zh-Hant", "zt", "zh-hant", "zh-TW"):
        fields = {"q": "a", "source": "EN", "target": code, "api_key": KEY}
        assert text(guarded.post("/translate", json=fields)) == "zt: a"


def test_a_suggestion_is_a_line_of_a_file_and_needs_a_key(guarded):
    fields = {"q": "Hallo", "s": "Hi\r\n", **DE_EN}
    for send in ({"data": fields}, multipart(**fields), {"params": fields}):
        assert guarded.post("/suggest", **send).status_code == 400
        answer = guarded.post("/suggest", **send, headers={"X-API-Key": KEY})
        assert (answer.status_code, answer.json()) == (200, {"success": True})
    for name in fields:
        blank = {**fields, name: "", "api_key": KEY}
        assert error(guarded.post("/suggest", json=blank)) == (400, str)


def test_the_file_of_suggestions_has_a_limit_and_is_its_owners(tmp_path):
    path = tmp_path / "suggestions.jsonl"
    suggestions = Suggestions(path, most=200)
    assert path.stat().st_mode & 0o777 == 0o600 and not path.read_bytes()
    suggestions.add(q="a\nb", s="ä")
    written = path.read_bytes()
    assert len(written.splitlines()) == 1 and json.loads(written)["q"] == "a\nb"
    with pytest.raises(Refusal, match="may have 200 bytes") as refused:
        suggestions.add(q="a" * 200)
    assert refused.value.status == 507 and path.read_bytes() == written
    with pytest.raises(ValueError, match=r"can be written\. Received: .*Is a directory"):
        Suggestions(tmp_path)


@pytest.mark.parametrize(
    "sent",
    [{"q": ["a <b>b</b>", "c"], "format": "html"}, {"q": "a", "alternatives": 2}, {"q": "ab"}],
)
def test_a_text_into_its_own_language_stays(server, sent):
    answer = server.post("/translate", json={**sent, "source": "en", "target": "EN"}).json()
    assert answer["translatedText"] == sent["q"]
    assert answer.get("alternatives", []) == []
    answer = server.post("/translate", json={"q": GERMAN, "source": "auto", "target": "de"}).json()
    assert answer["translatedText"] == GERMAN and answer["detectedLanguage"]["language"] == "de"
    openai = {"input": "a", "source_language": "en", "target_language": "en"}
    assert server.post("/v1/translations", json=openai).json()["data"][0]["text"] == "a"


@pytest.mark.parametrize(
    "fields",
    [
        {"target": "zz"},
        {"source": "zz", "target": "zz"},
        {"source": ""},
        {"q": ""},
        {"q": []},
        {"q": None},
        {"format": "xml"},
        {"alternatives": "x"},
        {"q": "a" * 60},
        {"q": ["a"] * 6},
    ],
)
def test_what_libretranslate_refuses_is_refused_alike(fields):
    limits = {"limits": RequestLimits(characters=50, texts=5)}
    [client] = served("de-en", **limits)
    assert error(client.post("/translate", json={"q": "a", **DE_EN, **fields})) == (400, str)


@pytest.mark.parametrize("fields", [{"format": None}, {"format": ""}, {"alternatives": -2}])
def test_what_libretranslate_takes_for_nothing_is_taken_alike(server, fields):
    assert server.post("/translate", json={"q": "a", **DE_EN, **fields}).json() == {
        "translatedText": "en: a"
    }


def test_of_one_name_the_first_value_counts_and_the_query_before_the_form(server):
    body = "q=a&q=b&source=de&target=de"
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = server.post("/translate?target=en", content=body, headers=headers)
    assert text(answer) == "en: a"
    assert server.get("/spec").json() == server.get("/openapi.json").json()
