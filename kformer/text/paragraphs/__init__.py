"""Texts of many sentences: split, translated sentence by sentence, and put together again.

- `sentence_splitting`: splits a text into sentences with the library sentencex, and a sentence that
  is too long for a model into clauses.
- `abbreviations`: where a sentence goes on after a full stop, in 28 languages.
- `marks`: list marks, emoji and text without letters, which are kept as they are.
- `joining`: translations in the place of their sources, with the white space between them.
"""
