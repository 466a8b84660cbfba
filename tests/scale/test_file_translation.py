"""Translating on a runner gives what the export gives."""

import gzip

import pytest

import kformer
import kformer.scale
from support import toy
from support.beam import needs_beam

pytestmark = needs_beam

SENTENCES = [*toy.SOURCES[:23], "", "der hund\u2028ruft"]


@pytest.fixture(params=["tflite", pytest.param("saved_model", marks=pytest.mark.prove)])
def export(request, toy_tflite, toy_saved_model):
    return {"tflite": toy_tflite, "saved_model": toy_saved_model}[request.param]


def test_it_is_a_transform_of_texts_and_of_texts_with_keys(export):
    import apache_beam as beam
    from apache_beam.testing.util import assert_that, equal_to

    expected = kformer.load(export).translate(SENTENCES)
    translate = kformer.scale.Translate(export)
    with beam.Pipeline("FnApiRunner") as pipeline:
        texts = pipeline | "Texts" >> beam.Create(SENTENCES) | "Alone" >> translate
        keyed = [(str(number), text) for number, text in enumerate(SENTENCES)]
        pairs = pipeline | "Pairs" >> beam.Create(keyed) | "WithKeys" >> translate
        assert_that(texts, equal_to(expected), "Texts are translated")
        assert_that(
            pairs,
            equal_to([(str(number), text) for number, text in enumerate(expected)]),
            "Keys stay with their texts",
        )


def test_a_file_is_translated_in_order(toy_tflite, tmp_path, monkeypatch):
    from kformer.scale import file_translation as translation
    from kformer.scale import line_blocks as lines

    monkeypatch.setattr(lines, "_BLOCK", 61)
    monkeypatch.setattr(translation, "_LINES", 7)
    sentences = [text.replace("\u2028", " ") for text in SENTENCES] * 2
    text = "".join(f"{line}\n" for line in sentences).encode()
    expected = kformer.load(toy_tflite).translate(sentences)
    for name, content in (("text", text), ("text.gz", gzip.compress(text))):
        (tmp_path / name).write_bytes(content)
        output = tmp_path / "new" / f"{name}.en"
        flags = kformer.scale.translate_text(toy_tflite, tmp_path / name, output)
        assert output.read_text("utf-8").splitlines() == [
            " ".join(line.splitlines()) for line in expected
        ]
        assert "source cut" not in flags
        assert [path.name for path in output.parent.iterdir()] == [output.name]
        output.unlink()


@pytest.mark.filterwarnings("ignore:Sentence")
def test_texts_that_were_cut_are_counted(toy_tflite, tmp_path):
    (tmp_path / "text").write_text("der hund " * 3000 + "\nder hund ruft .\n", "utf-8")
    flags = kformer.scale.translate_text(toy_tflite, tmp_path / "text", tmp_path / "text.en")
    assert flags["source cut"] == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"der hund\n\xff\n", r"Text must be UTF-8. Received: '.*text', where line 2 is not"),
        (b"", r"must not be empty. Received: '.*text'"),
        (None, r"There is no such file. Received: '.*text'"),
    ],
)
def test_a_damaged_text_leaves_nothing_behind(toy_tflite, tmp_path, content, message):
    if content is not None:
        (tmp_path / "text").write_bytes(content)
    before = [*tmp_path.iterdir()]
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        kformer.scale.translate_text(toy_tflite, tmp_path / "text", tmp_path / "text.en")
    assert [*tmp_path.iterdir()] == before


def test_only_an_export_translates_on_a_runner(toy_keras, tmp_path):
    with pytest.raises(ValueError, match=r"`kformer export` writes both. Received: '.*\.keras'"):
        kformer.scale.Translate(toy_keras)
    with pytest.raises(FileNotFoundError, match="There is no such file"):
        kformer.scale.Translate(tmp_path / "none.tflite")
    with pytest.raises(ValueError, match=r"saved_model.pb, or numbered versions. Received"):
        kformer.scale.Translate(tmp_path)


def test_a_damaged_export_is_named(toy_tflite, tmp_path):
    (tmp_path / "cut.tflite").write_bytes(toy_tflite.read_bytes()[:-100])
    with pytest.raises(FileNotFoundError, match=r"Received: '.*cut\.tflite'"):
        kformer.scale.Translate(tmp_path / "cut.tflite")


def test_the_output_must_be_a_file(toy_tflite, tmp_path):
    (tmp_path / "text").write_text("der hund\n", "utf-8")
    for output in (tmp_path, "/dev/null"):
        with pytest.raises(ValueError, match=r"must be a file. Received: '/"):
            kformer.scale.translate_text(toy_tflite, tmp_path / "text", output)
