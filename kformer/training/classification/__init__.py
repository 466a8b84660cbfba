"""What is a classifier's own in a training run.

- `trainer`: `train_classifier`, a run from labelled text to a classifier in a folder.
- `task`: `ClassificationTask`, what such a run reads and checks before TensorFlow loads.
- `labelled_files`: reads labelled text, and writes its texts and labels as two parallel files.
- `dataset`: `classification_dataset`, the batches. `report`: the report before the first step.
- `learner`: the classifier that is trained. `label_ids`: its labels, in graph.
"""
