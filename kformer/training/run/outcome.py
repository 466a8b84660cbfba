"""The end of a run: whether more epochs would help, and whether the model is of use."""

from collections.abc import Mapping, Sequence

from kformer.training.recipes.recipe import MONITORS, Recipe

_SHARE_OF_RUN = 10  # A last tenth of the validations shows whether the score still improves.
_LEAST_GAIN = 0.01  # Share of the score by which it must improve there.
_USELESS_BLEU, _USELESS_CHRF = 20, 50  # Scores below both: most sentences say something else.


def further_epochs(
    history: Mapping[str, Sequence[float]], recipe: Recipe, suited: int = 0
) -> int | None:
    """Returns a number of epochs that would continue a run whose score still improves.

    None if the last validation is hardly better than those before the last tenth of the run, or if
    the run ended before its last epoch.
    """
    score, mode = MONITORS[recipe.monitor]
    values = [value if mode == "min" else -value for value in history.get(score, [])]
    if len(values) < 2 or history["epoch"][-1] < recipe.epochs:
        return None
    before = min(values[: len(values) - max(1, len(values) // _SHARE_OF_RUN)])
    still_improves = before - values[-1] > _LEAST_GAIN * abs(before)  # False for NaN.
    return max(suited, 2 * recipe.epochs) if still_improves else None


def improving_in_words(epochs: int | None) -> str:
    """Says how to continue a run that still improves, by `further_epochs`; "" for None."""
    if epochs is None:
        return ""
    return (
        f"Validation was still improving in the last epoch: --epochs {epochs} continues this run."
    )


def useless_translator(bleu: float, chrf: float, epochs: int | None) -> str | None:
    """Returns a warning if the scores on validation text show that translations are of no use.

    Args:
        bleu, chrf: The scores, from 0 to 100. Text of single words has no BLEU, text without
            spaces little chrF: a model of no use has little of both.
    """
    if bleu >= _USELESS_BLEU or chrf >= _USELESS_CHRF:
        return None
    return (
        f"Warning: most translations of the validation text are wrong (BLEU {bleu:.1f}, chrF "
        f"{chrf:.1f}): {_advice(epochs)}"
    )


def useless_classifier(accuracy: float, majority: float, epochs: int | None) -> str | None:
    """Returns a warning if a model does no better than always answering with one label.

    Args:
        accuracy: Of the validation text, from 0 to 1.
    """
    if accuracy > majority:
        return None
    return (
        f"Warning: {100 * accuracy:.1f} % of the validation text are right, no more than with "
        f"always the most frequent label ({100 * majority:.1f} %): {_advice(epochs)}"
    )


def _advice(epochs):
    if epochs is not None:
        return f"train on, with --epochs {epochs}, before you use the model."
    return "the model needs more text, or other settings, before you use it."
