"""What is a language model's own in a training run.

- `trainer`: `train_language_model`, a run from plain text to a language model in a folder.
- `task`: `LanguageTask`, what such a run reads and checks before TensorFlow loads.
- `dataset`: `language_dataset`, documents packed into rows. `document_mixture`: reads them.
- `report`: the report before the first step.
- `learner`: the language model that is trained.
"""
