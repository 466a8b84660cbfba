"""The report of `check_corpus`; the reference is plain Python over SentencePiece."""

import random
from itertools import islice

import pytest
import sentencepiece

from kformer import Tokenizer
from kformer.text import vocabulary
from kformer.training import check_corpus, translation_dataset
from support.phrasebook import sample

PAIRS = [*dict(pair for pair, _ in islice(sample(random.Random(1)), 220)).items()][:200]


def test_the_counts_are_those_of_the_library(write, tokenizer):
    pairs = [*PAIRS, ("ein 🙂 bier", "a beer"), ("", "blank")]
    report = check_corpus(*write(pairs), tokenizer)
    library = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model)
    for side, texts in zip((report.source, report.target), zip(*pairs, strict=True), strict=True):
        rows = [library.encode(text) for text in texts]
        assert side.pieces == sum(map(len, rows))
        assert side.words == sum(len(text.split()) for text in texts)
        assert side.characters == sum(len("".join(text.split())) for text in texts)
        assert side.unknown == sum(library.is_unknown(i) for row in rows for i in row)
        assert side.byte_pieces == sum(library.is_byte(i) for row in rows for i in row)
        assert side.longest == max(map(len, rows)) + 1
        file, line = side.longest_at.split(", line ")
        assert len(rows[int(line) - 1]) + 1 == side.longest and file.endswith((".de", ".en"))
    assert report.source.byte_pieces >= 4
    assert report.pairs == len(pairs) and report.dropped.blank == 1


@pytest.mark.prove
def test_batches_and_tokens_are_those_of_a_pass(write, tokenizer):
    files, sizes = write(PAIRS), {"tokens_per_batch": 200, "max_length": 30}
    report = check_corpus(*files, tokenizer, **sizes)
    dataset = translation_dataset(*files, tokenizer, **sizes)
    assert report.batches == dataset.cardinality()
    tokens = [0, 0]
    for (source, _), target in dataset:
        tokens = [
            tokens[0] + int((source != 0).numpy().sum()),
            tokens[1] + int((target != 0).numpy().sum()),
        ]
    assert [report.source_tokens, report.target_tokens] == tokens


@pytest.mark.prove
def test_several_corpora_are_counted_together_and_weighed_in_a_pass(write, tokenizer):
    corpora = [write(PAIRS[:150], "a"), write(PAIRS[100:], "b")]
    alone = [check_corpus(*files, tokenizer) for files in corpora]
    report = check_corpus(*zip(*corpora, strict=True), tokenizer, weights=[2, 1])
    assert report.pairs == 250
    assert report.source.pieces == sum(one.source.pieces for one in alone)
    assert report.duplicates >= 50
    assert report.target_tokens == 2 * alone[0].target_tokens + alone[1].target_tokens
    longest = max(alone, key=lambda one: one.target.longest)
    assert report.target.longest_at == longest.target.longest_at


def test_a_sound_corpus_gets_no_warning(write, tokenizer):
    files, valid = write(PAIRS[20:]), write(PAIRS[:20], "valid")
    report = check_corpus(*files, tokenizer, valid_source=valid[0], valid_target=valid[1])
    assert report.warnings() == []
    assert report.duplicates == report.identical == report.validation.seen == 0
    assert str(report).count("\n") == len(report.lines()) - 1 == 5


def one_warning(*args, **kwargs):
    [warning] = check_corpus(*args, **kwargs).warnings()
    return warning


def test_validation_text_needs_its_translation(write, tokenizer):
    files = write(PAIRS)
    with pytest.raises(ValueError, match="Received: 1 source and 0 target files"):
        check_corpus(*files, tokenizer, valid_source=files[0])


@pytest.mark.prove
def test_swapped_validation_files_are_noticed(write, tokenizer):
    files, valid = write(PAIRS[20:]), write(PAIRS[:20], "valid")
    warning = one_warning(*files, tokenizer, valid_source=valid[1], valid_target=valid[0])
    assert "look swapped" in warning and "Exchange --valid-source and --valid-target" in warning


@pytest.mark.prove
def test_validation_pairs_from_the_training_text_are_noticed(write, tokenizer):
    files, valid = write(PAIRS[10:]), write(PAIRS[:20], "valid")
    warning = one_warning(*files, tokenizer, valid_source=valid[0], valid_target=valid[1])
    assert "50 % of the validation pairs are training pairs" in warning


@pytest.mark.prove
@pytest.mark.parametrize(("copied", "warned"), [(60, False), (70, True), (200, True)])
def test_more_than_a_third_of_copies_are_noticed(write, tokenizer, copied, warned):
    pairs = [(f"{i} {source}", f"{i} {target}") for i, (source, target) in enumerate(PAIRS)]
    pairs = [(target, target) for _, target in pairs[:copied]] + pairs[copied:]
    report = check_corpus(*write(pairs), tokenizer)
    assert report.identical == copied
    assert any("the same text on both sides" in text for text in report.warnings()) == warned


@pytest.mark.prove
def test_duplicates_are_the_pairs_that_repeat_an_earlier_one(write, tokenizer):
    files = write([*PAIRS, *random.choices(PAIRS, k=60)])
    assert check_corpus(*files, tokenizer).duplicates == 60
    assert "repeat an earlier pair" in one_warning(*files, tokenizer)


@pytest.mark.prove
@pytest.mark.parametrize(
    ("pair", "options", "warning"),
    [
        (("ein " * 40, "a " * 40), {"max_length": 30}, "too long: raise --max-length"),
        (("ein", "a " * 20), {"max_length_ratio": 2.0}, "unlike in length"),
        (("🙂🙃", "a"), {}, "of the source's pieces spell single bytes of characters that the"),
        (
            ("🙂🙃", "a"),
            {"vocabulary": "given"},
            "lacks: learn one from this text (--new-vocabulary",
        ),
        (("ein", "qqxxyyzzqqxxyyzzqq" * 3), {}, "A word of the target takes 5."),
        (("ein", "qqxxyyzzqqxxyyzzqq" * 3), {}, "pieces: raise --vocab-size"),
        (("ein", "qxy" * 18), {"vocabulary": "given"}, "pieces: learn one from this text"),
    ],
)
def test_each_problem_gets_a_warning_with_advice(write, tokenizer, pair, options, warning):
    more = [(f"{i} {pair[0]}", f"{i} {pair[1]}") for i in range(len(PAIRS) // 2)]
    files = write([*PAIRS, *more])
    assert warning in " ".join(check_corpus(*files, tokenizer, **options).warnings())


CAPTIONS = [f"男孩{i}在公园里踢足球，女孩在旁边看书。" for i in range(40)]
CODE = [f"x[{i}] = f(y[{i}], z->next{i % 7}) + (a << {i % 5});" for i in range(40)]
NUMBERS = [str(random.Random(i).randrange(10**12)) for i in range(40)]
WORDS = list(dict.fromkeys(word for pair in PAIRS for text in pair for word in text.split()))[:40]
LINES = [source for source, _ in PAIRS][:20]


@pytest.mark.prove
@pytest.mark.parametrize("texts", [CAPTIONS, CODE, NUMBERS, WORDS, LINES])
def test_a_text_that_supports_no_more_ids_gets_no_advice_to_use_more(write, texts):
    files = write([(text, text[::-1]) for text in texts])
    learned = Tokenizer(vocabulary.learn(files, 8000, at_most=True))
    report = check_corpus(*files, learned, vocabulary="all")
    assert report.source.pieces > 0 and report.warnings() == []


@pytest.mark.prove
def test_text_without_spaces_is_measured_in_pieces_per_character(write):
    texts = [*["日本の首都は東京です。", "猫が好き。", "これはGPTの本だ"] * 20, "本 😀"]
    files = write([(text, "the " * i + "end") for i, text in enumerate(texts)])
    tokenizer = Tokenizer(vocabulary.learn(files, 285, 0.99))
    report = check_corpus(*files, tokenizer, max_length=999)
    library = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model)
    pieces = sum(len(library.encode(text)) for text in texts)
    characters = sum(len(text.replace(" ", "")) for text in texts)
    assert report.source.byte_pieces > 4  # The emoji and others.
    assert str(report.source).startswith(f"{pieces / characters:.2f} pieces per character, ")
    assert " pieces per word, " in str(report.target)


@pytest.mark.prove
@pytest.mark.parametrize("texts", [CAPTIONS, NUMBERS])
def test_text_without_spaces_gets_no_warning_about_pieces_per_word(write, texts):
    files = write([(text, text[::-1]) for text in texts])
    report = check_corpus(*files, Tokenizer(vocabulary.learn(files, 288)))
    assert report.source.pieces > 4 * report.source.words
    assert report.warnings() == []


@pytest.mark.prove
def test_a_vocabulary_that_spells_the_text_in_bytes_gets_a_warning(write, tokenizer):
    files = write([(text, text[::-1]) for text in CAPTIONS])
    report = check_corpus(*files, tokenizer, max_length=40, vocabulary="given")
    warnings = " ".join(report.warnings())
    assert report.dropped.too_long == len(CAPTIONS)
    assert "--max-length" not in warnings and "--vocab-size" not in warnings
    assert "100 % of the pairs are too long, spelled in bytes as they are." in warnings
    assert "learn one from this text (--new-vocabulary with --warm-start" in warnings
