"""A folder of Firefox's translators with random weights, and sentences that fit it.

A translation has as many ids as its source: the model never ends, and a limit ends it.
"""

import itertools
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from benchmarks.decoding.random_model import random_transformer
from benchmarks.sizes import StudentSize
from support import phrasebook
from support.pretrained import marian
from support.pretrained.bergamot import write_bergamot_folder
from support.pretrained.marian_npz import arrays_of, spm_vocabulary
from support.pretrained.marian_reference import MarianReference, input_scales

WORDS = 20  # Of a sentence; each is one piece.
LENGTH_FACTOR = "1.0"  # Of the ids of a source; that many a translation has.
ENTRIES = 50  # Of a source id in the shortlist.
CHARACTERS = "abcdefghijklmnopqrstuvwxyz"
_SCORE = -3.0  # Better than two pieces for a word.


def vocabulary(size: int) -> marian.Vocabulary:
    """Returns a vocabulary of `size` ids: some of the phrasebook, the others random words."""
    texts = [
        source for (source, _), _ in itertools.islice(phrasebook.sample(random.Random(0)), 300)
    ]
    model = sentencepiece_model_pb2.ModelProto.FromString(
        spm_vocabulary(texts, vocab_size=min(size // 2, 256)).models[0]
    )
    chance, known = random.Random(0), {entry.piece for entry in model.pieces}
    while len(model.pieces) < size:
        piece = "\u2581" + "".join(chance.choices(CHARACTERS, k=chance.randint(5, 9)))
        if piece not in known:
            known.add(piece)
            model.pieces.add(piece=piece, score=_SCORE)
    pieces = [entry.piece for entry in model.pieces]
    return marian.Vocabulary((model.SerializeToString(),) * 2, [*pieces, marian.PADDING])


def sentences(words: marian.Vocabulary, count: int) -> list[str]:
    """Returns sentences of random words, each of which is one piece."""
    library = sentencepiece.SentencePieceProcessor(model_proto=words.models[0])
    whole = [
        piece[1:]
        for piece in words.pieces
        if piece.startswith("\u2581") and len(library.Encode(piece[1:])) == 1 and len(piece) > 5
    ]
    chance = random.Random(1)
    return [" ".join(chance.choices(whole, k=WORDS)) for _ in range(count)]


def write_random_folder(folder: Path, size: StudentSize, words: marian.Vocabulary) -> Path:
    """Writes int8 weights, the scales of their inputs, a shortlist and the limit of a translation.

    Args:
        folder: A new folder.
        size: Of the model.
        words: From `vocabulary`.
    """
    ids = len(words.pieces) - 1
    id_settings = {"vocab_size": ids + 1, "padding_id": ids, "output_bias": True}
    network = random_transformer(replace(size, vocab_size=ids + 1), **id_settings)
    reference = MarianReference(arrays_of(words, network), size.num_heads)
    chance = np.random.default_rng(0)
    for _ in range(3):
        reference.logits([*chance.integers(4, ids, WORDS), 0], chance.integers(4, ids, WORDS))
    lists = [{*row} for row in chance.integers(ids, size=(ids, ENTRIES)).tolist()]
    write_bergamot_folder(
        folder, words, network, scales=input_scales(reference), lists=lists, packed=False
    )
    (folder / "config.yml").write_text(f"max-length-factor: {LENGTH_FACTOR}\n", "utf-8")
    return folder
