"""Texts that are tokenized outside of a `.tflite` file: as in it, whatever they are."""

import json
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kformer
from kformer.export import export_tflite
from kformer.pocket import PocketTranslator, pocket_model
from kformer.pocket.metadata import METADATA, read_metadata
from support import toy
from support.pretrained import marian
from tasks.test_hostile_text import HOSTILE

MARKS = "".join(map(chr, [0x300, 0x308, 0xFE0F, 0x200D, 0x3099, 0x1100, 0x1161, 0x11A8]))
any_text = st.text(st.characters() | st.sampled_from("aou eﬁ①\u2581\t\n" + MARKS), max_size=30)
words = st.lists(st.sampled_from(" ".join(toy.SOURCES).split()), max_size=12).map(" ".join)


@pytest.fixture(scope="module")
def without_byte_fallback(tmp_path_factory):
    """A file with a vocabulary for each side, neither with pieces of bytes."""
    sides = [
        kformer.Tokenizer(marian.trained(text, vocab_size=size, pad_id=3, hard_vocab_limit=False))
        for text, size in ((toy.SOURCES, 90), (toy.TARGETS, 70))
    ]
    sizes = [side.vocab_size for side in sides]
    network = kformer.Transformer(
        sizes[0], 1, 8, 2, 8, target_vocab_size=sizes[1], padding_id=sides[0].padding_id
    )
    translator = kformer.Translator(sides[0], network, sides[1])
    path = tmp_path_factory.mktemp("bulk") / "translator.tflite"
    return export_tflite(translator, path, max_source_length=30)


@pytest.fixture(scope="module", params=["bytes", "no bytes"])
def runners(request, toy_tflite, without_byte_fallback):
    """Of one file a runner that tokenizes outside of the graph, and one that does not."""
    path = toy_tflite if request.param == "bytes" else without_byte_fallback
    outside, inside = (PocketTranslator(path, workers=1) for _ in range(2))
    assert outside._text.prepare_bulk()
    inside.bulk_signature = None
    return outside, inside


@pytest.mark.parametrize("number", [25, pytest.param(1000, marks=pytest.mark.prove)])
def test_ids_are_those_of_the_graph(runners, number):
    outside, inside = runners

    @settings(max_examples=number)
    @given(st.one_of(any_text, words, st.sampled_from(HOSTILE)))
    def compare(text):
        assert outside.tokenize(text) == inside.tokenize(text)

    compare()


@pytest.mark.parametrize("number", [25, pytest.param(1000, marks=pytest.mark.prove)])
def test_texts_of_ids_are_those_of_the_graph(runners, number):
    outside, _ = runners
    most = outside.manifest["target_vocab_size"] - 1

    @settings(max_examples=number)
    @given(st.lists(st.integers(0, most), max_size=outside.manifest["max_target_length"]))
    def compare(ids):
        ids = np.array(ids, np.int32)
        texts = [form._text.decode(form._team.first, ids) for form in runners]
        assert texts[0] == texts[1]

    compare()


def test_most_texts_are_tokenized_outside(runners):
    outside, _ = runners
    bulk = outside._text._bulk
    assert None not in [bulk.encode(text) for text in toy.SOURCES]
    assert [bulk.encode(text) for text in ("e\u0301", "a\tb", "\u2581", "\0", "\ud800")] == [
        None
    ] * 5


@pytest.mark.filterwarnings("ignore:Sentence")
def test_many_translations_are_those_of_few(runners, monkeypatch):
    outside, inside = runners
    texts = [*HOSTILE[:9], *toy.SOURCES[:30], "", " ".join(toy.SOURCES)]
    expected = inside.translations(texts, split=False)
    monkeypatch.setattr(pocket_model, "_MANY", len(texts))
    signatures, run = [], outside._team.map
    monkeypatch.setattr(
        outside._team, "map", lambda *call: signatures.append(call[0].__name__) or run(*call)
    )
    assert outside.translations(texts, split=False) == expected
    assert signatures[0] == "encode"  # Of the tokenizer, before the rows of ids.


def changed(path, copy, change):
    """Copies a file with other metadata."""
    metadata = read_metadata(path)
    copy.write_bytes(path.read_bytes()[: metadata["model_bytes"]])
    change(metadata)
    with zipfile.ZipFile(copy, "a") as archive:
        archive.writestr(METADATA, json.dumps(metadata))
    return copy


@pytest.mark.parametrize(
    "change",
    [
        lambda metadata: metadata["tables"]["source"]["pieces"]["label"].__setitem__(0, 2**40),
        lambda metadata: metadata["tables"]["source"]["scores"].__setitem__(1, 3),
        lambda metadata: metadata["tables"]["source"]["pieces"].__setitem__("start", 10**9),
        lambda metadata: metadata["tables"]["target"]["kind"].__setitem__(2, "float64"),
        lambda metadata: metadata["tables"]["source"]["replacements"]["follow"].__setitem__(0, -1),
    ],
)
def test_places_outside_of_the_file_are_refused(change, toy_tflite, tmp_path):
    path = changed(toy_tflite, tmp_path / "changed.tflite", change)
    text = PocketTranslator(path)._text
    with pytest.raises(ValueError, match="The places of tables in the metadata"):
        text.prepare_bulk()


def test_a_file_without_places_is_tokenized_inside(toy_tflite, tmp_path):
    path = changed(toy_tflite, tmp_path / "old.tflite", lambda metadata: metadata.pop("tables"))
    translator = PocketTranslator(path)
    assert not translator._text.prepare_bulk()
    many = translator.translate(toy.SOURCES[:2] * (pocket_model._MANY // 2))
    assert many[:2] == translator.translate(toy.SOURCES[:2])
