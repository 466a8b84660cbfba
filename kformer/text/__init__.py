"""Text: strings to rows of ids and back, and scores and flags that need no model.

- `text_files`: reads text files line by line. `long_lines`: lines of bounded length.
- `tables`: reads TSV, CSV and JSON lines, and writes columns as temporary text files.
- `bitexts`, `tmx`: parallel text of two files, of Moses archives and of translation memories.
- `documents`: the documents of text files, for language models.
- `normalization`: the rules that change the characters of a text before it is split.
- `near_characters`: the nearest ones to those that a pretrained vocabulary cannot spell.
- `numbers`: the digits of numbers, whatever a language puts between them.
- `vocabulary`: trains and reads SentencePiece models; needs no TensorFlow.
- `tokenizer`: the Keras layer that tokenizes inside a TensorFlow graph.
- `text_rows`: lists of strings to lists of ids, truncated where they are too long.
- `paragraphs`: texts of many sentences, split, translated and put together again.
- `labels`: the labels of classifiers and taggers, and their predictions; `label_scores`: accuracy,
  F1 and confusion.
- `alignment`: links between the words of a text and of its translation, from attention.
- `scores`: BLEU, chrF and exact matches, their intervals, and paired tests of systems.
- `language_names`: names of languages, and codes that mean the same.
- `bleu_tokenizers`: the tokenizer of BLEU for each language.
"""
