"""Hostile documents take time that is linear in their bytes: each pattern, and each loop.

A pattern or a loop is measured at a size and at four times the size. Where time grows with the
square of the size, it takes 16 times as long. `HOSTILE` has a worst case for each pattern that
reads the text of others; a pattern without one fails the test.
"""

import ast
import importlib
import io
import pkgutil
import re
import time
import zipfile
from pathlib import Path

import pytest

import kformer.documents
import kformer.text.paragraphs
from kformer.documents import amounts
from kformer.documents.document_translation import translate_content
from kformer.documents.placeholders import SYNTAXES, keep_pattern
from kformer.text.paragraphs.sentence_splitting import split_pieces

SIZE = 3000  # Characters, and then four times as many.
MOST_GROWTH = 8  # Linear time grows by 4, quadratic time by 16.
PACKAGES = (kformer.documents, kformer.text.paragraphs)
# Other modules read names of files.
TEXT_MODULES = (
    "inference.forced_terms",
    "inference.source_marks",
    "inference.sure_checks",
    "inference.term_drafts",
    "text.alignment",
    "text.numbers",
    "text.tmx",
)

# For each pattern the parts of its worst texts: what is before a part that is repeated, the part,
# and what is behind.
SPACES = ("", " ", "x")
HOSTILE = {
    "abbreviations.AFTER_QUOTATION": [("", "と", "x")],
    "abbreviations.NUMERAL": [("", "I", "x"), ("", "I ", "")],
    "abbreviations.WHITE_SPACE": [SPACES],
    "abbreviations._LETTER": [("", "a", ""), ("", "a.", "")],
    "abbreviations._WORD_AT_BEGINNING": [("", "a", "1")],
    "alignment._BYTES": [("", "<0xC3>", ""), ("", "<0xC", "")],
    "alignment._NO_DIGITS": [("", "<0x", ""), ("", "a", "")],
    "alignment._LINK": [("", "1", "x"), ("", "1-", "x")],
    "amounts._AMOUNT": [
        ("", "1", "x"),
        ("", "1,", "x"),
        ("", "1'", "x"),
        ("", "1 000 ", "x"),
        ("", " 000", "x"),
        ("", "$", "x"),
        ("", "A", "x"),
        ("", "$1 ", "x"),
    ],
    "android_strings._ESCAPE": [("", "\\", ""), ("", "\\u", "")],
    "android_strings._QUOTE": [("", '"', ""), ("", '\\"', "")],
    "android_strings._RESOURCE": [("", "@", ""), ("", "@a", " ")],
    "apple_plurals._TEXT_KEY": [("", "1", "x"), ("", "one", "")],
    "apple_plurals._VARIABLE": [("", "%", ""), ("", "%1$#@a", ""), ("%#@", "a", "")],
    "apple_strings._ESCAPE": [("", "\\", ""), ("", "\\U", "")],
    "apple_strings._TOKEN": [
        ("", " ", "x"),
        ("/*", "*", ""),
        ("", "/*", ""),
        ('"', "\\a", ""),
        ('"', "a", ""),
        ("", "a/", ""),
    ],
    "asking._NAME": [("", "X", "")],
    "character_sets._LEAD": [(b"", b"\x81", b""), (b"", b"\x81a", b"")],
    "character_sets._KNOWN": [("iso8859-", "1", "x"), ("iso2022_jp", "_a", "-"), ("mac", "a", "-")],
    "csv_columns._CELLS": [('"', "a", ""), ('"', '""', ""), ("", "a", ""), ("", '"', "x")],
    "csv_columns._OUTSIDE_QUOTES": [('"', "a", ""), ("", '"', ""), ("", '"a', "")],
    "csv_columns._SPECIAL": [SPACES, ("", "a", "")],
    "gettext_catalogs._CHARSET": [
        (b"", b'"Content-Type:', b""),
        (b'"Content-Type:', b"charset=", b""),
    ],
    "gettext_catalogs._ESCAPE": [("", "\\", ""), ("", "\\x", ""), ("", "\\7", "")],
    "gettext_catalogs._FORMAT": [("", "a", ""), ("no-", "a-", ""), ("", "no-", "")],
    "gettext_catalogs._FORMS": [
        ("", "Plural-Forms:", ""),
        ("Plural-Forms:", " ", "x"),
        ("Plural-Forms: nplurals=1; plural=", "a", ""),
    ],
    "gettext_catalogs._LANGUAGE": [("Language:", " ", ";"), ("", "Language:a", "")],
    "gettext_catalogs._TEMPLATE_FORMS": [("", "nplurals=INTEGER; plural", "")],
    "gettext_catalogs._PO_LINE": [
        ("", " ", "x"),
        ("msgid", " ", "x"),
        ('"', "a", ""),
        ('"', "\\a", ""),
        ('"a"', " ", "x"),
    ],
    "html_text._ANY_TAG": [("", "<", ""), ("", "<a", "")],
    "html_text._ATTRIBUTE": [
        ("", "a", '"'),
        ("a", " ", '"'),
        ("", "a ", ""),
        ("", 'a="', ""),
        ('a="', "b='", ""),
        ("a=", " ", '"'),
        ("", "a=", ""),
    ],
    "html_text._CHARSET": [],  # It is searched in 2,048 bytes.
    "html_text._EQUALS": [("=", " ", ""), ("", "= ", "")],
    "html_text._IN_TAG": [("", "a", "<")],
    "html_text._NUMBER": [("", "&#", ""), ("&#", "0", "x"), ("&#", "1", "x"), ("", "&#00", "")],
    "html_text._RAW_ENDS": [("", "</title", ""), ("", "</", ""), ("", "</style ", "")],
    "html_text._REFERENCE": [("", "&", ""), ("&", "a", ""), ("", "&a", ""), ("", "&#1", "")],
    "html_text._SHOWN_TEMPLATE": [("<?php", " ", "x")],
    "html_text._TAG_NAME": [("", "<a", ""), ("<", "a", ""), ("", "</", "")],
    "html_text._XML": [
        (b"<?xml ", b"encoding", b""),
        (b"<?xml encoding", b" ", b""),
        (b"<?xml", b" ", b""),
    ],
    "icu_messages._HEAD": [
        ("{", " ", ""),
        ("{", "a", ""),
        ("{a", " ", ""),
        ("{a,", " ", ""),
        ("", "{", ""),
    ],
    "icu_messages._NUMBER": [("", "#", "")],
    "icu_messages._QUOTED": [("", "'", ""), ("", "'{", "")],
    "icu_messages._SELECTOR": [
        ("", " ", "{"),
        ("offset:", "1", "{"),
        ("offset:1", " ", "{"),
        ("=", "1", "{"),
        ("", "a", "{"),
        ("", "offset:", ""),
    ],
    "joining.SPACES": [SPACES],
    "joining.UNSPACED": [("", "犬", ""), ("", "a", "")],
    "joining.UNSPACED_WORDS": [("", "ก", ""), ("", "a", "")],
    "java_properties._APOSTROPHE": [("", "'", ""), ("", "a'", "")],
    "java_properties._BRACES": [("", "'", ""), ("", "'{", ""), ("", "{", "'")],
    "java_properties._CAPITAL_HEX": [("\\u", "0", ""), ("", "\\u0", "")],
    "java_properties._ESCAPE": [
        ("", "\\", ""),
        ("", "\n ", ""),
        ("\n", " ", "x"),
        ("", "\\u0", ""),
    ],
    "java_properties._FORMAT": [("", "{", "")],
    "java_properties._ICU": [("{", " ", "x"), ("", "{a ", ""), ("", "{a, ", ""), ("{", "a", "")],
    "java_properties._ENTRY": [
        ("", " ", "\\"),
        ("", "\\\n", ""),
        ("", "\\\r", ""),
        ("a", "\\\n ", "="),
        ("", "#", ""),
        ("", "=", ""),
        ("", "a\\", ""),
    ],
    "java_properties._MARK": [("", "'", ""), ("", "{", "")],
    "json_strings._TOKEN": [
        ('"', "a", ""),
        ('"', "\\a", ""),
        ("", "[", ""),
        ("", "a", ""),
        ("", '"a', ""),
    ],
    "markdown_text._ALT": [("", "![", ""), ("![", "a", ""), ("", "![a", "")],
    "markdown_text._BEGINS_BLOCK": [("", "#", ""), ("", ":", ""), ("", "?", "")],
    "markdown_text._BEGINS_ITEM": [("", "1", "")],
    "markdown_text._MODULE": [
        ("import ", "a", ""),
        ("import a from '", "a", ""),
        ("", "import '", ""),
        ("export const a = ", "a", "\n"),
        ("", "import 'a' ", "x"),
        ("import 'a'", " ", "x"),
        ("export const ", "a", ""),
    ],
    "markdown_text._TITLE": [
        ("", " ", "x"),
        ("", "a", "["),
        ("a", " ", "{"),
        ("a[", "a", ""),
        ("a ", "a ", "\n"),
    ],
    "markdown_text._BARE": [("", "\\*", ""), ("", "*", "")],
    "markdown_text._DEFINITION": [("", " ", "x"), (":", " ", "x"), ("", ": ", "")],
    "markdown_text._ESCAPED": [("", "\\", ""), ("", "\\a", "")],
    "markdown_text._FRONT_MATTER": [
        ("---\n", "\n---x", ""),
        ("---", " ", "x"),
        ("---\n\n---", " ", "x"),
    ],
    "markdown_text._IN_LINE": [("", "a", "")],
    "markdown_text._LINES": [("", "a", ""), ("", "\r", ""), ("", "\n", "")],
    "markdown_text._MARK": [
        ("", "[^", ""),
        ("[^", "a", ""),
        ("[!", "a", ""),
        ("", "[!a", ""),
        ("", "{#", ""),
        ("", ":a", ""),
    ],
    "markdown_text._MARKUP": [("", "*", ""), ("", "<", ""), ("", "&", ""), ("&", "a", "")],
    "markdown_text._TAG": [("<", "a", ""), ("", "<a", "")],
    "markdown_text._TASK": [("", "[x]", ""), ("", "[ ", "")],
    "marks.DOTS": [(".", " ", "x"), (". ", ".", "x"), ("", ". ..", "x"), ("", ". ", "x")],
    "marks.INNER_MARK": [("1.", " ", "x"), ("1、", " ", "x"), ("", "1. ", "")],
    "marks.LETTER_MARK": [("a.", " ", "b."), ("", "a. ", "")],
    "marks.LIST_MARK": [
        ("", ">", "1"),
        ("#", " ", "x"),
        ("- ", " ", "x"),
        ("[", " ", "x"),
        ("(a)", " ", "x"),
        ("•", " ", "x"),
        ("", "(", ""),
        ("一、", " ", "x"),
    ],
    "marks.NUMBER_MARK": [
        ("1.", " ", "x"),
        ("1-", " ", "a"),
        ("", "1.", "x"),
        ("", "x", ""),
        ("(1)", " ", "x"),
    ],
    "marks._DAY": [("", "1", "x"), ("1.", "1", "x"), ("1.1.", " ", "x")],
    "numbers._MARK": [("", ",", "x")],
    "numbers._NUMBER": [("", "1", "x"), ("", "1'", "."), ("", "1 000 ", "x"), ("", " 000", "x")],
    "numbers._SPACE": [SPACES],
    "raised_notes._NOTE": [("1", ",1", "x"), ("", "*", "")],
    "raised_notes._WORD": [("", "a", "")],
    "runs_of_text._EMPTY": [("", "<rPr", ""), ("<rPr", " ", ""), ("<", "a", "")],
    "runs_of_text._INVISIBLE": [
        ("", "<lang ", ""),
        ("<lang ", "a", ""),
        ("", " ", "x"),
        ('lang="', "a", ""),
        ("", " lang=", ""),
        ("<", "a", ""),
    ],
    "runs_of_text._PREFIX": [("<", "a", ""), ("<", "a.", "")],
    "runs_of_text._SUPERSCRIPT": [("", "vertAlign ", ""), ("vertAlign ", "a", "")],
    "segments._SPACES": [SPACES],
    "sentence_splitting.BEGINNING": [
        (". ", "(", "1"),
        ("", ". ", ""),
        (". ", " ", "1"),
        ("", ".)", ""),
    ],
    "sentence_splitting.CLAUSE_END": [
        (",", " ", "x"),
        ("", ",", "x"),
        ("、", " ", "x"),
        ("", ",)", "x"),
    ],
    "sentence_splitting.OPENED": [],  # It is searched in four characters.
    "sentence_splitting.WORD_END": [SPACES],
    "sentence_splitting._MORE_ENDS": [
        (".)", " ", "1"),
        (".", " ", "x"),
        ("。", "」", "x"),
        ("。", " ", "犬"),
        ("", "。」", "犬"),
        ("。）", " ", "x"),
        ("", ".", "x"),
    ],
    "sentence_splitting._OF_CODE": [("", "-", "x")],
    "sentence_splitting._ONE_SENTENCE": [("aa", " a", ";"), ("aa", "a", ";"), ("aa", ", a", ";")],
    "sentence_splitting._WHITE_SPACE": [SPACES],
    "source_marks.SYMBOLS": [("", "\ue010", ""), ("", "a", "")],
    "source_marks._ANY": [("", "\ue000", ""), ("", "a", "")],
    "string_catalogs._INDENT": [SPACES],
    "string_catalogs._LINE_END": [("", "\n", ""), ("", "a", "")],
    "subtitles._BLOCK": [("NOTE", " ", "\n"), ("", "NOTE ", "")],
    "subtitles._CODE": [("", "<", ""), ("", "<a", ""), ("", "{\\", ""), ("", "{", "")],
    "subtitles._LETTER": [("", "a", "")],
    "subtitles._LETTERS": [("", "a", "1")],
    "subtitles._SPEAKER": [
        SPACES,
        ("", "<a>", "x"),
        ("", " <a>", "x"),
        ("", "<", ""),
        ("", "{}", "x"),
    ],
    "subtitles._TAG_NAME": [("<", "a", ""), ("", "<a", "")],
    "subtitles._TIMES": [
        ("", " ", "x"),
        ("00:00:01,000", " ", "x"),
        ("00:00:01,000 -->", " ", "x"),
        ("00:00:01,000 --> 00:00:02,000", " ", "\n"),
        ("", "1:", ""),
    ],
    "subtitles._UNSPACED": [("", "a", "")],
    "subtitles._VOICE": [
        ("<v", " ", ""),
        ("", " ", "x"),
        ("<v.", "a", ""),
        ("<v ", "a", ""),
        ("", "<v ", ""),
    ],
    "sure_checks._ADDRESS": [
        ("", "a", ""),
        ("", "a@", ""),
        ("a@", "a.", ""),
        ("", "http://a", ""),
        ("", "www.", ""),
    ],
    "sure_checks._DIGITS": [("", "1", "x")],
    "sure_checks._NUMBERS": [("", "1", "x"), ("", "1'", "."), ("", "1 000 ", "x")],
    "sure_checks._OTHER_DIGITS": [("", "a", ""), ("", "a-", ""), ("", "1", ""), ("", "a1", "")],
    "sure_checks._PLACEHOLDER": [
        ("", "{", ""),
        ("", "{{", ""),
        ("", "%(", ""),
        ("", "%1", ""),
        ("", "<a", ""),
        ("", "`", ""),
        ("", "`a", ""),
    ],
    "sure_checks._SCRIPTS": [("", "a", ""), ("", "\u4e2d", "")],
    "sure_checks._WORDS": [("", "a", "1"), ("", "a ", "")],
    "term_drafts._ELISION": [("", "'", ""), ("", "a'", "")],
    "term_drafts._WORD": [("", "a", ""), ("", " ", "")],
    "tmx._SPACE": [SPACES],
    "forced_terms._BETWEEN_SPACES": [("", "a", ""), ("", "a ", "")],
    "forced_terms._RUN": [("", "a", ""), ("", "a ", ""), ("", "犬", "")],
    "word_documents._TEXTS": [("word/header", "1", "x")],
    "word_documents._HAS_TEXT": [("", "<a", ""), ("<", "a", ""), ("<", "a.", "")],
    "word_documents._LANGUAGE": [
        ("<", "a", ""),
        ("", "<lang ", ""),
        ("<lang ", "a ", ""),
        ("<rPr ", "a:", ""),
        ('<rPr lang="', "a", ""),
    ],
    "word_documents._HEXADECIMAL": [("", "a", "x")],
    "word_places._BETWEEN_SPACES": [("", "a", ""), ("", "a ", "")],
    "word_places._PIECE": [("", "a", ""), ("", "a-", "")],
    "word_places._WORD": [("", "a", ""), ("", "a-", ""), ("", "-", ""), ("", "a'", "")],
    "xliff._BREAK": [SPACES, ("<br", " ", ""), ("<br", "/", ""), ("<", "a", "")],
    "xliff._OF_ANGULAR": [("START_", "A", "-"), ("START_", "_1", "-")],
    "xliff._PLACEHOLDER": [("", "{", "\n"), ("", "a", "")],
    "xliff._STATE": [
        ("", " ", "x"),
        (" state", " ", "x"),
        (" state=", " ", "x"),
        (' state="', "a", ""),
        ("", " state=", ""),
    ],
    "xliff._VALUE": [("INTERPOLATION_", "1", "x")],
    "xliff._PREFIX": [("<", "a", ""), ("<", "a.", "")],
    "xml_tokens._ATTRIBUTE": [
        ("", " ", ""),
        (" ", "a", ""),
        (" a", " ", ""),
        (' a="', "a", ""),
        ("", ' a="', ""),
    ],
    "xml_tokens._FORBIDDEN": [("", "\x01", "")],
    "xml_tokens._FILE_NAME": [("", "a", " ")],
    "yaml_strings._BLANK_LINES": [
        ("", " ", "x"),
        ("", "\n", "x"),
        ("", " \n", "x"),
        ("", "\r", ""),
    ],
    "yaml_strings._DATE": [("", "%", ""), ("", "%-", "x"), ("", "%d", "x"), ("", "1", "x")],
    "yaml_strings._HEADER": [("|", " ", "x"), ("| #", "a", ""), ("", "|", "")],
    "yaml_strings._LANGUAGE": [("en", "-AB", ""), ("", "a", "")],
    "yaml_strings._NOT_PRINTED": [("", "\0", ""), ("", "a", "")],
    "yaml_strings._PROPERTY": [
        ("&", "a", ""),
        ("&a", " ", "x"),
        ("", "&a ", ""),
        ("&a #", "b", ""),
    ],
    "yaml_strings._SYMBOL": [(":", "a", "-"), ("", ":", "")],
    "xml_tokens._ANY_TAG": [("", "<", ""), ("", "<a", "")],
    "xml_tokens._DECLARATION": [
        (b"<?xml ", b"encoding ", b""),
        (b"<?xml encoding", b" ", b""),
        (b"<?xml ", b"a", b""),
    ],
    "xml_tokens._REFERENCE": [
        ("&", "a", ""),
        ("&#", "1", ""),
        ("&#x", "a", ""),
        ("", "&#x", ""),
        ("", "&", ""),
    ],
    "placeholders._NEVER_SPANS": [("", "1", "x"), ("", "1,", "x"), ("", "🏻", "x"), ("", "$", "x")],
    "placeholders._PLAIN_WORD": [("", "a", "1")],
    "placeholders._TITLED": [
        (":", "a", ""),
        ("`", "a", ""),
        ("`a", " ", "x"),
        ("`a <", "a", ""),
        ("", "` <", ""),
    ],
    "declared_languages._TAG": [("aa", "-bb", "!"), ("", "a", ""), ("aa-", "b", "!")],
    "open_documents._FORMAT": [("<", "a", ""), ("", "<text-properties ", ""), ("<", "a:", "")],
    "open_documents._LANGUAGE": [("<", "a", ""), ("<language>", "a", ""), ("", "<a", "")],
    "open_documents._LANGUAGE_OF_FORMAT": [("", " fo:language=", ""), (' fo:language="', "a", "")],
    "presentations._TEXTS": [("ppt/slides/slide", "1", "x")],
    "placeholders._TAG": [("<", "a", ""), ("<a", " ", ""), ("<a", "/", ""), ("", "<a/", "")],
    "placeholders.keep_pattern": [
        ("", part, end)
        for end in ("", "x")
        for part in (
            *("{", "<a ", "<!--", "$t(", "{{", "www.-", "www.", "a@", "a.", "%(", "http://", "&a"),
            *(
                "🏻",
                "%1",
                "{ {}",
                "{% ",
                "<%",
                "<% ",
                "<0",
                "&lt;a ",
                "&lt;a &",
                ":a",
                ":a:`",
                "`a ",
                "`a <",
                "``",
                "[[a",
                "__a",
                "_a",
                "%a.",
                "%(",
                "%<a",
                "%<PRIa",
                "``a'",
                "```a",
                "$a",
                "~1,",
                "{%",
                "{#",
                "%(a",
                "a@b.",
                "{a {b",
                "${",
                "%#@a",
                "1 000 ",
                "#a",
                "@",
            ),
        )
    ],
}


def modules():
    for package in PACKAGES:
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            yield importlib.import_module(module.name)
    for name in TEXT_MODULES:
        yield importlib.import_module(f"kformer.{name}")


def patterns():
    """Returns the patterns of the modules by their names; several in a dict have one name."""
    declared = "|".join(pattern for kinds in SYNTAXES.values() for pattern in kinds.values())
    known = {"placeholders.keep_pattern": [keep_pattern(), re.compile(declared)]}
    for module in modules():
        source = Path(module.__file__).read_text("utf-8")
        for name, value in vars(module).items():
            values = value.values() if isinstance(value, dict) else [value]
            values = [each for each in values if isinstance(each, re.Pattern)]
            if values and re.search(rf"\b{name}\b.* = ", source):  # Else it is imported.
                known[f"{module.__name__.rpartition('.')[2]}.{name}"] = values
    return known


def is_searched(name):
    """Returns whether a pattern may begin anywhere in a text, and not only at one place."""
    methods = re.compile(rf"\b{name.rpartition('.')[2]}\b(?:\[[^]]*\])?\.(\w+)")
    used = {
        method
        for module in modules()
        for method in methods.findall(Path(module.__file__).read_text("utf-8"))
    }
    return name == "placeholders.keep_pattern" or not used <= {"match", "fullmatch", "pattern"}


PATTERNS = patterns()


def growth(work, *sizes):
    """Returns how the time of `work` grows from one size to the other, of milliseconds at least."""
    seconds = []
    for size in sizes:
        begun = time.process_time()
        work(size)
        seconds.append(max(time.process_time() - begun, 1e-3))
    return seconds[1] / seconds[0]


def check_linear(work, size):
    """Fails if time grows as of a square, three times: other processes disturb a measurement."""
    assert any(growth(work, size, 4 * size) < MOST_GROWTH for _ in range(3))


def matching(pattern, before, part, behind, everywhere=True):
    """Returns a function of a size that looks for a pattern in a text."""

    def work(size):
        text = before + part * (size // len(part)) + behind
        if everywhere:
            for _ in pattern.finditer(text):
                pass
        pattern.match(text)
        pattern.fullmatch(text)

    return work


def test_each_pattern_that_reads_the_text_of_others_has_a_worst_case():
    assert sorted(PATTERNS) == sorted(HOSTILE)


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_a_pattern_takes_linear_time(name):
    everywhere = is_searched(name)
    for pattern in PATTERNS[name]:
        for parts in HOSTILE[name]:
            check_linear(matching(pattern, *parts, everywhere), SIZE)


@pytest.mark.parametrize(
    ("pattern", "parts", "size"),
    [
        (r"\s+x", ("", " ", "y"), 3000),
        (r"[.)\]][\"')\]]*\s*\Z", ("", ")", "x"), 800),
        (r"<v\s+([^<>]+)>", ("<v", " ", ""), 600),
    ],
)
def test_quadratic_time_is_noticed(pattern, parts, size):
    work = matching(re.compile(pattern), *parts)
    assert max(growth(work, size, 4 * size) for _ in range(3)) > MOST_GROWTH


def test_every_pattern_is_a_constant_of_its_module():
    """So that the table has it."""
    for module in modules():
        tree = ast.parse(Path(module.__file__).read_text("utf-8"))
        inside = {
            id(node)
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef)
            for node in ast.walk(function)
        }
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id == "re":
                place = f"{module.__name__}, line {node.lineno}"
                assert node.func.attr in ("compile", "escape"), place
                is_literal = bool(node.args) and isinstance(node.args[0], ast.Constant)
                assert id(node) not in inside or not is_literal, place


W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"


def zipped(name, content):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return file.getvalue()


def html(before, part, behind=""):
    return "a.html", lambda n: f"<p>a {before}{part * n}{behind} c</p>"


def subtitles(before, part, behind=""):
    times = "1\n00:00:01,000 --> 00:00:02,000\n"
    return "a.srt", lambda n: f"{times}{before}{part * n}{behind}\n\n{times}b\n"


def xliff(part, before="", behind=""):
    return "a.xlf", lambda n: f"<xliff><file><body>{before}{part * n}{behind}</body></file></xliff>"


RUN = "<w:r><w:t> A dog</w:t></w:r>"


BEGINNING, END = (
    f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>{RUN}' for kind in ("begin", "end")
)


def docx(part):
    head, end = (
        f'<w:document xmlns:w="{W}"><w:p>{RUN}',
        f"{RUN}</w:p></w:document>",
    )
    return "a.docx", lambda n: zipped("word/document.xml", f"{head}{part * n}{end}")


def odt(before, part, behind=""):
    def content(n):
        body = f"<t:p>A dog {before}{part * n}{behind} runs</t:p>"
        return zipped("content.xml", f'<a xmlns:t="{TEXT}">{body}</a>')

    return "a.odt", content


STRING = '"a",'


def catalog(n):
    strings = ",".join(f'"a{i}":{{}}' for i in range(n))
    return f'{{"sourceLanguage":"en","strings":{{{strings}}}}}'


LOOPS = {  # Name and content of a document for a number, and a number that takes milliseconds.
    "tags": (*html("", "<b>b</b> c "), 200),
    "images": (*html("", "<img>"), 500),
    "images before marks": (*html("", "a <img>. "), 200),
    "spaces around images": (*html("", " <img> <i></i>"), 300),
    "empty spans at the end": (*html("<b>x</b>", "<i></i>"), 500),
    "a long span before empty ones": (
        "a.html",
        lambda n: f"<p><b>{'<img>x' * n}</b>y{'<i></i>' * n}",
        300,
    ),
    "spans in each other": (*html("", "<b>a "), 100),
    "marks": (*html("", ".<img>"), 500),
    "one placeholder": (*html("", "{a} "), 300),
    "different placeholders": ("a.html", lambda n: "".join(f"{{a{i}}} b " for i in range(n)), 200),
    "amounts": (*html("", "1 km "), 200),
    "unfinished tags": ("a.html", lambda n: '<a "="' * n, 500),
    "unfinished titles": ("a.html", lambda n: "<title>" * n, 500),
    "attributes": ("a.html", lambda n: f"<p {'title=a ' * n}>", 500),
    "a cue of brackets": (*subtitles("a", ")", "x"), 2000),
    "a cue of spaces": (*subtitles("a\n", " ", "x"), 2000),
    "a cue of lines": (*subtitles("a", "\nb c"), 100),
    "a cue of speakers": (*subtitles("a", "\n<v b>c"), 100),
    "a voice of spaces": (*subtitles("a\n<v", " "), 2000),
    "a target of spaces": (
        *xliff(" ", "<trans-unit><source>a</source><target", 'a="b"/></trans-unit>'),
        2000,
    ),
    "units in one line": (*xliff("<trans-unit><source>a</source></trans-unit>"), 50),
    "tags in a unit": (
        *xliff("<g>a</g> b ", "<trans-unit><source>", "</source></trans-unit>"),
        100,
    ),
    "empty runs": (*docx("<w:r/>"), 500),
    "runs of text": (*docx(RUN), 100),
    "runs of two formats": (*docx(f"{RUN}<w:r><w:rPr><w:b/></w:rPr><w:t>a</w:t></w:r>"), 50),
    "links of docx": (*docx(f"<w:hyperlink>{RUN}</w:hyperlink>"), 50),
    "fields": (*docx(BEGINNING + END), 50),
    "fields that do not end": (*docx(BEGINNING), 50),
    "bookmarks that do not end": (*docx('<w:bookmarkStart w:id="1"/>'), 200),
    "bookmarks that cross": (
        *docx('<w:bookmarkStart w:id="1"/><w:ins><w:bookmarkEnd w:id="1"/></w:ins>'),
        100,
    ),
    "paragraphs": (*docx("</w:p><w:p><w:r><w:t>a</w:t></w:r>"), 100),
    "notes": (*odt("", "<t:note/>"), 500),
    "paragraphs of notes": (*odt("", "<t:note><t:p>a</t:p></t:note>"), 50),
    "a long message": ("a.po", lambda n: 'msgid ""\n' + '"a"\n' * n + 'msgstr ""\n', 500),
    "messages": ("a.po", lambda n: 'msgid "a"\nmsgstr ""\n\n' * n, 100),
    "strings": ("a.strings", lambda n: '"a" = "b";' * n, 100),
    "properties": ("a.properties", lambda n: "a=b {0} 'c'\n" * n, 100),
    "a value of braces": ("a.properties", lambda n: f"a=b {{0}} {'{' * n} c", 500),
    "a value of lines": ("a.properties", lambda n: "a=b" + "\\\n c" * n, 200),
    "strings of YAML": ("a.yml", lambda n: "a: &b x y\n" * n, 20),
    "flows of YAML": (
        "a.yml",
        lambda n: f"a: {'[b, ' * min(n, 900)}{'c, ' * n}{']' * min(n, 900)}",
        20,
    ),
    "a block of YAML": ("a.yml", lambda n: f"a: >\n{'  b c' * n}\n{'  d e' * n}", 100),
    "strings of .NET": (
        "a.resx",
        lambda n: f"<root>{'<data><value>a</value></data>' * n}</root>",
        100,
    ),
    "plurals of Apple": (
        "a.stringsdict",
        lambda n: (
            f"<plist><dict><dict>{'<key>one</key><string>a</string>' * n}</dict></dict></plist>"
        ),
        100,
    ),
    "strings of JSON": ("a.json", lambda n: f"[{STRING * n}0]", 100),
    "strings of a catalog": ("a.xcstrings", lambda n: catalog(n), 50),
    "strings of Android": (
        "a.xml",
        lambda n: f"<resources>{'<string>a</string>' * n}</resources>",
        100,
    ),
    "footnotes": ("a.md", lambda n: "a " + "[^" * n, 200),
    "lines of Markdown": ("a.md", lambda n: "a *b*\n" * n, 50),
    "cells": ("a.md", lambda n: f"|{'a|' * n}\n|{'-|' * n}\n|{'b|' * n}\n", 20),
    "images in each other": ("a.md", lambda n: f"a {'![' * n}b{'](c)' * n}", 100),
    "references": ("a.md", lambda n: "[a]: b\n" * n + "\n[c]\n", 100),
    "lines of text": ("a.txt", lambda n: "a b\n" * n, 100),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", LOOPS)
def test_a_document_takes_linear_time(name):
    file, content, size = LOOPS[name]

    def work(number):
        written = content(number)
        written = written if isinstance(written, bytes) else written.encode()
        translate_content(written, file, reversed_words, target_language="de")

    check_linear(work, size)


def reversed_words(texts):
    return [" ".join(reversed(text.upper().split(" "))) for text in texts]


@pytest.mark.parametrize(
    ("before", "part", "behind"),
    [
        ("", "A dog. ", ""),
        ("", "z. B. a ", ""),
        ("", "😀", " a"),
        ("", "1. ", "a"),
        ("", "- ", "a"),
        ("", "«a. b ", ""),
        ("", "(A. b) ", ""),
        ("", "a! b", ""),
        ("", "É. é ", ""),
        ("", "。」", ""),
        ("a", "\u200d", ""),
        ("a.", " ", "b"),
    ],
)
def test_sentences_take_linear_time(before, part, behind):
    split_pieces("A. B", "de")
    check_linear(lambda n: split_pieces(before + part * (n // len(part)) + behind, "de"), 10_000)


def test_digits_of_amounts_take_linear_time():
    text = "1 000 km " * 500
    found = keep_pattern(["quantity"]).findall(text)
    check_linear(lambda n: amounts.lacks_amounts(found[:n], "1.000 " * n), 100)
