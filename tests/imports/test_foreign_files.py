"""Files that are no model are named for what they are; archives are read as their folders."""

import json
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import kformer
from kformer.files import check_file
from support.pretrained import ctranslate2, marian
from support.pretrained.marian_npz import write_npz_folder

WORDS = marian.vocabulary()
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 17140836\n"


def test_a_pointer_of_git_lfs_is_no_content(tmp_path):
    for name in ("model.deen.bin.gz", "a.keras", "model.npz"):
        (tmp_path / name).write_bytes(POINTER)
        with pytest.raises(ValueError, match=rf"`git lfs pull`\. Received: .*{name}"):
            check_file(tmp_path / name)
    (tmp_path / "vocab.deen.spm").write_bytes(POINTER)
    (tmp_path / "model.npz").unlink()
    with pytest.raises(ValueError, match=r"pointer of Git LFS.*model\.deen\.bin"):
        kformer.from_bergamot(tmp_path)


def zipped(folder, path, inside=""):
    """Returns the path of a ZIP archive of a folder's files, which lie in the folder `inside`."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, Path(inside, file.relative_to(folder)))
    return path


def same_translators(one, another):
    """Returns whether weights, text and facts of two translators are equal."""
    weights = zip(one.transformer.weights, another.transformer.weights, strict=True)
    return (
        all(np.array_equal(*pair) for pair in weights if "seed" not in pair[0].path)
        and one.tokenizer.model == another.tokenizer.model
        and (one.about, one.search_defaults) == (another.about, another.search_defaults)
    )


@pytest.mark.parametrize("inside", ["", "opus-2020-02-26"])
def test_an_archive_is_read_as_its_folder_and_leaves_nothing_behind(inside, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    folder = write_npz_folder(tmp_path / "a", WORDS, marian.transformer(WORDS.pieces))
    (folder / "decoder.yml").write_text("beam-size: 6\n")
    archive = zipped(folder, tmp_path / "opus-2020-02-26.zip", inside)
    assert same_translators(kformer.from_marian(archive), kformer.from_marian(folder))
    assert not [*(tmp_path / "temporary").iterdir()]
    (folder / "source.spm").write_bytes(b"x")
    zipped(folder, archive, inside)
    with pytest.raises(ValueError, match=rf"must be a SentencePiece .*'{archive}.*source\.spm'"):
        kformer.from_marian(archive)
    assert not [*(tmp_path / "temporary").iterdir()]


@pytest.mark.parametrize("read", [kformer.from_marian, kformer.from_ctranslate2])
def test_an_archive_must_be_whole_and_stay_in_its_folder(read, tmp_path):
    path = tmp_path / "opus.ZIP"
    with pytest.raises(FileNotFoundError, match=r"opus\.ZIP"):
        read(path)
    path.write_bytes(b"PK\3\4")
    with pytest.raises(ValueError, match=r"must be a ZIP archive.*opus\.ZIP"):
        read(path)
    for name in ("../x", "/x", "a/../../x", r"..\x", "c:x"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, b"")
        with pytest.raises(ValueError, match="leads outside the folder"):
            read(path)
    assert not (tmp_path.parent / "x").exists()
    for names in (["a", "a"], ["a", "a/b"], ["a/b", "a"], ["x" * 300]):
        with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, b"")
        with pytest.raises(ValueError, match=r"must be a ZIP archive, whole.*opus\.ZIP"):
            read(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("a", "b"):
            archive.writestr(name, bytes(2**25 + 1))
    with pytest.raises(ValueError, match="more than 20 times"):
        read(path)


@pytest.mark.parametrize("read", [kformer.from_marian, kformer.from_ctranslate2])
def test_another_file_is_no_folder(read, tmp_path):
    (tmp_path / "model.tar.gz").write_bytes(b"")
    with pytest.raises(NotADirectoryError, match=r"archive of one \(\.zip, \.argosmodel\).*tar.gz"):
        read(tmp_path / "model.tar.gz")


@pytest.mark.parametrize(("name", "words"), [("source.bpe", "subword-nmt"), ("a.fsv", "factored")])
def test_other_ways_to_split_text_are_named(name, words, tmp_path):
    folder = write_npz_folder(tmp_path / "a", WORDS, marian.transformer(WORDS.pieces))
    (folder / name).write_text("#version: 0.2\n")
    with pytest.raises(ValueError, match=rf"{words}.*cannot be imported.*which holds {name}"):
        kformer.from_marian(folder)


@pytest.mark.parametrize(("kind", "words"), [("m2m_100", "M2M100 and NLLB"), ("t5", "T5")])
def test_other_networks_are_named(kind, words, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": kind}))
    with pytest.raises(ValueError, match=rf"Models of {words}.* cannot be imported.*'{kind}'"):
        kformer.from_marian(tmp_path)


def test_a_package_of_argos_translate_is_a_folder_of_ctranslate2(tmp_path):
    original = kformer.from_marian(
        marian.write_folder(tmp_path / "a", WORDS, marian.transformer(WORDS.pieces))
    )
    facts = ctranslate2.write_argos_folder(original, tmp_path / "en_de", "en", "de")
    found = kformer.from_ctranslate2(tmp_path / "en_de")
    assert (found.about["source_language"], found.about["target_language"]) == ("en", "de")
    rows = found.source_rows(["der hund schläft ."])
    assert rows == original.source_rows(["der hund schläft ."])
    archive = zipped(tmp_path / "en_de", tmp_path / "translate-en_de.argosmodel", "en_de")
    assert same_translators(kformer.from_ctranslate2(archive), found)
    (tmp_path / "en_de" / "metadata.json").write_text(
        json.dumps(facts | {"target_prefix": "__de__"})
    )
    with pytest.raises(ValueError, match=r"start with a given piece.*target_prefix='__de__'"):
        kformer.from_ctranslate2(tmp_path / "en_de")
    pieces = tmp_path / "en_de" / "sentencepiece.model"
    pieces.rename(pieces.with_name("bpe.model"))
    with pytest.raises(ValueError, match=r"split by Moses and BPE.*bpe\.model in"):
        kformer.from_ctranslate2(tmp_path / "en_de")
