"""CTranslate2: `translate_batch`, its interface from tokens to tokens.

It is given: weights that were quantised before; tokens that are strings already; batches of about
one length, as it would sort them itself; for several workers, all batches at once, asynchronously.
"""

import ctranslate2

from benchmarks.decoding.process import LENGTH_PENALTY, serve
from benchmarks.decoding.workloads import END, PADDING


class CTranslate2Model:
    def __init__(self, settings):
        self._beam_size = settings.beam_size
        self._extra_length = settings.workload.extra_length
        self._asynchronous = settings.workers > 1
        self._translator = ctranslate2.Translator(
            str(settings.model),
            compute_type=settings.precision,
            inter_threads=settings.workers,
            intra_threads=settings.threads,
        )

    def given(self, batch):
        # CTranslate2 adds the end itself. Of a blank line it would not run the model at all.
        rows = [[str(i) for i in row if i not in (PADDING, END)] or [str(END)] for row in batch]
        longest = max(map(len, rows)) + 1
        return rows, longest + self._extra_length

    def translate(self, given):
        batches = [self._start(rows, limit) for rows, limit in given]
        return [[self._finish(result) for result in batch] for batch in batches]

    def _start(self, rows, limit):
        return self._translator.translate_batch(
            rows,
            max_batch_size=0,  # As they come.
            asynchronous=self._asynchronous,
            beam_size=self._beam_size,
            length_penalty=LENGTH_PENALTY,
            max_input_length=0,
            max_decoding_length=limit,
            min_decoding_length=0,
        )

    def _finish(self, result):
        return (result.result() if self._asynchronous else result).hypotheses[0]

    def rows(self, answer):
        return [[int(token) for token in tokens] for tokens in answer]


if __name__ == "__main__":
    serve(CTranslate2Model)
