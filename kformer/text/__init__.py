"""Text: strings to rows of ids and back, and scores and flags that need no model.

- `text_files`: reads text files line by line.
- `tables`: reads TSV, CSV and JSON lines. `columns`: writes columns as temporary text files.
- `documents`: what a document of a text file is.
- `normalization`: what becomes of the characters of a text.
- `vocabulary`: trains and reads SentencePiece models; needs no TensorFlow.
- `tokenizer`: the Keras layer that tokenizes inside a TensorFlow graph.
- `rows`: lists of strings to lists of ids, truncated where they are too long.
- `paragraphs`: texts of many sentences, split, translated and put together again.
- `labels`: the labels of a classifier, and its predictions.
- `prompts`: prompts that are too long to be continued.
- `alignment`: links between the words of a text and of its translation, from attention.
- `degenerate`: finds output that repeats itself or is far too long.
- `scores`: BLEU, chrF and exact matches.
- `bleu_tokenizers`: which tokenizer of BLEU fits a language.
- `significance`: intervals of scores, and paired tests of systems.
"""
