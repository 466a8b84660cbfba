"""Training data: parallel text files to batches of ids.

- `parallel_files`, `mixture`, `corpus_weights`: the files, and how often each is read.
- `pairs`: tables and Python objects, written as such files.
- `dataset`: `translation_dataset`, a `tf.data.Dataset` of batches. `windows`, `batching`: what
  every such data set shares.
- `dropped_pairs`: pairs that are dropped, and why.
- `subword_regularization`, `byte_fallback`, `respelling`: other spellings of the same text.
- `preflight`, `text_statistics`, `corpus_report`: a report on a corpus before training.
"""
