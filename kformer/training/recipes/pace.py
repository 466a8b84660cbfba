"""The number of steps of a run, and how its learning rate rises in so many."""

import dataclasses

from kformer.training.recipes.recipe import Recipe

# A translator of the phrasebook had learned 2 of 50 new terms after 60 steps, and 43 after 180.
_FEW_STEPS = 100


@dataclasses.dataclass(frozen=True)
class Pace:
    """The steps of a run, which are updates of the weights.

    Attributes:
        steps: Steps of the run.
        rising_steps: Steps until the learning rate is highest: `warmup_steps`, but at most those of
            an epoch. They do not depend on the number of epochs, so that a run that is extended has
            the rates of one that was longer from the start.
        shortened: Whether these are fewer than `warmup_steps`.
    """

    steps: int
    rising_steps: int
    shortened: bool

    def lines(self) -> list[str]:
        """Returns a sentence about the steps, and a warning if they are too few to learn."""
        rises = "The learning rate rises for the first"
        lines = [f"The run takes {self.steps:,} steps. {rises} {self.rising_steps:,} of them."]
        if self.shortened:
            lines[0] = lines[0][:-1] + ", an epoch, because --warmup-steps is longer."
        if self.steps < _FEW_STEPS:
            lines.append(
                f"Warning: {self.steps:,} steps are too few to learn much: raise --epochs, or "
                "lower --tokens-per-batch."
            )
        return lines


def pace_of(recipe: Recipe, batches: int) -> Pace:
    """Returns the pace of a run by a recipe, with a number of batches in an epoch."""
    of_epoch = max(1, batches // recipe.gradient_accumulation)
    steps = max(1, batches * recipe.epochs // recipe.gradient_accumulation)
    rising = min(recipe.warmup_steps, of_epoch)
    return Pace(steps, rising, rising < recipe.warmup_steps)
