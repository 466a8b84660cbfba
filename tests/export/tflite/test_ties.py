"""Ties of a tokenizer: two splits of one text that float32 cannot tell apart, and nothing else."""

import pytest
from sentencepiece import sentencepiece_model_pb2

from kformer import Tokenizer
from kformer.export.byte_codec.segment import are_tied
from support import tied
from support.codec_models import trained


@pytest.fixture(scope="module")
def tokenizer():
    return tied.tokenizer()


def test_the_ids_of_the_library_are_a_tie(tokenizer):
    ids, others = (say(tokenizer, tied.TEXT) for say in (tied.ids, tied.ids_of_library))
    assert ids != others
    assert are_tied(tokenizer, ids, others)


def test_a_worse_split_is_no_tie(tokenizer):
    best = tied.ids(tokenizer, tied.TEXT)
    worse = tied.spelled(tokenizer, "▁", "a", "a", "a", "a")
    for ids in (best, worse):
        assert tokenizer.detokenize([ids]).numpy().tolist() == [tied.TEXT.encode()]
    assert not are_tied(tokenizer, best, worse)


def test_another_text_of_the_same_score_is_no_tie(tokenizer):
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(tokenizer.model)
    a, b = tied.spelled(tokenizer, "a", "b")
    proto.pieces[b].score = proto.pieces[a].score
    same = Tokenizer(proto.SerializeToString())
    assert not are_tied(same, tied.spelled(same, "▁", "a"), tied.spelled(same, "▁", "b"))
    assert are_tied(same, tied.spelled(same, "▁", "a"), tied.spelled(same, "▁", "a"))


@pytest.mark.parametrize(("apart", "expected"), [(1e-6, True), (1e-3, False)])
def test_scores_that_rounding_makes_of_each_other_are_tied(tokenizer, apart, expected):
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(tokenizer.model)
    [one, two] = tied.spelled(tokenizer, "a", "aa")
    proto.pieces[two].score = 2 * proto.pieces[one].score + apart
    near = Tokenizer(proto.SerializeToString())
    splits = (tied.spelled(near, "▁", "a", "a"), tied.spelled(near, "▁", "aa"))
    assert are_tied(near, *splits) is expected


@pytest.mark.parametrize("character", ["日", "🐕"])
def test_a_character_in_bytes_scores_as_one_that_is_unknown(character):
    """So much that a piece which is as bad is tied with it."""
    tokenizer = Tokenizer(trained())
    in_bytes = tied.ids(tokenizer, character)
    assert len(in_bytes) == 1 + len(character.encode())
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(tokenizer.model)
    worst = min(piece.score for piece in proto.pieces if piece.type == 1)
    piece = proto.pieces.add()
    piece.piece, piece.score = character, worst - 10
    piece.type = piece.UNUSED  # Else it would be the worst, and unknown characters worse still.
    known = Tokenizer(proto.SerializeToString())
    assert are_tied(known, in_bytes, tied.spelled(known, "▁", character))
    piece.score += 0.01
    known = Tokenizer(proto.SerializeToString())
    assert not are_tied(known, in_bytes, tied.spelled(known, "▁", character))
