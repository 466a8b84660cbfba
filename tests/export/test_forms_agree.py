"""The saved forms of one translator, in three libraries behind one interface."""

import pytest

import kformer
from kformer.export import Verifier, export_ctranslate2
from kformer.phrasebook import phrasebook
from support import toy

pytest.importorskip("ctranslate2", reason="Not installed: ctranslate2.")
_SENTENCES = 1000
_FEW = 10  # Of them Python may be undecided: two ids, of which either may be the best.


@pytest.mark.prove
def test_a_thousand_sentences_are_translated_alike(
    toy_translator, toy_tflite, toy_saved_model, tmp_path
):
    sources = [*toy.SOURCES, *(source for source, _ in phrasebook().train)][:_SENTENCES]
    assert len({*sources}) == _SENTENCES
    verifier = Verifier(toy_translator, sources)
    forms = {
        "LiteRT": toy_tflite,
        "TensorFlow": toy_saved_model,
        "CTranslate2": export_ctranslate2(toy_translator, tmp_path / "folder"),
    }
    for name, path in forms.items():
        form = kformer.load(path)
        assert isinstance(form, kformer.SavedTranslator)
        # Raises an error if a translation differs where Python is decided.
        report = verifier.verify(name, form, path)
        assert report.total == _SENTENCES
        assert report.equal >= _SENTENCES - _FEW, report
