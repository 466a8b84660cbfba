"""The kinds of model in a training run: text, checks, learner and report of each.

- `translation_task`, `classification_task`, `language_task`: the text of a run and its checks
  before TensorFlow loads. `translation_preparation`: the checks of a translator's run.
- `translation_learner`, `classification_learner`, `language_learner`: the model that is trained,
  and its batches. `translation_text`: a translator's batches.
- `tagging_task`, `tagging_learner`: the same for a tagger, with its text.
- `classification_report`, `language_report`: the report before the first step.
- `labelled_files`: reads labelled text. `baselines`: scores that a classifier should exceed.
"""
