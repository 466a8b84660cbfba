"""Pieces split into smaller ones now and then, so that a model learns how words are made.

The idea of subword regularisation ([Kudo, 2018](https://arxiv.org/abs/1804.10959)) and of
BPE-dropout ([Provilkov et al., 2020](https://arxiv.org/abs/1910.13267)): a word is read in several
spellings. SentencePiece's own sampling takes no seed; this is a table and takes one.
"""

from sentencepiece import sentencepiece_model_pb2

from kformer.training.data.respelling import Respelling


class PieceSplitting(Respelling):
    """Replaces random pieces of rows of ids by two or more pieces that make them up.

    A piece always splits in the same way: the one whose pieces have the highest sum of scores,
    which in a unigram model are log-probabilities. Pieces that cannot be split stay, and so do
    bytes, special ids and pieces that a user defined.

    Args:
        tokenizer: `kformer.Tokenizer`.
        rate: Share of the pieces that are split, in [0, 1].
    """

    def __init__(self, tokenizer, rate: float):
        super().__init__(best_splits(tokenizer), rate)


def best_splits(tokenizer) -> list[list[int]]:
    """Returns, for each id, those of its best split; of itself alone, where there is none."""
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
    """Returns the ids of the best split of `piece`, by Viterbi; None, if there is none."""
    best = {0: (0.0, [])}  # end -> score and ids of the best way to get there
    for end in range(1, len(piece) + 1):
        ways = [
            (best[start][0] + scores[part], [*best[start][1], part])
            for start in best
            if (part := ids.get(piece[start:end])) is not None and end - start < len(piece)
        ]
        if ways:
            best[end] = max(ways)
    return best.get(len(piece), (0.0, None))[1]
