"""What is a translator's own in a training run.

- `trainer`: `train`, a run from parallel text to a translator in a folder.
- `preparation`, `task`, `shards_task`: what such a run reads and checks before TensorFlow loads.
- `text`: the batches, and the report before the first step.
- `learner`: the translator that is trained.
"""
