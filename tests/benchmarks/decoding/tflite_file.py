"""kformer's `.tflite` file in LiteRT, without TensorFlow; it has one shape, so batches are padded.

Several workers are threads of this process, each with an interpreter of its own.
"""

import queue
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from ai_edge_litert.interpreter import Interpreter

from benchmarks.decoding.process import serve
from benchmarks.decoding.workloads import PADDING, blank_lines, words_of


class TFLiteFile:
    def __init__(self, settings):
        self._idle = queue.SimpleQueue()
        for _ in range(settings.workers):
            interpreter = Interpreter(str(settings.model), num_threads=settings.threads)
            interpreter.allocate_tensors()
            runner = interpreter.get_signature_runner()
            self._idle.put(runner)
        self._shape = runner.get_input_details()["source"]["shape"]
        workers = settings.workers
        self._map = map if workers == 1 else ThreadPoolExecutor(workers).map

    def given(self, batch):
        filled = blank_lines(np.empty(self._shape, np.int32))
        rows, columns = batch.shape
        filled[:rows] = PADDING
        filled[:rows, :columns] = batch
        return filled, rows

    def translate(self, given):
        return list(self._map(self._translate_batch, given))

    def _translate_batch(self, given):
        filled, rows = given
        run = self._idle.get()
        ids = run(source=filled)["ids"][:rows]
        self._idle.put(run)
        return ids

    def rows(self, answer):
        return [words_of(row) for row in answer]


if __name__ == "__main__":
    serve(TFLiteFile)
