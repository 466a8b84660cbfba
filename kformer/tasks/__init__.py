"""Tasks: a network with its tokenizers, from text to an answer.

- `text_model`: `TextModel`, what every task shares: its `.keras` file, and vectors of texts.
- `translator`: `Translator`, from text to text.
- `translation`: `Translation`, one answer of it.
- `ensemble`: `Ensemble`, several translators that translate together.
- `word_alignment`: which words of a text and of its translation belong together.
- `text_classifier`: `TextClassifier`, from text to a label.
- `language_model`: `LanguageModel`, from a prompt to its continuation.
- `text_encoder`: `TextEncoder`, from text to vectors.
- `search_defaults`: `SearchDefaults`, the options by which a model searches by default.
- `distinct_answers`: of several answers with the same text, the best.
- `parts`: the parts of a network, and the number of their parameters.
- `kinds`: chooses what differs by the kind of a model that is exported.
- `attention_maps`: the attention of a model to the pieces of one text.
- `features`: vectors of rows of ids, from a network's encoder.
- `batches`: `InBatches`, which computes something of any number of rows.
- `pretrained`: translators that others have trained.
- `keras_file`: reads what a `.keras` file holds, without loading its weights.
"""
