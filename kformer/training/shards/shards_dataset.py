"""Streams shards as batches for `model.fit`."""

import functools
from collections.abc import Sequence
from pathlib import Path

import tensorflow as tf

from kformer.text.tokenizer import Tokenizer
from kformer.training.data.batching import BatchOptions, row_lengths, shapes_and_padding
from kformer.training.data.consistency import shapes_of_views
from kformer.training.data.corpus_report import shape_lines
from kformer.training.data.pairs import corpus_weights
from kformer.training.data.translation_dataset import pair_batch
from kformer.training.data.windows import number_of_pass
from kformer.training.recipes.recipe import NO_CONSISTENCY
from kformer.training.shards.passes import Passes, Reading
from kformer.training.shards.shard_set import ShardSet, shard_sets, vocabularies_of


def shards_dataset(
    shards: str | Path | Sequence[str | Path],
    *,
    skip_damaged: bool = False,
    tokens_per_batch: int = 4096,
    max_length: int = 128,
    max_length_ratio: float | None = None,
    weights: list[float] | None = None,
    temperature: float | None = None,
    piece_splitting: float = 0.0,
    byte_spelling: float = 0.0,
    consistency: str = NO_CONSISTENCY,
    cutoff: float = 0.05,
    fixed_shapes: bool | None = None,
    shuffle: bool = True,
    seed: int = 0,
    epoch: tf.Variable | None = None,
) -> tf.data.Dataset:
    """Reads shards as batches of about the same number of tokens.

    The batches are like `translation_dataset`'s, except that a pass shuffles all pairs, not only
    within a window. Batch i of pass p is computed from these numbers and the seed alone, so that a
    run resumes anywhere at once: `resumable_fit` does it. Memory and the time to the first batch
    hardly depend on the number of pairs, apart from the check of the files.

    Args:
        shards: A path or a list of paths of folders that `prepare_shards` wrote. Their tokenizer is
            used.
        skip_damaged: Whether to leave out damaged shards, with a warning, instead of raising.
        weights, temperature: How several folders are mixed, as files are in `translation_dataset`.
        tokens_per_batch, max_length, max_length_ratio, piece_splitting, byte_spelling: As for
            `translation_dataset`.
        consistency, cutoff, fixed_shapes, shuffle, seed, epoch: As for `translation_dataset`.

    Returns:
        `tf.data.Dataset` with the elements and the cardinality of `translation_dataset`.

    Raises:
        FileNotFoundError, ValueError: As for `shard_sets`; an argument is out of range; or no pair
            is left.

    Examples:
        >>> from kformer.training import prepare_shards, shards_dataset
        >>> tokenizer = "runs/de-en/translator.keras"
        >>> _ = prepare_shards("shards", "test.de", "test.en", tokenizer=tokenizer)
        >>> (source, target), answer = next(iter(shards_dataset("shards", tokens_per_batch=1024)))
        >>> target.shape == answer.shape
        True
    """
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
    )
    return ShardBatches(shard_sets(shards, skip_damaged), options).dataset(epoch)


class ShardBatches:
    """The batches of shards.

    Args:
        sets: List of `ShardSet`.
        options: Arguments of `shards_dataset`.
        tokenizers: `kformer.Tokenizer`s of source and target; by default those of the shards.
        directions: Of shards of several directions the name of the direction and the `Reading` of
            each of `sets`.

    Attributes:
        passes: `Passes`, which has the numbers of pairs, ids and batches.
    """

    def __init__(
        self,
        sets: Sequence[ShardSet],
        options: BatchOptions,
        tokenizers: Sequence[Tokenizer] | None = None,
        directions: Sequence[tuple[str, Reading]] | None = None,
    ):
        options.check_fit()
        self._sets, self._seed = sets, options.seed
        names, readings = zip(*directions, strict=True) if directions else (None, None)
        if tokenizers is None:
            models = vocabularies_of(sets[0]).models
            tokenizers = [Tokenizer(model) for model in (models[0], models[-1])]
        self._sides = tokenizers
        self._respellings = [options.respellings(side) for side in self._sides]
        self._taught = 2 * sets[0].manifest.teacher_ids
        if self._taught:
            self._respellings[1] = []  # The teachers' probabilities belong to exactly these ids.
        self._form = options.batching()
        self._element = pair_batch(self._form, *self._sides)
        self._views = options.views(*self._sides)
        self.passes = Passes(
            [shard_set.open() for shard_set in sets],
            corpus_weights(
                [shard_set.manifest.pairs for shard_set in sets],
                options.weights,
                options.temperature,
                names,
            ),
            options.filter,
            self._form,
            options.shuffle,
            options.seed,
            readings,
        )

    def dataset(self, epoch: tf.Variable | None = None, first: int = 0) -> tf.data.Dataset:
        """Returns one pass after another, without its first batches, which are not read.

        `epoch` is as for `translation_dataset`.
        """
        number = self.passes.number
        batches = number_of_pass(epoch).flat_map(
            lambda pass_number: tf.data.Dataset.range(first, number).map(
                lambda i: self._batch(pass_number, i), tf.data.AUTOTUNE, deterministic=True
            )
        )
        batches = batches.prefetch(tf.data.AUTOTUNE)
        batches = batches.apply(tf.data.experimental.assert_cardinality(number - first))
        # For `resumable_fit`: `skip` reads the skipped batches.
        batches.beginning_at = functools.partial(self.dataset, epoch)
        shapes = self._form.shapes_of(self.passes.batches)
        batches.shapes = shapes_of_views(shapes, self._views)  # For `CompileAhead`.
        return batches

    def _batch(self, number, i):
        """Returns batch i of a pass, in graph."""
        types = [tf.int32, tf.int64] * 2 + [tf.int32, tf.int64]
        *arrays, teachers, bucket = tf.numpy_function(
            self.passes.read, [number, i], types, stateful=False
        )
        for array in arrays:
            array.set_shape([None])
        usual = [
            side.with_end(tf.RaggedTensor.from_row_lengths(*ids_and_lengths, validate=False))
            for side, ids_and_lengths in zip(self._sides, (arrays[:2], arrays[2:]), strict=True)
        ]
        chance = tf.random.fold_in(tf.stack([tf.constant(self._seed, tf.int64), number]), i)
        if self._form.shares > 1:  # Each process reads and spells its own rows.
            chance = tf.random.fold_in(chance, self._form.share)
        seeds = iter(tf.unstack(tf.random.split(chance, 4)))
        spelled = [*usual]
        for side, functions in enumerate(self._respellings):
            for respell in functions:
                spelled[side] = respell(spelled[side], next(seeds))
        rows, order = self._form.arrange(
            row_lengths(usual), usual, spelled, tf.range(usual[0].nrows())
        )
        sides = [tf.gather(side, order) for side in rows]
        shape = self._form.shape_of_part(bucket)
        inputs, expected = self._element(*sides, shape)
        if self._taught:
            teachers.set_shape([None, self._taught])
            teacher_rows = tf.RaggedTensor.from_row_lengths(teachers, usual[1].row_lengths())
            padded = tf.concat([tf.shape(expected), [self._taught]], axis=0)
            teachings = tf.gather(teacher_rows, order).to_tensor(shape=padded)
            expected = tf.concat([expected[..., None], teachings], axis=-1)
        if self._views is None:
            return inputs, expected
        return self._views((inputs, expected), tf.random.fold_in(chance, 4))

    def describe(self) -> list[str]:
        """Returns lines about the shards, and about a pass over them."""
        passes = self.passes
        dropped, (source, target) = passes.dropped, passes.ids
        folders = {shard_set.folder: shard_set.manifest for shard_set in self._sets}
        lines = [f"{folder}: {manifest}" for folder, manifest in folders.items()]
        lines.append(
            f"{sum(dropped.values()):,} pairs; {dropped['kept']:,} are used. Not used: "
            f"{dropped['too_long']:,} too long, {dropped['unlike_lengths']:,} of unlike lengths."
        )
        lines.append(f"An epoch: {passes.number:,} batches, {target:,} target tokens.")
        return lines + shape_lines(*shapes_and_padding(self._form, passes.batches, source + target))
