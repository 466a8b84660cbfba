"""Folders of shards that are not whole, not ours or not of one kind."""

import json
import warnings

import numpy as np
import pytest

from kformer import Tokenizer
from kformer.training import PreparationOptions, prepare_shards, shards_dataset
from kformer.training.shards.shard_file import open_shard
from kformer.training.shards.shard_set import shard_sets
from support.training.pairs import many_pairs
from support.training.shards import signed

PAIRS = many_pairs(200)


@pytest.fixture
def folder(shards):
    return shards(PAIRS)


def change(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def rewrite(folder, sign=signed, **changes):
    path = folder / "manifest.json"
    path.write_text(json.dumps(sign(json.loads(path.read_text("utf-8")) | changes)), "utf-8")


def test_every_byte_of_a_shard_counts(folder):
    for name in ("00001.ids.npy", "00002.groups.npy"):
        change(folder / name)
        with pytest.raises(ValueError, match=rf"Received: '.*{name}', which is damaged: its check"):
            shard_sets(folder)
        change(folder / name)
    assert len(shard_sets(folder)[0].names) > 3


def test_a_damaged_or_missing_shard_is_left_out_only_if_asked(folder):
    sizes = [one["pairs"] for one in json.loads((folder / "manifest.json").read_text())["shards"]]
    change(folder / "00001.ids.npy")
    (folder / "00003.groups.npy").unlink()
    with pytest.warns(UserWarning, match="are left out") as caught:
        dataset = shards_dataset(folder, skip_damaged=True)
    messages = [str(one.message) for one in caught]
    assert len(messages) == 2
    assert (
        f"00001.ids.npy' is damaged: its checksum is not that of the manifest. Its {sizes[1]}"
        in (messages[0])
    )
    assert f"00003.groups.npy' is missing. Its {sizes[3]} pairs are left out." in messages[1]
    rows = sum(target.shape[0] for _, target in dataset)
    assert rows == sum(sizes) - sizes[1] - sizes[3]


def test_a_whole_folder_gives_no_warning(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (found,) = shard_sets([folder], skip_damaged=True)
    assert found.left_out() == []


def test_some_shard_must_be_whole(folder):
    for path in folder.glob("*.ids.npy"):
        path.unlink()
    with (
        pytest.warns(UserWarning, match="is missing"),
        pytest.raises(ValueError, match=r"A shard must be left. Received: '.*shards', all of"),
    ):
        shard_sets(folder, skip_damaged=True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 4}, "newer kformer: update kformer.* of format 4; this kformer reads 3"),
        (
            {"format": "one"},
            r"writes it. Received: '.*manifest.json' \('format' must be an integer",
        ),
        ({"more": 1}, r"writes it. Received: '.*manifest.json' \(it must not have 'more'"),
        ({"pairs": 1.5}, r"\('pairs' must be an integer"),
        ({"shards": [{"name": "a", "pairs": 1}]}, r"'shards'\[0\] must have 'ids', 'sha256'"),
        (
            {"shards": [{"name": "../a", "pairs": 1, "ids": [1, 1], "sha256": {}}]},
            r"must lie beside it, and '../a' does not",
        ),
    ],
)
def test_a_manifest_of_another_kind_is_refused(folder, changes, message):
    rewrite(folder, **changes)
    with pytest.raises(ValueError, match=message):
        shard_sets(folder)


def test_every_word_of_a_manifest_counts(folder):
    text = (folder / "manifest.json").read_text("utf-8")
    for old, new in (('"pairs": ', '"pairs": 1'), ('"min_letters": 0', '"min_letters": 1')):
        assert old in text
        (folder / "manifest.json").write_text(text.replace(old, new, 1), "utf-8")
        with pytest.raises(ValueError, match=r"manifest.json' \(its checksum is that of another"):
            shard_sets(folder)


def test_a_manifest_of_an_older_format_has_no_checksum(folder):
    def older(content):
        return {name: value for name, value in content.items() if name != "sha256"}

    rewrite(folder, older, format=2)
    assert len(shard_sets(folder)[0].names) > 3
    rewrite(folder, older, format=3)
    with pytest.raises(ValueError, match="its checksum is that of another manifest"):
        shard_sets(folder)


@pytest.mark.parametrize("kind", ["ids", "groups"])
def test_a_shard_whose_files_do_not_fit_is_refused(kind, folder):
    path = folder / f"00001.{kind}.npy"
    for array in (np.load(path)[:-1], np.load(path).astype("float32"), np.load(path)[None]):
        np.save(path, array)
        with pytest.raises(ValueError, match=r"Received: '.*00001"):
            open_shard(folder, "00001")


def test_what_is_no_folder_of_shards_is_named(folder, tmp_path):
    for path in (tmp_path, tmp_path / "none", tmp_path / "given.model"):
        with pytest.raises(FileNotFoundError, match=rf"'{path}', without 'manifest.json'"):
            shard_sets(path)
    (folder / "manifest.json").write_text("{", "utf-8")
    with pytest.raises(ValueError, match="as `kformer prepare` writes it"):
        shard_sets(folder)


def test_the_tokenizer_must_be_the_one_of_the_ids(folder, parallel_text):
    Tokenizer.train(parallel_text["train.de"], 300).save(folder / "tokenizer.model")
    with pytest.raises(ValueError, match=r"that made their ids. Received: '.*tokenizer.model'"):
        shards_dataset(folder)
    (folder / "tokenizer.model").unlink()
    with pytest.raises(FileNotFoundError, match=r"no such file.*tokenizer.model"):
        shards_dataset(folder)


def test_folders_of_different_tokenizers_are_not_mixed(folder, parallel_text, tmp_path):
    files = parallel_text["train.de"], parallel_text["train.en"]
    options = PreparationOptions(vocab_size=300)
    prepare_shards(tmp_path / "other", *files, options=options)
    with pytest.raises(ValueError, match=r"same tokenizer.*Received: '.*shards' and '.*other'"):
        shard_sets([folder, tmp_path / "other"])


def test_a_batch_must_have_room_for_the_longest_sentence(folder):
    with pytest.raises(ValueError, match="Received: tokens_per_batch=127, max_length=128"):
        shards_dataset(folder, tokens_per_batch=127)
