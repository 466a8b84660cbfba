"""Trains the classifier of `kformer.identify`: `make identifier TEXT=...`.

PYTHONPATH=tests python -m support.identifier_model TEXT FILE

TEXT is a folder that `support.identifier_text` wrote. It has lines of language, source and text,
parted by tabs: `train.tsv`, and `kept.tsv`, which is never trained on. Lines of the source "words"
are single words, the most frequent first. It takes 35 minutes on one core.
"""

import argparse
import random
from collections import defaultdict
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

import kformer
import kformer.export
from kformer.identification.identifier import UNKNOWN, WINDOW
from kformer.identification.scripts import SHARED_SCRIPTS, letters_of, words_by_script

SIZES = {"num_layers": 2, "d_model": 64, "num_heads": 4, "d_ff": 128, "norm_first": True}
VOCABULARY = 16_000
LENGTHS = (16, 32, 64)  # Ids of the rows of a batch.
BATCH_IDS = 8192
PEAK = 4e-3  # The highest learning rate.
SEED = 20
ABOUT = {
    "title": "Languages of text in Latin, Cyrillic, Arabic and Devanagari script",
    "licence": "CC-BY-SA-4.0",
    "citation": "Made by kformer, of Common Voice (CC0), NTREX-128, FrequencyWords, Universal "
    "Dependencies (CC BY-SA 4.0), Tatoeba (CC BY 2.0 FR) and TICO-19 (CC0).",
}


def words_to_read(text: str) -> list[str]:
    """Returns the words of the shared script that a text has most letters of."""
    words = words_by_script(text)
    script = max(SHARED_SCRIPTS, key=lambda script: letters_of(script, words.get(script, [])))
    return words.get(script, [])


def cut(words: list[str], start: int = 0, count: int | None = None) -> str:
    """Returns `count` words from `start` on, as many as a window of `kformer.identify` holds."""
    text = " ".join(words[start : None if count is None else start + count])
    return text if len(text) <= WINDOW else text[: WINDOW + 1].rpartition(" ")[0] or text[:WINDOW]


class TrainingText:
    """Sentences and words by language, of which any number of training examples are drawn."""

    def __init__(self, file: Path):
        self._sentences: dict[str, list[list[str]]] = defaultdict(list)
        self._words: dict[str, list[str]] = defaultdict(list)
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                language, source, text = line.rstrip("\n").split("\t")
                words = words_to_read(text)
                if source == "words" and words:
                    self._words[language] += words
                elif words:
                    self._sentences[language].append(words)
        self.languages = sorted(self._sentences)
        # Text in all other languages shares a label.
        self._weights = [4 if code == UNKNOWN else 1 for code in self.languages]

    def sample(self, random: random.Random, most: int) -> list[str]:
        """Returns at most `most` sentences of each language, more of the unknown ones."""
        return [
            cut(words)
            for code, weight in zip(self.languages, self._weights, strict=True)
            for words in random.sample(
                self._sentences[code], min(most * weight, len(self._sentences[code]))
            )
        ]

    def example(self, random: random.Random) -> tuple[str, str]:
        """Returns a language and a text in it: a sentence, a few words of one, or single words."""
        [code] = random.choices(self.languages, self._weights)
        if code == UNKNOWN and random.random() < 0.1:
            return code, self._gibberish(random)
        known = self._words[code]
        if known and random.random() < 0.12:
            count = random.choice((1, 2, 3))
            # The square draws frequent words more often.
            return code, " ".join(
                known[int(len(known) * random.random() ** 2)] for _ in range(count)
            )
        words = random.choice(self._sentences[code])
        if random.random() < 0.2:
            return code, cut(words)
        count = random.choice((1, 2, 2, 3, 3, 3, 4, 4, 5, 6, 8, 12))
        return code, cut(words, random.randrange(max(1, len(words) - count + 1)), count)

    def _gibberish(self, random):
        """Returns words whose letters are shuffled; single short words might remain words."""
        words = random.choice(self._sentences[random.choice(self.languages)])
        start = random.randrange(max(1, len(words) - 1))
        return cut(["".join(random.sample(word, len(word))) for word in words], start, 6)


def batches(text: TrainingText, tokenizer: kformer.Tokenizer, examples: int, seed: int):
    """Yields ids (B, S) and labels (B,) of texts of similar length, without end.

    Args:
        examples: Number of examples among which texts of similar length are sought.
    """
    source = random.Random(seed)
    library = tokenizer._library  # Only it splits a text in other ways than the best.
    number = {code: i for i, code in enumerate(text.languages)}
    while True:
        rows: dict[int, list[tuple[list[int], int]]] = defaultdict(list)
        for _ in range(examples):
            code, words = text.example(source)
            ids = (
                library.EncodeAsIds(words)
                if source.random() < 0.7
                else library.SampleEncodeAsIds(words, -1, 0.3)
            )
            ids = [*ids[: LENGTHS[-1] - 1], tokenizer.end_id]
            length = next(length for length in LENGTHS if len(ids) <= length)
            rows[length].append((ids, number[code]))
        made = []
        for length, some in rows.items():
            size = BATCH_IDS // length
            made += [
                (length, some[first : first + size])
                for first in range(0, len(some) - size + 1, size)
            ]
        source.shuffle(made)
        for length, some in made:
            ids = np.zeros((len(some), length), np.int32)
            for row, (values, _) in zip(ids, some, strict=True):
                row[: len(values)] = values
            yield ids, np.array([label for _, label in some], np.int32)


def new_classifier(text: TrainingText) -> kformer.TextClassifier:
    """Learns a vocabulary; returns a classifier that is not trained."""
    tokenizer = kformer.Tokenizer.train(
        texts=text.sample(random.Random(SEED), 3000),
        vocab_size=VOCABULARY,
        character_coverage=0.9998,
    )
    encoder = kformer.TransformerEncoder(tokenizer.vocab_size, dropout=0.05, **SIZES)
    return kformer.TextClassifier(tokenizer, encoder, text.languages, max_source_length=LENGTHS[-1])


def train(model: kformer.TextClassifier, text: TrainingText, steps: int, peak: float, seed: int):
    """Trains a classifier for a number of batches; `peak` is the highest learning rate."""
    rate = keras.optimizers.schedules.CosineDecay(
        1e-5, steps, alpha=0.02, warmup_target=peak, warmup_steps=max(20, steps // 30)
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(rate, clipnorm=1.0), loss, jit_compile=False)
    shapes = (tf.TensorSpec((None, None), tf.int32), tf.TensorSpec((None,), tf.int32))
    data = tf.data.Dataset.from_generator(
        lambda: batches(text, model.tokenizer, 60_000, seed), output_signature=shapes
    )
    epochs = max(1, steps // 500)
    model.fit(data.prefetch(2), steps_per_epoch=steps // epochs, epochs=epochs, verbose=2)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--steps", type=int, default=8000, help="Batches of 8,192 ids.")
    parser.add_argument("--start", type=Path, help="A .keras file to train further.")
    arguments = parser.parse_args()
    keras.utils.set_random_seed(SEED)
    text = TrainingText(arguments.text / "train.tsv")
    if arguments.start:
        model = kformer.TextClassifier.load(arguments.start)
        train(model, text, arguments.steps, PEAK / 3, SEED + 1)
    else:
        model = new_classifier(text)
        train(model, text, arguments.steps, PEAK, SEED)
    model.save(arguments.text / "identifier.keras", include_optimizer=False)
    kformer.export.export_tflite(
        model, arguments.file, precision="int8", max_source_length=LENGTHS[-1], about=ABOUT
    )
    print(f"Written: {arguments.file}, {arguments.file.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
