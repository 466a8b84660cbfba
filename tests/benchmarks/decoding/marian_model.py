"""Marian, by `pymarian`: the engine of most published models, in float32, one thread.

It is given: a vocabulary whose words are the ids; a batch as one list of lines, the same limit for
all of it; greedy search without probabilities (`skip-cost`), as Firefox runs it.
"""

from pymarian import Translator

from benchmarks.decoding.contenders import MARIAN_WEIGHTS, MARIAN_WORDS
from benchmarks.decoding.process import LENGTH_PENALTY, serve
from benchmarks.decoding.workloads import END, PADDING


class MarianModel:
    def __init__(self, settings):
        self._extra_length = settings.workload.extra_length
        vocabulary = str(settings.model / MARIAN_WORDS)
        self._translator = Translator(
            models=[str(settings.model / MARIAN_WEIGHTS)],
            vocabs=[vocabulary, vocabulary],
            beam_size=settings.beam_size,
            normalize=LENGTH_PENALTY,
            skip_cost=settings.beam_size == 1,
            mini_batch=settings.workload.largest,
            max_length=settings.workload.longest,
            cpu_threads=settings.threads,
            quiet=True,
            quiet_translation=True,
        )

    def given(self, batch):
        # Marian adds the end itself.
        lines = [" ".join(str(i) for i in row if i not in (PADDING, END)) for row in batch]
        longest = max(len(line.split()) for line in lines) + 1
        # Marian stops at the first length that is not less than the product of factor and width.
        return lines, (longest + self._extra_length - 0.5) / longest

    def translate(self, given):
        return [
            self._translator.translate(lines, **{"max-length-factor": factor})
            for lines, factor in given
        ]

    def rows(self, answer):
        return [[int(word) for word in line.split()] for line in answer]


if __name__ == "__main__":
    serve(MarianModel)
