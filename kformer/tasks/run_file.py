"""The file of the best model in the folder of a training run; found without TensorFlow."""

from pathlib import Path

from kformer.kinds import MODEL_FILES


def model_file(path: str | Path) -> Path:
    """Returns the model in `path` if that is the folder of a training run, and `path` otherwise."""
    path = Path(path)
    models = [path / name for name in MODEL_FILES if (path / name).is_file()]
    return models[0] if len(models) == 1 else path
