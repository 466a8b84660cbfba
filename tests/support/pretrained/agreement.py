"""Compares the translations of an imported model with those of the library that made it."""

import numpy as np

from kformer.export.verify.agreement import TIE


def check_translations(found, expected, texts, translator, beams: int, tie=TIE, summed=False):
    """Compares the best translations with those of `generate` of transformers, or of CTranslate2.

    With several beams, both rank what was cut among what has ended, `Beam` behind it: texts whose
    expected translation was cut are left out.

    Args:
        found: For each text the `kformer.Translation`s, best first.
        expected: For each text the ids, with the end, and the score, or None for no score.
        texts: The texts.
        translator: `kformer.Translator`.
        beams: Size of the beam.
        tie: Two log-probabilities of an id that are closer than this are equal.
        summed: Whether scores are sums over the ids instead of their means.
    """
    tokenizer = translator.target_tokenizer
    ended, others = [], []
    for text, (ids, score), (best, *_) in zip(texts, expected, found, strict=True):
        if beams > 1 and ids[-1] != tokenizer.end_id:
            continue
        ended.append(best.text)
        said = tokenizer.pieces(ids)
        if list(best.tokens) != said and not _parts_at_a_tie(
            text, best.tokens, ids, translator, tie
        ):
            others.append((text, best.tokens, said, best.score, score))
        elif list(best.tokens) == said and score is not None:
            limit = tie * (len(ids) if summed else 1)
            assert abs(best.score - score) < limit, (text, best.score, score)
    assert not others
    assert len(ended) > len(found) / 5
    assert len({best.text for best, *_ in found}) > 3


def _parts_at_a_tie(text, tokens, ids, translator, margin):
    """Whether the first two ids that differ have logits less than `margin` apart."""
    tokenizer, target_tokenizer = translator.tokenizer, translator.target_tokenizer
    pieces = target_tokenizer.pieces(range(target_tokenizer.vocab_size))
    own = [pieces.index(token) for token in tokens]
    i = next(i for i, pair in enumerate(zip(own, ids, strict=False)) if len({*pair}) == 2)
    source = tokenizer.with_end(tokenizer.tokenize([text])).to_list()
    target = [[target_tokenizer.start_id, *ids[:i]]]
    logits = translator.transformer((np.array(source), np.array(target))).numpy()[0, -1]
    return abs(logits[own[i]] - logits[ids[i]]) < margin
