"""A tokenizer for which a text that repeats itself has two splits, and a translator that reads it.

What "aaaa" costs as "aa", "a", "a" it costs in any other order, and the SentencePiece library and
tensorflow-text round that differently, if the scores are such.
"""

import random

import numpy as np
import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from kformer import SearchOptions, Tokenizer, Transformer, Translator
from kformer.decoding.search_ids import search_ids, search_of_options
from support import codec_models
from support.reference import perturbed

TEXT = "aaaa"


def tokenizer():
    """Returns one that splits `TEXT` otherwise than the library does, with the same score."""
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(codec_models.trained())
    [one] = [piece for piece in proto.pieces if piece.piece == "a"]
    two = proto.pieces[-1]
    two.piece = "aa"
    chance = random.Random(0)
    for _ in range(99):
        one.score = -chance.uniform(3, 9)
        two.score = 1.5 * one.score
        found = Tokenizer(proto.SerializeToString())
        if ids(found, TEXT) != ids_of_library(found, TEXT):
            return found
    raise AssertionError("No scores make the two differ.")


def translator():
    """Returns one, never trained, that says something else of the library's ids."""
    pieces = tokenizer()
    rows = [[*say(pieces, TEXT), pieces.end_id] for say in (ids, ids_of_library)]
    for _ in range(99):
        transformer = perturbed(Transformer(pieces.vocab_size, 1, 32, 2, 64))
        found = Translator(pieces, transformer)
        if said_of(found, rows[0]) != said_of(found, rows[1]):
            return found
    raise AssertionError("No weights tell the two apart.")


def ids(tokenizer, text):
    return tokenizer.tokenize([text]).to_list()[0]


def ids_of_library(tokenizer, text):
    library = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model)
    return library.encode(text)


def spelled(tokenizer, *pieces):
    """Returns the ids of pieces."""
    known = tokenizer.pieces(range(tokenizer.vocab_size))
    return [known.index(piece) for piece in pieces]


def said_of(translator, ids):
    """Returns what a translator says of a row of ids."""
    target = translator.target_tokenizer
    search = search_of_options(SearchOptions(), target)
    found = search_ids(translator.transformer, np.array([ids]), search)
    return target.detokenize(found.ids[:, 0]).numpy()[0].decode()
