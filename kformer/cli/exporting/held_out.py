"""The sentences that an export is checked with."""

import itertools
import warnings
from pathlib import Path

from kformer.text.documents import LINE, read_documents
from kformer.training.classification.labelled_files import split
from kformer.training.data.pairs import split_pairs
from kformer.training.data.parallel_files import check_parallel
from kformer.training.run.run_config import read_run_config

CHECKED = 1000  # Sentences at most, from the beginning of the file.


def held_out(model, source, reference):
    """Returns the sentences to check with, and their references or None.

    Args:
        model: Path of a `.keras` file.
        source, reference: Files that the user gave, or None: then those of the model's run.
    """
    if source is None:
        if reference:
            raise ValueError(
                "--check-reference translates --check-source, which must be given, too. "
                f"Received: {str(reference)!r} alone."
            )
        source, reference = _recorded(model)
    if reference:
        check_parallel(source, reference)

    # Of language models.
    documents = read_run_config(model.parent).get("options", {}).get("documents", LINE)

    def beginning(file):
        return list(itertools.islice(read_documents(file, documents), CHECKED))

    return beginning(source), beginning(reference) if reference else None


def _recorded(model):
    """Returns the validation files that the run recorded: of sentences and of their references."""
    config = read_run_config(model.parent)
    recorded = config.get("files", {})
    # Of any kind of model.
    sides = ("valid_source", "valid_target", "valid_pairs", "valid", "valid_text")
    files = [recorded[side][0] for side in sides if recorded.get(side)]
    if not files:
        raise ValueError(
            "An export is checked on held-out sentences, and the run recorded none: give "
            f"--check-source. Received: {str(model)!r}."
        )
    if not all(Path(file).is_file() for file in files):
        raise FileNotFoundError(
            "An export is checked on held-out sentences, and those that the run recorded are "
            f"not there: give --check-source. Received: {', '.join(map(repr, files))}."
        )
    if recorded.get("valid_pairs"):
        source, target = split_pairs(files, config["options"]["columns"])
        files = [*source, *target]
    if recorded.get("valid"):
        labelled = split(files, config["options"].get("columns"))
        files = [*labelled.texts, *labelled.labels]
    source, *reference = map(Path, files)
    return source, reference[0] if reference else None


def beginnings(model, texts):
    """Returns prompts for a language model: the first half of the ids of each text, as text."""
    from kformer.text.rows import write_texts  # TensorFlow.

    with warnings.catch_warnings(action="ignore"):  # Of texts that are too long.
        rows = model.source_rows(texts)
    halves = [row[: max(1, min(len(row) - 1, model.max_length) // 2)] for row in rows]
    return write_texts(model.tokenizer, halves)
