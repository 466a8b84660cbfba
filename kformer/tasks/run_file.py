"""The file of the best model in the folder of a training run; found without TensorFlow."""

from pathlib import Path

from kformer.kinds import MODEL_FILES


def model_file(path: str | Path) -> Path:
    """Returns the model in `path` if that is the folder of a training run, and `path` otherwise.

    The folder of `kformer demo` counts as its run, which it holds in the folder `run`.
    """
    path = Path(path)
    for run in (path, path / "run"):
        models = [run / name for name in MODEL_FILES if (run / name).is_file()]
        if models:
            return models[0] if len(models) == 1 else path
    return path
