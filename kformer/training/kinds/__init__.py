"""The kinds of model in a training run: text, checks, learner and report of each.

- `translation_task`, `classification_task`, `tagging_task`, `language_task`: the text of a run and
  its checks before TensorFlow loads.
- `translation_learner`, `classification_learner`, `tagging_learner`, `language_learner`: the model
  that is trained, its batches, and the report before the first step.
- `classification_report`, `language_report`: the counts and warnings of that report.
- `text_arguments`: the parallel text that the arguments of a run name.
- `labelled_files`: reads labelled text. `baselines`: scores that a classifier should exceed.
"""
