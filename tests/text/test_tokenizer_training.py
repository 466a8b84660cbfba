"""A tokenizer is learnt from text files, and is a SentencePiece model file."""

import gzip
import random
import re

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from kformer import Tokenizer
from kformer.text import vocabulary

TEXT = """\
Grüße aus Köln: 3,50 € für ein Bier!
Γειά σου Κόσμε, привет мир
今日は、世界。 안녕하세요 세계
"""


def test_training_twice_gives_the_same_model(tokenizer, parallel_text):
    files = [parallel_text["train.de"], parallel_text["train.en"]]
    assert Tokenizer.train(files, vocab_size=400).model == tokenizer.model


def test_texts_in_python_give_the_same_model(parallel_text, tokenizer):
    files = [parallel_text["train.de"], parallel_text["train.en"]]
    texts = [line for file in files for line in file.read_text("utf-8").splitlines()]
    assert Tokenizer.train(texts=texts, vocab_size=400).model == tokenizer.model


def test_sentences_in_place_of_files_are_told_where_they_go():
    message = r"no such file; sentences themselves .* `texts`\. Received: 'Ein Hund läuft\.'\.$"
    with pytest.raises(FileNotFoundError, match=message):
        Tokenizer.train(["Ein Hund läuft.", "Ein Bier."])
    with pytest.raises(TypeError, match="Received: files='a', texts="):
        Tokenizer.train("a", texts=["a"])


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


RARE = "龘靐齉籲"  # Each once, in a text of thousands of characters.


def text_with_rare_characters(folder):
    path = folder / "rare.txt"
    lines = [f"{'ab'[i % 2]}{chr(0x4E00 + i % 20)}{chr(0x4E14 + i % 31)} " * 9 for i in range(400)]
    path.write_text("\n".join([*lines, *RARE]) + "\n", "utf-8")
    return path


def test_ids_that_are_left_go_to_the_rarest_characters(tmp_path):
    path = text_with_rare_characters(tmp_path)
    free = Tokenizer(vocabulary.learn(path, 8000, at_most=True))
    tight = Tokenizer.train(path, 330)
    assert {*RARE} <= {*free.pieces(range(free.vocab_size))}
    assert not {*RARE} & {*tight.pieces(range(tight.vocab_size))}
    exact = Tokenizer.train(path, free.vocab_size)  # What `at_most` found is what can be asked for.
    assert {*RARE} <= {*exact.pieces(range(exact.vocab_size))}
    with pytest.raises(ValueError, match=f"at most {free.vocab_size}, "):
        Tokenizer.train(path, free.vocab_size + 1)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_as_many_characters_more_get_pieces_as_ids_are_left(tmp_path, count):
    path = text_with_rare_characters(tmp_path)
    normalized = [line.strip() for line in path.read_text("utf-8").splitlines()]
    coverage = vocabulary._with_more_characters(normalized, 0.9995, count)
    size = Tokenizer(vocabulary.learn(path, 330, character_coverage=0.9995)).vocab_size
    wider = Tokenizer(vocabulary.learn(path, size, character_coverage=coverage))
    assert len({*RARE} & {*wider.pieces(range(size))}) == count
    assert vocabulary._with_more_characters(normalized, 0.9995, 4) == 1


@pytest.mark.parametrize("separator", ["", " "])
def test_lines_of_any_length_count(tmp_path, separator):
    words = [f"wort{chr(0x3B1 + i % 20)}{i % 7}" for i in range(4000)]
    path = tmp_path / "long.txt"
    path.write_text(separator.join(words), "utf-8")
    assert path.stat().st_size > 6 * vocabulary.LONGEST_LINE
    tokenizer = Tokenizer.train(path, 292, 1.0)
    assert {chr(0x3B1 + i) for i in range(20)} <= {*"".join(tokenizer.pieces(range(292)))}
    short = tmp_path / "short.txt"
    short.write_text("\n".join(words), "utf-8")
    if separator:  # Words are what counts, wherever a line is split.
        assert Tokenizer.train(short, 292, 1.0).model == tokenizer.model


@given(st.lists(st.text("aß日😀", min_size=1, max_size=900), max_size=12))
def test_the_parts_of_a_line_are_the_line(words):
    line = " ".join(words)
    parts = [*vocabulary._parts(line)]
    assert all(len(part.encode()) <= vocabulary.LONGEST_LINE for part in parts)
    assert "".join(parts).replace(" ", "") == line.replace(" ", "")
    assert " ".join(parts).split() == line.split()  # No word has 1,048 characters.
