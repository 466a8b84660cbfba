"""How the weights of a model are split over the devices that share it.

Section 3 of [Shoeybi et al., 2019](https://arxiv.org/abs/1909.08053): vocabulary, attention heads
and the inner width of the feed-forward networks are split, so that a layer communicates once for
attention and once for the feed-forward network. All other variables are copied to each device.
"""

import keras

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
    """Raises ValueError if `number` devices cannot share the model.

    Args:
        recipe: Its numbers, but for the vocabularies.
        vocabularies: Their sizes, by the names that they have in the recipe.
        number: Number of devices that share one copy of the model.
    """
    sizes = {"num_heads": recipe.num_heads, "d_ff": recipe.d_ff, **vocabularies}
    wrong = [f"{name}={size}" for name, size in sizes.items() if size % number]
    if wrong:
        raise ValueError(
            "Devices that share a model split its heads, its inner width and its vocabularies "
            "evenly, so these must be multiples of their number. "
            f"Received: model_parallel={number}, {', '.join(wrong)}."
        )
