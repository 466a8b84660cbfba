"""Parallel text as batches; the reference is plain Python over the SentencePiece library."""

import ast
import gc
import gzip
import random
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import sentencepiece
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from kformer import Tokenizer
from kformer.training import translation_dataset
from kformer.training.batching import bucket_lengths

WORDS = ["ich", "möchte", "ein", "bier", "das", "haus", "ist", "groß", "wir", "gehen", "heute"]
both_orders = pytest.mark.parametrize("shuffle", [False, True], ids=["in order", "shuffled"])


def sentence(length, rng=random):
    return " ".join(rng.choices(WORDS, k=length))


def many_pairs(number, seed=0):
    """Pairs of all lengths from 0 to 9 words; the first word numbers them."""
    rng = random.Random(seed)
    return [
        (f"{i} {sentence(i % 10, rng)}", f"{sentence(i // 7 % 10, rng)} {i}") for i in range(number)
    ]


@pytest.fixture
def write(tmp_path):
    """Writes pairs as two files."""

    def write(pairs, name="text", ending="\n"):
        paths = []
        for language, lines in zip(("de", "en"), zip(*pairs, strict=True), strict=True):
            paths.append(tmp_path / f"{name}.{language}")
            paths[-1].write_bytes("".join(line.strip() + ending for line in lines).encode())
        return paths

    return write


def expected_rows(pairs, tokenizer, max_length, target_tokenizer=None):
    """Counts (source, target) as tuples of ids, each with its end, of all pairs that fit."""
    rows = []
    for pair in pairs:
        row = []
        for text, side in zip(pair, (tokenizer, target_tokenizer or tokenizer), strict=True):
            library = sentencepiece.SentencePieceProcessor(model_proto=side.model)
            row.append((*library.encode(text), side.end_id))
        if all(1 < len(ids) <= max_length for ids in row):
            rows.append(tuple(row))
    return Counter(rows)


def rows_of(batches, tokenizer, target_tokenizer=None):
    """Lists (source, target) as tuples of ids; checks padding and the shift on the way."""
    target_tokenizer = target_tokenizer or tokenizer
    rows = []
    for (source, target_in), target_out in batches:
        assert source.dtype == target_in.dtype == target_out.dtype == tf.int32
        assert target_in.shape == target_out.shape
        for s, t_in, t_out in zip(
            source.numpy(), target_in.numpy(), target_out.numpy(), strict=True
        ):
            s, t_out = unpadded(s, tokenizer), unpadded(t_out, target_tokenizer)
            t_in = unpadded(t_in, target_tokenizer)
            assert t_in == (target_tokenizer.start_id, *t_out[:-1])
            rows.append((s, t_out))
    return rows


def unpadded(row, tokenizer):
    real = row != tokenizer.padding_id
    length = real.sum()
    assert real[:length].all(), "Padding must stand behind."
    return tuple(row[:length].tolist())


@settings(max_examples=8)
@given(
    lengths=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=60),
    max_length=st.integers(8, 40),
    spare=st.integers(0, 200),
    shuffle=st.booleans(),
)
def test_every_pair_that_fits_comes_once_in_an_epoch(
    tmp_path_factory, tokenizer, lengths, max_length, spare, shuffle
):
    pairs = [("bier", "ein bier"), *((sentence(s), sentence(t)) for s, t in lengths)]
    paths = [tmp_path_factory.mktemp("text") / language for language in ("de", "en")]
    for path, lines in zip(paths, zip(*pairs, strict=True), strict=True):
        path.write_text("\n".join(lines) + "\n", "utf-8")
    tokens_per_batch = max_length + spare
    dataset = translation_dataset(
        *paths, tokenizer, tokens_per_batch=tokens_per_batch, max_length=max_length, shuffle=shuffle
    )
    expected = expected_rows(pairs, tokenizer, max_length)
    for _ in range(2):
        batches = list(dataset)
        assert Counter(rows_of(batches, tokenizer)) == expected
        assert len(batches) == dataset.cardinality()
        for (source, _), target in batches:
            assert max(np.size(source), np.size(target)) <= tokens_per_batch
            assert {source.shape[1], target.shape[1]} <= {*bucket_lengths(max_length)}


def test_there_are_few_shapes_and_they_are_well_filled(write, tokenizer):
    dataset = translation_dataset(*write(many_pairs(1500)), tokenizer, tokens_per_batch=512)
    shapes = [(source.shape, target.shape) for (source, _), target in dataset]
    assert len({source[1:] + target[1:] for source, target in shapes}) < 0.7 * len(shapes)
    rows = sorted(max(source[1], target[1]) * source[0] for source, target in shapes)
    assert rows[len(rows) // 10] > 0.8 * 512 and rows[-1] <= 512


def test_all_batches_but_one_hold_as_many_pairs_as_fit(write, tokenizer):
    dataset = translation_dataset(*write(many_pairs(1500)), tokenizer, tokens_per_batch=512)
    sizes = {512 // length for length in bucket_lengths(128)}
    rows = [source.shape[0] for (source, _), _ in dataset]
    assert sum(number not in sizes for number in rows) <= 1


def test_little_is_padding(write, tokenizer):
    """A translation is about as long as its source; batches at random would be padded to half."""
    words = [random.choices(WORDS, k=random.randint(1, 20)) for _ in range(5000)]
    pairs = [(" ".join(line), " ".join(["bier", *line[random.randint(0, 1) :]])) for line in words]
    dataset = translation_dataset(*write(pairs), tokenizer, tokens_per_batch=1024)
    for side in range(2):
        batches = [(source, target)[side].numpy() for (source, _), target in dataset]
        slots, tokens = (sum(map(count, batches)) for count in (np.size, np.count_nonzero))
        assert tokens > 0.9 * slots


def test_the_last_pair_of_a_bucket_is_batched_with_the_next_shorter_ones(write, tokenizer):
    pairs = [(sentence(30), "ein"), *[("bier", "beer")] * 9]
    [(inputs, _)] = translation_dataset(*write(pairs), tokenizer)
    assert inputs[0].shape[0] == 10


@given(st.integers(2, 2000))
def test_buckets_grow_by_an_eighth_up_to_the_greatest_length(max_length):
    lengths = list(bucket_lengths(max_length))
    assert lengths[-1] == max_length
    for shorter, longer in pairwise(lengths):
        assert shorter % 2 == 0
        assert shorter < longer <= shorter + max(2, shorter / 8)


def test_every_epoch_has_its_own_order_and_a_seed_repeats_them(write, tokenizer):
    files = write(many_pairs(200))

    def two_epochs(seed):
        dataset = translation_dataset(*files, tokenizer, tokens_per_batch=256, seed=seed)
        return [rows_of(dataset, tokenizer) for _ in range(2)]

    first, second = two_epochs(seed=5)
    assert first != second and sorted(first) == sorted(second)
    assert two_epochs(seed=5) == [first, second]
    assert two_epochs(seed=6)[0] != first


def test_the_number_of_the_pass_and_the_seed_are_all_that_a_pass_depends_on(write, tokenizer):
    files = write(many_pairs(200))
    epoch = tf.Variable(0, dtype=tf.int64)

    dataset = spelled(*files, tokenizer, seed=5, epoch=epoch)
    other_seed = spelled(*files, tokenizer, seed=6, epoch=epoch)

    def batches(number, dataset=dataset):
        epoch.assign(number)
        return bits(dataset)

    assert batches(7) == batches(7)
    assert len({str(batches(*which)) for which in [(7,), (8,), (2**40,), (7, other_seed)]}) == 4


def spelled(*args, **kwargs):
    rates = {"piece_splitting": 0.1, "byte_spelling": 0.1}
    return translation_dataset(*args, tokens_per_batch=256, **rates, **kwargs)


def bits(batches):
    return [(*map(np.ndarray.tolist, inputs), target.tolist()) for inputs, target in numpy(batches)]


def numpy(batches):
    return tf.data.Dataset.as_numpy_iterator(batches)


def test_another_process_with_another_global_seed_makes_the_same_pass(write, tokenizer, tmp_path):
    files = [*map(str, write(many_pairs(200)))]
    tokenizer.save(tmp_path / "model")
    code = (
        "import sys, tensorflow as tf; from kformer import Tokenizer;"
        "from kformer.training import translation_dataset;"
        "tf.random.set_seed(4); epoch = tf.Variable(3, dtype=tf.int64);"
        "*files, model = sys.argv[1:];"
        "dataset = translation_dataset(*files, Tokenizer.load(model), tokens_per_batch=256,"
        "piece_splitting=0.1, byte_spelling=0.1, epoch=epoch);"
        "print([(*[x.tolist() for x in i], t.tolist()) for i, t in dataset.as_numpy_iterator()])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, *files, str(tmp_path / "model")],
        capture_output=True,
        text=True,
        check=True,
    )
    epoch = tf.Variable(3, dtype=tf.int64)
    assert ast.literal_eval(result.stdout) == bits(spelled(*files, tokenizer, epoch=epoch))


@both_orders
def test_skipping_gives_the_rest_of_the_pass(write, tokenizer, shuffle):
    epoch = tf.Variable(2, dtype=tf.int64)
    dataset = spelled(*write(many_pairs(200)), tokenizer, shuffle=shuffle, epoch=epoch)
    whole, skipped = bits(dataset), 7
    rest = dataset.skip(skipped)
    assert rest.cardinality() == len(whole) - skipped
    assert bits(rest) == whole[skipped:]


def test_every_pass_splits_and_spells_other_pieces_of_the_same_text_in_as_many_batches(
    write, tokenizer
):
    pairs = many_pairs(300)
    dataset = spelled(*write(pairs), tokenizer)
    spellings = []
    for _ in range(3):
        batches = list(dataset)
        assert len(batches) == dataset.cardinality()
        spellings.append(sorted(rows_of(batches, tokenizer)))
        sources, targets = zip(*spellings[-1], strict=True)
        text = zip(in_words(sources, tokenizer), in_words(targets, tokenizer), strict=True)
        assert Counter(text) == Counter((a.strip(), b.strip()) for a, b in pairs)
    assert spellings[0] != spellings[1] != spellings[2]


def in_words(rows, tokenizer):
    texts = tokenizer.detokenize(tf.ragged.constant([*map(list, rows)]))
    return [text.decode() for text in texts.numpy()]


def test_passes_that_count_themselves_are_those_of_numbers_from_zero(write, tokenizer):
    files = write(many_pairs(100))
    epoch = tf.Variable(0, dtype=tf.int64)
    numbered, counting = spelled(*files, tokenizer, epoch=epoch), spelled(*files, tokenizer)
    gc.collect()  # The counter must live as long as the data set.
    for number in range(3):
        epoch.assign(number)
        assert bits(counting) == bits(numbered)


def test_without_shuffling_pairs_of_one_length_keep_their_order(write, tokenizer):
    pairs = [(word, word) for word in WORDS * 3]
    dataset = translation_dataset(*write(pairs), tokenizer, max_length=8, shuffle=False)
    rows = rows_of(dataset, tokenizer)
    expected = [(*ids, 3) for ids in tokenizer.tokenize(WORDS * 3).to_list()]
    for length in {len(row) for row in expected}:
        of_length = [s for s, _ in rows if len(s) == length]
        assert of_length == [row for row in expected if len(row) == length]


def test_several_files_plain_and_compressed_are_one_text(write, tokenizer):
    pairs = many_pairs(90)
    files = [write(pairs[:30], "a"), write(pairs[30:60], "b"), write(pairs[60:], "c")]
    packed = [path.with_suffix(path.suffix + ".gz") for path in files[1]]
    for path, unpacked in zip(packed, files[1], strict=True):
        half = unpacked.read_bytes().index(b"\n") + 1
        members = unpacked.read_bytes()[:half], unpacked.read_bytes()[half:]
        path.write_bytes(b"".join(map(gzip.compress, members)))
    source, target = zip(files[0], packed, files[2], strict=True)
    dataset = translation_dataset(source, map(str, target), tokenizer, shuffle=False)
    assert Counter(rows_of(dataset, tokenizer)) == expected_rows(pairs, tokenizer, 128)


@pytest.mark.parametrize("ending", ["\r\n", "\n"])
@pytest.mark.parametrize("cut", [True, False])
def test_line_ends_of_windows_and_a_last_line_without_one_change_nothing(
    write, tokenizer, ending, cut
):
    pairs = many_pairs(9)
    files = write(pairs, ending=ending)
    if cut:
        files[0].write_bytes(files[0].read_bytes().removesuffix(ending.encode()))
    dataset = translation_dataset(*files, tokenizer)
    assert Counter(rows_of(dataset, tokenizer)) == expected_rows(pairs, tokenizer, 128)


@both_orders
def test_pairs_with_a_blank_side_or_too_long_are_left_out(write, tokenizer, shuffle):
    long = sentence(99)
    pairs = [
        ("", "a"),
        ("ein", "one"),
        ("a", " "),
        ("", ""),
        (long, "a"),
        ("a", long),
        ("zwei", "two"),
    ]
    dataset = translation_dataset(*write(pairs), tokenizer, max_length=31, shuffle=shuffle)
    assert Counter(rows_of(dataset, tokenizer)) == expected_rows(
        [("ein", "one"), ("zwei", "two")], tokenizer, 31
    )


def test_a_sentence_of_just_the_greatest_length_fits(write, tokenizer):
    pairs = [("ein bier", sentence(12))]
    [(source, target)] = expected_rows(pairs, tokenizer, 128)
    length = max(len(source), len(target))
    dataset = translation_dataset(*write(pairs), tokenizer, max_length=length)
    assert rows_of(dataset, tokenizer) == [(source, target)]
    with pytest.raises(ValueError, match=f"No pair is left.* Received: max_length={length - 1}"):
        translation_dataset(*write(pairs), tokenizer, max_length=length - 1)


def test_each_side_may_have_its_own_tokenizer_with_its_own_ids(write, tmp_path, parallel_text):
    source = Tokenizer.train(parallel_text["train.de"], 350)
    sentencepiece.SentencePieceTrainer.train(
        input=str(parallel_text["train.en"]),
        model_prefix=str(tmp_path / "target"),
        **{"vocab_size": 300, "pad_id": 7, "unk_id": 0, "bos_id": 5, "eos_id": 6},
        **{"hard_vocab_limit": False, "minloglevel": 2},
    )
    target = Tokenizer.load(tmp_path / "target.model")
    pairs = many_pairs(50)
    dataset = translation_dataset(*write(pairs), source, target)
    expected = expected_rows(pairs, source, 128, target)
    assert Counter(rows_of(dataset, source, target)) == expected


def test_files_are_read_anew_in_every_epoch_and_not_kept(write, tokenizer):
    pairs = many_pairs(30)
    dataset = translation_dataset(*write(pairs), tokenizer)
    assert Counter(rows_of(dataset, tokenizer)) == expected_rows(pairs, tokenizer, 128)
    pairs = [(source, source) for source, _ in pairs]
    write(pairs)
    rows = rows_of(dataset.take(dataset.cardinality()), tokenizer)
    assert Counter(rows) == expected_rows(pairs, tokenizer, 128)


def test_files_that_do_not_pair_up_are_an_error(write, tokenizer, tmp_path):
    source, target = write(many_pairs(5))
    longer, _ = write(many_pairs(6), "longer")
    with pytest.raises(ValueError, match=r"Received: 6 in '.*longer.de', 5 in '.*text.en'"):
        translation_dataset(longer, target, tokenizer)
    with pytest.raises(FileNotFoundError, match=r"Received: '.*missing'"):
        translation_dataset(source, tmp_path / "missing", tokenizer)


def test_a_batch_must_have_room_for_the_longest_sentence(write, tokenizer):
    with pytest.raises(ValueError, match="Received: tokens_per_batch=127, max_length=128"):
        translation_dataset(*write(many_pairs(5)), tokenizer, tokens_per_batch=127)


def test_a_text_of_blank_lines_is_an_error(write, tokenizer):
    with pytest.raises(ValueError, match=r"No pair is left.* Received: max_length=128"):
        translation_dataset(*write([("", "")] * 3), tokenizer)
