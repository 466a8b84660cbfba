"""Tasks: a network with its tokenizers, from text to an answer.

- `text_model`: `TextModel`, the base of all tasks: its `.keras` file, and vectors of texts.
- `keras_methods`: what users of Keras type: a call, `fit`, `predict`, `evaluate` and `export`.
- `translator`: `Translator`, from text to text. `keras_engine`: its search.
- `distinct_answers`: the answers of a search that differ in their texts, and their flags.
- `given_translations`: scores, word alignments and attention of translations that are given.
- `quality_estimates`: calibrates the estimate of the quality of translations, and computes it.
- `ensemble`: `Ensemble`, several translators that translate together.
- `word_alignment`: which words of a text and of its translation belong together.
- `text_classifier`: `TextClassifier`, from text to a label.
- `text_tagger`: `TextTagger`, from text to a label for each word.
- `language_model`: `LanguageModel`, from a prompt to its continuation.
- `text_encoder`: `TextEncoder`, from text to vectors.
- `search_defaults`: `SearchDefaults`, the options by which a model searches by default,
  and those of an export.
- `search_tuning`: the length penalty that is best on several texts.
- `parts`: the parts of a network, and the number of their parameters.
- `attention_maps`: the attention of a model to the pieces of one text.
- `text_batches`: `InBatches`, which computes something of any number of rows.
- `keras_file`: reads the settings in a `.keras` file, without its weights. `run_file`: its name in
  a run's folder. `network_file`: loads a network that was saved without tokenizers.
"""
