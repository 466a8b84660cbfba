"""Text in, text out: order, batches, limits.

The Transformer has half learnt to repeat its source: it rambles, and ends at various lengths.
"""

import random
import warnings

import keras
import numpy as np
import pytest
import sentencepiece
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from kformer import SearchOptions, Tokenizer, Transformer, Translator
from kformer.decoding.batch_decoder import Hypothesis
from kformer.decoding.search_ids import search_ids, search_of_options
from kformer.inference.search_options import EXTRA_LENGTH
from kformer.threads import batches_by_length
from kformer.training import MaskedCrossEntropy, translation_dataset
from support.reference import perturbed

START, END = 2, 3
TIE = 1e-3  # Two runs may part where the two best log-probabilities lie so close.
beams = pytest.mark.parametrize("beam_size", [1, 3], ids=["greedy", "beam"])


class Echo(Translator):
    """Answers with the source."""

    def __init__(self, *parts):
        super().__init__(*parts)
        self._decode = lambda rows, *_: [[Hypothesis(row, 0.0, True)] for row in rows]


class Ids(Tokenizer):
    """Gives ids as they are instead of text: "5 7 3"."""

    def detokenize(self, ids):
        return tf.strings.reduce_join(tf.strings.as_string(ids.to_tensor()), 1, separator=" ")


@pytest.fixture(scope="module")
def transformer(tokenizer, parallel_text):
    keras.utils.set_random_seed(1)
    transformer = Transformer(400, 1, 32, 2, 48, dropout=0, norm_first=True)
    transformer.compile(keras.optimizers.Adam(5e-3), MaskedCrossEntropy(0.0))
    files = parallel_text["train.de"], parallel_text["train.de"]
    batches = translation_dataset(*files, tokenizer, tokens_per_batch=256)
    transformer.fit(batches, epochs=8, shuffle=False, verbose=0)
    return transformer


@pytest.fixture(scope="module")
def translator(tokenizer, transformer):
    return Translator(tokenizer, transformer)


@pytest.fixture(scope="module")
def ids_translator(tokenizer, transformer):
    """`translate` gives ids: "5 7 3"."""
    return Translator(tokenizer, transformer, Ids(tokenizer.model))


@pytest.fixture(scope="module")
def sentences(parallel_text):
    return parallel_text["valid.de"].read_text("utf-8").splitlines()[:16]


def ids_of(answer):
    return [int(i) for i in answer.split() if i != "0"]


def log_probabilities(transformer, source, ids):
    """float64 (T, V): what the Transformer says at each of `ids`, given those before."""
    logits = transformer((np.array([source]), np.array([[START, *ids[:-1]]])))[0]
    return tf.nn.log_softmax(tf.cast(logits, "float64"), axis=-1).numpy()


def assert_same_but_for_ties(transformer, source, one, other, beam_size):
    if one == other:
        return
    if beam_size > 1:  # Whole sequences compete.
        scores = []
        for ids in (one, other):
            chosen = log_probabilities(transformer, source, ids)[np.arange(len(ids)), ids]
            scores.append(chosen.sum() / ((5 + len(ids)) / 6) ** 0.6)
        assert abs(scores[0] - scores[1]) < TIE
        return
    part = next(i for i in range(len(one)) if one[i : i + 1] != other[i : i + 1])
    votes = log_probabilities(transformer, source, one[: part + 1])[part]
    best = np.argsort(votes)[:-3:-1]
    assert set(best) == {one[part], other[part]}
    assert abs(votes[best[0]] - votes[best[1]]) < TIE


@given(st.lists(st.text(max_size=9), max_size=40), st.integers(1, 50))
def test_answers_come_in_the_order_of_the_texts(tokenizer, transformer, texts, batch_size):
    library = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model)
    echo = Echo(tokenizer, transformer)
    # U+0000 is dropped at the end of a text, and everywhere in a translation.
    rows = library.encode([text.rstrip("\0") for text in texts])
    expected = [library.decode(ids).replace("\0", "") for ids in rows]
    assert echo.translate(texts, batch_size=batch_size) == expected


@given(st.lists(st.integers(0, 9)), st.integers(1, 12))
def test_batches_hold_every_row_once_the_longest_first(lengths, batch_size):
    batches = list(batches_by_length(lengths, batch_size))
    rows = [row for batch in batches for row in batch]
    assert sorted(rows) == list(range(len(lengths)))
    assert all(len(batch) == batch_size for batch in batches[:-1])
    assert [lengths[row] for row in rows] == sorted(lengths, reverse=True)


@pytest.mark.sample(2)
@beams
def test_a_translation_does_not_depend_on_its_neighbours(
    ids_translator, transformer, tokenizer, sentences, beam_size
):
    alone = {
        text: ids_translator.translate([text], beam_size=beam_size)[0] for text in [*sentences, ""]
    }
    for batch_size in (2, 3, 32):
        texts = [*alone, sentences[0]]
        random.Random(batch_size).shuffle(texts)
        answers = ids_translator.translate(texts, beam_size=beam_size, batch_size=batch_size)
        for text, answer in zip(texts, answers, strict=True):
            assert_same_but_for_ties(
                transformer,
                tokenizer.encode([text])[0],
                ids_of(alone[text]),
                ids_of(answer),
                beam_size,
            )


@pytest.mark.prove
@beams
def test_its_answers_differ_and_end_at_various_lengths(ids_translator, sentences, beam_size):
    """The test above must not pass because nothing was said."""
    rows = [ids_of(answer) for answer in ids_translator.translate(sentences, beam_size=beam_size)]
    assert len({len(row) for row in rows if row[-1] == END}) > 5
    assert len({tuple(row) for row in rows}) == len(rows)


@pytest.mark.prove
@beams
def test_a_row_may_grow_by_so_much_over_its_source(tokenizer, sentences, beam_size):
    transformer = Transformer(400, 1, 32, 2, 48)
    transformer.build()
    table = transformer.target_embedding.table
    # The end always scores 0 then, and several others more: no row ends by itself.
    table.assign(table * (np.arange(400) != END)[:, None])
    translator = Translator(tokenizer, transformer, Ids(tokenizer.model))
    rows = [ids_of(answer) for answer in translator.translate(sentences, beam_size=beam_size)]
    sources = translator.source_rows(sentences)
    assert [len(row) for row in rows] == [len(source) + EXTRA_LENGTH for source in sources]


@pytest.mark.prove
@beams
def test_a_blank_line_is_an_empty_line(tokenizer, sentences, beam_size):
    rambling = perturbed(Transformer(400, 1, 16, 2, 24))  # It would say something.
    translator = Translator(tokenizer, rambling)
    for texts in [[""], ["", " ", "\t\n", "\u3000"], ["", sentences[0], ""]]:
        answers = translator.translate(texts, beam_size=beam_size)
        said = [bool(answer) for answer in answers]
        assert said == [bool(text.strip()) for text in texts]


def test_no_text_is_no_answer(translator):
    assert translator.translate([]) == []


@pytest.mark.prove
def test_texts_may_be_any_iterable(translator, sentences):
    expected = translator.translate(sentences[:3])
    for texts in (tuple(sentences[:3]), np.array(sentences[:3]), iter(sentences[:3])):
        assert translator.translate(texts) == expected


def test_one_string_has_one_answer_where_answers_are_not_strings(translator):
    [expected] = translator.translations(["ein bier"])
    assert translator.translations("ein bier") == expected


def test_the_progress_counts_every_sentence(translator, sentences):
    done = []
    translator.translate(sentences[:5], batch_size=2, progress=done.append)
    assert done == [2, 2, 1]


@pytest.mark.prove
def test_a_sentence_over_the_limit_is_translated_in_part_and_said_so(
    tokenizer, transformer, sentences
):
    translator = Translator(tokenizer, transformer, Ids(tokenizer.model), max_source_length=7)
    short, long = "ja", sentences[0]
    number = len(tokenizer.encode([long])[0])
    message = f"Sentence 2 has {number} ids, over the limit of 7: only its first 6 were translated"
    with pytest.warns(UserWarning, match=message) as warned:
        answers = translator.translate([short, long, short])
    assert [w.filename for w in warned] == [__file__]
    cut = tf.constant([[*tokenizer.encode([long])[0, :6].numpy(), END]])
    for source, answer in zip([tokenizer.encode([short]), cut], answers, strict=False):
        search = search_of_options(SearchOptions(), tokenizer)
        found = search_ids(transformer, source, search).ids[0, 0].numpy()
        assert_same_but_for_ties(transformer, source[0], ids_of(answer), [i for i in found if i], 1)


@pytest.mark.prove
def test_a_sentence_of_just_the_limit_is_no_warning(tokenizer, transformer, sentences):
    number = len(tokenizer.encode(sentences[:1])[0])
    exact = Translator(tokenizer, transformer, max_source_length=number)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert exact.translate(sentences[:1]) == Translator(tokenizer, transformer).translate(
            sentences[:1]
        )


@pytest.mark.prove
@beams
def test_each_way_to_search_is_traced_once(tokenizer, transformer, sentences, beam_size):
    calls = []

    class Counting(Transformer):
        def encode(self, *arguments):
            calls.append(arguments)
            return super().encode(*arguments)

    counting = Counting.from_config(transformer.get_config())
    translator = Translator(tokenizer, counting)
    for texts in (sentences[:1], sentences[:5], sentences, [""]):
        translator.translate(texts, beam_size=beam_size, batch_size=4)
    assert len(calls) == 1


@pytest.mark.prove
def test_two_vocabularies_may_meet_in_one_translator(parallel_text, sentences):
    source = Tokenizer.train(parallel_text["train.de"], 350)
    target = Tokenizer.train(parallel_text["train.en"], 330)
    transformer = perturbed(Transformer(350, 1, 16, 2, 24, target_vocab_size=330))
    translator = Translator(source, transformer, target)
    search = search_of_options(SearchOptions(), target)
    ids = search_ids(transformer, source.encode(sentences[:1]), search).ids[:, 0]
    [expected] = target.detokenize(ids).numpy()
    assert translator.translate(sentences[:1]) == [expected.decode()]
    with pytest.raises(ValueError, match=r"\(350, 330\) of the transformer, \(330, 350\) of the"):
        Translator(target, transformer, source)


def test_the_vocabularies_must_be_those_of_the_transformer(tokenizer):
    transformer = Transformer(401, 1, 16, 2, 24)
    with pytest.raises(ValueError, match=r"\(401, 401\) of the transformer, \(400, 400\) of the"):
        Translator(tokenizer, transformer)


def test_the_limit_must_leave_room_for_a_piece(tokenizer, transformer):
    with pytest.raises(ValueError, match="Received: max_source_length=1"):
        Translator(tokenizer, transformer, max_source_length=1)


def test_attend_gives_pieces_and_weights_that_match(translator, tokenizer, sentences):
    text, target = sentences[0], "the dog runs"
    for maps in (translator.attend(text), translator.attend(text, target)):
        s, t = len(maps.source), len(maps.target)
        for layers, queries, keys in zip(maps.attention, (s, t, t), (s, t, s), strict=True):
            assert [weights.shape for weights in layers] == [(1, 2, queries, keys)]
            for weights in layers:
                np.testing.assert_allclose(np.sum(weights, axis=-1), 1, rtol=1e-5)
        assert maps.source == [*tokenizer.pieces(tokenizer.tokenize([text])[0].numpy()), "</s>"]
    assert maps.target == ["<s>", *tokenizer.pieces(tokenizer.tokenize([target])[0].numpy())]


def test_the_padding_id_must_be_that_of_the_transformer(tokenizer):
    transformer = Transformer(tokenizer.vocab_size, 1, 8, 2, 8, padding_id=7)
    with pytest.raises(ValueError, match=r"padding_id=7 of the transformer, \[0\] of the tok"):
        Translator(tokenizer, transformer)
