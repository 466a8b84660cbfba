"""Rules on the text of pairs. What a rule drops is counted under its name."""

from collections.abc import Collection

import numpy as np

from kformer.text.text_files import as_list, read_lines
from kformer.training.data.dropped_pairs import PairFilter
from kformer.training.shards.preparation.characters import Letters
from kformer.training.shards.preparation.options import PreparationOptions
from kformer.training.shards.preparation.reading import PairFiles, Pairs, Paths

_RULES = ("blank", "identical", "excluded", "few_letters", "other_script", "too_long")


class Cleaning:
    """Drops pairs by their text, before it is tokenized.

    "blank": a side has no text. "identical": both sides are the same text. "excluded": a side is
    one of given texts. "few_letters": numbers or symbols instead of words. "other_script": another
    language, as far as the script tells. "too_long": a side has more bytes than `PairFilter`
    allows, so that it need not be tokenized; no other rule but "blank" applies then.

    Args:
        options: `PreparationOptions`.
        excluded: Texts that `excluded_texts` read.
    """

    def __init__(self, options: PreparationOptions, excluded: Collection[str] = frozenset()):
        self._options, self._excluded = options, excluded
        self.rules = _RULES if excluded else [one for one in _RULES if one != "excluded"]
        scripts = options.source_script, options.target_script
        self._filter = PairFilter(options.max_length)
        self._letters = [Letters(names.split(",") if names else ()) for names in scripts]
        self._by_script = [bool(names) for names in scripts]

    def __call__(self, pairs: Pairs) -> tuple[Pairs, dict[str, int]]:
        """Returns the pairs that stay, and the number of those dropped by each rule.

        A pair counts for the first rule that drops it.
        """
        reasons = self.reasons(pairs)
        counts = {name: int(np.count_nonzero(reasons == name)) for name in self.rules}
        return pairs.keep(reasons == ""), counts

    def reasons(self, pairs: Pairs) -> np.ndarray:
        """Returns the name of the first rule that drops each pair, "" for none: str array (N,)."""
        text = [[text.strip() for text in side] for side in pairs]
        blank = np.array([not all(map(_has_text, pair)) for pair in zip(*pairs, strict=True)])
        same = np.array([source == target for source, target in zip(*text, strict=True)])
        rules = {"blank": blank, "too_long": self._filter.has_long_side(*pairs)}
        rules |= {"identical": same & (not self._options.keep_identical)}
        if self._excluded:
            sides = ([" ".join(one.split()) in self._excluded for one in side] for side in text)
            rules["excluded"] = np.logical_or(*map(np.array, sides))
        rules |= {name: np.zeros(len(blank), bool) for name in ("few_letters", "other_script")}
        for letters, by_script, side in zip(self._letters, self._by_script, text, strict=True):
            characters, of_any, chosen = letters.count(side)
            rules["few_letters"] |= of_any < self._options.min_letters * characters
            rules["other_script"] |= by_script & (2 * chosen < of_any)
        return np.select([*rules.values()], [*rules], "")


def _has_text(text):
    return bool(text.strip(" "))  # Of other white space, the tokenizer decides.


def excluded_texts(files: Paths | None) -> frozenset[str]:
    """Reads texts that must not be in the shards, such as those of a test: a text on each line.

    Raises:
        FileNotFoundError, ValueError: See `read_lines`.
    """
    files = as_list([] if files is None else files)
    texts = {" ".join(line.split()) for file in files for line in read_lines(file)}
    return frozenset(texts - {""})


def none_left(dropped: dict[str, int], files: PairFiles) -> ValueError:
    """Returns the error that no pair is left; `dropped` are the numbers by rule."""
    counts = ", ".join(
        f"{number:,} {name}" for name, number in dropped.items() if number and name != "read"
    )
    return ValueError(f"Some pairs must be left. Received: {files.given()}; dropped: {counts}.")
