"""Translations of an imported model beside those of the library that it comes from."""

import pytest

from kformer.export.verify.agreement import TIE


def check_translations(found, expected, texts, translator, beams: int):
    """Compares the best translations with those of transformers' `generate`.

    With several beams, `generate` ranks what was cut among what has ended, `Beam` behind it: texts
    whose expected translation was cut are left out.

    Args:
        found: For each text the `kformer.Translation`s, best first.
        expected: For each text the ids, with the end, and the score, or None for no score.
        texts: The texts.
        translator: `kformer.Translator`.
        beams: Size of the beam.
    """
    tokenizer = translator.target_tokenizer
    ended, others = [], []
    for text, (ids, score), (best, *_) in zip(texts, expected, found, strict=True):
        if beams > 1 and ids[-1] != tokenizer.end_id:
            continue
        ended.append(best.text)
        if list(best.tokens) != tokenizer.pieces(ids):
            others.append(text)
        if score is not None:
            assert best.score == pytest.approx(score, abs=TIE), text
    assert not others
    assert len(ended) > len(found) / 5
    assert len({best.text for best, *_ in found}) > 3
