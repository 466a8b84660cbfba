"""Tasks: a model with its tokenizers, from text to an answer.

- `translator`: `Translator`, from text to text.
- `translation`: `Translation`, one answer of it.
- `features`: vectors of texts, from a model's encoder.
- `keras_file`: reads the settings in a translator's `.keras` file without loading its weights.
"""
