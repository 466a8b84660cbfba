"""Training data: parallel text files to batches of ids.

- `pairs`: parallel files, tables and Python objects, as the files of a run.
- `directions`: the texts of a model of several languages, each with its direction.
- `mixture`: several corpora with their weights, and how often each is read.
- `translation_dataset`: `translation_dataset`, a `tf.data.Dataset` of batches. `windows`,
  `batching`: windows of text with their statistics, and batches by length, for all such data sets.
- `dropped_pairs`: pairs that are dropped, and why.
- `noise`: text with capitals, typing errors, emoji and other noise.
- `respelling`: other spellings of the same text, by subword regularization and byte fallback.
- `consistency`: two rows for each example, for consistency training.
- `marking`: terms with their translations, and placeholders, in the pairs. `word_pairs`: words that
  translate each other; `lexicon`: IBM model 1.
- `preflight`, `corpus_report`: a report on a corpus before training.
"""
