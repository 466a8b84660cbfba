"""A training run of a tagger, before TensorFlow loads, and the text that it reads."""

import collections
import functools
from pathlib import Path

from kformer.files import check_file
from kformer.kinds import TAGGER
from kformer.text.labels import tagger_text
from kformer.text.tables import write_columns
from kformer.text.text_files import as_list, read_lines
from kformer.training.kinds.classification_task import ClassificationTask
from kformer.training.kinds.labelled_files import Split
from kformer.training.recipes.recipe import Recipe
from kformer.training.run.run_options import TaggingOptions
from kformer.training.run.run_preparation import Prepared
from kformer.training.run.run_preparation import prepare as prepare_run


def read_tagged(file):
    """Yields the words and the labels of each text in a file in the style of CoNLL, as two lists.

    A line has a word, white space, perhaps other columns, and the label of the word; a blank line
    ends a text. Lines that begin with "-DOCSTART-" are left out.

    Raises:
        FileNotFoundError, IsADirectoryError: There is no such file.
        ValueError: A line has no label; the message has the file and the line.
    """
    words, labels = [], []
    for number, line in enumerate(read_lines(file), start=1):
        columns = line.split()
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


def split_tagged(files, columns=None) -> Split:
    """Splits tagged text into parallel files of texts and of labels, between spaces.

    A file that has not changed is split once per process. `counts` are numbers of words by label.

    Args:
        files: A path or a list of paths.
        columns: None; the columns are those of CoNLL.

    Raises:
        FileNotFoundError, ValueError: As for `read_tagged`; or a file has no words.
    """
    texts, labels, counts, different = [], [], collections.Counter(), 0
    for file in as_list(files):
        check_file(file)
        state = Path(file).stat()
        paths, in_file, number = _split(file, state.st_ino, state.st_size, state.st_mtime_ns)
        texts.append(paths[0])
        labels.append(paths[1])
        counts.update(in_file)
        different += number
    return Split(texts, labels, dict(sorted(counts.items())), different)


@functools.lru_cache
def _split(file, *_state):
    texts = [*read_tagged(file)]
    if not texts:
        raise ValueError(f"Tagged text must have words. Received: {str(file)!r}, without any.")
    rows = [(" ".join(words), " ".join(labels)) for words, labels in texts]
    counts = collections.Counter(label for _, labels in texts for label in labels)
    return write_columns(rows, ("texts.txt", "labels.txt")), counts, len({*rows})


class TaggingTask(ClassificationTask):
    """A tagger, trained on text with a label for each word: "train" and "valid"."""

    kind = TAGGER
    learning = "kformer.training.kinds.tagging_learner"
    counted = "tokens"
    options: TaggingOptions
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


def prepare_tagger(recipe: Recipe, train, output, valid=None, **options) -> Prepared:
    """Checks a run and provides its vocabulary, as `kformer.training.run.run_preparation.prepare`.

    The arguments and errors are the same as for `kformer.training.train_tagger`; `options` are the
    fields of `TaggingOptions`.
    """
    files = {"train": as_list(train), "valid": as_list(valid or [])}
    return prepare_run(TaggingTask(files, TaggingOptions(**options)), recipe, output)
