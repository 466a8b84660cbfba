"""The Kotlin files of an Android project: compiled, and run on the Java virtual machine.

Android and LiteRT are stand-ins: Node.js has Android's ICU, and Python's LiteRT runs the file.
"""

import json
import shutil
import warnings
import zipfile
from functools import partial

import keras
import pytest

import kformer
from browser.chromium import NotHere
from kformer.export import export_tflite
from kformer.inference.quality_estimate import FEATURES, QualityEstimate
from kformer.pocket import PocketTranslator
from kformer.text.paragraphs.abbreviations import abbreviations_of, goes_on
from kformer.text.paragraphs.joining import join, with_sources
from kformer.text.paragraphs.marks import piece_of, piece_of_part
from kformer.text.paragraphs.sentence_splitting import halves
from support import toy
from support.android_app import ASSETS, App, compile_app, installed_compiler
from support.paragraphs import LINES, random_lines, random_texts
from support.pretrained import marian
from support.sure_texts import HOSTILE, HOSTILE_LENGTH, LOST, checked_answers
from support.tflite_metadata import with_metadata

pytestmark = pytest.mark.prove
ODD = ["", " \n\n", "das häus 🐕", "wir\0ruft\0", "wir\ud800ruft", "a" + "\u0301" * 900, "½ \u2581"]


@pytest.fixture(scope="module")
def compiler(request):
    cache = request.config.rootpath / ".pytest_cache" / "kotlin"
    cache.mkdir(parents=True, exist_ok=True)
    try:
        return installed_compiler(cache)
    except NotHere as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def jar(compiler, android_project, made_once):
    return made_once("android_app", partial(compile_app, compiler, android_project))


@pytest.fixture
def app(compiler, jar, android_project):
    app = App(compiler, jar, android_project)
    yield app
    app.close()


def test_clauses_are_those_of_python(app):
    texts = [text.strip() for text in random_texts(600, "abcd,;…!? \u00a0\n、。”\u0301\u200d🏽👩क्")]
    for text in filter(None, texts):
        parts = halves(text)
        expected = parts and [list(piece) for piece in with_sources(map(piece_of_part, parts))]
        assert app("halves", text=text) == expected, ascii(text)


def test_marks_and_abbreviations_are_those_of_python(app):
    languages = ["en", "de", "fr", "hu", "ru", "ja", "hi", "xx", "no"] * 60
    lines = zip(random_lines(540, 13), random_lines(540, 17), languages, strict=True)
    for place, (line, rest, code) in enumerate(lines):
        known, first = abbreviations_of(code), place % 2 == 0
        piece = app("pieceOf", text=line, first=first, language=code)
        assert piece == list(piece_of(line, first, known)), (line, code)
        assert app("goesOn", text=line, rest=rest, language=code) == goes_on(line, rest, known), (
            line
        )


def test_lines_are_split_as_in_python(app):
    for language, line, sentences in LINES:
        pieces = app("piecesOf", text=line, language=language)
        assert "".join(map("".join, pieces)) == line
        assert [source for _, source, _ in pieces if source] == sentences


def test_translations_are_joined_as_in_python(app):
    translations = ["A dog.", "好。", "สุนัข", "Ναι!", ""]
    for language, line, _ in LINES:
        text = f"{line}\r\n\n{line} {line}"
        pieces = [kformer.text.paragraphs.joining.Piece(*row) for row in app("piecesOf", text=text)]
        for start in range(len(translations)):
            chosen = translations[start:] + translations[:start]
            texts = [chosen[place % len(chosen)] for place in range(len(pieces))]
            found = app("join", text=text, language=None, translations=chosen)
            assert found == join(pieces, texts), (language, line)


def test_texts_are_read_and_answers_checked_as_in_python(app):
    for text, about, answer, expected in checked_answers(2000):
        checked = app("checked", text=text, about=about, answer=answer)
        # Java takes other marks for the end of a word, where a sigma has a form of its own.
        rows = [[row[0].replace("ς", "σ"), *row[1:]] for row in (checked, expected)]
        assert rows[0] == rows[1], ascii((text, about, answer))


def test_hostile_texts_take_linear_time(app):
    for part in HOSTILE:
        times = HOSTILE_LENGTH // len(part)
        assert min(app("seconds", part=part, times=times) for _ in range(2)) < 1, part


def in_python(tflite, text, target=None):
    """The answer of a file in Python, in the form of the driver."""
    with warnings.catch_warnings(action="ignore"):  # Of sentences that are too long.
        [found] = PocketTranslator(tflite).split_translations(
            [text], source_language="de", target_language=target
        )
    sentences = [[each.source, each.text, [*each.flags], each.quality] for each in found.sentences]
    return [found.text, [*found.flags], sentences]


def assert_equal(found, expected):
    assert found[:2] == expected[:2]
    assert [each[:3] for each in found[2]] == [each[:3] for each in expected[2]]
    qualities = [[each[3] for each in sentences] for _, _, sentences in (found, expected)]
    assert qualities[0] == pytest.approx(qualities[1])


def test_texts_are_translated_and_flagged_as_in_python(app, android_project, toy_tflite):
    assets = str(android_project / ASSETS)
    assert app("open", assets=assets) == ["de", "en", [], "CC0", "Nobody (2026)"]
    long_text = ", ".join(toy.SOURCES[:40])
    texts = [*toy.SOURCES[:20], "\n\n - ".join(toy.SOURCES[:5]), long_text, *ODD]
    flags = set()
    for text in texts:
        found, expected = app("translate", text=text), in_python(toy_tflite, text)
        assert_equal(found, expected)
        flags |= {*found[1]}
    assert {"source split", "source cut"} <= flags


def test_the_file_decides_which_capitals_and_scripts_are_read(
    app, android_project, toy_tflite, tmp_path
):
    about = {"reads_capitals": False, "scripts": ["Latin"]}
    file = with_metadata(toy_tflite, tmp_path / "latin.tflite", **about)
    app("open", assets=str(android_project / ASSETS), file=str(file))
    texts = [toy.SOURCES[0].upper(), "Новый дом", *(source for source, *_ in LOST)]
    answers = [app("translate", text=text) for text in texts]
    for text, answer in zip(texts, answers, strict=True):
        assert_equal(answer, in_python(file, text))
    assert answers[0][0] == toy.TARGETS[0].upper()
    assert answers[1][:2] == ["Новый дом", ["unknown characters"]]


def test_the_file_runs_on_one_thread_and_a_cancelled_text_ends_early(app, android_project):
    app("open", assets=str(android_project / ASSETS))
    text = "\n".join(toy.SOURCES[:12])
    assert app("cancel", text=text) == 2
    assert len(app("translate", text=text)[2]) == 12
    assert app("close") == ["kformer"]
    assert app("translate", text=text) == "IllegalStateException: The translator is closed."


def test_a_download_is_compared_with_its_checksum(app, android_project, toy_tflite, tmp_path):
    assets, file = str(android_project / ASSETS), tmp_path / "new.tflite"
    shutil.copy(toy_tflite, file)
    assert app("open", assets=assets, file=str(file))[:2] == ["de", "en"]
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 1
    file.write_bytes(content)
    answer = app("open", assets=assets, file=str(file))
    assert answer == f"IOException: The .tflite file was damaged or changed: {file}."
    file.write_bytes(content[: len(content) // 2])
    answer = app("open", assets=assets, file=str(file))
    assert answer.startswith("IOException: The .tflite file is not whole")


def test_a_device_without_a_library_of_litert_gets_an_exception(app, android_project, tmp_path):
    file = tmp_path / "other-processor.tflite"
    shutil.copy(android_project / ASSETS / "translator.tflite", file)
    answer = app("open", assets=str(android_project / ASSETS), file=str(file))
    assert answer.startswith("UnsupportedOperationException: LiteRT does not run on this device")
    assert "UnsatisfiedLinkError: no litert_jni" in answer


def test_the_test_of_the_project_passes(app, android_project, tmp_path):
    assets = str(android_project / ASSETS)
    assert app("test", assets=assets) == "passed"
    with zipfile.ZipFile(android_project / ASSETS / "translator.tflite") as archive:
        [first, *_] = json.loads(archive.read("test_vectors.json"))
    damaged = tmp_path / "assets"
    shutil.copytree(assets, damaged)
    content = (damaged / "translator.tflite").read_bytes()
    translation = json.dumps(first["translation"]).encode()
    assert content.count(b'"translation": ' + translation) == 1
    other = "x" * (len(translation) - 2)
    (damaged / "translator.tflite").write_bytes(content.replace(translation, f'"{other}"'.encode()))
    answer = app("test", assets=str(damaged))
    assert answer == f"IllegalStateException: {first['translation']} instead of {other}"


def test_languages_are_chosen_by_their_code(app, android_project, tmp_path):
    keras.utils.set_random_seed(1)
    words = marian.vocabulary((">>en<<", ">>de<<"))
    network = marian.transformer(words.pieces)
    marian.write_folder(tmp_path / "marian", words, network, max_position_embeddings=16)
    file = export_tflite(kformer.from_marian(tmp_path / "marian"), tmp_path / "a.tflite")
    opened = app("open", assets=str(android_project / ASSETS), file=str(file))
    assert sorted(opened[2]) == ["de", "en"]
    text = "der hund schläft .\nhaus"
    expected = [in_python(file, text, code) for code in ("de", "en")]
    assert expected[0] != expected[1]
    for code, answer in zip(("de", "en"), expected, strict=True):
        assert_equal(app("translate", text=text, target=code), answer)
    answer = app("translate", text=text)
    assert answer.startswith("IllegalArgumentException: The target language must be one of")


def test_an_unsure_translation_is_flagged(app, android_project, toy_keras, tmp_path):
    translator = kformer.Translator.load(toy_keras)
    weights = {**dict.fromkeys(FEATURES, 0.05), "log_probability": 2.0}
    translator.quality_estimate = QualityEstimate(weights, 1.5, threshold=0.8)
    file = export_tflite(translator, tmp_path / "a.tflite", max_source_length=40)
    app("open", assets=str(android_project / ASSETS), file=str(file))
    flags = []
    for text in [*toy.SOURCES[:9], "XQ ZZ", "12 é"]:
        found = app("translate", text=text)
        assert_equal(found, in_python(file, text))
        flags.append("unsure" in found[1])
    assert {*flags} == {True, False}
