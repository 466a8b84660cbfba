"""A whole training run: from a recipe and text files to a folder with a model.

- `run_preparation`, `run_vocabularies`, `text_size`: the checks before TensorFlow loads.
- `run_options`, `labelling_options`, `run_config`: the settings of a run, and which may change when
  it is resumed.
- `run_folder`, `continuation`: the files of a run, and whether it can be resumed.
- `training_task`: the differences between kinds of model. `execution`: the part that needs
  TensorFlow.
- `fine_tuning`: weights to start from. `replicas`: the model compiled for several GPUs.
- `outcome`: whether more epochs would help, and whether the model is of use.
- `history_picture`: the learning curves. `training_facts`: what a model card says of the run.
- `validation`, `choosing`, `kept_models`: which weights become the model.
"""
