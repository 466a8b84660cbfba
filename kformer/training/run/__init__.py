"""A whole training run: from a recipe and text files to a folder with a translator.

- `trainer`: `train`. `execution`: the part of it that needs TensorFlow.
- `options`, `run_config`: the settings of a run, and which may change when it is resumed.
- `folder`, `continuation`: the files of a run, and whether it can be resumed.
- `folder_copy`: other processes of a run get its files.
- `preparation`, `vocabularies`: the checks before TensorFlow loads.
- `text`, `learner`, `fine_tuning`: the batches, and the translator that they train.
- `validation`, `choosing`, `kept_models`: which weights become the translator.
"""
