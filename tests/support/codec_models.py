"""SentencePiece models with all the settings that a byte codec must obey."""

import io
import itertools
import random

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from kformer.text import normalization
from support import phrasebook

SETTINGS = {
    "as kformer trains": {"rule": "nmt_nfkc"},
    "only NFKC": {"rule": "nfkc"},
    "as SentencePiece trains": {},
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
    "no bytes, a third of the pieces unused": {"byte_fallback": False, "unused": 3},
    "single characters": {"max_sentencepiece_length": 1},
    # They begin as other keys of the normalizer do, end within them, or are parts of words.
    "symbols": {"user_defined_symbols": ["haus", "ha", "<x>", "ｆ<", "é", "e", "...", "ﬁ", "▁der"]},
    "symbols, no bytes": {"user_defined_symbols": ["ein", "!!", "¼"], "byte_fallback": False},
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


def trained(unused=0, rule=None, **settings) -> bytes:
    """Returns the bytes of a model of `sentences`.

    Args:
        rule: One of `kformer.text.normalization.RULES`; None for a table of SentencePiece's.
        unused: Every how many pieces of text one is never used; 0 for none.
        **settings: Of SentencePiece's trainer.
    """
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences()),
        model_writer=written,
        **{"pad_id": 0, "unk_id": 1, "bos_id": 2, "eos_id": 3, "minloglevel": 2},
        **{"vocab_size": 500, "hard_vocab_limit": False, "character_coverage": 0.99},
        **{"byte_fallback": True, **settings},
    )
    if not unused and not rule:
        return written.getvalue()
    proto = sentencepiece_model_pb2.ModelProto.FromString(written.getvalue())
    if rule:
        normalization.set_rule(proto, rule)
    for one in proto.pieces[::unused] if unused else ():
        if one.type == one.NORMAL and one.piece != "▁":
            one.type = one.UNUSED
    return proto.SerializeToString()
