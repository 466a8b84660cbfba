"""Parallel text at random, and the rows of its batches, by the SentencePiece library."""

import random
from collections import Counter

import sentencepiece
import tensorflow as tf

WORDS = ["ich", "möchte", "ein", "bier", "das", "haus", "ist", "groß", "wir", "gehen", "heute"]


def sentence(length, rng=random):
    return " ".join(rng.choices(WORDS, k=length))


def many_pairs(number, seed=0):
    """Pairs of all lengths from 0 to 9 words; the first word numbers them."""
    rng = random.Random(seed)
    return [
        (f"{i} {sentence(i % 10, rng)}", f"{sentence(i // 7 % 10, rng)} {i}") for i in range(number)
    ]


def write(folder, pairs, name="text", ending="\n"):
    """Writes pairs as two files; returns their paths."""
    paths = []
    for language, lines in zip(("de", "en"), zip(*pairs, strict=True), strict=True):
        paths.append(folder / f"{name}.{language}")
        paths[-1].write_bytes("".join(line.strip() + ending for line in lines).encode())
    return paths


def expected_rows(pairs, tokenizer, max_length, target_tokenizer=None):
    """Counts (source, target) as tuples of ids, each with its end, of all pairs that fit."""
    rows = []
    for pair in pairs:
        row = []
        for text, side in zip(pair, (tokenizer, target_tokenizer or tokenizer), strict=True):
            library = sentencepiece.SentencePieceProcessor(model_proto=side.model)
            row.append((*library.encode(text), side.end_id))
        if all(1 < len(ids) <= max_length for ids in row):
            rows.append(tuple(row))
    return Counter(rows)


def rows_of(batches, tokenizer, target_tokenizer=None):
    """Lists (source, target) as tuples of ids; checks padding and the shift on the way."""
    target_tokenizer = target_tokenizer or tokenizer
    rows = []
    for (source, target_in), target_out in batches:
        assert source.dtype == target_in.dtype == target_out.dtype == tf.int32
        assert target_in.shape == target_out.shape
        for s, t_in, t_out in zip(
            source.numpy(), target_in.numpy(), target_out.numpy(), strict=True
        ):
            s, t_out = unpadded(s, tokenizer), unpadded(t_out, target_tokenizer)
            t_in = unpadded(t_in, target_tokenizer)
            assert t_in == (target_tokenizer.start_id, *t_out[:-1])
            rows.append((s, t_out))
    return rows


def unpadded(row, tokenizer):
    real = row != tokenizer.padding_id
    length = real.sum()
    assert real[:length].all(), "Padding must stand behind."
    return tuple(row[:length].tolist())
