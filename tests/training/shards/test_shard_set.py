"""Folders of shards that are not whole, not ours or not of one kind."""

import json
import warnings

import pytest

from kformer import Tokenizer
from kformer.training import PreparationOptions, prepare_shards, shards_dataset
from kformer.training.shards.shard_set import shard_sets
from support.training.pairs import many_pairs

PAIRS = many_pairs(200)


@pytest.fixture
def folder(shards):
    return shards(PAIRS)


def change(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def rewrite(folder, **changes):
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changes}), "utf-8")


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
        ({"format": 3}, "newer kformer: update kformer.* of format 3; this kformer reads 2"),
        ({"format": "one"}, "as `kformer prepare` writes it. Received: '.*manifest.json'"),
        ({"more": 1}, "as `kformer prepare` writes it. Received: '.*manifest.json'"),
    ],
)
def test_a_manifest_of_another_kind_is_refused(folder, changes, message):
    rewrite(folder, **changes)
    with pytest.raises(ValueError, match=message):
        shard_sets(folder)


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
