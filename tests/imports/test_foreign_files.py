"""Files that are no model are named for what they are."""

import json

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


@pytest.mark.parametrize("read", [kformer.from_marian, kformer.from_ctranslate2])
@pytest.mark.parametrize("name", ["opus-2020-01-16.zip", "translate-en_de.argosmodel"])
def test_an_archive_must_be_unpacked(read, name, tmp_path):
    (tmp_path / name).write_bytes(b"PK\3\4")
    with pytest.raises(NotADirectoryError, match=f"`unzip {name} -d FOLDER`"):
        read(tmp_path / name)


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
    (tmp_path / "en_de").mkdir()
    model = ctranslate2.write_folder(original, tmp_path / "en_de" / "model")
    (model / "source.spm").rename(tmp_path / "en_de" / "sentencepiece.model")
    (model / "target.spm").unlink()
    facts = {"from_code": "en", "to_code": "de", "package_version": "1.9"}
    (tmp_path / "en_de" / "metadata.json").write_text(json.dumps(facts))
    found = kformer.from_ctranslate2(tmp_path / "en_de")
    assert found.about == {"source_language": "en", "target_language": "de"}
    rows = found.source_rows(["der hund schläft ."])
    assert rows == original.source_rows(["der hund schläft ."])
