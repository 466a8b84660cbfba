"""Pairs from tables and from Python objects."""

import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from kformer.training import split_pairs, translation_dataset
from support.training.pairs import many_pairs

PAIRS = many_pairs(300)


class Records:
    """A data set as Hugging Face's `datasets` gives: dicts, as often as it is iterated."""

    def __iter__(self):
        for source, target in PAIRS:
            yield {"id": 1, "translation": {"de": source, "en": target}}


DE_EN = "translation.de", "translation.en"


class HuggingFace(Records):
    column_names = ("id", "translation")


class Frame:
    """A DataFrame, as of pandas: iterated, it gives the names of its columns."""

    def __init__(self, columns):
        self.columns, self._values = [*columns], columns
        self.shape = len(PAIRS), len(columns)

    def __iter__(self):
        return iter(self.columns)

    def __getitem__(self, name):
        return self._values[name]


def columns_of(kind):
    sources, targets = zip(*PAIRS, strict=True)
    return {"id": kind(range(len(PAIRS))), "de": kind(sources), "en": kind(targets)}


def dataset():
    return tf.data.Dataset.from_tensor_slices(tuple(map(list, zip(*PAIRS, strict=True))))


def table(folder, name):
    path = folder / name
    if name.endswith("jsonl"):
        lines = (json.dumps(dict(zip(("source", "target"), pair, strict=True))) for pair in PAIRS)
    else:
        lines = ("\t".join(pair) for pair in PAIRS)
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


SOURCES = {
    "list": lambda _: (PAIRS, None),
    "dicts": lambda _: (Records(), DE_EN),
    "data set": lambda _: (dataset(), None),
    "data set of dicts": lambda _: (
        dataset().map(lambda source, target: {"de": source, "en": target}),
        ("de", "en"),
    ),
    "data set of nested dicts": lambda _: (
        dataset().map(lambda source, target: {"id": 1, "pair": {"de": source, "en": target}}),
        ("pair.de", "pair.en"),
    ),
    "data set with arrays": lambda _: (
        dataset().map(lambda source, target: {"ids": [1, 2], "de": source, "en": target}),
        ("de", "en"),
    ),
    "columns": lambda _: (columns_of(list), ("de", "en")),
    "columns of arrays": lambda _: (columns_of(np.array), ("de", "en")),
    "data frame": lambda _: (Frame(columns_of(list)), ("de", "en")),
    "the only data set of several": lambda _: ({"train": HuggingFace()}, DE_EN),
    "the only data frame of several": lambda _: ({"train": Frame(columns_of(list))}, ("de", "en")),
    "tsv": lambda folder: (table(folder, "pairs.tsv"), None),
    "json lines": lambda folder: (str(table(folder, "pairs.jsonl")), None),
}


def lines(file):
    return Path(file).read_text("utf-8").split("\n")[:-1]


@pytest.mark.parametrize("name", SOURCES)
def test_pairs_from_anywhere_give_the_same_files(tmp_path, name):
    [source], [target] = split_pairs(*SOURCES[name](tmp_path))
    assert [*zip(lines(source), lines(target), strict=True)] == PAIRS


@pytest.mark.prove
def test_pairs_make_the_batches_that_two_files_make(tmp_path, tokenizer):
    files = [tmp_path / "de", tmp_path / "en"]
    for path, side in zip(files, zip(*PAIRS, strict=True), strict=True):
        path.write_text("".join(f"{line}\n" for line in side), "utf-8")
    expected = translation_dataset(*files, tokenizer, tokens_per_batch=200, max_length=60)
    found = translation_dataset(
        tokenizer=tokenizer, pairs=PAIRS, tokens_per_batch=200, max_length=60
    )
    assert found.cardinality() == expected.cardinality() > 5
    for ours, theirs in zip(found, expected, strict=True):
        for one, other in zip(tf.nest.flatten(ours), tf.nest.flatten(theirs), strict=True):
            assert tf.reduce_all(one == other)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_of_other_libraries_are_read(library):
    make = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[library]
    table = getattr(pytest.importorskip(library), make)(columns_of(list))
    [source], [target] = split_pairs(table, ("de", "en"))
    assert [*zip(lines(source), lines(target), strict=True)] == PAIRS


@pytest.mark.prove
def test_each_table_is_a_corpus_of_its_own(tmp_path, tokenizer):
    paths = [table(tmp_path, "a.tsv"), table(tmp_path, "b.jsonl")]
    sources, targets = split_pairs(paths)
    assert len(sources) == len(targets) == 2
    numbers = [
        sum(
            len(rows)
            for _, rows in translation_dataset(
                tokenizer=tokenizer, pairs=paths, weights=weights, max_length=60
            )
        )
        for weights in ([1, 1], [1, 3])
    ]
    assert numbers[1] == 2 * numbers[0]


def test_a_line_feed_in_a_sentence_becomes_a_space():
    [source], [target] = split_pairs([("a\nb", "c\n"), ("d", 5)])
    assert (lines(source), lines(target)) == (["a b", "d"], ["c ", "5"])


def test_a_table_that_changes_is_read_again(written):
    path = written("a.tsv", "ja\tyes\n")
    assert lines(split_pairs(path)[0][0]) == ["ja"]
    assert split_pairs(path) == split_pairs(path)
    written("a.tsv", "nein\tno\n")
    assert lines(split_pairs(path)[0][0]) == ["nein"]


@pytest.mark.parametrize(
    ("pairs", "columns", "error", "message"),
    [
        (iter(PAIRS), None, ValueError, "more than once.*of type list_iterator"),
        ((pair for pair in PAIRS), None, ValueError, "more than once.*of type generator"),
        ([], None, ValueError, r"There must be pairs. Received: pairs=\[\]"),
        (5, None, TypeError, "iterable of pairs. Received: 5, of type int"),
        ([("a", "b"), "c"], None, TypeError, "Received: 'c' as pair 2, of type str"),
        ([("a", "b", "c")], None, TypeError, "as pair 1, of type tuple"),
        ([("a", None)], None, ValueError, "None as target of pair 1, of type NoneType"),
        ([("a", b"\xff")], None, ValueError, "UTF-8. .*target of pair 1"),
        ([{"source": "a"}], None, ValueError, "column 'target'. .*pair 1, whose columns are 'so"),
        ({"source": ["a"]}, None, ValueError, "column 'target'. .*pair 1, whose columns are 'so"),
        ({"source": ["a"], "target": []}, None, ValueError, "'source': 1, 'target': 0"),
        ({"source": "a", "target": "b"}, None, ValueError, "'source': None, 'target': None"),
        ({"source": [], "target": []}, None, ValueError, "There must be pairs"),
        (
            {"train": HuggingFace(), "test": HuggingFace()},
            DE_EN,
            ValueError,
            r"such as pairs=data\['train'\]. Received: pairs with the data sets 'train', 'test'",
        ),
        ([("a", "b")], "de,en", ValueError, r"Received: columns=\('de,en',\)"),
        ([("a", "b")], ("de",), ValueError, r"Received: columns=\('de',\)"),
    ],
)
def test_what_is_no_pair_is_named(pairs, columns, error, message):
    with pytest.raises(error, match=message):
        split_pairs(pairs, columns)


def test_a_data_set_must_end_and_have_no_batches():
    with pytest.raises(ValueError, match="must come to an end"):
        split_pairs(dataset().repeat())
    with pytest.raises(ValueError, match=r"as source of pair 1, of type ndarray"):
        split_pairs(dataset().batch(7))


def test_text_is_given_once(tmp_path, tokenizer):
    with pytest.raises(ValueError, match="not as both"):
        translation_dataset("a.de", "a.en", tokenizer, pairs=PAIRS)


def test_without_text_there_is_a_clear_error(tokenizer):
    with pytest.raises(ValueError, match="Received: 0 source and 0 target files"):
        translation_dataset(tokenizer=tokenizer)
