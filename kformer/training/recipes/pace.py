"""The pace of a run: batches and epochs for the size of its text, its steps, and its warm-up."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from kformer.training.recipes.recipe import Recipe

# By a recipe that leaves its pace open, a large text is read in 20 epochs, with 3,072 ids a batch.
# A smaller text gets smaller batches, and then more epochs, so that the run has 2,000 steps. These
# take minutes on two cores. 300 pairs of templates were learned in 300 steps.
EPOCHS, MOST_EPOCHS = 20, 40
SMALLEST_BATCH, LARGEST_BATCH = 256, 3072  # Ids.
_STEPS = 2000
_MULTIPLE = 64  # Ids: a batch is a multiple, which is easier to read.
LARGE_TEXT = LARGEST_BATCH * _STEPS // EPOCHS  # Ids of a pass: no larger text differs in pace.

# Least steps for each layer. A translator of the phrasebook, of two layers, had learned 2 of 50 new
# terms after 60 steps, and 43 after 180. With the norm after each sub-layer, four layers had not
# learned a text of templates after 560 steps; two bear it.
_STEPS_OF_LAYER, _STEPS_OF_DEEP_POST_NORM_LAYER = 50, 500
_DEEP = 3  # Layers.

_OPEN = ("epochs", "tokens_per_batch")  # The numbers of a recipe that 0 leaves open.


def is_open(recipe: Recipe) -> bool:
    """Returns whether a recipe leaves numbers open, which are then chosen for the text."""
    return not all(getattr(recipe, name) for name in _OPEN)


@dataclasses.dataclass(frozen=True)
class Suited:
    """A recipe whose open numbers were chosen for the size of a text.

    Attributes:
        recipe: The recipe.
        names: The names of these numbers.
        epochs: The epochs that suit the text, also if the recipe has others.
        usual_steps: About the steps of the run at the pace for a large text.
    """

    recipe: Recipe
    names: tuple[str, ...]
    epochs: int
    usual_steps: int

    def lines(self) -> list[str]:
        """Returns a sentence on the choice and its reason."""
        words = {
            "epochs": f"{self.recipe.epochs} epochs (--epochs)",
            "tokens_per_batch": f"{self.recipe.tokens_per_batch:,} ids a batch "
            "(--tokens-per-batch)",
        }
        line = f"Chosen for the size of the text: {' of '.join(words[name] for name in self.names)}"
        usual = {"epochs": EPOCHS, "tokens_per_batch": LARGEST_BATCH}
        if all(getattr(self.recipe, name) == usual[name] for name in self.names):
            return [f"{line}."]
        return [
            f"{line}. The {EPOCHS} epochs of {LARGEST_BATCH:,} for a large text would be "
            f"{self.usual_steps:,} steps here."
        ]


def suited_to(recipe: Recipe, ids: float) -> Suited:
    """Chooses the numbers that a recipe leaves open, for a text.

    The batch does not depend on the number of epochs, so that more epochs extend a run.
    """
    names = tuple(name for name in _OPEN if not getattr(recipe, name))
    ids, accumulated = max(1, ids), recipe.gradient_accumulation
    tokens = recipe.tokens_per_batch
    if not tokens:
        wanted = int(ids * EPOCHS / (_STEPS * accumulated))
        tokens = min(max(wanted // _MULTIPLE * _MULTIPLE, SMALLEST_BATCH), LARGEST_BATCH)
        tokens = max(tokens, recipe.max_length)
    epochs = math.ceil(_STEPS * accumulated * tokens / ids)
    epochs = min(max(epochs, EPOCHS), MOST_EPOCHS)
    usual_steps = EPOCHS * math.ceil(ids / LARGEST_BATCH) // accumulated
    recipe = dataclasses.replace(recipe, epochs=recipe.epochs or epochs, tokens_per_batch=tokens)
    return Suited(recipe, names, epochs, max(1, usual_steps))


def as_begun(recipe: Recipe, config: Mapping[str, Any]) -> Recipe:
    """Returns a recipe with the numbers of an earlier run, where it leaves them open."""
    numbers = config.get("recipe", {})
    known = {**numbers, "epochs": config.get("suited_epochs", numbers.get("epochs"))}
    chosen = {name: known[name] for name in _OPEN if not getattr(recipe, name) and known.get(name)}
    return dataclasses.replace(recipe, **chosen)


@dataclasses.dataclass(frozen=True)
class Pace:
    """The steps of a run, which are updates of the weights.

    Attributes:
        steps: Steps of the run.
        rising_steps: Steps until the learning rate is highest: `warmup_steps`, but at most the
            steps of an epoch, or half of `least_steps` if these are more. They do not depend on the
            number of epochs, so that a run that is extended has the rates of one that was longer
            from the start.
        shortened: Whether these are fewer than `warmup_steps`.
        least_steps: Steps without which a model of this depth learns little; 0 for a trained one.
        advice: What to do about too few steps.
    """

    steps: int
    rising_steps: int
    shortened: bool
    least_steps: int
    advice: str = ""

    def lines(self) -> list[str]:
        """Returns a sentence about the steps, and a warning if they are too few to learn."""
        rises = f"rises for the first {self.rising_steps:,} of them"
        if self.rising_steps > self.steps:
            rises = "still rises in the last of them"
        elif self.shortened:
            rises += ", fewer than --warmup-steps, because the text is small"
        lines = [f"The run takes {self.steps:,} steps. The learning rate {rises}."]
        if self.steps < self.least_steps:
            lines.append(f"Warning: {self.steps:,} steps are too few {self.advice}")
        return lines


def pace_of(recipe: Recipe, batches: int, is_trained: bool = False) -> Pace:
    """Returns the pace of a run by a recipe.

    Args:
        is_trained: Whether the model starts from a trained one, which learns from the first step.
    """
    updates_per_epoch = max(1, batches // recipe.gradient_accumulation)
    steps = max(1, batches * recipe.epochs // recipe.gradient_accumulation)
    layers = max(recipe.num_layers, recipe.num_decoder_layers)
    is_deep_post_norm = layers >= _DEEP and not recipe.norm_first
    least = layers * (_STEPS_OF_DEEP_POST_NORM_LAYER if is_deep_post_norm else _STEPS_OF_LAYER)
    least = 0 if is_trained else least
    rising = min(recipe.warmup_steps, max(updates_per_epoch, least // 2))
    advice = "to learn much: raise --epochs, or lower --tokens-per-batch."
    if is_deep_post_norm:
        advice = (
            f"for {layers} layers with the norm after each sub-layer, which need some {least:,}: "
            "use --norm-first, or raise --epochs."
        )
    return Pace(steps, rising, rising < recipe.warmup_steps, least, advice)
