"""Streams parallel text as batches for `model.fit`: tokenized in graph and batched by length.

Axes: B batch, S source length, T target length.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf

from kformer.near_names import with_near_names
from kformer.text.tokenizer import Tokenizer
from kformer.training.data.batching import Batching, BatchOptions
from kformer.training.data.marking import Marking
from kformer.training.data.mixture import Mixture
from kformer.training.data.noise import Noise
from kformer.training.data.pairs import parallel_text
from kformer.training.data.windows import Windows
from kformer.training.data.word_pairs import WordSplitter, learn_word_pairs
from kformer.training.recipes.noise_rates import NO_NOISE
from kformer.training.recipes.recipe import NO_CONSISTENCY


@with_near_names
def translation_dataset(
    source_files: str | Path | Sequence[str | Path] | None = None,
    target_files: str | Path | Sequence[str | Path] | None = None,
    tokenizer: Tokenizer | None = None,
    target_tokenizer: Tokenizer | None = None,
    *,
    pairs: str | Path | Iterable[Any] | None = None,
    columns: Sequence[str] | None = None,
    tokens_per_batch: int = 4096,
    max_length: int = 128,
    max_length_ratio: float | None = None,
    weights: list[float] | None = None,
    temperature: float | None = None,
    piece_splitting: float = 0.0,
    byte_spelling: float = 0.0,
    consistency: str = NO_CONSISTENCY,
    cutoff: float = 0.05,
    noise: str = NO_NOISE,
    fixed_shapes: bool | None = None,
    shuffle: bool = True,
    seed: int = 0,
    epoch: tf.Variable | None = None,
) -> tf.data.Dataset:
    """Reads parallel text as batches of about the same number of tokens.

    Pairs with a blank side or with more than `max_length` ids on a side are dropped; a side of more
    than 64 bytes for each of these ids is not even tokenized. Each other pair is in every pass once
    (or as often as `weights` has it), in a batch of pairs of similar length. Each side of a batch
    is padded to its longest row, rounded up so that there are few shapes. A batch has at most
    `tokens_per_batch` ids on its longer side, and hardly fewer. (`piece_splitting`,
    `byte_spelling` and `noise` add ids to that.)

    A pass depends only on the files, `seed` and its number. To resume an interrupted pass, assign
    its number to `epoch` and continue with `dataset.skip(k)`. Every pass has
    `dataset.cardinality()` batches.

    Args:
        source_files, target_files: A path or a list of paths each, UTF-8, plain or compressed;
            line n of a target file translates line n of its source file. Several files are read
            side by side, so that every part of a pass has a share of each.
        tokenizer: `kformer.Tokenizer` of the source, or of both sides.
        target_tokenizer: `kformer.Tokenizer` of the target, if it has its own vocabulary.
        pairs, columns: Instead of the files: tables, or pairs in Python, as for `split_pairs`.
        tokens_per_batch: Maximum ids of the longer side of a batch, with padding.
        max_length: Maximum ids per sentence, its end (or start) id included.
        max_length_ratio: Maximum ratio of the longer side of a pair to the shorter, in ids, as
            for `PairFilter`. None for any ratio.
        weights: How often a pass reads each pair of files: 2 for every line twice, 0.5 for a
            random half of the lines, which differs between passes; see `Mixture`. 1 by default.
        temperature: Instead of `weights`: above 1, small corpora are read more often; see
            `Mixture`.
        piece_splitting: Rate of subword regularization: share of the pieces that are split into
            smaller ones; see `kformer.training.data.respelling`.
        byte_spelling: Rate of byte-fallback augmentation: share of the pieces that are spelled in
            bytes; see `kformer.training.data.respelling`.
        consistency: "simcut" or "rdrop" for batches of consistency training, with two rows for each
            pair; see `kformer.training.data.consistency`. "none" by default.
        cutoff: For "simcut": share of the tokens that are cut off in the second row.
        noise: Names and rates of noise, such as "upper=0.05,typos=0.1", or "robust", or "none"; see
            `kformer.training.data.noise`. A noisy sentence of more than `max_length` ids, or, of
            fixed shapes, one that does not fit the shape of its batch, stays as it was.
        fixed_shapes: Whether batches have one of a few shapes, for backends that compile each
            shape; by default, they have it unless Keras runs on TensorFlow. Both sides then have
            the same length, and rows of padding fill up a shape.
        shuffle: Whether to shuffle each pass, within windows of 100,000 pairs.
        seed: Seed of the shuffling, and of the choice of pieces to split or spell in bytes,
            and of the noise.
        epoch: Number of the pass, a scalar int64 variable on the CPU, read when the first batch of
            an iteration is fetched. By default the passes are counted from 0.

    Returns:
        `tf.data.Dataset` of ((source (B, S), target_in (B, T)), target_out (B, T)), int32. A
        source is pieces + end, target_in is start + pieces, target_out is pieces + end. For
        consistency training, target_out is (2 B, T, 1, 2), as `MaskedCrossEntropy` takes it.

    Raises:
        FileNotFoundError, ValueError: As for `check_parallel` and `split_pairs`; or all pairs
            are dropped.
        TypeError: The files are not paths but sentences, or there is no tokenizer.

    Examples:
        >>> import kformer
        >>> from kformer.training import translation_dataset
        >>> tokenizer = kformer.load("runs/de-en/translator.keras").tokenizer
        >>> batches = translation_dataset("test.de", "test.en", tokenizer, tokens_per_batch=2048)
        >>> (source, target), answer = next(iter(batches))
        >>> target.shape == answer.shape
        True
    """
    text = parallel_text(source_files, target_files, pairs, columns)
    if tokenizer is None:
        raise TypeError(
            "`translation_dataset` needs source files and target files, or pairs, and a tokenizer. "
            f"Received: {tokenizer=}."
        )
    options = BatchOptions(
        tokens_per_batch,
        max_length,
        piece_splitting,
        byte_spelling,
        fixed_shapes,
        shuffle,
        seed,
        max_length_ratio,
        weights,
        temperature,
        consistency=consistency,
        cutoff=cutoff,
        noise=noise,
    )
    tokenizers = tokenizer, target_tokenizer or tokenizer
    return translation_windows(text.source, text.target, tokenizers, options).dataset(epoch)


def translation_windows(
    source: Sequence[str],
    target: Sequence[str],
    tokenizers: Sequence,
    options: BatchOptions,
    directions: Sequence[tuple[str, int | None]] | None = None,
) -> Windows:
    """Returns the windows of `translation_dataset`.

    `directions` has for each corpus the name of its direction, and the id that stands before its
    sources, which is None for all corpora if there is one target language.
    """
    names, prefix_ids = zip(*directions, strict=True) if directions else (None, (None,))
    most = options.filter.most_bytes + 1  # A byte more shows that a line is too long.
    mixture = Mixture(source, target, options.weights, options.temperature, names, longest=most)
    options.check_fit()
    respelled = {side: options.respellings(side) for side in {*tokenizers}}
    form = options.batching()
    batch = pair_batch(form, *tokenizers)
    respellings = [respelled[side] for side in tokenizers]
    views, noise = options.views(*tokenizers), Noise.of(options.noise)
    marking = functools.partial(_marking, tokenizers, mixture, options.marks)
    return Windows(
        tokenizers,
        mixture,
        options,
        form,
        batch,
        respellings,
        views,
        noise=noise,
        prefix_ids=None if None in prefix_ids else prefix_ids,
        marking=marking if options.marks else None,
    )


def _marking(tokenizers, mixture, kinds):
    splitters = tuple(map(WordSplitter, tokenizers))
    return Marking(splitters, learn_word_pairs(splitters, tokenizers, mixture), kinds)


def pair_batch(form: Batching, tokenizer: Tokenizer, target_tokenizer: Tokenizer) -> Callable:
    """Returns the function from the rows and the shape of a batch to an element of a data set."""
    padding = tokenizer.padding_id, target_tokenizer.padding_id, target_tokenizer.padding_id

    def batch(source, target, shape):
        target_in = target_tokenizer.with_start(target[:, :-1])
        source, target_in, target_out = form.pad([source, target_in, target], padding, shape)
        return (source, target_in), target_out

    return batch
