"""Rules on the text of pairs, which are counted by rule, and a table of the dropped pairs.

Letters and their scripts are looked up in one table for all texts, by character, in NumPy.
"""

import functools
import itertools
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from typing import TextIO

import numpy as np

from kformer.identification.identifier import identify, is_other
from kformer.text.bitexts import numbered_bitext
from kformer.text.text_files import as_list, read_lines
from kformer.training.data.dropped_pairs import PairFilter
from kformer.training.data.pairs import count_lines
from kformer.training.preparation.preparation_options import PreparationOptions
from kformer.training.preparation.raw_pairs import PairFiles, Pairs, Paths, compared

HEADER = ("file", "line", "reason")
_LEAST_IDENTIFIED = 20  # Characters; shorter texts may be names.


class DroppedTable:
    """Writes a TSV file with a line for each pair that is dropped, in the order of the text.

    Of equal pairs, the first one counts as kept. Near-duplicates, which are known last, come last.
    The files are read a second time for their lines, and each kept pair takes 8 bytes of memory;
    with `near_duplicates` about 200.

    Args:
        file: The open file.
        files: `PairFiles`.
        near_duplicates: Whether `finish` gets any.
    """

    def __init__(self, file: TextIO, files: PairFiles, near_duplicates: bool):
        self._file = file
        self._places = _places(files)
        self._kept = np.empty(0, np.uint64)  # Hashes, ascending.
        self._places_of: dict | None = {} if near_duplicates else None  # By hash.
        self._write(*HEADER)

    def add(self, reasons: np.ndarray, hashes: np.ndarray):
        """Writes the dropped pairs of the next batch.

        Args:
            reasons: str array (N,), "" for the M pairs that pass the rules.
            hashes: uint64 array (M,), the hashes of the M pairs.
        """
        places = [*itertools.islice(self._places, len(reasons))]
        reasons, passed = reasons.astype(object), np.flatnonzero(reasons == "")
        _, first = np.unique(hashes, return_index=True)
        is_new = np.zeros(len(hashes), bool)
        is_new[first] = ~np.isin(hashes[first], self._kept)
        reasons[passed[~is_new]] = "duplicate"
        self._kept = np.union1d(self._kept, hashes[is_new])
        for place, reason in zip(places, reasons, strict=True):
            if reason:
                self._write(*place, reason)
        if self._places_of is not None:
            for number, pair_hash in zip(passed[is_new], hashes[is_new].tolist(), strict=True):
                self._places_of[pair_hash] = places[number]

    def finish(self, near_duplicates: np.ndarray):
        """Writes the near-duplicates, given by their hashes."""
        for place in sorted(
            (self._places_of or {})[pair_hash] for pair_hash in near_duplicates.tolist()
        ):
            self._write(*place, "near_duplicate")

    def _write(self, *values):
        *place, reason = values
        self._file.write("\t".join([*map(str, place), reason.replace("_", " ")]) + "\n")


def _places(files: PairFiles) -> Iterator[tuple[str, int]]:
    """Yields the file and the line of each pair, in the order of `read_batches`."""
    for file in files.source:
        for line in range(1, count_lines(file) + 1):
            yield file, line
    for file in files.pairs:
        for row in numbered_bitext(file, files.columns, named=files.named):
            yield file, row.line


_IGNORED, _OTHER = 0, 1  # Kinds of characters that are no letters; letters have greater ones.
_WIDTHS = ("FULLWIDTH", "HALFWIDTH")  # First words of names that do not name a script.
_HAN = dict.fromkeys(("CJK", "IDEOGRAPHIC", "KANGXI"), "HAN")  # First words, and the script.


class Letters:
    """Counts letters, and letters of some scripts.

    Args:
        scripts: Names of scripts in Unicode, such as "Latin", in any case.

    Raises:
        ValueError: There is no such script.
    """

    def __init__(self, scripts: Collection[str] = ()):
        table, names = _kinds()
        unknown = [name for name in scripts if name.strip().upper() not in names]
        if unknown:
            raise ValueError(
                "A script must be one of Unicode's, such as Latin, Cyrillic, Arabic or Han. "
                f"Received: {unknown[0]!r}."
            )
        self._table = table
        self._chosen = np.zeros(_OTHER + 1 + len(names), bool)
        self._chosen[[names[name.strip().upper()] for name in scripts]] = True

    def count(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns numbers of each text, int64 (N,): characters without spaces, letters, chosen.

        Marks, such as vowel signs, count as letters of their script; marks of no script count as
        nothing. "chosen" are the letters of the scripts.
        """
        ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
        starts = np.concatenate([[0], ends[:-1]])
        joined = "\n".join([*texts, ""]).encode("utf-32-le")
        kinds = self._table[np.frombuffer(joined, np.uint32)]
        characters, letters, chosen = (
            np.add.reduceat(flags, starts, dtype=np.int64)
            for flags in (kinds != _IGNORED, kinds > _OTHER, self._chosen[kinds])
        )
        return characters, letters, chosen


@functools.cache
def _kinds():
    """Returns the kind of each character, uint16 (0x110000,), and kinds of letters by script."""
    table = np.full(0x110000, _OTHER, np.uint16)
    names = {}
    for number in range(0x110000):
        character = chr(number)
        category = unicodedata.category(character)
        if category[0] in "ZC":
            table[number] = _IGNORED
        elif category[0] in "LM":
            script = _script(character)
            new = _OTHER + 1 + len(names)
            table[number] = names.setdefault(script, new) if script else _IGNORED
    return table, names


def _script(character):
    """Returns the first word of a character's name, which is its script; None for other marks."""
    first, *rest = unicodedata.name(character, "UNKNOWN").split(" ", 2)
    if first in _WIDTHS:
        first = rest[0]
    if first in ("COMBINING", "MODIFIER", "VARIATION"):
        return None
    return _HAN.get(first, first).replace("-", " ").split()[0]


_RULES = (
    "blank",
    "identical",
    "excluded",
    "few_letters",
    "other_script",
    "other_language",
    "too_long",
)


class Cleaning:
    """Drops pairs by their text, before it is tokenized.

    "blank": a side has no text. "identical": both sides are the same text. "excluded": a side is
    one of given texts. "few_letters": numbers or symbols instead of words. "other_script": another
    language, as far as the script shows. "other_language": a side of 20 characters or more
    is in the language of the options with a probability under a tenth, by `kformer.identify`.
    "too_long": a side has more bytes than `PairFilter` allows, so that it need not be tokenized; no
    other rule but "blank" applies then.

    Args:
        options: `PreparationOptions`.
        excluded: Texts that `excluded_texts` read.
    """

    def __init__(self, options: PreparationOptions, excluded: Collection[str] = frozenset()):
        self._options, self._excluded = options, excluded
        self._languages = options.source_language, options.target_language
        unused = {"excluded"} if not excluded else set()
        unused |= {"other_language"} if not any(self._languages) else set()
        self.rules = [rule for rule in _RULES if rule not in unused]
        scripts = options.source_script, options.target_script
        self._filter = PairFilter(options.max_length)
        self._letters = [Letters(names.split(",") if names else ()) for names in scripts]
        self._by_script = [bool(names) for names in scripts]

    def __call__(self, pairs: Pairs) -> tuple[Pairs, dict[str, int]]:
        """Returns the pairs that stay, and the number of pairs dropped by each rule.

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
            sides = ([compared(line) in self._excluded for line in side] for side in text)
            rules["excluded"] = np.logical_or(*map(np.array, sides))
        rules |= {name: np.zeros(len(blank), bool) for name in ("few_letters", "other_script")}
        for letters, by_script, side in zip(self._letters, self._by_script, text, strict=True):
            characters, all_letters, chosen = letters.count(side)
            rules["few_letters"] |= all_letters < self._options.min_letters * characters
            rules["other_script"] |= by_script & (2 * chosen < all_letters)
        if any(self._languages):
            # Only the remaining pairs, because identification takes longer than all other rules.
            remaining = np.select([*rules.values()], [*rules], "") == ""
            rules["other_language"] = self._other_language(text, remaining)
        return np.select([*rules.values()], [*rules], "")

    def _other_language(self, text, remaining):
        """Returns which of the remaining pairs have a side in another language: boolean (N,)."""
        is_foreign = np.zeros(len(remaining), bool)
        for language, side in zip(self._languages, text, strict=True):
            if not language:
                continue
            long_enough = np.array([len(line) >= _LEAST_IDENTIFIED for line in side], bool)
            rows = np.flatnonzero(remaining & ~is_foreign & long_enough)
            answers = identify([side[row] for row in rows])
            is_foreign[rows] = [is_other(answer, language) for answer in answers]
        return is_foreign


def _has_text(text):
    return bool(text.strip(" "))  # Of other white space, the tokenizer decides.


def excluded_texts(files: Paths | None) -> frozenset[str]:
    """Reads texts that must not be in the shards, such as a test's: a text on each line.

    They are compared like held-out text: `kformer.training.preparation.raw_pairs.compared`.
    """
    files = as_list([] if files is None else files)
    texts = {compared(line) for file in files for line in read_lines(file)}
    return frozenset(texts - {""})


def none_left(dropped: dict[str, int], files: PairFiles) -> ValueError:
    """Returns the error that no pair is left; `dropped` are the numbers by rule."""
    counts = ", ".join(
        f"{number:,} {name}" for name, number in dropped.items() if number and name != "read"
    )
    return ValueError(
        f"Some pairs must be left. Received: {files.paths_by_name()}; dropped: {counts}."
    )
