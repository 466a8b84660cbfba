"""Real text to batches, by kformer's tokenizer and pipeline: SOURCE TARGET FOLDER SIZE ...

Writes FOLDER/SIZE.npz for each size: a round of batches, from all over the first few hundred of an
epoch, of as many ids as the batches of random ids have.
"""

import sys
from pathlib import Path

from benchmarks.sizes import VOCAB_SIZE
from benchmarks.training.batches import Batch, save
from benchmarks.training.sizes import MAX_LENGTH, SIZES
from kformer import Tokenizer
from kformer.training import translation_dataset

EVERY = 10  # One batch in so many is kept, so that there are long ones and short ones.


def main():
    source, target, folder, *names = sys.argv[1:]
    tokenizer = Tokenizer.train([source, target], VOCAB_SIZE)
    for name in names:
        size = SIZES[name]
        dataset = translation_dataset(
            source,
            target,
            tokenizer,
            tokens_per_batch=size.batch * size.length,
            max_length=MAX_LENGTH,
        )
        kept = dataset.take(EVERY * size.steps).shard(EVERY, 0)
        batches = [
            Batch(source, target_in, target_out)
            for (source, target_in), target_out in kept.as_numpy_iterator()
        ]
        save(Path(folder, f"{name}.npz"), batches)


if __name__ == "__main__":
    main()
