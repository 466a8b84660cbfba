"""`kformer translate` of a document, with a translator that needs no model."""

from pathlib import Path

import pytest

import kformer.cli.answered_before
import kformer.cli.translate
from kformer.documents.lines_of_text import is_lines_of_text
from kformer.inference.facts import ModelFacts
from kformer.inference.splitting import SentenceTranslation, SplitTranslation
from kformer.text.tmx import read_tmx

PAGE = '<h1>Hello</h1>\n<p>A <b>dog</b> ran {away}.<p>Hello\n<img alt="{x}">'


class Capitals:
    """A translator that writes capitals; of a text with "lost" nothing is left."""

    facts = ModelFacts(about={"source_language": "en"}, target_language="xx")

    def split_translations(self, texts, **languages):
        assert {*languages} <= {"source_language", "options"}
        answers = ["" if "lost" in text else text.upper() for text in texts]
        return [
            SplitTranslation(answer, ("loop",) * ("Loop" in text), (pair,))
            for text, answer in zip(texts, answers, strict=True)
            for pair in [SentenceTranslation(text, answer, ())]
        ]


@pytest.fixture
def model(written, monkeypatch):
    monkeypatch.setattr(kformer.cli.translate, "open_ensemble", lambda *_: Capitals())
    return written("model.tflite", b"\0\0\0\0TFL3")


def test_the_suffix_makes_a_file_a_document(command, model, written, tmp_path):
    page, output, memory = written("a.html", PAGE), tmp_path / "b.html", tmp_path / "a.tmx"
    options = ("--input", page, "--output", output, "--tmx", memory)
    result = command("translate", model, *options)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    expected = PAGE.replace("Hello", "HELLO").replace("<b>dog", "<b>DOG").replace("ran", "RAN")
    assert output.read_text() == expected
    assert [*read_tmx(memory)] == [("Hello", "HELLO"), ("A dog ran {away}.", "A DOG RAN {away}.")]
    command("translate", model, *options[:4], "--keep", "email")
    assert "RAN {AWAY}" in output.read_text()


def test_a_dry_run_lists_lines_and_texts(command, model, written, tmp_path):
    before = [written("a.html", PAGE), model]
    result = command("translate", model, "--input", before[0], "--dry-run")
    assert result.stdout == "1\tHello\n2\tA dog ran {away}.\n2\tHello\n"
    assert result.stderr == "kformer: 3 texts, 2 of them different, with 27 characters.\n"
    assert sorted(tmp_path.iterdir()) == before


def test_what_cannot_be_placed_is_on_stderr_and_in_the_exit_code(command, model, written, tmp_path):
    page, output = written("a.md", "Loop a\n\nb lost\n"), tmp_path / "b.md"
    result = command("translate", model, "--input", page, "--output", output)
    assert result.returncode == 1
    assert result.stderr == (
        "kformer: Line 1: its translation repeats itself.\n"
        "kformer: 1 text could not be placed, and stays as it was: "
        "line 3: its translation is empty.\n"
    )
    assert output.read_text() == "LOOP A\n\nb lost\n"


def test_an_interrupted_document_goes_on_and_comes_out_the_same(
    command, model, written, tmp_path, monkeypatch
):
    page, output = written("a.md", "one\n\ntwo\n\nthree\n\none\n"), tmp_path / "b.md"
    monkeypatch.setattr(kformer.cli.answered_before, "_TEXTS", 1)
    asked = []

    class Interrupted(Capitals):
        def split_translations(self, texts, **languages):
            asked.extend(texts)
            if len(asked) == 3:
                raise KeyboardInterrupt
            return super().split_translations(texts, **languages)

    monkeypatch.setattr(kformer.cli.translate, "open_ensemble", lambda *_: Interrupted())
    options = ("translate", model, "--input", page, "--output", output, "--resume")
    result = command(*options)
    assert "kformer: Stopped after 2 texts. The same command goes on there.\n" in result.stderr
    assert not output.exists()
    result = command(*options)
    assert (result.returncode, result.stderr) == (0, "kformer: Resuming after 2 texts.\n")
    assert asked == ["one", "two", "three", "three"]
    assert output.read_text() == "ONE\n\nTWO\n\nTHREE\n\nONE\n"
    assert {*tmp_path.iterdir()} == {page, model, output}


def test_options_that_do_not_go_with_a_document_are_refused(refused, model, written):
    page = written("a.json", "[1]")
    line = refused("translate", model, "--input", page, "--output", "b.json", "--paragraphs")
    assert line.endswith("--kind lines translates its lines instead. Received: --paragraphs.")
    line = refused("translate", model, "--input", page)
    assert line.startswith("kformer: A document needs --input and --output")
    line = refused("translate", model, "--dry-run", stdin=b"a\n")
    assert line.endswith("Received: --dry-run with lines of text.")
    line = refused("translate", model, "--input", page, "--keep", "(", "--dry-run")
    assert "regular expressions" in line
    line = refused("translate", model, "--input", written("b.json", "{"), "--output", "c.json")
    assert line.startswith("kformer: A document must be JSON. Received: ")


FORMATS = "a.tex a.tmx a.ts a.ftl a.php a.ass a.rst a.adoc a.rtf a.pdf a.doc a.xlsx a.yaml.gz A.INI"


@pytest.mark.parametrize("name", FORMATS.split())
def test_a_known_format_is_not_translated_line_by_line(command, refused, model, written, name):
    file, output = written(name, "key = A dog\n"), written("old", "")
    message = refused("translate", model, "--input", file, "--output", output)
    assert message.startswith("kformer: A document must have one of the suffixes .txt, ")
    assert message.endswith(f"--kind lines translates it line by line. Received: {str(file)!r}.")
    if not name.endswith(".gz"):
        result = command("translate", model, "--input", file, "--kind", "text", "--output", output)
        assert (result.returncode, output.read_text()) == (0, "KEY = A DOG\n")


LINES = "a a.txt train.de train.tok.pt_BR.gz a.src a.hyp.7 test.cs test.pl test.tr A.EN a.unknown"


@pytest.mark.parametrize("name", LINES.split())
def test_languages_and_unknown_suffixes_are_lines(written, name):
    assert is_lines_of_text(written(name, "A dog runs.\n"))


# Of ISO 639-1, those that are suffixes of a format, too.
TWO_LETTERS = "as bs cs cu hr lb mk ml mo ms my pa pl ps rn sh sl so sv tr vi"


@pytest.mark.parametrize("code", TWO_LETTERS.split())
def test_a_code_of_a_language_is_no_format(code):
    assert is_lines_of_text(Path(f"test.{code}"))


STARTS = ("<?xml version", " \n<!DOCTYPE html>", "\ufeff<html>", "%PDF-1.7")


@pytest.mark.parametrize("start", STARTS)
def test_a_file_of_no_known_suffix_may_begin_like_a_format(written, start):
    assert not is_lines_of_text(written("a.unknown", start))
    assert is_lines_of_text(written("a.txt", start))


def test_an_output_does_not_get_the_suffix_of_another_kind(refused, model, written, tmp_path):
    page, text = written("a.html", PAGE), written("a.txt", "A dog")
    before = sorted(tmp_path.iterdir())
    for file, output in ((page, "b.docx"), (page, "b.pdf"), (page, "b.txt"), (text, "b.odt")):
        message = refused("translate", model, "--input", file, "--output", tmp_path / output)
        assert "must not have the suffix of another one. Received: output=" in message
        with pytest.raises(ValueError, match="suffix of another one"):
            kformer.translate_document(file, list, tmp_path / output)
    assert sorted(tmp_path.iterdir()) == before
    for output in ("b.htm", "b.de", "b", "b.HTML"):
        kformer.translate_document(page, list, tmp_path / output)
    odd = written("a.md", PAGE)
    kformer.translate_document(odd, list, tmp_path / "b.md", kind="html")


def test_lines_are_not_asked_of_a_server_or_a_runner_for_a_document(refused, model, written):
    page = written("a.html", PAGE)
    message = refused("request", "http://127.0.0.1:9", "--input", page)
    assert "A request has lines of text: stdin is always lines" in message
    options = ("--input", page, "--output", "b.html", "--runner", "DirectRunner")
    message = refused("translate", model, *options)
    assert "On a runner, lines of text are translated; --kind lines" in message


def test_terms_of_a_glossary_are_not_looked_for_in_placeholders(written, tmp_path):
    class WithTerms(Capitals):
        facts = ModelFacts(no_terms=None)

        def split_translations(self, texts, glossary):
            terms = [[term.translation for term in glossary.find(text)] for text in texts]
            answers = [" ".join([text, *found]) for text, found in zip(texts, terms, strict=True)]
            return [
                SplitTranslation(answer, (), (SentenceTranslation(text, answer, ()),))
                for text, answer in zip(texts, answers, strict=True)
            ]

    page, output = written("a.json", '["a dog, {dog}", "https://dog.org dog"]'), tmp_path / "b"
    glossary = {"dog": "Hund"}
    kformer.translate_document(page, WithTerms(), output, kind="json", glossary=glossary)
    assert output.read_text() == '["a dog, {dog} Hund", "https://dog.org dog Hund"]'
    with pytest.raises(ValueError, match=r"A glossary needs .* Received: glossary"):
        kformer.translate_document(page, Capitals(), output, kind="json", glossary=glossary)


def test_translations_of_a_catalog_may_be_fuzzy(command, model, written, tmp_path):
    catalog, output = written("a.po", 'msgid "A dog"\nmsgstr ""\n'), tmp_path / "b.po"
    options = ("--input", catalog, "--output", output)
    assert command("translate", model, *options).returncode == 0
    assert output.read_text() == 'msgid "A dog"\nmsgstr "A DOG"\n'
    assert command("translate", model, *options, "--fuzzy").returncode == 0
    assert output.read_text() == '#, fuzzy\nmsgid "A dog"\nmsgstr "A DOG"\n'
