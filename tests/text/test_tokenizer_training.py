"""A tokenizer is learnt from text files, and is a SentencePiece model file."""

import gzip
import random
import re

import pytest
import sentencepiece

from kformer import Tokenizer

TEXT = """\
Grüße aus Köln: 3,50 € für ein Bier!
Γειά σου Κόσμε, привет мир
今日は、世界。 안녕하세요 세계
"""


def test_training_twice_gives_the_same_model(tokenizer, parallel_text):
    files = [parallel_text["train.de"], parallel_text["train.en"]]
    assert Tokenizer.train(files, vocab_size=400).model == tokenizer.model


def test_compressed_files_and_windows_lines_give_the_same_model(tmp_path):
    lines = [" ".join(random.Random(i).sample(TEXT.split(), 5)) for i in range(50)]
    plain, windows, packed = (tmp_path / name for name in ("a.txt", "b.txt", "c.gz"))
    plain.write_bytes("\n".join(lines).encode())
    windows.write_bytes("\r\n".join(lines).encode() + b"\r\n")
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    models = [Tokenizer.train(path, 320).model for path in (plain, windows, [packed], str(plain))]
    assert models == models[:1] * 4


@pytest.mark.parametrize(("size", "limit", "beyond"), [(8000, "most", 1), (77, "least", -1)])
def test_a_vocabulary_too_large_or_small_is_an_error_that_says_what_fits(
    written, size, limit, beyond
):
    text = written("small.txt", TEXT)
    with pytest.raises(ValueError, match=f"Received: vocab_size={size}") as error:
        Tokenizer.train(text, size)
    fits = int(re.search(rf"at {limit} (\d+),", str(error.value))[1])
    assert Tokenizer.train(text, fits).vocab_size == fits
    with pytest.raises(ValueError, match=rf"at {limit} {fits},.*: vocab_size={fits + beyond}\b"):
        Tokenizer.train(text, fits + beyond)


@pytest.mark.parametrize("content", ["", "\n \n\t\n"], ids=["empty", "blank"])
def test_text_is_needed_to_train(tmp_path, content):
    (tmp_path / "none.txt").write_text(content)
    with pytest.raises(ValueError, match=r"the files hold none.* Received: vocab_size=300"):
        Tokenizer.train(tmp_path / "none.txt", 300)


def test_any_other_fault_of_training_is_told_in_the_words_of_the_library(tmp_path, monkeypatch):
    def fail(**_):
        raise RuntimeError("Some new trouble.")

    (tmp_path / "text").write_text("ein bier\n")
    monkeypatch.setattr(sentencepiece.SentencePieceTrainer, "train", fail)
    with pytest.raises(ValueError, match=r"Some new trouble\. Received: vocab_size=300"):
        Tokenizer.train(tmp_path / "text", 300)


def test_a_number_of_ids_is_positive(tmp_path):
    with pytest.raises(ValueError, match=r"at least 1\. Received: vocab_size=-1"):
        Tokenizer.train(tmp_path / "none.txt", -1)


def test_a_file_that_is_not_utf8_is_an_error_that_says_the_line(tmp_path):
    (tmp_path / "latin").write_bytes("eins\nzwei\nfünf\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"must be UTF-8. Received: '.*latin', where line 3"):
        Tokenizer.train(tmp_path / "latin", 300)


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        Tokenizer.train([tmp_path / "missing"], 300)
    with pytest.raises(FileNotFoundError, match="missing"):
        Tokenizer.load(tmp_path / "missing")


def test_a_saved_model_is_that_of_the_library_and_loads_again(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "sentencepiece.model")
    library = sentencepiece.SentencePieceProcessor(str(tmp_path / "sentencepiece.model"))
    loaded = Tokenizer.load(tmp_path / "sentencepiece.model")
    assert loaded.model == tokenizer.model
    assert loaded.tokenize([TEXT]).to_list() == [library.encode(TEXT)]


@pytest.mark.parametrize("content", [b"", b"junk", bytes(10)])
def test_what_is_no_sentencepiece_model_is_an_error(tmp_path, content):
    (tmp_path / "no.model").write_bytes(content)
    message = f"Received: {len(content)} bytes that are none. Received: path='.*no.model'"
    with pytest.raises(ValueError, match=message):
        Tokenizer.load(tmp_path / "no.model")


def test_a_model_without_a_padding_id_is_an_error(tmp_path, parallel_text):
    path = tmp_path / "default"
    sentencepiece.SentencePieceTrainer.train(
        input=str(parallel_text["train.de"]), model_prefix=str(path), vocab_size=200, minloglevel=2
    )
    with pytest.raises(ValueError, match=r"Received: {'padding': -1, 'unknown': 0, 'start': 1"):
        Tokenizer.load(f"{path}.model")
