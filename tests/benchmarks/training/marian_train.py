"""Marian, by `pymarian`: its own training command, which reads from a pipe as text what it learns.

Option: `1` for one worker instead of one for each core, among which a batch is shared.

It is given: a vocabulary whose words are the ids; a round of lines at once, which it cuts into
batches of as many ids; no clipping of gradients, as the others have none. Its initial weights and
the first positions are its own.
"""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.sizes import VOCAB_SIZE
from benchmarks.training.batches import PADDING, Batch
from benchmarks.training.process import serve
from benchmarks.training.sizes import DROPOUT, LABEL_SMOOTHING

VOCABULARY = "vocabulary.yml"
END, UNKNOWN = 3, 1  # As in `kformer.Tokenizer`.
UPDATE = re.compile(r"Sen\. ([\d,]+) : Cost ([-\d.naif]+)")


def lines_of(batches: list[Batch]) -> list[str]:
    """Returns the pairs of all batches: ids of the source, a tab, ids of the target.

    The last id of each is left out, because Marian adds the end itself.
    """
    return [
        "\t".join(" ".join(map(str, ids[ids != PADDING][:-1])) for ids in pair)
        for batch in batches
        for pair in zip(batch.source, batch.target_out, strict=True)
    ]


def update_of(line: str) -> tuple[int, float] | None:
    """Returns the number of sentences so far and the loss of an update; None if it is no update."""
    found = UPDATE.search(line)
    return found and (int(found[1].replace(",", "")), float(found[2]))


def arguments(size, folder: Path, sentences: int, workers: int) -> list[str]:
    """Returns the options of Marian: the model, the optimizer, and how it reads.

    Args:
        size: `Size` of the model.
        folder: For the vocabulary and what Marian writes when it ends.
        sentences: Number of lines in a round; it waits for all of them.
        workers: Number of its threads.
    """
    vocabulary = str(folder / VOCABULARY)
    ids = str(VOCAB_SIZE)
    model = f"""
        --type transformer --tied-embeddings-all --dim-emb {size.d_model}
        --enc-depth {size.num_layers} --dec-depth {size.num_layers}
        --transformer-heads {size.num_heads} --transformer-dim-ffn {size.d_ff}
        --transformer-ffn-activation relu --transformer-dropout {DROPOUT}
        --label-smoothing {LABEL_SMOOTHING} --cost-type ce-mean-words
        --optimizer adam --optimizer-params 0.9 0.98 1e-9 --learn-rate 1e-4 --clip-norm 0
        --cpu-threads {workers} --sync-sgd --seed 1
    """.split()
    # `mini-batch-words`: a batch ends with the first sentence that exceeds them.
    data = f"""
        --tsv --train-sets stdin --shuffle none --maxi-batch 1 --maxi-batch-sort none
        --mini-batch {sentences} --mini-batch-words {size.batch * size.length - 1}
        --mini-batch-round-up false --max-length 1000 --disp-freq 1u
    """.split()
    files = ["--model", str(folder / "model.npz"), "--vocabs", vocabulary, vocabulary]
    return [*model, *data, *files, "--dim-vocabs", ids, ids]


def train(size, dtype, options, batches, rounds):
    """Feeds a round of lines to Marian, and waits until its log has the last of them."""
    lines = lines_of(batches)
    folder = Path(tempfile.mkdtemp())  # Inside the benchmark's own.
    words = {UNKNOWN: "<unk>", END: "</s>"}
    vocabulary = "".join(f'"{words.get(i, i)}": {i}\n' for i in range(VOCAB_SIZE))
    (folder / VOCABULARY).write_text(vocabulary, "utf-8")
    workers = 1 if "1" in options else os.cpu_count()
    process = subprocess.Popen(
        [sys.executable, "-m", "pymarian", "train", *arguments(size, folder, len(lines), workers)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    done = 0
    while True:
        rounds.begin()
        with contextlib.suppress(BrokenPipeError):  # Its log has the reason.
            print(*lines, sep="\n", file=process.stdin, flush=True)
        done += len(lines)
        rounds.end(loss=_first_loss(process.stderr, done))


def _first_loss(log, sentences):
    """Reads the log until so many sentences are learnt; returns the first loss in it."""
    first = last = None
    for last in log:
        update = update_of(last)
        if update:
            first = first or update[1]
            if update[0] >= sentences:
                return first
        else:
            print(last, end="", file=sys.stderr)
    raise RuntimeError(f"Marian ended: {last}")


if __name__ == "__main__":
    serve(train)
