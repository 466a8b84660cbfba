"""Training data: parallel text files to batches of ids.

- `text_files`, `mixture`, `corpus_weights`: which files are read, and how often.
- `dataset`, `batching`: `translation_dataset`, a `tf.data.Dataset` of batches.
- `pair_filter`, `dropped_pairs`: pairs that are left out, and why.
- `subword_regularization`, `byte_fallback`, `respelling`: other spellings of the same text.
- `preflight`, `text_statistics`: checks a corpus before anybody trains on it.
"""
