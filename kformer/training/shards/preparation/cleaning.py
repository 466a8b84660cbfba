"""Rules on the text of pairs. What a rule drops is counted under its name."""

import numpy as np

from kformer.training.shards.preparation.characters import Letters
from kformer.training.shards.preparation.options import PreparationOptions
from kformer.training.shards.preparation.reading import PairFiles, Pairs


class Cleaning:
    """Drops pairs by their text, before it is tokenized.

    "blank": a side has no text. "identical": both sides are the same text. "few_letters": numbers
    or symbols instead of words. "other_script": another language, as far as the script tells.

    Args:
        options: `PreparationOptions`.
    """

    def __init__(self, options: PreparationOptions):
        self._options = options
        scripts = options.source_script, options.target_script
        self._letters = [Letters(names.split(",") if names else ()) for names in scripts]
        self._by_script = [bool(names) for names in scripts]

    def __call__(self, pairs: Pairs) -> tuple[Pairs, dict[str, int]]:
        """Returns the pairs that stay, and the number of those dropped by each rule.

        A pair counts for the first rule that drops it.
        """
        text = [[text.strip() for text in side] for side in pairs]
        blank = np.array([not (source and target) for source, target in zip(*text, strict=True)])
        same = np.array([source == target for source, target in zip(*text, strict=True)])
        rules = {"blank": blank, "identical": same & (not self._options.keep_identical)}
        rules |= {name: np.zeros(len(blank), bool) for name in ("few_letters", "other_script")}
        for letters, by_script, side in zip(self._letters, self._by_script, text, strict=True):
            characters, of_any, chosen = letters.count(side)
            rules["few_letters"] |= of_any < self._options.min_letters * characters
            rules["other_script"] |= by_script & (2 * chosen < of_any)
        return drop(pairs, rules)


def drop(pairs, rules):
    """Returns the pairs that no rule drops, and the number of those that each rule drops first.

    Args:
        pairs: Has a method `keep`.
        rules: Boolean arrays (N,) by the name of a rule: which pairs it drops.
    """
    stays = np.ones(len(next(iter(rules.values()))), bool)
    counts = {}
    for name, dropped in rules.items():
        counts[name] = int(np.count_nonzero(stays & dropped))
        stays &= ~dropped
    return pairs.keep(stays), counts


def none_left(dropped: dict[str, int], files: PairFiles) -> ValueError:
    """Returns the error that no pair is left; `dropped` are the numbers by rule."""
    counts = ", ".join(
        f"{number:,} {name}" for name, number in dropped.items() if number and name != "read"
    )
    return ValueError(f"Some pairs must be left. Received: {files.given()}; dropped: {counts}.")
