"""Texts with markup and documents by a model that is hosted: same tags, shared batches, bounds."""

import asyncio
import contextlib
import threading
from concurrent.futures import CancelledError
from pathlib import Path
from typing import ClassVar, NamedTuple

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from documents.test_round_trips import PAGES, TAGS, Reference
from kformer.documents.document_translation import translate_markup
from kformer.inference.facts import ModelFacts
from kformer.inference.splitting import (
    SentenceTranslation,
    SplitTranslation,
    translate_split,
)
from kformer.kinds import TRANSLATOR
from kformer.server.arriving_bodies import ArrivingBodies
from kformer.server.hosted_documents import HostedDocuments, Languages, WaitingTranslator
from kformer.server.hosted_models import HostedModel
from kformer.server.hosted_routes import for_languages
from kformer.server.hosted_signatures import HostedSignature
from kformer.server.libre_translate import languages
from kformer.server.refusals import Refusal
from kformer.server.request_bodies import NamedFile
from kformer.server.translated_files import TranslatedFiles
from kformer.text.alignment import WordAlignment

INTO = Languages("de", "en")
ABOUT = {"directions": ["de-en", "en-de", "fr-en"]}


def hosted(translate, aligner=None, batch_size=32):
    """Returns a model that translates by a function of a text."""

    def answer(columns):
        translations = translate(columns["text"])
        return [{"translation": text, "score": 0.0, "flags": ""} for text in translations]

    signatures = {"serving_default": HostedSignature(("text",), {}, answer)}
    return HostedModel(
        "a", Path("a"), "keras", TRANSLATOR, {}, signatures, (), "en", batch_size, 1, aligner
    )


def test_a_model_of_several_directions_is_chosen_by_them_and_flags_others():
    model = hosted(lambda texts: texts)
    model.about, model.target_language, model.choice = ABOUT, None, ("en", "de")
    model.signatures["serving_default"] = model.signatures["serving_default"]._replace(
        inputs=("text", "target_language")
    )
    other = hosted(lambda texts: texts)
    assert languages([other, model]) == [
        {"code": "de", "name": "German", "targets": ["de", "en"]},
        {"code": "en", "name": "English", "targets": ["de", "en"]},
        {"code": "fr", "name": "French", "targets": ["en", "fr"]},
    ]
    assert for_languages([other, model], "fr", "en") is model
    with pytest.raises(Refusal, match="de or en or fr to en or de"):
        for_languages([model], "en", "fr")

    def flags_of(source, target):
        translate = ask(model, lambda _: model.paragraphs(["a b"], source, target))
        return [answer.flags for answer in translate]

    assert flags_of("fr", "de") == [("zero-shot",)]
    assert flags_of("fr", "en") == flags_of(None, "de") == [()]


def ask(model, function, portion=1000, waiting=10_000):
    """Returns what a coroutine of a `HostedDocuments` returns."""

    async def ask_it():
        documents = HostedDocuments(portion, 10_000, 60)
        model.start(waiting)
        try:
            return await function(documents)
        finally:
            documents.close()
            await model.stop()

    return asyncio.run(ask_it())


def markup(model, texts, **options):
    return ask(model, lambda documents: documents.markup(model, texts, INTO, **options))


def upper(texts):
    return [text.upper() for text in texts]


@given(st.lists(PAGES, max_size=3))
def test_a_model_that_changes_nothing_leaves_any_fragment_as_it_is(pages):
    assert [text for text, _ in markup(hosted(list), pages)] == pages


FRAGMENTS = st.lists(
    st.one_of(
        st.sampled_from(["ein hund", " läuft.", "{name}", "&amp;", " ", "\n"]),
        TAGS.filter(lambda tag: tag.endswith(">") and tag != "<title>"),
    ),
    max_size=30,
).map("".join)


@given(st.lists(FRAGMENTS, max_size=3))
def test_python_and_a_server_answer_alike_with_each_tag_once(texts):
    translations = [text for text, _ in markup(hosted(upper), texts)]
    assert translations == [text for text, _ in translate_markup(texts, upper)]
    for before, after in zip(texts, translations, strict=True):
        before, after = Reference(before), Reference(after)
        assert sorted(map(repr, after.tags)) == sorted(map(repr, before.tags))


class Turning:
    """A translator that turns the words around, and aligns them."""

    facts = ModelFacts(aligns=True)

    def split_translations(self, texts, **_languages):
        return translate_split(lambda asked, _: map(Best, self.turned(asked)), texts)

    def turned(self, texts):
        return [" ".join(reversed(text.upper().split())) for text in texts]

    def align(self, sources, _targets):
        numbers = [len(source.split()) for source in sources]
        return [WordAlignment((), (), [], 0, np.eye(number)[::-1]) for number in numbers]


class Best(NamedTuple):
    text: str
    flags: tuple = ()


def test_alignments_of_a_model_place_the_tags_as_in_python():
    turning = Turning()
    texts = ["ein <b>hund</b> sucht das haus", "der <i>hund ruft</i> uns heute laut"]
    expected = ["HAUS DAS SUCHT <b>HUND</b> EIN", "LAUT HEUTE UNS <i>RUFT HUND</i> DER"]
    assert [text for text, _ in translate_markup(texts, turning)] == expected
    model = hosted(turning.turned, turning.align)
    assert [text for text, _ in markup(model, texts)] == expected


def test_requests_with_markup_share_batches():
    batches, go = [], threading.Semaphore(0)

    def translate(texts):
        go.acquire()
        batches.append(len(texts))
        return upper(texts)

    model = hosted(translate)

    async def many(documents):
        asked = [
            asyncio.ensure_future(documents.markup(model, [f"<p>text <b>{name}</b>"], INTO))
            for name in "abcdefgh"
        ]
        while model.waiting < 8 * len("text a"):
            await asyncio.sleep(0.001)
        go.release(8)
        return [text for [(text, _)] in await asyncio.gather(*asked)]

    assert ask(model, many) == [f"<p>TEXT <b>{name}</b>" for name in "ABCDEFGH"]
    assert sum(batches) == 8 and len(batches) <= 3


class OftenFull:
    """A model whose queue is full at the first and the third request."""

    source_language = target_language = aligner = glossary = None
    about: ClassVar = {}

    def __init__(self):
        self.asked = []

    async def paragraphs(self, texts, *_languages):
        self.asked.append(texts)
        if len(self.asked) in (1, 3):
            raise Refusal(429, "full", retry_after=0)
        sentences = [SentenceTranslation(text, text.upper(), ()) for text in texts]
        return [SplitTranslation(each.text, (), (each,)) for each in sentences]


def test_a_document_that_has_begun_waits_for_a_full_queue():
    model, content = OftenFull(), b"one one\n\ntwo two\n\nthree three\n"

    async def translate():
        documents = HostedDocuments(9, 999, 60)
        with pytest.raises(Refusal, match="full"):
            await documents.document(model, content, "a.txt", INTO)
        translated = await documents.document(model, content, "a.txt", INTO)
        documents.close()
        return translated

    translated, report = asyncio.run(translate())
    assert translated == content.upper() and report.segments == 3
    texts = [["one one"], ["two two"], ["three three"]]
    assert model.asked == [texts[0], texts[0], texts[1], texts[1], texts[2]]


def test_a_document_ends_when_its_client_goes_away():
    asked, ended = threading.Event(), threading.Event()

    class Endless(OftenFull):
        async def paragraphs(self, texts, *_languages):
            asked.set()
            await asyncio.sleep(600)

    async def leave():
        translator = WaitingTranslator(Endless(), INTO, 9, 99)

        def wait():
            for text in ("a", "b"):  # The second time, it does not wait at all.
                with contextlib.suppress(CancelledError):
                    translator.split_translations([text])
            ended.set()

        waiting = asyncio.ensure_future(asyncio.to_thread(wait))
        await asyncio.to_thread(asked.wait)
        translator.close()
        await asyncio.wait_for(waiting, 5)

    asyncio.run(leave())
    assert ended.is_set()


def test_the_texts_of_a_document_have_a_limit():
    model = hosted(list)
    page = b"<p>a</p>" + b"<p>bb " + b"c" * 10_000 + b"</p>"
    with pytest.raises(Refusal, match="may have 10,000 characters") as refused:
        ask(model, lambda documents: documents.document(model, page, "a.html", INTO))
    assert refused.value.status == 413


@given(st.lists(st.integers(0, 40), max_size=40))
def test_files_that_wait_stay_within_their_bound_the_newest_of_them(sizes):
    async def put_all():
        files = TranslatedFiles(100)
        tokens = [files.put(NamedFile("a", bytes(size))) for size in sizes]
        stored = [*map(files.get, tokens)]
        kept = [size for file, size in zip(stored, sizes, strict=True) if file]
        assert kept == sizes[len(sizes) - len(kept) :] and sum(kept) <= 100
        older = sizes[: len(sizes) - len(kept)]
        assert not older or sum(kept) + older[-1] > 100
        assert [file.content for file in stored if file] == [*map(bytes, kept)]

    asyncio.run(put_all())


def test_a_file_is_deleted_after_some_time():
    async def wait():
        files = TranslatedFiles(100, seconds=0.01)
        token = files.put(NamedFile("a", b"a"))
        assert files.get(token) and len(token) >= 20
        while files.get(token):
            await asyncio.sleep(0.001)

    asyncio.run(asyncio.wait_for(wait(), 5))


def test_requests_that_arrive_together_have_a_bound():
    bodies = ArrivingBodies(100)
    with bodies.place() as first, bodies.place() as second:
        first.grow(60)
        second.grow(40)
        with pytest.raises(Refusal, match="as many requests") as refused:
            second.grow(1)
        assert refused.value.status == 429 and refused.value.retry_after
        first.grow(40)  # The second one has given back what it had.
    with bodies.place() as place:
        place.grow(100)
