"""Damaged and forged files: read, or refused in a sentence; no crash, no hang, bounded memory."""

import gzip
import json
import shutil
import zipfile

import keras
import pytest

import kformer
from kformer.training import PreparationOptions, prepare_shards
from kformer.training.resumption.checkpoint import Checkpoint, write_checkpoint
from support.fuzzing import READERS
from support.pretrained import bergamot, ctranslate2, fairseq, marian, marian_npz, opennmt
from support.processes import run_python

MOST_MB = 1000
LARGEST = 5_000_000  # Bytes of the files that are changed.
SEED = 49
COUNTS = {  # About ten minutes together.
    "keras": 150,
    "tflite": 1000,
    "shards": 600,
    "pairs": 3000,
    "shortlist": 1000,
    "run": 600,
    "marian": 150,
    "marian_npz": 150,
    "bergamot": 300,
    "ctranslate2": 150,
    "fairseq": 150,
    "opennmt": 150,
}
WORDS = marian.vocabulary()
TMX = (
    '<?xml version="1.0" encoding="utf-8"?><tmx version="1.4"><header/><body><tu>'
    '<tuv xml:lang="de"><seg>ein <ph>x</ph>haus</seg></tuv>'
    '<tuv xml:lang="en"><seg>a house</seg></tuv></tu></body></tmx>'
)


@pytest.fixture
def good(request, tmp_path):
    """callable (form) -> a folder of good files of a form."""

    def make(form):
        folder = tmp_path / "good"
        if form == "pairs":
            _write_pairs(folder)
        elif form == "keras":
            folder.mkdir()
            tokenizer = request.getfixturevalue("tokenizer")
            network = kformer.Transformer(tokenizer.vocab_size, 1, 16, 2, 24)
            kformer.Translator(tokenizer, network).save(folder / "model.keras")
        elif form == "tflite":
            folder.mkdir()
            shutil.copy(request.getfixturevalue("toy_tflite"), folder / "model.tflite")
        elif form == "shortlist":
            folder.mkdir()
            request.getfixturevalue("toy_shortlist").save(folder / "shortlist.npz")
        elif form == "shards":
            _write_shards(folder, request.getfixturevalue("tokenizer"))
        elif form == "run":
            _write_run(folder, request.getfixturevalue("tiny_run")[0])
        else:
            _write_pretrained(form, folder)
        assert all(one.stat().st_size < LARGEST for one in folder.rglob("*"))
        return folder

    return make


def _write_pairs(folder):
    folder.mkdir()
    rows = [["source", "target"], ["ein haus", "a house"], ["zwei", 'two "x"']]
    (folder / "a.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    (folder / "a.csv").write_text(
        "".join(",".join(f'"{one}"' for one in row) + "\n" for row in rows[:2])
    )
    lines = [json.dumps(dict(zip(rows[0], row, strict=True))) + "\n" for row in rows[1:]]
    (folder / "a.jsonl").write_text("".join(lines))
    (folder / "b.jsonl.gz").write_bytes(gzip.compress("".join(lines).encode()))
    (folder / "a.tmx").write_text(TMX.replace("de", "source").replace('"en"', '"target"'))
    with zipfile.ZipFile(folder / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("c.source-target.source", "ein haus\nzwei\n")
        archive.writestr("c.source-target.target", "a house\ntwo\n")


def _write_shards(folder, tokenizer):
    folder.mkdir()
    for name in ("source", "target"):
        (folder / name).write_text("".join(f"{i} {'ein haus ' * (i % 7 + 1)}\n" for i in range(60)))
    tokenizer.save(folder / "given.model")
    options = PreparationOptions(min_letters=0, keep_identical=True, max_length_ratio=0)
    files = folder / "source", folder / "target"
    prepare_shards(folder / "shards", *files, tokenizer=folder / "given.model", options=options)
    for name in ("source", "target", "given.model"):
        (folder / name).unlink()


def _write_run(folder, run):
    shutil.copytree(run, folder)
    for model in folder.glob("*.keras"):
        model.unlink()
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)
    (folder / "checkpoints").mkdir()
    network = kformer.Transformer(9, 1, 8, 2, 8)
    arrays = {one.path: one.numpy() for one in network.variables}
    write_checkpoint(folder / "checkpoints", Checkpoint(1, 2, arrays, {"a": [1, {"b": None}]}))


def _write_pretrained(form, folder):
    keras.utils.set_random_seed(1)
    if form == "marian":
        marian.write_folder(folder, WORDS, marian.transformer(WORDS.pieces))
    elif form == "marian_npz":
        marian_npz.write_npz_folder(folder, WORDS, marian.transformer(WORDS.pieces))
    elif form == "bergamot":
        words = marian_npz.spm_vocabulary(
            ["ein haus", "der hund schläft ."] * 9, hard_vocab_limit=False
        )
        network = marian.transformer(words.pieces, decoder_cell="ssru")
        lists = [[i] for i in range(len(words.pieces) - 1)]
        bergamot.write_bergamot_folder(folder, words, network, lists=lists)
    elif form == "ctranslate2":
        read = kformer.from_marian(
            marian.write_folder(folder.parent / "m", WORDS, marian.transformer(WORDS.pieces))
        )
        ctranslate2.write_folder(read, folder)
    elif form == "fairseq":
        pieces = fairseq.pieces()
        fairseq.write_folder(folder, fairseq.transformer(pieces), pieces)
    else:
        pieces = opennmt.pieces(WORDS.pieces)
        opennmt.write_checkpoint(folder / "model.pt", opennmt.transformer(pieces), [pieces] * 2)


@pytest.mark.prove
@pytest.mark.parametrize("form", READERS)
def test_a_changed_file_is_read_or_refused(form, good):
    result = run_python("-m", "support.fuzzing", form, good(form), SEED, COUNTS[form])
    assert result.returncode == 0, result.stderr[-3000:]
    found = json.loads(result.stdout)
    print(form, {name: value for name, value in found.items() if name != "faults"})
    assert not found["faults"], next(iter(found["faults"].items()))
    assert found["refused"] > COUNTS[form] / 9  # The changes are no trifles.
    assert found["largest_mb"] < max(MOST_MB, found["usual_mb"] + MOST_MB / 4), found
