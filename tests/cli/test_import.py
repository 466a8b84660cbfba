"""`kformer import`."""

import json

import pytest

import kformer
from support.pretrained import bergamot, ctranslate2, fairseq, marian, opennmt, opennmt_tf
from support.pretrained.marian_npz import spm_vocabulary


@pytest.fixture
def folder(tmp_path):
    words = marian.vocabulary()
    return marian.write_folder(tmp_path / "marian", words, marian.transformer(words.pieces))


@pytest.mark.prove
def test_a_folder_becomes_a_keras_file(command, folder, tmp_path):
    path = tmp_path / "new" / "translator.keras"
    result = command("import", "marian", folder, "--output", path)
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"Written: {path}\n"
    result = command("translate", path, stdin="der hund schläft .\n\n".encode())
    [expected] = kformer.from_marian(folder).translate(["der hund schläft ."])
    assert result.stdout == f"{expected}\n\n"


def test_a_target_language_is_fixed(command, refused, tmp_path):
    words = marian.vocabulary((">>deu<<", ">>fra<<"))
    folder = tmp_path / "marian"
    marian.write_folder(folder, words, marian.transformer(words.pieces))
    arguments = ("import", "marian", folder, "--output", tmp_path / "a.keras")
    message = "one of the model's languages: deu, fra. Received: target_language='eng'"
    assert message in refused(*arguments, "--target-language", "eng")
    result = command(*arguments, "--target-language", "fra")
    assert result.returncode == 0, result.stderr
    assert kformer.load(tmp_path / "a.keras").tokenizer.prefix == ">>fra<<"


@pytest.mark.prove
def test_a_target_language_is_chosen_for_each_translation(command, refused, tmp_path):
    words = marian.vocabulary((">>deu<<", ">>fra<<"))
    network = marian.transformer(words.pieces)
    folder, path = marian.write_folder(tmp_path / "marian", words, network), tmp_path / "a.keras"
    (tmp_path / "a.de").write_text("der hund schläft .\n", "utf-8")
    assert command("import", "marian", folder, "--output", path).returncode == 0
    fixed = kformer.from_marian(folder, "fra")
    [expected] = fixed.translate(["der hund schläft ."])
    files = ("--source", tmp_path / "a.de")
    into = ("--target-language", "fra")
    assert command("translate", path, "--input", files[1], *into).stdout == f"{expected}\n"
    scored = command("score", path, *files, "--target", files[1], *into)
    [score] = fixed.score(["der hund schläft ."], ["der hund schläft ."])
    assert scored.stdout == f"{score.log_probability:.4f}\t{score.mean:.4f}\n"
    for arguments in (
        ("translate", path, "--input", files[1]),
        ("score", path, *files, "--target", files[1]),
        ("evaluate", path, *files, "--reference", files[1]),
        ("align", path, *files, "--target", files[1]),
        ("encode", path, "--input", files[1], "--output", tmp_path / "a.npy"),
        ("attention", path, "der hund", "--output", tmp_path / "a.png"),
    ):
        assert "languages: deu, fra. Received: target_language=None" in refused(*arguments)
    assert "target_language='eng'" in refused(
        "export",
        path,
        "--check-source",
        files[1],
        "--tflite",
        tmp_path / "a.tflite",
        "--target-language",
        "eng",
    )


def test_what_cannot_be_imported_is_refused_in_one_line(refused, folder, tmp_path):
    def refusal(output="a.keras"):
        return refused("import", "marian", folder, "--output", tmp_path / output)

    message = f"kformer: The file's name must end in .keras. Received: '{tmp_path}/a.tflite'."
    assert refusal("a.tflite") == message
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    assert "must hold all bytes of its tensors. Received: 'model.decoder" in refusal()
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "t5"}), "utf-8")
    assert refusal() == (
        "kformer: Models of T5, with relative positions and RMSNorm, cannot be imported: a folder "
        f"of MarianMTModel is needed. Received: model_type='t5' in '{folder}'."
    )


def test_a_folder_of_bergamot_that_is_damaged_is_refused_in_one_line(refused, tmp_path):
    folder, output = tmp_path / "deen", tmp_path / "a.keras"
    folder.mkdir()
    (folder / "model.deen.bin").write_bytes(bytes(64))
    (folder / "vocab.deen.spm").write_bytes(b"")
    assert refused("import", "bergamot", folder, "--output", output) == (
        "kformer: The weights must be in Marian's binary format, version 1. "
        f"Received: '{folder}/model.deen.bin' (version 0)."
    )
    message = "kformer: The file's name must end in .npz. Received: 'a.txt'."
    shortlist = ("--shortlist", "a.txt")
    assert refused("import", "bergamot", folder, "--output", output, *shortlist) == message
    assert not output.exists()


@pytest.mark.prove
def test_a_folder_of_bergamot_becomes_a_keras_file_and_a_shortlist(command, refused, tmp_path):
    words = spm_vocabulary(
        ["der hund schläft .", "ein haus und ein hund"] * 9, hard_vocab_limit=False
    )
    network = marian.transformer(words.pieces, decoder_cell="ssru")
    ids = len(words.pieces) - 1
    lists = [[*range(i % 5, ids, 7)] for i in range(ids)]
    folder = bergamot.write_bergamot_folder(tmp_path / "deen", words, network, lists=lists)
    output = ("--output", tmp_path / "a.keras")
    result = command("import", "bergamot", folder, *output, "--shortlist", tmp_path / "a.npz")
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"Written: {tmp_path}/a.keras\nWritten: {tmp_path}/a.npz\n"
    inspected = command("inspect", tmp_path / "a.keras").stdout
    assert "de -> en" in inspected
    assert "flores: bleu 38.8" in inspected
    [expected] = kformer.from_bergamot(folder, shortlist=True).translate(["der hund schläft ."])
    lines, chosen = "der hund schläft .\n".encode(), ("--shortlist", tmp_path / "a.npz")
    assert command("translate", tmp_path / "a.keras", *chosen, stdin=lines).stdout == (
        f"{expected}\n"
    )
    (folder / "lex.50.50.deen.s2t.bin.gz").unlink()
    other = ("--output", tmp_path / "b.keras", "--shortlist", tmp_path / "b.npz")
    assert refused("import", "bergamot", folder, *other) == (
        "kformer: A folder without lex*.bin has no shortlist. "
        f"Received: '{folder}', --shortlist '{tmp_path}/b.npz'."
    )
    assert not (tmp_path / "b.keras").exists()


@pytest.mark.prove
def test_a_folder_of_ctranslate2_becomes_a_keras_file(command, refused, folder, tmp_path):
    translator = kformer.from_marian(folder)
    exported = ctranslate2.write_folder(translator, tmp_path / "exported")
    for side in ("source", "target"):
        (exported / f"{side}.spm").rename(tmp_path / f"{side}.spm")
    arguments = ("import", "ctranslate2", exported, "--output", tmp_path / "a.keras")
    assert refused(*arguments) == (
        "kformer: A folder of CTranslate2 must hold source.spm, or give the SentencePiece model "
        "of its sources as `source_model`, --source-model. "
        f"Received: '{exported}', which does not."
    )
    models = ("--source-model", tmp_path / "source.spm", "--target-model", tmp_path / "target.spm")
    result = command(*arguments, *models)
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"Written: {tmp_path / 'a.keras'}\n"
    imported = kformer.load(tmp_path / "a.keras")
    assert imported.tokenizer.model == translator.tokenizer.model
    assert imported.target_tokenizer.model == translator.target_tokenizer.model
    variables = ctranslate2.read(exported)
    variables["decoder/alibi"] = variables["decoder/alibi"] + 1
    ctranslate2.write(exported, variables)
    assert refused(
        "import", "ctranslate2", exported, "--output", tmp_path / "b.keras", *models
    ) == (
        "kformer: Models of CTranslate2 with ALiBi cannot be imported. "
        f"Received: decoder/alibi in '{exported}'."
    )


@pytest.mark.prove
def test_a_checkpoint_of_opennmt_becomes_a_keras_file(command, refused, tmp_path):
    pieces = opennmt.pieces(marian.vocabulary().pieces)
    network, path = opennmt.transformer(pieces), tmp_path / "model.pt"
    arguments = ("import", "opennmt", path, "--output", tmp_path / "a.keras")
    opennmt.write_checkpoint(path, network, (pieces, pieces), copy_attn=True)
    assert refused(*arguments) == (
        "kformer: Models of OpenNMT-py with a copy mechanism cannot be imported. "
        f"Received: copy_attn=True in '{path}'."
    )
    opennmt.write_checkpoint(path, network, (pieces, pieces))
    result = command(*arguments, "--target-model", tmp_path / "source.spm")
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"Written: {tmp_path / 'a.keras'}\n"
    translator = kformer.load(tmp_path / "a.keras")
    assert translator.transformer.ignored_source_id == translator.tokenizer.end_id


@pytest.mark.prove
def test_a_checkpoint_of_fairseq_becomes_a_keras_file(command, refused, tmp_path):
    pieces = fairseq.pieces()
    folder = tmp_path / "fairseq"
    network = fairseq.transformer(pieces)
    fairseq.write_folder(folder, network, pieces, layernorm_embedding=True)
    arguments = ("import", "fairseq", folder, "--output", tmp_path / "a.keras")
    assert refused(*arguments) == (
        "kformer: Models of fairseq with a norm of the embedded ids cannot be imported. "
        f"Received: layernorm_embedding=True in '{folder / 'checkpoint_best.pt'}'."
    )
    data = tmp_path / "data"
    fairseq.write_folder(data, network, pieces)
    checkpoint = folder / "checkpoint_best.pt"
    (data / "checkpoint_best.pt").rename(checkpoint)
    for name in ("dict.de.txt", "dict.en.txt", "source.spm", "target.spm"):
        (folder / name).unlink()
    assert "must hold dict.de.txt. Received: " in refused(
        "import", "fairseq", checkpoint, "--output", tmp_path / "a.keras"
    )
    result = command(
        "import",
        "fairseq",
        checkpoint,
        "--output",
        tmp_path / "a.keras",
        "--source-model",
        data / "source.spm",
        "--target-model",
        data / "target.spm",
        "--dictionaries",
        data,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"Written: {tmp_path / 'a.keras'}\n"
    assert kformer.load(tmp_path / "a.keras").transformer.first_position == 2


@pytest.mark.prove
def test_a_run_of_opennmt_tf_becomes_a_keras_file(command, refused, tmp_path):
    pieces = opennmt_tf.pieces(marian.vocabulary().pieces)
    folder = tmp_path / "run"
    opennmt_tf.write_folder(folder, opennmt_tf.transformer(pieces), [pieces] * 2)
    arguments = ("import", "opennmt-tf", folder, "--output", tmp_path / "a.keras")
    assert refused(*arguments) == (
        "kformer: A checkpoint does not contain the number of attention heads: give `num_heads`. "
        f"Received: num_heads=None, a d_model of 32 in '{folder / 'ckpt-3'}'."
    )
    (folder / "target.vocab").rename(tmp_path / "joint.vocab")
    (folder / "source.vocab").unlink()
    joint = ("--source-vocabulary", tmp_path / "joint.vocab")  # Of both sides.
    result = command(*arguments, "--num-heads", 4, *joint)
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"Written: {tmp_path / 'a.keras'}\n"
    assert kformer.load(tmp_path / "a.keras").transformer.norm_epsilon == 1e-3
