"""A pipeline writes the shards that `kformer.training.prepare_shards` writes."""

import gzip
import json

import pytest

import kformer.scale
from kformer.training import PreparationOptions, prepare_shards, shards_dataset
from kformer.training.preparation import shards_writer as prepare
from support.beam import needs_beam
from support.training.pairs import many_pairs

pytestmark = needs_beam

DROPPED = [("", "a"), ("ein", "ein"), ("12 34 !", "12"), ("я", "ein"), ("ja " * 40, "ja")]
LONG = "wir gehen heute in das haus und ich möchte ein bier und das haus ist groß"
ALIKE = [(f"{LONG} {end}", LONG) for end in ".!?"]
PAIRS = [*many_pairs(300), *DROPPED, *ALIKE, *many_pairs(100)]
TWO_PROCESSES = ["--direct_running_mode=multi_processing", "--direct_num_workers=2"]


@pytest.fixture
def small_shards(monkeypatch):
    monkeypatch.setattr(prepare, "PAIRS_PER_SHARD", 30)


def content(folder):
    """All files of a folder by name; the manifest as an object."""
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    return {**found, "manifest.json": json.loads(found["manifest.json"])}


@pytest.mark.parametrize(
    ("near", "beam_options"),
    [
        (True, []),
        pytest.param(False, [], marks=pytest.mark.prove),
        pytest.param(True, TWO_PROCESSES, marks=pytest.mark.prove),
    ],
)
def test_the_shards_are_those_of_one_process(
    write, model, small_shards, small_blocks, tmp_path, near, beam_options
):
    """Of all kinds of files together, to the byte, counts and checksums included."""
    files = write(PAIRS[:250]), write(PAIRS[250:], "more", "\r\n")
    zipped = [path.with_name(f"{path.name}.gz") for path in files[1]]
    for path, packed in zip(files[1], zipped, strict=True):
        packed.write_bytes(gzip.compress(path.read_bytes()))
    (tmp_path / "pairs.tsv").write_text("das haus\tthe house\n" * 3, "utf-8")
    text = {
        "source": [files[0][0], zipped[0]],
        "target": [files[0][1], zipped[1]],
        "pairs": tmp_path / "pairs.tsv",
        "tokenizer": model,
        "options": PreparationOptions(
            max_length=60, source_script="Latin", drop_near_duplicates=near
        ),
    }
    manifest = prepare_shards(tmp_path / "local", **text)
    found = kformer.scale.prepare_shards(tmp_path / "beam", **text, beam_options=beam_options)
    assert found == manifest
    assert content(tmp_path / "beam") == content(tmp_path / "local")
    assert len(manifest.shards) > 3
    assert bool(manifest.counts["near_duplicate"]) == near
    assert min(manifest.counts[name] for name in ("blank", "identical", "duplicate")) > 0
    assert len(list(shards_dataset(tmp_path / "beam"))) > 0


def test_without_a_tokenizer_the_same_one_is_learned(parallel_text, tmp_path):
    files = parallel_text["train.de"], parallel_text["train.en"]
    options = PreparationOptions(vocab_size=300)
    prepare_shards(tmp_path / "local", *files, options=options)
    kformer.scale.prepare_shards(tmp_path / "beam", *files, options=options)
    assert content(tmp_path / "beam") == content(tmp_path / "local")


def damaged(tmp_path, model):
    """Arguments that cannot work, by what is wrong with them."""
    good = tmp_path / "good"
    good.write_text("ein haus\n" * 40, "utf-8")
    others = {
        "short": b"a house\n" * 39,
        "bytes": b"a house\n" * 29 + b"\xff\n" + b"a house\n" * 10,
        "empty": b"",
        "cut.gz": gzip.compress(b"a house\n" * 40)[:-9],
        "same": good.read_bytes(),
        "broken.tsv": b"a\tb\nc\n",
    }
    for name, text in others.items():
        (tmp_path / name).write_bytes(text)
    arguments = {
        name: {"source": good, "target": tmp_path / name, "tokenizer": model} for name in others
    }
    arguments["broken.tsv"] = {"pairs": tmp_path / "broken.tsv", "tokenizer": model}
    arguments["missing"] = {"source": good, "target": tmp_path / "missing"}
    arguments["elsewhere"] = {"pairs": "nowhere://text.tsv"}
    arguments["option"] = arguments["same"] | {"beam_options": ["--direct_workers=2"]}
    arguments["value"] = arguments["same"] | {"beam_options": ["--direct_num_workers=two"]}
    arguments["runner"] = arguments["same"] | {"runner": "DirectRuner"}
    return arguments


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("short", r"as many lines. Received: 40 in '.*good', 39 in '.*short'.$"),
        ("bytes", r"must be UTF-8. Received: '.*bytes', where line 30 is not"),
        ("empty", r"must not be empty. Received: '.*empty'"),
        ("cut.gz", r"named .gz must be gzip. Received: '.*cut.gz'"),
        ("broken.tsv", r"Received: '.*broken.tsv', where line 2 has no tab"),
        ("same", r"Some pairs must be left. Received: .* dropped: 40 identical."),
        ("missing", r"There is no such file. Received: '.*missing'"),
        ("elsewhere", r"nowhere://text.tsv"),
        ("option", r"Received: --direct_workers with the runner DirectRunner.$"),
        ("value", r"Received: --direct_num_workers=two \(argument --direct_num_workers"),
        ("runner", r"DirectRuner"),
    ],
)
def test_what_cannot_be_prepared_is_refused_in_a_line(model, small_blocks, tmp_path, what, message):
    arguments = damaged(tmp_path, model)[what]
    before = sorted(tmp_path.iterdir())
    with pytest.raises((ValueError, FileNotFoundError), match=message) as refused:
        kformer.scale.prepare_shards(tmp_path / "shards", **arguments)
    assert "\n" not in str(refused.value)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.prove
def test_an_error_of_another_process_is_the_same_line(model, tmp_path):
    arguments = damaged(tmp_path, model)["bytes"]
    with pytest.raises(
        ValueError, match=r"^Text must be UTF-8. Received: .* line 30 is not \([^\n]*$"
    ):
        kformer.scale.prepare_shards(tmp_path / "shards", **arguments, beam_options=TWO_PROCESSES)


def test_an_existing_folder_is_not_replaced(write, model, tmp_path):
    (tmp_path / "shards").mkdir()
    with pytest.raises(IsADirectoryError, match="existing folder is not replaced"):
        kformer.scale.prepare_shards(tmp_path / "shards", *write(PAIRS), tokenizer=model)
