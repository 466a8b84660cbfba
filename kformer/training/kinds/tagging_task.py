"""A training run of a tagger, before TensorFlow loads, and the text that it reads."""

import functools
import re
from typing import Any

from kformer.kinds import TAGGER
from kformer.text.labels import tagger_text
from kformer.text.text_files import read_lines
from kformer.training.kinds.classification_task import ClassificationTask
from kformer.training.kinds.labelled_files import Split, split
from kformer.training.run.labelling_options import TaggingOptions
from kformer.training.run.run_preparation import prepare_text


def read_tagged(file):
    """Yields the words and the labels of each text in a file in the style of CoNLL, as two lists.

    A line has a word, white space, perhaps other columns, and the label of the word; a blank line
    ends a text. Lines that begin with "-DOCSTART-" are left out.

    Of a treebank in [CoNLL-U](https://universaldependencies.org/format.html), whose lines have a
    number and nine more columns between tabs, the forms and the universal parts of speech are read.
    Comments, tokens of several words, such as "3-4", and empty nodes are left out.
    """
    words, labels, is_treebank = [], [], _is_treebank(file)
    for number, line in enumerate(read_lines(file), start=1):
        columns = _treebank_columns(line, number, file) if is_treebank else line.split()
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
            yield words, labels
            words, labels = [], []
    if words:
        yield words, labels


_TREEBANK_COLUMNS = 10
_WORD_NUMBER = re.compile(r"(\d+)([-.]\d+)?")


def _is_treebank(file):
    """Returns whether the first line with a word is one of CoNLL-U."""
    for line in read_lines(file):
        if line.strip() and not line.startswith("#"):
            columns = line.split("\t")
            return len(columns) == _TREEBANK_COLUMNS and bool(_WORD_NUMBER.fullmatch(columns[0]))
    return False


def _treebank_columns(line, number, file):
    """Returns the form and the part of speech in a line, none for the end of a text.

    None for a line that is left out.
    """
    if not line.strip():
        return []
    if line.startswith("#"):
        return None
    columns = line.split("\t")
    place = _WORD_NUMBER.fullmatch(columns[0])
    if len(columns) != _TREEBANK_COLUMNS or not place or not columns[1].strip():
        raise ValueError(
            f"A line of CoNLL-U has a number, a form, and {_TREEBANK_COLUMNS - 2} more columns "
            f"between tabs. Received: {str(file)!r}, line {number}: {line!r:.99}."
        )
    return None if place[2] else ["".join(columns[1].split()), columns[3]]


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
