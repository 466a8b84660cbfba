"""What the web page translates: it says what Python says, byte for byte."""

import random

import numpy as np
import pytest

import kformer
from browser.chromium import served
from kformer.export import export_tflite, export_web_page
from kformer.pocket import PocketTranslator
from kformer.text.paragraphs.abbreviations import abbreviations_of, goes_on
from kformer.text.paragraphs.joining import Piece, join, with_sources
from kformer.text.paragraphs.marks import piece_of, piece_of_part
from kformer.text.paragraphs.sentence_splitting import halves
from kformer.text.scores import bleu
from support import toy
from support.paragraphs import LINES, random_lines, random_texts
from support.pretrained import opennmt_tf

MODEL = "translator.tflite"
ODD = [
    "",
    " \t ",
    "das häus 🐕",
    "wir\0ruft uns .\0\0",
    "e\u0301 ﬁ ½ \u2581",
    "שלום wir",
    "👩‍👩‍👧‍👦\ufeffruft",
    "a" * 99,
]


def sentences(count):
    """Different lines, most of them of words of the toy language."""
    chance = random.Random(5)
    words = [*toy.WORDS, *" ".join(toy.WORDS).split(), "Hund!", "xyz", "½", "🐕"]
    lines = dict.fromkeys(ODD[: count // 3])
    while len(lines) < count:
        lines[" ".join(chance.choices(words, k=chance.randint(1, 9)))] = None
    return list(lines)


@pytest.mark.parametrize(
    "count", [20, pytest.param(200, marks=pytest.mark.prove)], ids="{} lines".format
)
def test_it_translates_as_python_does(page, folder, count):
    lines = sentences(count)
    said = page("translate", "\n".join(lines))
    expected = list(translated(PocketTranslator(folder / MODEL), page("pieces", lines)))
    assert said["lines"] == [text for text, _ in expected]
    assert said["flagged"] == [i for i, (_, flags) in enumerate(expected) if flags]
    assert len(set(said["lines"])) > count // 2
    assert said["status"].startswith("Translated in ") and said["status"].endswith("s")


def translated(translator, lines):
    """Pairs of the translation of a line and its flags, in Python, from the page's pieces."""
    for pieces in lines:
        pieces = [Piece(**piece) for piece in pieces]
        sources = [piece.source for piece in pieces if piece.source]
        found = [best for [best] in translator.translations(sources, split=False)]
        texts = [best.text for best in found] or [""] * len(pieces)
        yield join(pieces, texts), [one for best in found for one in best.flags]


def test_it_translates_what_the_model_knows(page):
    for source, target in zip(toy.SOURCES[:3], toy.TARGETS[:3], strict=True):
        assert page("translate", source)["lines"] == [target]
    said = page("translate", "")
    assert (said["lines"], said["failure"]) == ([""], None)


@pytest.mark.prove
@pytest.mark.filterwarnings("ignore:Sentence .* over the limit")
def test_degenerate_output_is_the_same_as_in_python(browser, two_vocabularies, litert_js, tmp_path):
    """Untrained, with two vocabularies: long translations, of all sorts of pieces."""
    tflite = export_tflite(two_vocabularies, tmp_path / "two.tflite", max_source_length=29)
    lines = [line for line in sentences(60) if len(line.split()) < 6 and len(line) < 40]
    ids = two_vocabularies.tokenizer.tokenize(lines)
    lines = [line for line, row in zip(lines, ids, strict=True) if len(row) < 29]  # Not halved.
    folder = export_web_page(tflite, tmp_path / "page", litert_js)
    with served(folder) as address:
        browser("open", address)
        said = browser("translate", "\n".join(lines))
        pieces_of_lines = browser("pieces", lines)
    expected = list(translated(PocketTranslator(tflite), pieces_of_lines))
    assert said["lines"] == [text for text, _ in expected]
    assert max(map(len, said["lines"])) > 60
    flagged = [i for i, (_, flags) in enumerate(expected) if flags]
    assert said["flagged"] == flagged and len(flagged) > 3


@pytest.mark.prove
def test_an_imported_model_translates_as_in_python(browser, litert_js, tmp_path):
    """With other positions and norms, two vocabularies and an output of its own."""
    imported = kformer.from_opennmt_tf(opennmt_tf.write_run(tmp_path / "run"), num_heads=4)
    tflite = export_tflite(imported, tmp_path / "a.tflite", max_source_length=24)
    lines = opennmt_tf.SENTENCES
    with served(export_web_page(tflite, tmp_path / "page", litert_js)) as address:
        browser("open", address)
        said = browser("translate", "\n".join(lines))["lines"]
    assert said == imported.translate(lines)
    assert len({*said}) == len(lines)


@pytest.mark.prove
@pytest.mark.parametrize("precision", ["float16", "int8", "int4"])
def test_a_rounded_file_is_as_good_as_it_is_in_python(
    browser, toy_translator, litert_js, tmp_path, precision
):
    tflite = export_tflite(toy_translator, tmp_path / "rounded.tflite", precision=precision)
    with served(export_web_page(tflite, tmp_path / "page", litert_js)) as address:
        browser("open", address)
        said = browser("translate", "\n".join(toy.SOURCES))
    in_python = PocketTranslator(tflite).translate(toy.SOURCES)
    scores = [bleu(translations, toy.TARGETS).value for translations in (said["lines"], in_python)]
    assert scores[0] == pytest.approx(scores[1], abs=0.3)
    assert scores[1] > 30  # A toy's few numbers suffer from 8 bits, and more from 4.


@pytest.mark.prove
def test_browsers_without_relaxed_simd_get_a_build_of_their_own(browser, changed, folder):
    def without(module):
        return b"WebAssembly.validate = () => false;\n" + module

    with changed("relaxed-simd.js", without) as address:
        browser("open", address)
        said = browser("translate", "\n".join(toy.SOURCES[:9]))
        fetched = [url.removeprefix(address) for url in browser("requests")]
    assert said["lines"] == PocketTranslator(folder / MODEL).translate(toy.SOURCES[:9])
    assert "litert/litert_wasm_compat_internal.wasm" in fetched
    assert "litert/litert_wasm_internal.wasm" not in fetched


def test_a_sentence_over_the_limit_is_split_as_in_python_and_shows_a_notice(page, folder):
    too_many_bytes = "wir" + " " * 900 + "ruft"
    too_many_ids = " ".join(toy.SOURCES[:40]).replace(" .", "")  # One sentence.
    lines = ["wir", too_many_bytes, too_many_ids]
    with pytest.warns(UserWarning, match="one by one"):
        expected = PocketTranslator(folder / MODEL).translate(lines, split=True)
    said = page("translate", "\n".join(lines))
    assert said["lines"] == expected
    why = (
        "A sentence is too long, so its clauses were translated one by one. "
        "Shorter sentences are translated better."
    )
    notices = [line for line in said["notice"].splitlines() if "too long" in line]
    assert notices == [f"Lines 2 and 3: {why}"]
    assert "too long" not in (page("translate", "wir")["notice"] or "")
    assert page("translate", too_many_bytes)["notice"].startswith(why)


def test_what_cannot_be_split_is_said_to_be_cut(page):
    notice = page("translate", "a" + "\u0301" * 900)["notice"]
    assert notice.startswith("A sentence is too long, so only its beginning was translated.")


def test_clauses_are_those_of_python(page):
    texts = [text.strip() for text in random_texts(900, "abcd,;…!? \u00a0\n、。”\u0301\u200d🏽👩क्")]
    expected = [halves(text) for text in texts]
    found = page("call", "clauses.js", "halves", [[text] for text in texts])
    assert found == [parts and list(parts) for parts in expected]
    assert 9 < expected.count(None) < 450


def as_rows(pieces):
    return [[piece[name] for name in ("before", "source", "after")] for piece in pieces]


def test_marks_and_abbreviations_are_those_of_python(page):
    languages = ["en", "de", "fr", "hu", "ru", "ja", "hi", "xx", "no"] * 100
    lines = list(zip(random_lines(900, 13), random_lines(900, 17), languages, strict=True))
    rows = [[line, place % 2 == 0, code] for place, (line, _, code) in enumerate(lines)]
    expected = [list(piece_of(line, first, abbreviations_of(code))) for line, first, code in rows]
    assert as_rows(page("callKnowing", "marks.js", "pieceOf", rows)) == expected
    assert 90 < sum(not source for _, source, _ in expected) < 450
    expected = [goes_on(line, rest, abbreviations_of(code)) for line, rest, code in lines]
    assert page("callKnowing", "abbreviations.js", "goesOn", lines) == expected
    assert 90 < expected.count(True) < 800


def test_lines_are_split_as_in_python(page):
    for language, line, sentences in LINES:
        [found] = page("split", language, [line])
        assert [one["source"] for one in found if one["source"]] == sentences, line
        assert "".join(map("".join, as_rows(found))) == line


def test_translations_are_joined_as_in_python(page):
    texts = random_texts(900, "ab 。好\n🐕𠀀ก\u3000")
    answers = random_texts(900, "cd 好ก")
    parts = [texts[i : i + 3] for i in range(0, 900, 3)]
    pieces = [with_sources(map(piece_of_part, part)) for part in parts]
    found = page("call", "marks.js", "pieceOfPart", [[text] for text in texts])
    found = page(
        "call", "joining.js", "withSources", [[found[i : i + 3]] for i in range(0, 900, 3)]
    )
    assert [as_rows(one) for one in found] == [[list(piece) for piece in one] for one in pieces]
    rows = [(one, answers[3 * i : 3 * i + len(one)]) for i, one in enumerate(found)]
    expected = [join(one, texts) for one, (_, texts) in zip(pieces, rows, strict=True)]
    assert page("call", "joining.js", "joined", rows) == expected


def rows_of_ids(count, room=30):
    """Sources and what might have been found for them: padded rows, some of them loops."""
    chance = random.Random(7)
    for _ in range(count):
        source = [chance.randint(4, 9) for _ in range(chance.choice([0, 1, 3, 19]))]
        loop = [chance.randint(4, 9) for _ in range(chance.randint(1, 5))] * chance.randint(1, 12)
        found = [chance.randint(4, 40) for _ in range(chance.randint(0, room))]
        found = (chance.choice([loop, found, [], found[:3] + loop, loop + found]))[:room]
        found += [3] * chance.randint(0, 1)
        source += [3]
        yield (
            source + [0] * (room - len(source)),
            (found + [0] * 50)[: room + 10],
            chance.random() < 0.1,
        )


def test_flags_are_those_of_python(page, folder):
    translator = PocketTranslator(folder / MODEL)
    rows = list(rows_of_ids(600))
    special = {"padding": 0, "end": 3}
    expected = [
        translator._flags([id for id in source if id], cut, np.array(found))
        for source, found, cut in rows
    ]
    found = page("call", "flags.js", "translationFlags", [[*row, special] for row in rows])
    assert found == [list(flags) for flags in expected]
    flags = [flag for several in expected for flag in several]
    for flag in ("source cut", "length limit", "loop", "length ratio"):
        assert 20 < flags.count(flag) < 500, flag


@pytest.mark.prove
def test_degenerate_output_shows_a_notice(browser, changed):
    """Of an engine whose every translation is the same id nine times, without an end."""

    def looping(engine):
        real = b"    const flags = translationFlags(...ids, cut, this.#special);\n"
        assert engine.count(real) == 1
        return engine.replace(real, b"    ids[1].fill(7);\n" + real)

    with changed("litert-engine.js", looping) as address:
        browser("open", address)
        said = browser("translate", "wir ruft\n\ndas haus")
        assert said["flagged"] == [0, 2]
        notices = [
            "The translation ran on to its length limit. Say it in other words.",
            "The translation repeats itself. Say it in other words.",
            "The translation is unusually long or short. Check it.",
        ]
        assert said["notice"].splitlines() == [f"Lines 1 and 3: {each}" for each in notices]
        alone = browser("translate", "wir ruft")["notice"].splitlines()
        assert alone == notices
