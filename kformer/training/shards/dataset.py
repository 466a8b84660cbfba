"""Streams shards as batches for `model.fit`."""

from collections.abc import Sequence
from pathlib import Path

import tensorflow as tf

from kformer.text.tokenizer import Tokenizer
from kformer.training.data.batching import batching
from kformer.training.data.corpus_weights import corpus_weights
from kformer.training.data.dataset import pair_batch, respellings
from kformer.training.data.dropped_pairs import PairFilter
from kformer.training.data.windows import number_of_pass
from kformer.training.shards.passes import Passes
from kformer.training.shards.shard_set import shard_sets, vocabularies_of


def shards_dataset(
    shards: str | Path | Sequence[str | Path],
    *,
    tokens_per_batch: int = 4096,
    max_length: int = 128,
    max_length_ratio: float | None = None,
    weights: list[float] | None = None,
    temperature: float | None = None,
    piece_splitting: float = 0.0,
    byte_spelling: float = 0.0,
    fixed_shapes: bool | None = None,
    shuffle: bool = True,
    seed: int = 0,
    epoch: tf.Variable | None = None,
    skip_damaged: bool = False,
) -> tf.data.Dataset:
    """Reads shards as batches of about the same number of tokens.

    The batches are those of `translation_dataset`, except that a pass shuffles all pairs, not those
    of a window. Batch i of pass p is computed from these numbers and the seed alone, so that a run
    resumes anywhere at once: `resumable_fit` does it. Memory and the time to the first batch hardly
    depend on the number of pairs, apart from the check of the files.

    Args:
        shards: A path or a list of paths of folders that `prepare_shards` wrote.
        weights, temperature: How several folders are mixed, as files in `translation_dataset`.
        skip_damaged: Whether to leave out damaged shards, with a warning, instead of raising.

    The other arguments, the elements and the cardinality are those of `translation_dataset`. The
    tokenizers are those of the shards.

    Raises:
        FileNotFoundError, ValueError: See `shard_sets`; an argument is out of range; or no pair is
            left.
    """
    sets = shard_sets(shards, skip_damaged)
    if tokens_per_batch < max_length:
        raise ValueError(
            "`tokens_per_batch` must be at least `max_length`, so that every sentence fits. "
            f"Received: tokens_per_batch={tokens_per_batch}, max_length={max_length}."
        )
    models = vocabularies_of(sets[0]).models
    tokenizers = [Tokenizer(models[0]), Tokenizer(models[-1])]
    form = batching(tokens_per_batch, max_length, fixed_shapes, piece_splitting, byte_spelling)
    passes = Passes(
        [one.open() for one in sets],
        corpus_weights([one.manifest.pairs for one in sets], weights, temperature),
        PairFilter(max_length, max_length_ratio),
        form,
        shuffle,
        seed,
    )
    respelled = [respellings(side, piece_splitting, byte_spelling) for side in tokenizers]
    element = pair_batch(form, *tokenizers)

    def batch(number, i):
        ids = tf.numpy_function(passes.read, [number, i], [tf.int32, tf.int64] * 2, stateful=False)
        for array in ids:
            array.set_shape([None])
        rows = [
            side.with_end(tf.RaggedTensor.from_row_lengths(*arrays, validate=False))
            for side, arrays in zip(tokenizers, (ids[:2], ids[2:]), strict=True)
        ]
        chance = tf.random.fold_in(tf.stack([tf.constant(seed, tf.int64), number]), i)
        seeds = iter(tf.unstack(tf.random.split(chance, 4)))
        spelled = [*rows]
        for side, functions in enumerate(respelled):
            for respell in functions:
                spelled[side] = respell(spelled[side], next(seeds))
        rows, order = form.arrange(rows, spelled, tf.range(rows[0].nrows()))
        return element(*(tf.gather(side, order) for side in rows))

    def beginning_at(first):
        """Returns the data set without the first batches, which are not read."""
        batches = number_of_pass(epoch).flat_map(
            lambda number: tf.data.Dataset.range(first, passes.number).map(
                lambda i: batch(number, i), tf.data.AUTOTUNE, deterministic=True
            )
        )
        batches = batches.prefetch(tf.data.AUTOTUNE)
        return batches.apply(tf.data.experimental.assert_cardinality(passes.number - first))

    batches = beginning_at(0)
    batches.beginning_at = beginning_at  # For `resumable_fit`: `skip` would read what it skips.
    return batches
