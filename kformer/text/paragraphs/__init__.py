"""Texts of many sentences: split, translated sentence by sentence, and put together again.

- `sentences`: splits a text into sentences with the library sentencex.
- `clauses`: splits a sentence that is too long for a model.
- `joining`: translations in the place of their sources, with the white space between them.
- `split_translation`: the whole way, for every form of a translator.
"""
