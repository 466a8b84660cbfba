"""Verification: equal answers pass, ties are counted, anything else is refused."""

import json

import numpy as np
import pytest

from kformer import Shortlist, Translator, bleu, chrf
from kformer.cli.export_options import Exports
from kformer.cli.export_writing import write_exports
from kformer.decoding.decoder_step import DecoderStep, start_decoding
from kformer.decoding.search.search_loop import Step
from kformer.export import Verifier
from kformer.export.verify.agreement import TIE
from kformer.export.verify.translations import NoisyStep
from kformer.inference.quality_estimate import FEATURES, QualityEstimate
from kformer.serving import ServedTranslation
from support import tied, toy

TEXTS = toy.SOURCES[:9]
BEAMS = [1, 3]


class Scripted:
    """A form of a translator that says what a test wants it to."""

    def __init__(self, answers):
        self.answers = answers

    def translations(self, texts, split):
        assert split is False  # A text is verified as it is.
        return [[ServedTranslation(self.answers[text], 0.0)] for text in texts]


def verifier_and_answers(translator, beam_size=1, texts=TEXTS):
    """A `Verifier`, and what Python says."""
    verifier = Verifier(translator, texts, beam_size=beam_size)
    translations = translator.translate(texts, beam_size=beam_size, split=False)
    return verifier, dict(zip(texts, translations, strict=True))


def with_twin(translator, factor):
    """A translator whose "w", which no word of the target has, is as likely as "g".

    Args:
        factor: How many times as high its logits are.
    """
    transformer = translator.transformer.copy()
    pieces = translator.tokenizer.pieces(range(translator.tokenizer.vocab_size))
    table = transformer.target_embedding.table
    values = table.numpy()
    values[pieces.index("w")] = factor * values[pieces.index("g")]
    table.assign(values)
    return Translator(translator.tokenizer, transformer)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    return path


def test_equal_answers_pass(toy_translator, file):
    references = toy.TARGETS[:9]
    verifier = Verifier(toy_translator, TEXTS, references)
    report = verifier.verify("copy", toy_translator, file)
    python = verifier.reports[0]
    assert verifier.reports == [python, report]
    assert (python.form, python.total, python.equal, python.ties) == ("Python", 9, 9, 0)
    assert (report.form, report.total, report.equal, report.ties) == ("copy", 9, 9, 0)
    assert report.bytes == 5 and python.bytes == 0
    assert report.bleu == python.bleu
    assert report.bleu == bleu(toy_translator.translate(TEXTS), references).value
    assert report.signature == bleu(references, references).signature


def test_without_references_there_is_no_bleu(toy_translator, file):
    verifier = Verifier(toy_translator, TEXTS)
    assert verifier.verify("copy", toy_translator, file).bleu is None
    assert verifier.reports[0].bleu is None


@pytest.mark.prove
@pytest.mark.parametrize("beam_size", BEAMS)
def test_a_wrong_answer_is_refused_by_its_words(toy_translator, file, beam_size):
    verifier, answers = verifier_and_answers(toy_translator, beam_size)
    right, answers[TEXTS[4]] = answers[TEXTS[4]], "a beer"
    with pytest.raises(ValueError, match="Received: 1 of 9 sentences") as error:
        verifier.verify("wrong one", Scripted(answers), file)
    for named in ("wrong one", TEXTS[4], "'a beer'", right):
        assert named in str(error.value)
    assert len(verifier.reports) == 1


@pytest.mark.parametrize("beam_size", BEAMS)
def test_the_noisy_step_differs_from_the_real_one_in_its_logits_alone(toy_translator, beam_size):
    source = np.array([[5, 6, 3], [7, 3, 0]], "int32")
    (real, cache), (noisy, _) = (
        start_decoding(toy_translator.transformer, source, 4, beam_size, step_class=step_class)
        for step_class in (DecoderStep, NoisyStep)
    )
    for name in Step.__annotations__:
        assert getattr(noisy, name) == getattr(real, name), name
    assert noisy.compact_batch and type(noisy.rebuild()) is type(noisy)
    ids = np.full((2, beam_size), 2, "int32")
    visible = np.repeat(np.eye(beam_size, 4 * beam_size, dtype=bool)[None], 2, axis=0)
    ways = [step(ids, 0, visible, cache) for step in (real, noisy)]
    noise = ways[1].logits - ways[0].logits
    assert TIE / 4 < np.abs(noise).max() <= TIE / 2 + 1e-5
    assert np.unique(noise).size > noise.shape[-1]
    np.testing.assert_array_equal(ways[1].attention, ways[0].attention)


@pytest.mark.prove
@pytest.mark.parametrize("beam_size", BEAMS)
@pytest.mark.parametrize("factor", [1, 1 + 1e-5])
def test_an_answer_that_was_as_good_is_a_tie(toy_translator, file, beam_size, factor):
    translator = with_twin(toy_translator, factor)
    text = "der hund ruft uns ."
    verifier, answers = verifier_and_answers(translator, beam_size, [text, *TEXTS])
    said = answers[text]
    assert ("dog" in said) != ("dow" in said)
    answers[text] = said.replace("dog", "dow") if "dog" in said else said.replace("dow", "dog")
    report = verifier.verify("other", Scripted(answers), file)
    assert (report.total, report.equal, report.ties) == (10, 9, 1)


@pytest.mark.prove
def test_an_answer_that_was_nearly_as_good_is_no_tie(toy_translator, file):
    translator = with_twin(toy_translator, 1.01)
    text = "der hund ruft uns ."
    verifier, answers = verifier_and_answers(translator, texts=[text, *TEXTS])
    assert "dow" in answers[text]
    answers[text] = answers[text].replace("dow", "dog")
    with pytest.raises(ValueError, match="Received: 1 of 10 sentences"):
        verifier.verify("other", Scripted(answers), file)


@pytest.mark.prove
def test_sentences_over_the_limit_of_a_form_are_left_out(toy_translator, file):
    rows = toy_translator.tokenizer.tokenize(TEXTS).row_lengths().numpy()
    verifier, answers = verifier_and_answers(toy_translator)
    i = rows.argmax()
    answers[TEXTS[i]] = "cut"
    short = [n for n in rows if n < rows[i]]
    report = verifier.verify("small", Scripted(answers), file, max_source_length=int(rows[i]))
    assert report.total == report.equal == len(short) > 0
    with pytest.raises(ValueError, match=f"Received: 1 of {len(rows)} sentences"):
        verifier.verify("small", Scripted(answers), file, max_source_length=int(rows[i]) + 1)


def test_the_size_of_a_folder_is_that_of_all_its_files(toy_translator, file):
    (file.parent / "deep" / "deeper").mkdir(parents=True)
    (file.parent / "deep" / "deeper" / "file").write_bytes(b"678")
    verifier = Verifier(toy_translator, TEXTS[:1])
    assert verifier.verify("folder", toy_translator, file.parent).bytes == 8


@pytest.fixture(scope="module")
def tied_translator():
    return tied.translator()


def test_a_report_counts_unsure_translations_if_their_quality_is_estimated(
    toy_translator, file, monkeypatch
):
    assert Verifier(toy_translator, TEXTS, toy.TARGETS[:9]).reports[0].doubt is None
    estimate = QualityEstimate(dict.fromkeys(FEATURES, 0.0), 0.0, threshold=0.6)  # All have 0.5.
    monkeypatch.setattr(toy_translator, "quality_estimate", estimate)
    references = toy.TARGETS[1:10]
    verifier = Verifier(toy_translator, TEXTS, references)
    python, form = verifier.reports[0], verifier.verify("copy", toy_translator, file)
    assert python.doubt == form.doubt
    scores = [
        chrf([a], [b]).value for a, b in zip(verifier.expected, toy.TARGETS[1:10], strict=True)
    ]
    poor = sum(score < 60 for score in scores)
    assert python.doubt[:4] == (9, 9, poor, poor)
    assert python.doubt.figures()["precision"] == pytest.approx(poor / 9, abs=1e-4)


@pytest.mark.prove
def test_what_comes_of_ids_that_score_the_same_is_a_tie_of_the_tokenizer(tied_translator, tmp_path):
    """The `.tflite` file splits a text as the SentencePiece library does, Python does not."""
    exports = Exports(tflite=tmp_path / "tied.tflite")
    [_, report] = write_exports(tied_translator, [*TEXTS[:2], tied.TEXT], None, exports)
    assert (report.total, report.equal, report.ties, report.tokenizer_ties) == (3, 2, 0, 1)
    written = json.loads((tmp_path / "tied.tflite.json").read_text("utf-8"))
    assert written["different_at_a_tie_of_the_tokenizer"] == 1


@pytest.mark.prove
@pytest.mark.parametrize("exact", [True, False])
def test_ids_that_score_the_same_excuse_no_other_answer(tied_translator, file, exact):
    def tokenize(text):
        pieces = tied_translator.tokenizer
        return [*tied.ids_of_library(pieces, text), pieces.end_id], True

    verifier = Verifier(tied_translator, [tied.TEXT])
    form = Scripted({tied.TEXT: "a beer"})
    if exact:
        with pytest.raises(ValueError, match="Received: 1 of 1 sentences"):
            verifier.verify("wrong", form, file, tokenize=tokenize)
    else:
        report = verifier.verify("rounded", form, file, exact=False, tokenize=tokenize)
        assert (report.equal, report.tokenizer_ties, report.different) == (0, 0, 1)


@pytest.mark.prove
def test_ids_of_another_score_excuse_nothing(tied_translator, file):
    pieces = tied_translator.tokenizer
    worse = tied.spelled(pieces, "▁", "a", "a", "a", "a")
    said = tied.said_of(tied_translator, [*worse, pieces.end_id])
    verifier = Verifier(tied_translator, [tied.TEXT])
    assert verifier.expected != [said]
    with pytest.raises(ValueError, match="Received: 1 of 1 sentences"):
        verifier.verify(
            "other ids",
            Scripted({tied.TEXT: said}),
            file,
            tokenize=lambda text: ([*worse, pieces.end_id], True),
        )


@pytest.mark.prove  # A search among all ids, and one among few.
def test_the_cost_of_a_shortlist_is_measured_and_warned_of(toy_translator, toy_shortlist):
    parts = toy_shortlist.ends, toy_shortlist.entries, toy_shortlist.order, toy_shortlist.always
    shortlisted = toy_translator.copy()
    shortlisted.shortlist = Shortlist(*parts, 19, toy_shortlist.vocabularies)
    sources, references = toy.SOURCES[:40], toy.TARGETS[:40]
    with pytest.warns(UserWarning, match=r"shortlist leaves out words.*Received: BLEU .* without"):
        [few] = Verifier(shortlisted, sources, references).reports
    [among_all] = Verifier(toy_translator, sources, references).reports
    assert few.bleu < few.bleu_without_shortlist - 0.3
    assert few.bleu_without_shortlist == among_all.bleu
    assert among_all.bleu_without_shortlist is None
