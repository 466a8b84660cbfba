"""The devices of a run, which share each batch, and the model if it is too large for one.

A model is split over the devices that share it by section 3 of [Shoeybi et al.,
2019](https://arxiv.org/abs/1909.08053): vocabulary, attention heads and the inner width of the
feed-forward networks are split, so that a layer communicates once for attention and once for the
feed-forward network. All other variables are copied to each device.
"""

import contextlib

import keras
import tensorflow as tf

from kformer.backend import batch_devices, is_tensorflow
from kformer.training.parallel.process_team import team
from kformer.training.recipes.recipe import Recipe

BATCH, MODEL = "batch", "model"  # Names of the axes of a mesh of devices.


def layout_map(mesh: keras.distribution.DeviceMesh) -> keras.distribution.LayoutMap:
    """Returns the layout of every network of kformer, for a mesh with the axis "model"."""
    layouts = keras.distribution.LayoutMap(mesh)
    layouts[r".*embedding/(output_)?table"] = (MODEL, None)  # Vocabulary.
    layouts[r".*attention/(query|key|value)/kernel"] = (None, MODEL)  # Heads.
    layouts[r".*attention/(query|key|value)/bias"] = (MODEL,)
    layouts[r".*attention/output/kernel"] = (MODEL, None)
    layouts[r".*feed_forward/inner/kernel"] = (None, MODEL)  # Inner width.
    layouts[r".*feed_forward/inner/bias"] = (MODEL,)
    layouts[r".*feed_forward/outer/kernel"] = (MODEL, None)
    return layouts


def check_can_be_split(recipe: Recipe, vocabularies: dict[str, int], number: int):
    """Raises ValueError if `number` devices cannot share the model."""
    sizes = {"num_heads": recipe.num_heads, "d_ff": recipe.d_ff, **vocabularies}
    wrong = [f"{name}={size}" for name, size in sizes.items() if size % number]
    if wrong:
        raise ValueError(
            "Devices that share a model split its heads, its inner width and its vocabularies "
            "evenly, so these must be multiples of their number. "
            f"Received: model_parallel={number}, {', '.join(wrong)}."
        )


@contextlib.contextmanager
def distribute(devices: int | None = None, model_parallel: int = 1):
    """Shares the batches of `train` and its kin over devices, while the context is open.

    A batch is shared by all devices: `tokens_per_batch` counts the tokens of all of them, so the
    same recipe takes the same steps on any number of devices. Needs Keras on JAX. Several
    processes (`join_processes`) use all of their devices.

    Args:
        devices: Their number; by default all that the backend has. Without any argument, a
            distribution that `keras.distribution.set_distribution` set stays as it is.
        model_parallel: Number of devices that share one copy of the model, for models that are too
            large for one. Must divide the number of devices.

    Raises:
        ValueError: The backend does not have so many devices, or cannot distribute.
    """
    chosen = _distribution(devices, model_parallel)
    with contextlib.nullcontext() if chosen is None else chosen.scope():
        yield


def _distribution(devices, model_parallel):
    """Returns a `keras.distribution.Distribution`; None to leave Keras as it is."""
    if is_tensorflow():
        if model_parallel > 1 or (devices or 1) > 1:
            raise ValueError(
                "Several devices need Keras on JAX: --backend jax. Received: backend='tensorflow', "
                f"devices={devices}, model_parallel={model_parallel}."
            )
        return None
    with contextlib.suppress(RuntimeError):  # Too late if TensorFlow has begun.
        tf.config.set_visible_devices([], "GPU")  # It would reserve their memory.
    if devices is None and model_parallel == 1 and keras.distribution.distribution() is not None:
        return None
    available = keras.distribution.list_devices()
    if devices is None:
        if len(available) == 1:
            return None
        devices = len(available)
    if not 1 <= devices <= len(available) or devices % model_parallel:
        raise ValueError(
            "Training needs as many devices as there are, at most, and a multiple of "
            f"`model_parallel`. Received: devices={devices}, model_parallel={model_parallel}, of "
            f"{len(available)}."
        )
    if (processes := team().processes) > 1 and (devices, model_parallel) != (len(available), 1):
        raise ValueError(
            "Several processes use all of their devices, each for a model of its own. Received: "
            f"devices={devices} of {len(available)}, model_parallel={model_parallel}, "
            f"processes={processes}."
        )
    if model_parallel == 1:
        return keras.distribution.DataParallel(
            devices=available[:devices], auto_shard_dataset=False
        )
    mesh = keras.distribution.DeviceMesh(
        (devices // model_parallel, model_parallel), (BATCH, MODEL), available[:devices]
    )
    return keras.distribution.ModelParallel(
        layout_map=layout_map(mesh), batch_dim_name=BATCH, auto_shard_dataset=False
    )


def check_fits(recipe: Recipe, vocabularies: dict[str, int]):
    """Raises ValueError if the devices of the current distribution cannot train a model."""
    number = batch_devices()
    if number > 1 and recipe.tokens_per_batch < number * recipe.max_length:
        raise ValueError(
            "A batch needs room for a sentence of `max_length` on each device. Received: "
            f"tokens_per_batch={recipe.tokens_per_batch}, max_length={recipe.max_length}, on "
            f"{number} devices."
        )
    distribution = keras.distribution.distribution()
    if isinstance(distribution, keras.distribution.ModelParallel):
        mesh = distribution.device_mesh
        if MODEL in mesh.axis_names:
            check_can_be_split(recipe, vocabularies, mesh.shape[mesh.axis_names.index(MODEL)])
