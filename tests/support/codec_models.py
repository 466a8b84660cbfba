"""SentencePiece models with all the settings that a byte codec must obey."""

import io
import itertools
import random

import sentencepiece

from kformer import phrasebook

SETTINGS = {
    "as kformer trains": {},
    "nothing replaced": {"normalization_rule_name": "identity"},
    "case folded": {"normalization_rule_name": "nmt_nfkc_cf"},
    "no space before": {"add_dummy_prefix": False},
    "all spaces kept": {"remove_extra_whitespaces": False},
    "bare": {
        "normalization_rule_name": "identity",
        "add_dummy_prefix": False,
        "remove_extra_whitespaces": False,
        "byte_fallback": False,
        "unk_surface": "<?>",
    },
    "no bytes": {"byte_fallback": False},
    "single characters": {"max_sentencepiece_length": 1},
    "spaces within pieces": {"split_by_whitespace": False},
}


def sentences():
    """Returns 400 phrasebook sentences and some texts in other scripts."""
    pairs = itertools.islice(phrasebook.sample(random.Random(0)), 400)
    german = [pair[0] for pair, _ in pairs]
    return [
        *german,
        *["Γειά σου, мир 今日は 안녕 שלום 😀 3,50 €"] * 3,
        *["ha ha aa !!! ... --"] * 9,
    ]


def trained(**settings) -> bytes:
    """Returns the bytes of a model of `sentences`."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences()),
        model_writer=written,
        **{"pad_id": 0, "unk_id": 1, "bos_id": 2, "eos_id": 3, "minloglevel": 2},
        **{"vocab_size": 500, "hard_vocab_limit": False, "character_coverage": 0.99},
        **{"byte_fallback": True, **settings},
    )
    return written.getvalue()
