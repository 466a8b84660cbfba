"""Subword regularization: a random share of the pieces is split into smaller ones.

The model sees a word in several segmentations ([Kudo, 2018](https://arxiv.org/abs/1804.10959);
BPE-dropout, [Provilkov et al., 2020](https://arxiv.org/abs/1910.13267)). SentencePiece's own
sampling takes no seed; this lookup table does.
"""

from sentencepiece import sentencepiece_model_pb2

from kformer.training.data.respelling import Respelling


class SubwordRegularization(Respelling):
    """Replaces random pieces of rows of ids by two or more pieces that spell the same text.

    The split of a piece is always the one whose pieces have the highest sum of scores, which are
    log-probabilities in a unigram model. Pieces without a split, bytes, special ids and
    user-defined pieces do not change.

    Args:
        tokenizer: `kformer.Tokenizer`.
        rate: Share of the pieces to split, in [0, 1].
    """

    def __init__(self, tokenizer, rate: float):
        super().__init__(best_splits(tokenizer), rate)


def best_splits(tokenizer) -> list[list[int]]:
    """Returns the ids of the best split of each id; the id alone if there is no split."""
    model = sentencepiece_model_pb2.ModelProto.FromString(tokenizer.model)
    ids = {
        piece.piece: i
        for i, piece in enumerate(model.pieces)
        if piece.type == model.SentencePiece.NORMAL
    }
    scores = [piece.score for piece in model.pieces]
    splits = [[i] for i in range(len(scores))]
    for piece, i in ids.items():
        splits[i] = _best_split(piece, ids, scores) or [i]
    return splits


def _best_split(piece, ids, scores):
    """Returns the ids of the best split of `piece`, by Viterbi; None if there is none."""
    best = {0: (0.0, [])}  # end -> score and ids of the best split of piece[:end]
    for end in range(1, len(piece) + 1):
        ways = [
            (best[start][0] + scores[part], [*best[start][1], part])
            for start in best
            if (part := ids.get(piece[start:end])) is not None and end - start < len(piece)
        ]
        if ways:
            best[end] = max(ways)
    return best.get(len(piece), (0.0, None))[1]
