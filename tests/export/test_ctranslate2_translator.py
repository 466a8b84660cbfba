"""A folder of CTranslate2 as a saved form: what `kformer.load` returns for it."""

import shutil
import warnings

import pytest

import kformer
from kformer.export import CTranslate2Translator, export_ctranslate2
from support import toy
from support.serving.served_api import served_api

pytest.importorskip("ctranslate2", reason="Not installed: ctranslate2.")
TEXTS = [*toy.SOURCES[:40], "", "  ", "xyz", " ".join(toy.SOURCES[:20]), "wir sucht"]
LETTER = f"{toy.SOURCES[0]}\n\n  {toy.SOURCES[1]} {toy.SOURCES[2]}\n"


@pytest.fixture(scope="module")
def folder(toy_keras, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ctranslate2") / "folder"
    translator = kformer.load(toy_keras)  # A copy of its own, which gets languages.
    translator.about |= {"source_language": "de", "target_language": "en"}
    return export_ctranslate2(translator, folder)


@pytest.fixture(scope="module")
def form(folder):
    return kformer.load(folder)


def test_it_translates_as_python_does_with_the_same_flags_and_scores(form, toy_translator):
    assert isinstance(form, CTranslate2Translator)
    assert isinstance(form, kformer.SavedTranslator)
    with warnings.catch_warnings(action="ignore"):  # Of the text that is cut.
        expected = toy_translator.translations(TEXTS, details=False, split=False)
        answers = form.translations(TEXTS, split=False)
    assert [best.text for [best] in answers] == [best.text for [best] in expected]
    assert [best.flags for [best] in answers] == [best.flags for [best] in expected]
    scores = [best.score for text, [best] in zip(TEXTS, expected, strict=True) if text.strip()]
    ours = [best.score for text, [best] in zip(TEXTS, answers, strict=True) if text.strip()]
    assert ours == pytest.approx(scores, abs=1e-3)
    assert {flag for [best] in answers for flag in best.flags} >= {"source cut"}


def test_the_batch_changes_nothing(form):
    alone = [form.translate([text])[0] for text in toy.SOURCES[:9]]
    assert form.translate(toy.SOURCES)[:9] == alone


def test_paragraphs_are_split_as_in_python(form, toy_translator):
    expected = toy_translator.split_translations([LETTER])
    assert form.split_translations([LETTER]) == expected
    assert form.translate([LETTER], split=True) == [expected[0].text]


def test_terms_of_a_glossary_are_those_of_python(form, toy_translator, folder):
    glossary = {"hund": "hound", "katze": "tomcat", "baum": "oak tree"}
    texts = ["", *toy.SOURCES[:20]]
    expected = toy_translator.translations(texts, details=False, glossary=glossary)
    answers = form.translations(texts, glossary=glossary)
    assert [best.text for [best] in answers] == [best.text for [best] in expected]
    assert [best.flags for [best] in answers] == [best.flags for [best] in expected]
    assert [best.score for [best] in answers[1:]] == pytest.approx(
        [best.score for [best] in expected[1:]], abs=1e-3
    )
    assert form.translate(texts[1:3], glossary=glossary) == [best.text for [best] in expected[1:3]]
    [split] = form.split_translations([f"{texts[1]}\n{texts[2]}"], glossary=glossary)
    assert split.text == f"{expected[1][0].text}\n{expected[2][0].text}"
    several = CTranslate2Translator(folder, options=kformer.SearchOptions(beam_size=2, n_best=2))
    with pytest.raises(ValueError, match="Received: glossary, n_best"):
        several.translate(texts, glossary=glossary)


def test_texts_that_are_cut_are_warned_of(form):
    with pytest.warns(UserWarning, match="Sentence 1 is over the model's limit"):
        form.translate([TEXTS[-2]], split=False)


def test_what_it_cannot_do_is_refused(form, refused, folder):
    with pytest.raises(ValueError, match="gives no vectors of texts"):
        form.encode(["wir"])
    with pytest.raises(ValueError, match="fra"):
        form.into("fra")
    assert "has the search that was chosen" in refused("translate", folder, "--beam-size", "4")


def test_commands_take_it(command, folder, toy_run, form):
    text = f"{toy.SOURCES[0]}\n".encode()
    result = command("translate", folder, stdin=text)
    assert result.stdout == f"{form.translate([toy.SOURCES[0]])[0]}\n"
    files = toy_run.files["valid.de"], toy_run.files["valid.en"]
    result = command("evaluate", folder, "--source", files[0], "--reference", files[1])
    assert result.returncode == 0, result.stderr
    described = command("inspect", folder).stdout
    assert "translator, folder of CTranslate2" in described and "de -> en" in described


def test_a_keras_file_is_translated_with_it_on_the_fly(command, refused, toy_keras, form):
    texts = toy.SOURCES[:5]
    arguments = ["translate", toy_keras, "--engine", "ctranslate2"]
    result = command(*arguments, stdin="\n".join(texts).encode())
    assert result.stdout.splitlines() == form.translate(texts), result.stderr
    assert "--resume needs a model that stays" in refused(*arguments, "--resume")


@pytest.mark.parametrize("name", ["model.bin", "source.spm", "config.json", "kformer.json"])
def test_a_damaged_folder_is_refused(name, folder, tmp_path):
    shutil.copytree(folder, tmp_path / "copy")
    (tmp_path / "copy" / name).write_bytes(b"\0" * 100)
    with pytest.raises(ValueError, match="must"):
        kformer.load(tmp_path / "copy")


@pytest.mark.prove
def test_a_server_takes_it(folder, form):
    with served_api(folder) as api:
        assert api.translate(LETTER) == {"translatedText": form.translate([LETTER], split=True)[0]}
