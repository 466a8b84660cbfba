"""The arithmetic of `make bench-decode`, its sentences and its models; CTranslate2 where it is."""

import contextlib
from dataclasses import asdict
from importlib.util import find_spec

import numpy as np
import pytest
import tensorflow as tf

from benchmarks.contender import Contender
from benchmarks.decoding import report, workloads
from benchmarks.decoding.agreement import Agreement
from benchmarks.decoding.contenders import FORMS, MARIAN, Entry, entries, traits
from benchmarks.decoding.process import Settings
from benchmarks.decoding.random_model import random_transformer
from benchmarks.decoding.search import search_of
from benchmarks.decoding.tflite_file import TFLiteFile
from benchmarks.decoding.workloads import END, PADDING, Workload, words_of
from benchmarks.decoding.write_models import (
    check_ids,
    workload_of_text,
    write_marian,
    write_rival,
    write_tflite,
)
from benchmarks.sizes import MODEL_SIZES, STUDENT_SIZES, ModelSize
from kformer import Translator
from kformer.decoding.search_ids import search_ids
from kformer.inference.search_options import EXTRA_LENGTH
from kformer.training import Recipe

SMALL = ModelSize(num_layers=2, d_model=22, d_ff=13, num_heads=11)
VOCAB_SIZE = 97


def rounds_of(*seconds):
    return [{"seconds": time, "peak_bytes": 3 * 2**29} for time in seconds]


def test_every_form_runs_with_every_number_of_threads():
    names = [entry.name for entry in entries(["python", "tflite"], ["float32", "int8"], [1, 3], 0)]
    assert names == [
        "python float32, 1 thread",
        "python float32, 3 threads",
        "tflite float32, 1 thread",
        "tflite float32, 3 threads",
        "tflite int8, 1 thread",
        "tflite int8, 3 threads",
    ]


def test_where_there_are_many_batches_some_translate_several_at_once():
    found = entries(FORMS, ["float32"], [1, 3], several_batches=True)
    assert [entry.name for entry in found if entry.workers > 1] == [
        "tflite float32, 3 x 1 thread",
        "ctranslate2 float32, 3 x 1 thread",
    ]
    assert all(entry.workers == 1 for entry in entries(FORMS, ["float32"], [1], True))


@pytest.mark.parametrize(
    ("model", "absent"),
    [
        ("tiny", set()),
        ("firefox-tiny", {"ctranslate2"}),
        ("student-tiny-ssru", {"ctranslate2", "marian"}),
        ("student-tiny", {"marian"}),
        ("folder/translator.keras", {"marian"}),
    ],
)
def test_a_form_that_cannot_run_a_model_is_left_out(model, absent):
    found = entries(FORMS, ["float32"], [1, 2], False, traits(model))
    assert {entry.form for entry in found} == {*FORMS} - absent
    assert {entry.threads for entry in found if entry.form == MARIAN} <= {1}


@pytest.mark.parametrize("name", sorted({*STUDENT_SIZES} - {"firefox-tiny-attention"}))
def test_the_sizes_of_students_are_those_of_recipes(name):
    recipe = Recipe.named(name)
    for setting, value in asdict(STUDENT_SIZES[name]).items():
        assert getattr(recipe, setting) == value, setting


def test_the_table_says_speed_time_and_memory():
    name = "tflite int8, 1 thread"
    header, line = report.table(
        {name: rounds_of(2, 1, 4)}, loads={name: 0.25}, tokens={name: 6000}, sentences=100
    )
    assert len(header) == len(line) and line.startswith(name)
    assert line[len(name) :].split() == [
        "3,000",
        "1,500",
        "6,000",  # Tokens per second.
        "20.00",  # Milliseconds a sentence.
        "0.25",
        "s",
        "1.50",
        "GiB",
    ]


def test_the_best_number_of_threads_counts_on_both_sides_and_precisions_stay_apart():
    measured = {
        "python float32, 1 thread": rounds_of(3, 6),
        "tflite float32, 1 thread": rounds_of(1, 4),
        "tflite float32, 2 threads": rounds_of(1, 2),
        "ctranslate2 float32, 1 thread": rounds_of(3, 6),
        "ctranslate2 float32, 2 threads": rounds_of(9, 9),
        "tflite int8, 1 thread": rounds_of(2, 2),
        "ctranslate2 int8, 1 thread": rounds_of(1, 1),
    }
    assert report.ratios(measured) == [
        "python float32, 1 thread is 1.00 x ctranslate2 float32, 1 thread; by round 1.00 to 1.00",
        "tflite float32, 2 threads is 3.00 x ctranslate2 float32, 1 thread; by round 3.00 to 3.00",
        "tflite int8, 1 thread is 0.50 x ctranslate2 int8, 1 thread; by round 0.50 to 0.50",
    ]


def test_models_that_take_turns_are_compared_with_each_other_and_the_rivals_of_both():
    measured = {
        "new tflite int8, 1 thread": rounds_of(1, 1),
        "new tflite int8, 2 threads": rounds_of(2, 2),
        "old tflite int8, 1 thread": rounds_of(3, 3),
        "old ctranslate2 int8, 1 thread": rounds_of(2, 2),
    }
    assert report.ratios(measured, ["new", "old"]) == [
        f"new tflite int8, 1 thread is {ratio} x {other}, 1 thread; by round {ratio} to {ratio}"
        for ratio, other in (("2.00", "old ctranslate2 int8"), ("3.00", "old tflite int8"))
    ]


def test_there_is_no_ratio_without_a_rival():
    assert report.ratios({"tflite int8, 1 thread": rounds_of(1)}) == []


def unfair(*contenders):
    agreement = Agreement(show=lambda line: None)
    for name, rows in contenders:
        measured = {"seconds": 1, "ids": rows}
        agreement.check(name, measured)
        assert "ids" not in measured  # A round's report is kept, its translations are not.
    return agreement.unfair


def test_a_tie_may_go_either_way_and_int8_may_round():
    rows = [[i, 5] for i in range(100)]
    tie = [[7, 7], *rows[1:]]
    rounded = [[7, 7]] * 50 + rows[50:]
    assert not unfair(
        ("python float32, 1 thread", rows),
        ("ctranslate2 float32, 1 thread", tie),
        ("ctranslate2 int8, 1 thread", rounded),
    )


def test_other_translations_are_another_race():
    rows = [[i, 5] for i in range(100)]
    other = [[7, 7]] * 3 + rows[3:]
    assert unfair(("python float32, 1 thread", rows), ("ctranslate2 float32, 1 thread", other)) == [
        "NOT FAIR: ctranslate2 float32, 1 thread: 97 of 100 translations equal, 200 tokens for 200"
    ]


def test_more_tokens_are_more_work():
    rows = [[i, 5] for i in range(100)]
    longer = [[7, 7, 7]] * 3 + rows[3:]
    (line,) = unfair(("python float32, 1 thread", rows), ("ctranslate2 int8, 1 thread", longer))
    assert line.endswith("97 of 100 translations equal, 203 tokens for 200")


def test_the_file_has_1000_sentences_of_all_lengths_and_no_padding():
    file = workloads.random_workload("file")
    lengths = [batch.shape[1] for batch in file.batches]
    assert file.sentences == 1000 and file.largest == 32 and file.longest == lengths[0]
    assert lengths == sorted(lengths, reverse=True)
    assert 4 <= min(lengths) < 8 and 36 < max(lengths) <= 40
    for batch in file.batches:
        assert set(batch[:, -1]) == {END} and batch[:, :-1].min() > END


@pytest.mark.parametrize(("case", "shape", "times"), [("one", (1, 24), 16), ("batch", (32, 24), 2)])
def test_the_other_cases_have_one_shape(case, shape, times):
    batches = workloads.random_workload(case).batches
    assert [batch.shape for batch in batches] == [shape] * times
    assert not np.array_equal(batches[0], batches[1])


def test_text_is_sorted_by_length_and_padded():
    rows = [[5] * length + [END] for length in (3, 1, 7)]
    file = workloads.text_workload("file", rows, extra_length=50)
    (batch,) = file.batches
    assert [words_of(row) for row in batch] == [[5] * 7, [5] * 3, [5]]
    assert batch.shape == (3, 8) and file.extra_length == 50
    one = workloads.text_workload("one", rows * 20, extra_length=50)
    assert one.sentences == len(one.batches) == 16


def test_a_workload_comes_back_from_its_file(tmp_path):
    saved = workloads.random_workload("batch")
    workloads.save(tmp_path / "workload", saved)
    loaded = workloads.load(tmp_path / "workload")
    assert loaded.extra_length == saved.extra_length
    for batch, expected in zip(loaded.batches, saved.batches, strict=True):
        np.testing.assert_array_equal(batch, expected, strict=True)


def test_words_are_what_comes_before_end_and_padding():
    assert words_of([7, 5, END, 6]) == words_of([7, 5, PADDING]) == words_of([7, 5]) == [7, 5]
    assert words_of([END, PADDING]) == []


def sentences(batch=3, length=5):
    ids = np.random.randint(END + 1, VOCAB_SIZE, (batch, length)).astype(np.int32)
    ids[:, -1] = END
    return ids


def expected_rows(transformer, batches, beam_size):
    """What Python says of each batch."""
    signature = [tf.TensorSpec((None, None), tf.int32)]
    search = search_of(beam_size)
    translate = tf.function(lambda ids: search_ids(transformer, ids, search), signature)
    return [[words_of(row) for row in translate(batch).ids[:, 0].numpy()] for batch in batches]


@pytest.mark.prove
@pytest.mark.parametrize("beam_size", [1, 4])
def test_a_random_model_never_ends_and_does_not_say_the_same_to_all(beam_size, monkeypatch):
    monkeypatch.setattr("kformer.decoding.search_ids.EXTRA_LENGTH", workloads.STEPS_BEYOND)
    source = workloads.random_workload("batch").batches[0][:5]
    [rows] = expected_rows(random_transformer(MODEL_SIZES["tiny"]), [source], beam_size)
    assert [len(row) for row in rows] == [32] * 5
    assert len(set(map(tuple, rows))) == 5
    assert len({i for row in rows for i in row}) > 7


def test_no_weight_of_a_random_model_could_be_left_out_unseen():
    transformer = random_transformer(SMALL, vocab_size=VOCAB_SIZE)
    for weight in transformer.weights:
        if weight.name != "seed_generator_state":
            assert len(np.unique(weight.numpy())) > 1, weight.path


@pytest.mark.prove
def test_the_tflite_file_says_what_python_says_of_batches_that_are_not_full(tmp_path):
    transformer = random_transformer(SMALL, vocab_size=VOCAB_SIZE)
    workload = Workload([sentences(3, 7), sentences(2, 5)], EXTRA_LENGTH)
    write_tflite(transformer, tmp_path / "t.tflite", "float32", search_of(2), workload)
    expected = expected_rows(transformer, workload.batches, beam_size=2)
    for workers in (1, 2):
        contender = TFLiteFile(Settings(tmp_path / "t.tflite", workload, "float32", 2, 1, workers))
        answers = contender.translate([contender.given(batch) for batch in workload.batches])
        assert [contender.rows(answer) for answer in answers] == expected


@pytest.mark.prove
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("beam_size", [1, 3])
def test_ctranslate2_says_what_kformer_says(tmp_path, norm_first, beam_size):
    pytest.importorskip("ctranslate2", reason="Not installed: ctranslate2.")
    from benchmarks.decoding.ctranslate2_model import CTranslate2Model

    own_target = {"norm_first": norm_first, "target_vocab_size": 89}
    transformer = random_transformer(SMALL, vocab_size=VOCAB_SIZE, **own_target)
    workload = Workload([sentences(3, 7), sentences(2, 5)], EXTRA_LENGTH)
    write_rival(transformer, tmp_path / "model", "float32", search_of(beam_size), workload)
    settings = Settings(tmp_path / "model", workload, "float32", beam_size, threads=1, workers=1)
    contender = CTranslate2Model(settings)
    answers = contender.translate([contender.given(batch) for batch in workload.batches])
    expected = expected_rows(transformer, workload.batches, beam_size)
    assert [contender.rows(answer) for answer in answers] == expected


@pytest.mark.prove
@pytest.mark.parametrize("decoder_cell", ["attention", "ssru"])
@pytest.mark.parametrize("beam_size", [1, 3])
def test_marian_says_what_kformer_says(tmp_path, decoder_cell, beam_size):
    if not find_spec("pymarian"):
        pytest.skip("Not installed: pymarian.")
    transformer = random_transformer(SMALL, vocab_size=VOCAB_SIZE, decoder_cell=decoder_cell)
    workload = Workload([sentences(3, 7), sentences(2, 5)], EXTRA_LENGTH)
    entry, file = Entry(MARIAN, "float32", threads=1, workers=1), tmp_path / "workload.npz"
    write_marian(transformer, entry.model(tmp_path), "float32", search_of(beam_size), workload)
    workloads.save(file, workload)
    command = entry.command(tmp_path, file, beam_size)
    with contextlib.closing(Contender(command, tmp_path / "log")) as contender:
        contender.round()
        rows = contender.round()["ids"]
    expected = expected_rows(transformer, workload.batches, beam_size)
    assert rows == [row for batch in expected for row in batch]
    assert len({*map(tuple, rows)}) > 1


def test_a_text_becomes_the_ids_of_the_trained_models_tokenizer(tmp_path, tokenizer):
    transformer = random_transformer(SMALL, vocab_size=tokenizer.vocab_size)
    translator = Translator(tokenizer, transformer)
    check_ids(translator)
    text = tmp_path / "text"
    text.write_text("der hund\n\n  \ndie katze sieht\n", "utf-8")
    file = workload_of_text(translator, text, "file")
    assert file.sentences == 2 and file.extra_length == EXTRA_LENGTH
    said = {tokenizer.detokenize([words_of(row)]).numpy()[0].decode() for row in file.batches[0]}
    assert said == {"der hund", "die katze sieht"}
    text.write_text("\n \n", "utf-8")
    with pytest.raises(ValueError, match=r"must have sentences to translate. Received: .*text"):
        workload_of_text(translator, text, "file")
