"""Noise: which sentences change, how both sides of a pair change, and the batches of noisy text."""

import itertools
import random
import unicodedata
from collections import Counter

import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from kformer.training.data import noise as noise_module
from kformer.training.data.batching import BatchOptions
from kformer.training.data.noise import Noise, TextNoise
from kformer.training.data.translation_dataset import translation_windows
from kformer.training.recipes.noise_rates import (
    NOISES,
    OF_TAGGED_WORDS,
    ROBUST_RATES,
    noise_rates,
)
from support.processes import printed_by
from support.training.pairs import many_pairs

PAIR = ("Der schöne Hund läuft, Straße 12!", "The nice dog's running, road 12!")
every_kind = pytest.mark.parametrize("name", NOISES)
sentences = st.text(st.sampled_from("aehnßäöüé ÄÉ.!?,'12犬。ж🙂"), max_size=30)


def noisy(name, *pairs, seed=0):
    """Returns the pairs that one kind of noise makes of all pairs."""
    changed = Noise({name: 1.0})(*zip(*pairs, strict=True), seed)
    return [changed.get(i, pair) for i, pair in enumerate(pairs)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("upper", ("DER SCHÖNE HUND LÄUFT, STRASSE 12!", "THE NICE DOG'S RUNNING, ROAD 12!")),
        ("title", ("Der Schöne Hund Läuft, Straße 12!", "The Nice Dog's Running, Road 12!")),
        ("lower", ("der schöne hund läuft, straße 12!", PAIR[1])),
        ("accents", ("Der schone Hund lauft, Strasse 12!", PAIR[1])),
        ("repeat", tuple(f"{side} {side}" for side in PAIR)),
        ("join", tuple(f"{side} {side}" for side in PAIR)),  # With the only other pair.
    ],
)
def test_each_kind_changes_the_sides_that_it_should(name, expected):
    assert noisy(name, PAIR) == [expected]


def test_punctuation_is_dropped_or_said_again_on_both_sides():
    pairs = [(f"Ja{mark}", f"Yes{mark}") for mark in ".!?" for _ in range(40)]
    pairs += [("¿Y tú?", "And you?")] * 40
    assert {*noisy("punctuation", *pairs)} == {
        ("Ja", "Yes"),
        ("Y tú", "And you"),
        ("¿Y tú??", "And you??"),
        *((f"Ja{marks}", f"Yes{marks}") for marks in ("...", "!!", "??")),
    }


@pytest.mark.parametrize("pair", [("Ja", "Yes"), ("!", "!"), ("Abb. 3", "Fig. 3")])
def test_text_without_a_word_before_a_final_mark_keeps_its_punctuation(pair):
    assert all(noisy("punctuation", pair, seed=seed) == [pair] for seed in range(5))


def test_symbols_are_the_same_on_both_sides_and_the_text_between_them_stays():
    for source, target in noisy("symbols", *[PAIR] * 200):
        before, after = source.split(PAIR[0])
        assert f"{before}{PAIR[1]}{after}" == target
        signs = (before + after).strip()
        assert len({*signs}) == 1 and 1 <= len(signs) <= 3
        assert unicodedata.normalize("NFKC", signs) == signs  # Else the tokenizer changes them.
        assert not signs.isalnum()


def test_a_typo_is_a_neighbour_a_swap_or_a_letter_left_out():
    word, found = "Straßen", Counter()
    for source, target in noisy("typos", *[(f"12 {word} ab", "x")] * 400):
        mistyped = source.removeprefix("12 ").removesuffix(" ab")
        assert (target, mistyped[0]) == ("x", word[0])
        assert mistyped != word
        if sorted(mistyped) == sorted(word):
            found["swap"] += 1
            assert sum(a != b for a, b in zip(mistyped, word, strict=True)) == 2
        elif len(mistyped) == len(word):
            found["neighbour"] += 1
            [i] = [i for i in range(len(word)) if mistyped[i] != word[i]]
            assert mistyped[i] in noise_module._NEIGHBOURS[word[i]]
        else:
            found["left out"] += 1
            assert mistyped in [word[:i] + word[i + 1 :] for i in range(len(word))]
    assert min(found.values()) > 60 and len(found) == 3


def test_keys_next_to_each_other_are_neighbours_of_each_other():
    near = noise_module._NEIGHBOURS
    assert {*"tyfhvb"} <= {*near["g"]} and not {*"gaqpm"} & {*near["g"]}
    assert all(letter in near[other] for letter in near for other in near[letter])


def test_one_in_ten_words_has_a_typo_and_one_at_least():
    words = " ".join(["Fahrräder"] * 20)
    wrong = [
        sum(word != "Fahrräder" for word in source.split())
        for source, _ in noisy("typos", *[(words, "x")] * 200)
    ]
    assert min(wrong) == 1
    assert 1.7 < sum(wrong) / len(wrong) < 2.5


def test_japanese_has_neither_typos_nor_spaces_between_sentences():
    pair = ("犬が走る。", "A dog runs.")
    assert noisy("typos", pair) == [pair]
    assert noisy("accents", ("がっこう", "x")) == [("がっこう", "x")]
    assert noisy("repeat", pair) == [("犬が走る。犬が走る。", "A dog runs. A dog runs.")]


def test_long_sentences_are_neither_joined_nor_repeated():
    pairs = [("kurz", "short"), ("lang " * 20, "long")]
    assert noisy("repeat", *pairs) == [("kurz kurz", "short short"), pairs[1]]
    assert noisy("join", *pairs) == [("kurz kurz", "short short"), pairs[1]]


@given(groups=st.lists(st.integers(0, 3), min_size=1, max_size=20), seed=st.integers(0, 9))
def test_pairs_of_two_groups_are_never_joined(groups, seed):
    pairs = [(f"x{i}", f"y{i}") for i in range(len(groups))]
    changed = Noise({"join": 1.0})(*zip(*pairs, strict=True), seed, groups)
    assert len(changed) == len(pairs)
    for i, (source, target) in changed.items():
        first, second = (int(text[1:]) for text in source.split())
        assert (first, target) == (i, f"y{i} y{second}")
        assert groups[first] == groups[second]


def test_without_groups_as_many_pairs_are_joined_as_within_one():
    texts = [f"x{i}" for i in range(99)], [f"y{i}" for i in range(99)]
    noise = Noise({"join": 0.5})
    assert noise(*texts, 3) == noise(*texts, 3, [7] * 99)


@every_kind
@given(pair=st.tuples(sentences, sentences), seed=st.integers(0, 9))
def test_text_stays_text(name, pair, seed):
    [changed] = noisy(name, pair, seed=seed)
    for side, usual in zip(changed, pair, strict=True):
        assert bool(side.strip()) == bool(usual.strip()) or changed == pair


@every_kind
def test_a_rate_is_the_share_of_the_sentences_and_the_seed_chooses_them(name):
    texts = [f"Der schöne Hund {i} läuft." for i in range(2000)], ["A dog runs."] * 2000
    noise = Noise({name: 0.1})
    changed = noise(*texts, seed=3)
    assert 150 < len(changed) < 250
    assert noise(*texts, seed=3) == changed
    assert {*noise(*texts, seed=4)} != {*changed}


def test_kinds_meet_in_the_same_sentence():
    changed = Noise({"lower": 1.0, "repeat": 1.0, "accents": 1.0})(["Schön!"], ["Nice!"], 0)
    assert changed == {0: ("schon! schon!", "Nice! Nice!")}


def test_words_of_tagged_text_keep_their_number_and_their_labels():
    texts = ["Der schöne Hund , Straße 12 ."] * 300
    noise = TextNoise(dict.fromkeys(OF_TAGGED_WORDS, 0.5))
    changed = noise(texts, ["O O B-x O O O O"] * 300, 0)
    assert len({text for text, _ in changed.values()}) > 50
    for text, labels in changed.values():
        assert labels == "O O B-x O O O O"
        assert len(text.split(" ")) == 7 and all(text.split(" "))


def test_the_form_of_rates():
    assert noise_rates("none") == {}
    assert noise_rates(" typos = 0.1, upper=.05,lower=0") == {"upper": 0.05, "typos": 0.1}
    assert noise_rates("robust") == ROBUST_RATES
    assert noise_rates("robust,upper=0.5,join=0")["upper"] == 0.5
    assert "join" not in noise_rates("robust,join=0")
    assert [*noise_rates("robust", OF_TAGGED_WORDS)] == OF_TAGGED_WORDS


@pytest.mark.parametrize(
    "text",
    ["shout=0.1", "upper", "upper=x", "upper=2", "upper=-1", "upper=nan", "upper=.1,upper=.2", ""],
)
def test_other_forms_are_an_error_that_shows_the_text(text):
    with pytest.raises(ValueError, match=rf"noise.*Received: noise='{text}'"):
        noise_rates(text)


def test_words_that_are_tagged_cannot_be_joined():
    with pytest.raises(ValueError, match=r"among lower, .*Received: noise='join=0.1'"):
        noise_rates("join=0.1", OF_TAGGED_WORDS)


# Batches of noisy text.


def window_of(pairs, write, tokenizer, number=0, **options):
    """Returns the pairs of texts of the only window of a pass, and the ids of its batches."""
    files = [[str(file)] for file in write(pairs)]
    return texts_of(*files, tokenizer, None, number, **options)


def texts_of(source, target, tokenizer, directions, number=0, **options):
    options = BatchOptions(**{"tokens_per_batch": 256, "max_length": 128, **options})
    windows = translation_windows(source, target, (tokenizer, tokenizer), options, directions)
    [window] = windows.mixture.eager_windows()
    seed = tf.constant([0, number], tf.int64)
    *rows, order, limits, _, _ = windows._window(*window, seed)
    texts = (tokenizer.detokenize(tf.gather(side, order)[:, :-1]).numpy() for side in rows)
    texts = [*zip(*([text.decode() for text in side] for side in texts), strict=True)]
    ids = tf.maximum(*(tf.gather(side.row_lengths(), order) for side in rows)).numpy()
    return texts, [ids[start:end] for start, end in itertools.pairwise(limits.numpy())]


def test_both_sides_of_random_pairs_become_noisy_together(write, tokenizer):
    pairs = many_pairs(200)
    plain, batches = window_of(pairs, write, tokenizer)
    usual = {*plain}
    capitals = {(source.upper(), target.upper()) for source, target in usual} - usual
    passes = [window_of(pairs, write, tokenizer, n, noise="upper=0.3") for n in (0, 1, 0)]
    for texts, noisy_batches in passes:
        assert len(noisy_batches) == len(batches)
        assert len(texts) == len(plain) and {*texts} <= usual | capitals
        assert 0.2 < len({*texts} & capitals) / len(texts) < 0.4
    (first, _), (second, _), (again, _) = passes
    assert again == first and {*first} != {*second}


@pytest.mark.parametrize("named", [True, False])
def test_no_pair_is_joined_with_one_of_another_direction(write, tokenizer, named):
    pairs = [(f"das haus {i}", f"a house {i}") for i in range(150)]
    german, english = map(str, write(pairs))
    directions = [("de-en", None), ("en-de", None)] if named else None
    texts, _ = texts_of(
        [german, english], [english, german], tokenizer, directions, noise="join=0.5"
    )
    words = [{*source.split()} & {"haus", "house"} for source, _ in texts]
    joined = [len(source.split()) == 6 for source, _ in texts]
    mixed = sum(len(both) == 2 for both in words)
    assert 100 < sum(joined) < 200
    assert mixed == 0 if named else 30 < mixed < 100


def test_batches_have_about_as_many_ids_where_noise_makes_some_rows_longer(write, tokenizer):
    pairs = [(f"{i} das haus ist groß", f"{i} ein haus") for i in range(400)]
    _, plain = window_of(pairs, write, tokenizer)
    _, batches = window_of(pairs, write, tokenizer, noise="repeat=0.2,upper=0.2")
    assert len(batches) == len(plain)
    longest = max(map(max, batches))
    mean = sum(map(sum, batches)) / len(batches)
    assert len(plain[0]) * longest > 2 * mean  # With as many rows as usual.
    assert max(ids.max() * len(ids) for ids in batches) < 1.3 * mean


@pytest.mark.parametrize("fixed", [False, True])
def test_a_noisy_pair_that_does_not_fit_stays_as_it_was(write, tokenizer, fixed):
    pairs = many_pairs(200)
    options = {"max_length": 24, "fixed_shapes": fixed}
    plain, batches = window_of(pairs, write, tokenizer, **options)
    texts, noisy_batches = window_of(pairs, write, tokenizer, noise="upper=1", **options)
    capitals = {(source.upper(), target.upper()) for source, target in plain}
    assert len(texts) == len(plain) and {*texts} <= {*plain} | capitals
    assert {*texts} & {*plain} - capitals and {*texts} & capitals - {*plain}
    assert max(map(max, noisy_batches)) <= 24
    if fixed:
        assert [*map(len, noisy_batches)] == [*map(len, batches)]


@pytest.mark.prove
def test_a_process_ends_while_a_window_is_made_noisy(write, tokenizer, tmp_path):
    """Python code runs in threads of `tf.data` there."""
    tokenizer.save(tmp_path / "model")
    code = (
        "import sys; from kformer import Tokenizer;"
        "from kformer.training import translation_dataset;"
        "*files, model = sys.argv[1:];"
        "dataset = translation_dataset(*files, Tokenizer.load(model), tokens_per_batch=4096,"
        "max_length=64, weights=[6], noise='robust');"
        "print(len(next(iter(dataset))))"
    )
    files = map(str, write(many_pairs(20_000)))
    assert printed_by("-c", code, *files, tmp_path / "model").strip() == "2"


def test_a_random_generator_is_not_shared_with_others():
    state = random.getstate()
    noisy("symbols", PAIR)
    assert random.getstate() == state
