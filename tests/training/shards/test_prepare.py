"""From text to shards: the same records whatever the way, and counts that add up."""

import dataclasses
import gzip
import json
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kformer
from kformer.text.long_lines import LONGEST
from kformer.training import (
    PreparationOptions,
    count_dropped_pairs,
    prepare_shards,
    shards_dataset,
    translation_dataset,
)
from kformer.training.preparation import raw_pairs as reading
from kformer.training.shards.shard_file import open_shard
from support.processes import printed_by
from support.training.pairs import WORDS, expected_rows, many_pairs, rows_of, sentence
from support.training.pairs import write as write_pairs

PAIRS = [pair for pair in many_pairs(200) if all(side.strip() for side in pair)]
DROPPED = [("", "a"), ("ein", "ein"), ("12 34 !", "12"), ("я", "ein"), ("ja " * 40, "ja")]
GOOD = [(f"ein {word}", f"a {word}") for word in WORDS]
ALL = PreparationOptions(min_letters=0, max_length_ratio=0, keep_identical=True)


def content(folder):
    """All files of a folder by name, but for the manifest's paths and so its checksum."""
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    manifest = json.loads(found.pop("manifest.json"))
    del manifest["files"], manifest["sha256"]
    return manifest, found


def test_the_order_of_the_text_and_the_size_of_a_batch_change_nothing(
    write, model, small_shards, monkeypatch, tmp_path
):
    found = []
    for number, size in enumerate([7, 64, 1000]):
        monkeypatch.setattr(reading.read_batches, "__defaults__", (size,))
        pairs = random.Random(number).sample(PAIRS * 3, 3 * len(PAIRS))
        folder = tmp_path / f"shards{number}"
        prepare_shards(folder, *write(pairs, str(number)), tokenizer=model, options=ALL)
        found.append(content(folder))
    assert found[0] == found[1] == found[2]
    manifest, _ = found[0]
    assert len(manifest["shards"]) > 3
    assert manifest["counts"]["duplicate"] == 2 * len(PAIRS)


def test_the_table_of_dropped_pairs_has_each_with_its_line_and_its_reason(
    write, model, monkeypatch, tmp_path, written
):
    good = GOOD[:4]
    pairs = [good[0], *DROPPED, good[1], good[0], good[2], good[1], good[0], ("ein  zug", "x")]
    source, target = write(pairs, "text")
    table = written("more.tsv", "source\ttarget\n\nein zug\ta train\n" + "\t".join(good[3]) + "\n")
    excluded = written("test.de", "etwas\nEin Zug!\n\n")
    expected = [
        (source, line, reason)
        for line, reason in enumerate(
            ["blank", "identical", "few letters", "other script", "too long"], start=2
        )
    ]
    expected += [(source, line, "duplicate") for line in (8, 10, 11)]
    expected += [(source, 12, "excluded"), (table, 3, "excluded")]
    options = PreparationOptions(source_script="Latin", max_length=32)
    for size in (2, 3, 1000):  # Equal pairs meet in one batch and in several.
        monkeypatch.setattr(reading.read_batches, "__defaults__", (size,))
        folder, dropped = tmp_path / f"shards{size}", tmp_path / f"dropped{size}.tsv"
        manifest = prepare_shards(
            folder,
            source,
            target,
            pairs=table,
            tokenizer=model,
            options=options,
            exclude=excluded,
            dropped=dropped,
        )
        head, *rows = [line.split("\t") for line in dropped.read_text("utf-8").splitlines()]
        assert head == ["file", "line", "reason"]
        assert rows == [[str(file), str(line), reason] for file, line, reason in expected]
        assert manifest.counts["excluded"] == 2 and manifest.pairs == 4
        assert manifest.counts["read"] == len(rows) + manifest.pairs == 14


@pytest.mark.prove
def test_pairs_that_are_too_long_to_be_read_are_dropped_and_no_others(write, model, tmp_path):
    """By shards and by training on the files themselves; 64 bytes for each id are too many."""
    pairs = GOOD[:4]
    for long in ("a" * (LONGEST + 1), f"ein{' ' * 64 * 32}ein", "zug " * LONGEST):
        pairs += [(long, "a"), GOOD[4], ("ein", long)]
    pairs += [("b" * (LONGEST + 9),) * 2, ("", "a" * (LONGEST + 1)), GOOD[5]]
    files = write(pairs, "long")
    kept = write([pair for pair in pairs if max(map(len, pair)) < 99], "kept")
    options = PreparationOptions(max_length=32, max_length_ratio=0)
    found = []
    for number, text in enumerate([files, kept]):
        folder, dropped = tmp_path / f"shards{number}", tmp_path / f"dropped{number}.tsv"
        prepare_shards(folder, *text, tokenizer=model, options=options, dropped=dropped)
        found.append(content(folder))
    assert found[0][1] == found[1][1]  # The files of the shards.
    counts = found[0][0]["counts"]
    assert (counts["read"], counts["too_long"], counts["blank"]) == (len(pairs), 7, 1)
    table = [line.split("\t") for line in (tmp_path / "dropped0.tsv").read_text().splitlines()]
    expected = [line for line, pair in enumerate(pairs, start=1) if max(map(len, pair)) > 99]
    assert [int(line) for _, line, reason in table[1:] if reason == "too long"] == expected[:-1]
    tokenizer = kformer.Tokenizer.load(model)
    directly = count_dropped_pairs(*files, tokenizer, max_length=32)
    assert (directly.too_long, directly.blank) == (7, 1)
    batches = translation_dataset(*files, tokenizer, max_length=32)
    short = [pair for pair in pairs if max(map(len, pair)) < 99]
    assert Counter(rows_of(batches, tokenizer)) == expected_rows(short, tokenizer, 32)


def test_near_duplicates_are_in_the_table_of_dropped_pairs(write, model, tmp_path):
    text = "der hund ruft uns und wir sehen ein haus am see und noch ein haus"
    pairs = [(text, "a b c d e f g h i j k"), (f"{text} .", "a b c d e f g h i j k"), *GOOD[:3]]
    options = dataclasses.replace(ALL, drop_near_duplicates=True)
    dropped = tmp_path / "dropped.tsv"
    files = write(pairs, "text")
    manifest = prepare_shards(
        tmp_path / "shards", *files, tokenizer=model, options=options, dropped=dropped
    )
    _, *rows = dropped.read_text("utf-8").splitlines()
    assert len(rows) == manifest.counts["near_duplicate"] == 1
    assert rows[0] in [f"{files[0]}\t{line}\tnear duplicate" for line in (1, 2)]


@settings(
    max_examples=settings.default.max_examples // 2,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(
        st.sampled_from([*DROPPED, *GOOD]),
        max_size=30,
    )
)
def test_counts_add_up(tmp_path_factory, tokenizer, pairs):
    folder = tmp_path_factory.mktemp("text")
    tokenizer.save(folder / "model")
    options = PreparationOptions(max_length=60, source_script="Latin")
    files = write_pairs(folder, [*pairs, ("bier", "a beer")])
    found = prepare_shards(folder / "shards", *files, tokenizer=folder / "model", options=options)
    counts = dict(found.counts)
    assert counts.pop("read") == len(pairs) + 1
    assert sum(counts.values()) == len(pairs) + 1
    assert counts["kept"] == found.pairs == sum(shard["pairs"] for shard in found.shards)
    assert counts["blank"] == pairs.count(("", "a"))
    assert counts["identical"] == pairs.count(("ein", "ein"))
    assert counts["few_letters"] == pairs.count(("12 34 !", "12"))
    assert counts["other_script"] == pairs.count(("я", "ein"))
    assert counts["too_long"] == pairs.count(("ja " * 40, "ja"))


def test_the_records_are_the_ids_of_the_text(write, model, tokenizer, tmp_path):
    manifest = prepare_shards(tmp_path / "shards", *write(PAIRS), tokenizer=model, options=ALL)
    dataset = shards_dataset(tmp_path / "shards")
    assert Counter(rows_of(dataset, tokenizer)) == expected_rows(PAIRS, tokenizer, 128)
    [shard] = manifest.shards
    opened = open_shard(tmp_path / "shards", shard["name"])
    assert opened.ids.dtype == np.uint16
    assert len(opened.ids) == sum(shard["ids"])
    assert opened.groups[:, 2].sum() == manifest.pairs == len(PAIRS)


def test_without_a_tokenizer_one_is_learned(write, tmp_path, parallel_text):
    files = parallel_text["train.de"], parallel_text["train.en"]
    for sizes in ({}, {"vocab_size": 300, "target_vocab_size": 295}):
        folder, options = tmp_path / f"shards{len(sizes)}", PreparationOptions(**sizes)
        manifest = prepare_shards(folder, *files, options=options)
        assert len(manifest.tokenizers) == (2 if options.target_vocab_size else 1)
        assert len(list(shards_dataset(folder))) > 1


def test_all_forms_of_files_give_the_same_shards(write, model, small_shards, tmp_path):
    source, target = write(PAIRS)
    zipped = [source.with_name(f"{path.name}.gz") for path in (source, target)]
    for path, packed in zip((source, target), zipped, strict=True):
        packed.write_bytes(gzip.compress(path.read_bytes()))
    table = tmp_path / "pairs.tsv"
    lines = zip(*(path.read_text("utf-8").splitlines() for path in (source, target)), strict=True)
    table.write_text("".join("\t".join(line) + "\n" for line in lines), "utf-8")
    given = [{"source": source, "target": target}]
    given += [{"source": zipped[0], "target": zipped[1]}, {"pairs": table}]
    found = []
    for number, files in enumerate(given):
        prepare_shards(tmp_path / str(number), **files, tokenizer=model, options=ALL)
        found.append(content(tmp_path / str(number))[1])
    assert found[0] == found[1] == found[2]


def test_progress_tells_how_many_pairs_are_read(write, model, monkeypatch, tmp_path):
    monkeypatch.setattr(reading.read_batches, "__defaults__", (50,))
    seen = []
    prepare_shards(tmp_path / "s", *write(PAIRS), tokenizer=model, progress=seen.append)
    assert seen == [*range(50, len(PAIRS), 50), len(PAIRS)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, r"or from files of pairs. Received: source=\[\], target=\[\], pairs=\[\]"),
        ({"source": "text.de"}, r"Received: source=\['.*text.de'\], target=\[\]"),
        ({"pairs": "text.de", "columns": ["de"]}, r"Received: columns=\('de',\)"),
        ({"pairs": "text.de", "target_tokenizer": "a.model"}, "tokenizer=None, target_token"),
    ],
)
def test_what_cannot_be_prepared_is_refused(write, tmp_path, arguments, message):
    write(PAIRS[:3])
    files = {
        name: tmp_path / value if str(value).startswith("text") else value
        for name, value in arguments.items()
    }
    with pytest.raises(ValueError, match=message):
        prepare_shards(tmp_path / "shards", **files)
    assert not (tmp_path / "shards").exists()


def test_where_no_pair_is_left_the_counts_say_why(write, model, tmp_path):
    pairs = [("ein", "ein"), ("1 2 3", "4"), ("zwei", "")]
    for tokenizer in (model, None):
        with pytest.raises(ValueError, match="dropped: 1 blank, 1 identical, 1 few_letters"):
            prepare_shards(tmp_path / "shards", *write(pairs), tokenizer=tokenizer)
    assert {path.name for path in tmp_path.iterdir()} == {"text.de", "text.en", "given.model"}


def test_texts_of_unlike_numbers_of_lines_are_refused(write, model, tmp_path):
    source, _ = write(PAIRS[:5])
    _, target = write(PAIRS[:7], "longer")
    with pytest.raises(ValueError, match=r"Received: 5 in '.*text.de', 7 in '.*longer.en'"):
        prepare_shards(tmp_path / "shards", source, target, tokenizer=model)


def test_an_existing_folder_is_not_replaced(write, model, tmp_path):
    (tmp_path / "shards").mkdir()
    with pytest.raises(IsADirectoryError, match="existing folder is not replaced"):
        prepare_shards(tmp_path / "shards", *write(PAIRS), tokenizer=model)


def test_near_duplicates_are_dropped_only_if_asked(write, model, tmp_path):
    text = "wir gehen heute in das haus und ich möchte ein bier und das haus ist groß"
    pairs = [*PAIRS, (f"{text} .", text), (f"{text} !", text)]
    numbers = []
    for wanted in (False, True):
        options = dataclasses.replace(ALL, drop_near_duplicates=wanted)
        folder = tmp_path / str(wanted)
        manifest = prepare_shards(folder, *write(pairs), tokenizer=model, options=options)
        numbers.append((manifest.pairs, manifest.counts["near_duplicate"]))
    assert numbers[0] == (len(pairs), 0)
    assert numbers[1][0] + numbers[1][1] == len(pairs)
    assert 1 <= numbers[1][1] < 20


@pytest.mark.prove
def test_memory_does_not_depend_on_the_size_of_the_text(model, tmp_path):
    """Ten times as many pairs take hardly more memory."""
    peaks = []
    for number in (100_000, 1_000_000):
        table = tmp_path / f"{number}.tsv"
        rng = random.Random(number)
        with table.open("w", encoding="utf-8") as file:
            file.writelines(f"{sentence(9, rng)} {i}\t{sentence(9, rng)}\n" for i in range(number))
        printed = printed_by("-c", MEASURED, table, tmp_path / f"shards{number}", model)
        pairs, peak = map(int, printed.split())
        assert pairs > 0.99 * number
        peaks.append(peak)
    assert peaks[1] < 1.3 * peaks[0]


MEASURED = """
import resource, sys
from kformer.training import prepare_shards
table, output, model = sys.argv[1:]
pairs = prepare_shards(output, pairs=table, tokenizer=model).pairs
print(pairs, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
