"""The import against Hugging Face's transformers, where that is installed."""

import importlib.util
import json
from typing import Any, NamedTuple

import numpy as np
import pytest
import sentencepiece

import kformer
from support.odd_text import texts as odd_texts
from support.pretrained.agreement import check_translations
from support.pretrained.sentences import sentences
from support.pretrained.with_transformers import LONGEST, OF_CTRANSLATE2, SEARCHES, SHAPES
from support.processes import run_python

NEEDED = ("torch", "transformers")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"Not installed: {', '.join(MISSING)}.")


class Answers(NamedTuple):
    """What transformers says of a model, and the import of it."""

    strings: list
    sentences: list
    expected: dict
    logits: Any
    translator: kformer.Translator
    libraries: dict  # of SentencePiece, by side
    pieces: set


@pytest.fixture(
    scope="module",
    params=[
        *((shape, 150, 24) for shape in SHAPES),
        *(pytest.param((shape, 2000, 500), marks=pytest.mark.prove) for shape in SHAPES),
    ],
    ids=lambda values: f"{values[0]}-{values[1]}-{values[2]}",
)
def answers(request, tmp_path_factory):
    shape, strings, number = request.param
    folder = tmp_path_factory.mktemp("hub")
    texts = {"strings": strings_of(strings), "sentences": sentences(number)}
    (folder / "texts.json").write_text(json.dumps(texts), "utf-8")
    script = ("-m", "support.pretrained.with_transformers")
    made = run_python(*script, folder / "marian", shape, folder / "texts.json")
    assert made.returncode == 0, made.stderr
    files = {side: str(folder / "marian" / f"{side}.spm") for side in ("source", "target")}
    return Answers(
        **texts,
        expected=json.loads((folder / "answers.json").read_text("utf-8")),
        logits=np.load(folder / "logits.npy"),
        translator=kformer.from_marian(folder / "marian", as_transformers=True),
        libraries={
            side: sentencepiece.SentencePieceProcessor(model_file=file)
            for side, file in files.items()
        },
        pieces={*json.loads((folder / "marian" / "vocab.json").read_text("utf-8"))},
    )


def strings_of(count):
    odd = odd_texts(count, words=" ".join(sentences(99)).split())
    texts = [text.decode("utf-8", "replace").replace("\0", "") for text in odd]
    return [*texts, "", " ", "der hund " * 200, "猫" * 99, *sentences(count // 4)]


@pytest.mark.parametrize("side", ["source", "target"])
def test_ids_are_those_of_marian_tokenizer(side, answers):
    translator, library = answers.translator, answers.libraries[side]
    tokenizer = translator.tokenizer if side == "source" else translator.target_tokenizer
    found = tokenizer.with_end(tokenizer.tokenize(answers.strings)).to_list()
    looked_up = 0
    for text, ids, expected in zip(answers.strings, found, answers.expected[side], strict=True):
        if ids != expected:
            # MarianTokenizer looks up adjacent characters that no piece covers as one piece, which
            # the other side may have.
            pieces = zip(library.encode(text), library.encode(text, out_type=str), strict=True)
            unknown = [piece for i, piece in pieces if i == library.unk_id()]
            assert answers.pieces & {*unknown}, text
            assert all(a == b or a == 1 for a, b in zip(ids, expected, strict=True)), text
            looked_up += 1
    assert looked_up < len(found) / 4


def test_logits_are_those_of_marian_mt_model(answers):
    source, target = map(np.array, answers.expected["logits_of"])
    found = answers.translator.transformer((source, target)).numpy()
    expected = answers.logits.copy()
    padding = answers.translator.tokenizer.padding_id  # Its bias is another: see `from_marian`.
    expected[..., padding] = found[..., padding]
    limit = 1e-4 * np.ptp(answers.logits)
    np.testing.assert_allclose(found, expected, rtol=0, atol=limit)


@pytest.mark.parametrize("search", SEARCHES)
def test_translations_are_those_of_generate(search, answers):
    beams, penalty = SEARCHES[search]
    # `generate` ends when as many sequences as beams have ended and none overtakes them now.
    options = kformer.SearchOptions(
        beams, penalty, length_offset=0, n_best=beams, max_length=LONGEST
    )
    found = answers.translator.translations(answers.sentences, options, details=False)
    check_translations(
        found, answers.expected[search], answers.sentences, answers.translator, beams
    )


@pytest.mark.skipif(
    importlib.util.find_spec("ctranslate2") is None, reason="Not installed: ctranslate2."
)
@pytest.mark.parametrize("search", OF_CTRANSLATE2)
def test_translations_are_those_of_ctranslate2(search, answers):
    """CTranslate2's own converter has read the same folder."""
    beams = OF_CTRANSLATE2[search]
    options = kformer.SearchOptions(beams, 0, n_best=beams, max_length=LONGEST)
    found = answers.translator.translations(answers.sentences, options, details=False)
    check_translations(
        found,
        answers.expected[search],
        answers.sentences,
        answers.translator,
        beams,
        tie=2e-3,  # Measured: 1.7e-3, of 32,001 ids, by weights that were float16.
        summed=True,
    )
