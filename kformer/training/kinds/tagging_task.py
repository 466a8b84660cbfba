"""A training run of a tagger, before TensorFlow loads, and the text that it reads."""

import functools
import re
from typing import Any, NamedTuple

from kformer.kinds import TAGGER
from kformer.text.labels import tagger_text
from kformer.text.text_files import read_lines
from kformer.training.kinds.classification_task import ClassificationTask
from kformer.training.kinds.labelled_files import Split, split
from kformer.training.run.labelling_options import TaggingOptions
from kformer.training.run.run_preparation import prepare_text

_WANTED = "ID", "FORM", "UPOS"
_TREEBANK_COLUMNS = ["ID", "FORM", "LEMMA", "UPOS", "XPOS"]
_TREEBANK_COLUMNS += ["FEATS", "HEAD", "DEPREL", "DEPS", "MISC"]
_COLUMN_NAMES = re.compile(r"#\s*global\.columns\s*=(.*)")
_WORD_NUMBER = re.compile(r"(\d+)([-.]\d+)?")


def read_tagged(file):
    """Yields the words and the labels of each text in a file in the style of CoNLL, as two lists.

    A line has a word, white space, perhaps other columns, and the label of the word; a blank line
    ends a text. Lines that begin with "-DOCSTART-" are left out.

    Of a treebank in [CoNLL-U](https://universaldependencies.org/format.html), whose lines have a
    number and nine more columns between tabs, the forms and the universal parts of speech are read.
    Comments, tokens of several words, such as "3-4", and empty nodes are left out. A first line
    "# global.columns = ID FORM ...", as of CoNLL-U Plus, names other columns.
    """
    words, labels, treebank, is_first = [], [], _Treebank.of(file), True
    for number, line in enumerate(_lines(file), start=1):
        columns = treebank.columns(line, number) if treebank else line.split()
        if columns is None:
            continue
        if len(columns) > 1 and columns[0] != "-DOCSTART-":
            words.append(tagger_text(columns[0]))
            labels.append(columns[-1])
        elif len(columns) == 1:
            raise ValueError(
                "A line of tagged text has a word, white space and a label, or is blank. "
                f"Received: {str(file)!r}, line {number}: {line!r:.99}."
            )
        elif words:
            if is_first and not treebank:
                _check_no_numbers(words, file)
            yield words, labels
            words, labels, is_first = [], [], False
    if words:
        yield words, labels


def _lines(file):
    """Yields the lines of a file, without the mark that Windows puts before UTF-8."""
    for number, line in enumerate(read_lines(file)):
        yield line if number else line.removeprefix("\ufeff")


def _check_no_numbers(words, file):
    """Raises ValueError if the words are numbers from 1 on, as in other formats of treebanks."""
    if len(words) > 1 and words == [str(number) for number in range(1, len(words) + 1)]:
        raise ValueError(
            "The first column of tagged text is the word, or the number of a word in a line of "
            "CoNLL-U, of ten columns between tabs; of other formats, write the words and their "
            f"labels. Received: {str(file)!r}, whose first column has the numbers of words."
        )


class _Treebank(NamedTuple):
    """The columns of a file in CoNLL-U."""

    file: Any
    names: list[str]

    @classmethod
    def of(cls, file):
        """Returns the columns, by the lines up to the first one with a word; None if it is none."""
        names = _TREEBANK_COLUMNS
        for line in _lines(file):
            if match := _COLUMN_NAMES.match(line):
                names = match[1].split()
                missing = [name for name in _WANTED if name not in names]
                if missing:
                    raise ValueError(
                        f"A treebank for a tagger needs the columns {', '.join(_WANTED)}. "
                        f"Received: {str(file)!r}, without {', '.join(missing)}."
                    )
            elif line.strip() and not line.startswith("#"):
                columns = line.split("\t")
                is_number = len(columns) == len(names) and _WORD_NUMBER.fullmatch(
                    columns[names.index("ID")]
                )
                return cls(file, names) if is_number else None
        return None

    def columns(self, line, number):
        """Returns the form and the part of speech in a line, none for the end of a text.

        None for a line that is left out.
        """
        if not line.strip():
            return []
        if line.startswith("#"):
            return None
        columns = line.split("\t")
        values = dict(zip(self.names, columns, strict=False))
        place = _WORD_NUMBER.fullmatch(values["ID"])
        if len(columns) != len(self.names) or not place or not values["FORM"].strip():
            raise ValueError(
                f"A line of CoNLL-U has a number, a form, and {len(self.names) - 2} more columns "
                f"between tabs. Received: {str(self.file)!r}, line {number}: {line!r:.99}."
            )
        if place[2]:
            return None
        if values["UPOS"] == "_" or (values["FORM"] == "_" and values.get("LEMMA", "_") != "_"):
            raise ValueError(
                "A treebank for a tagger needs the form and the universal part of speech of each "
                "word; of some treebanks, the forms must be added first. "
                f"Received: {str(self.file)!r}, line {number}: {line!r:.99}."
            )
        return ["".join(values["FORM"].split()), values["UPOS"]]


def split_tagged(files: Any, columns: None = None) -> Split:
    """Splits tagged text into parallel files of texts and of labels, between spaces.

    `counts` are numbers of words by label; the rest is as for `labelled_files.split`.
    """
    return split(files, columns, _tagged_rows)


def _tagged_rows(file, _):
    """Yields each text, its labels, and these once more, to be counted."""
    words = []
    for words, labels in read_tagged(file):
        yield " ".join(words), " ".join(labels), labels
    if not words:
        raise ValueError(f"Tagged text must have words. Received: {str(file)!r}, without any.")


class TaggingTask(ClassificationTask):
    """A tagger, trained on text with a label for each word: "train" and "valid"."""

    kind = TAGGER
    learning = "kformer.training.kinds.tagging_learner"
    counted = "tokens"
    options: TaggingOptions
    options_class = TaggingOptions
    split = staticmethod(split_tagged)

    def read_examples(self):
        if len(self.labels) < 2:
            raise ValueError(
                "A tagger learns to tell two labels or more apart. "
                f"Received: {self.files['train']}, whose only label is {self.labels[0]!r}."
            )
        unknown = {*self.split(self.validation_files).counts} - {*self.labels}
        if unknown:
            raise ValueError(
                "The labels must be those of the training text. Received: "
                f"{', '.join(sorted(unknown))} in {self.validation_files}."
            )
        return {"words": sum(self.training.counts.values()), "labels": list(self.labels)}


prepare_tagger = functools.partial(prepare_text, TaggingTask)
