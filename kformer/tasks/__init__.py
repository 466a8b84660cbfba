"""Tasks: a model with its tokenizers, from text to an answer.

- `translator`: `Translator`, from text to text.
- `translation`: `Translation`, one answer of it.
- `keras_file`: reads the settings in a translator's `.keras` file without loading its weights.
"""
