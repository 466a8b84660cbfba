"""A whole training run: from a recipe and text files to a folder with a translator.

- `trainer`: `train`, and what `kformer train` calls.
- `preparation`, `vocabularies`, `text`, `learner`, `fine_tuning`: what happens before the first
  batch.
- `resume`, `checkpoint`, `interruption`: exact resumption.
- `validation`, `choosing`, `kept_models`: which of the weights become the translator.
- `folder`, `changed_settings`: the files of a run, and what may change when it is continued.
"""
