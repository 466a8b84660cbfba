"""Text to ids and back; the reference is the SentencePiece library."""

import unicodedata

import keras
import numpy as np
import pytest
import sentencepiece
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from sentencepiece import sentencepiece_model_pb2

from kformer import Tokenizer

MIXED = """\
Grüße aus Köln: 3,50 € für ein Bier!
Γειά σου Κόσμε, привет мир
今日は、世界。 안녕하세요 세계
שלום עולם مرحبا بالعالم
naïve café, coöperate, façade 😀 👍🏽
"""

STRANGE = [
    "",
    " ",
    "  \t ",
    "ich möchte ein bier",
    " leading, trailing  and   inner ",
    "line\nbreak\r\nand\rreturn",
    "\u00a0no\u00a0break\u2003em\u3000wide\u200bzero\u2028line\u2029paragraph\x85next",
    "▁",
    "▁a▁▁b",
    "a ▁ b",
    "👩‍👩‍👧‍👦 👍🏽 🏳️‍🌈 🇩🇪",
    "e\u0301 o\u0308 a\u0323\u0302 \u0301alone",
    "ﬁ ① ｆｕｌｌ ２ ㎏ Ⅷ ½ ™ …",
    "ǅ ß ẞ İ ı ſ",
    "Ελληνικά кириллица עברית العربية हिन्दी ไทย 中文 한국어",
    "\u200f\u202eright to left\u202c",
    "\ufeffbyte order mark",
    "a\0b",
    "\0",
    "\x01\x07\x1b\x7f\u0080\u009f",
    "\ufffd\ufffe\uffff\U0010ffff",
    "<s> </s> <pad> <unk> <0x41> ⁇",
    "Donaudampfschifffahrtsgesellschaft" * 20,
    "日本" * 100,
]
letters = st.characters(max_codepoint=0x17F, categories=("L", "N", "P"))
strange_characters = st.sampled_from(sorted(set("".join(STRANGE))))
any_text = st.text(st.characters(codec="utf-8") | strange_characters | letters, max_size=30)


@pytest.fixture(scope="module")
def text_files(tmp_path_factory, parallel_text):
    mixed = tmp_path_factory.mktemp("text") / "mixed.txt"
    mixed.write_text(MIXED * 3, encoding="utf-8")
    return [parallel_text["train.de"], parallel_text["train.en"], mixed]


@pytest.fixture(scope="module")
def tokenizer(text_files):
    return Tokenizer.train(text_files, vocab_size=600)


@pytest.fixture(scope="module")
def library(tokenizer):
    return sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model)


def text_of(tokenizer, rows):
    texts = tokenizer.detokenize(tf.ragged.constant(rows, tf.int32, ragged_rank=1))
    return [text.decode("utf-8") for text in texts.numpy()]


@given(st.lists(any_text, min_size=1, max_size=20))
def test_the_ids_of_any_text_are_those_of_the_library(tokenizer, library, texts):
    assert tokenizer.tokenize(texts).to_list() == library.encode(texts)


@pytest.mark.parametrize("text", STRANGE)
def test_the_ids_of_strange_text_are_those_of_the_library(tokenizer, library, text):
    ids = tokenizer.tokenize([text]).to_list()
    assert ids == [library.encode(text)]
    assert text_of(tokenizer, ids) == [library.decode(ids[0])]


@given(st.lists(st.binary(max_size=20), min_size=1, max_size=20))
def test_the_ids_of_any_bytes_are_those_of_the_library(tokenizer, library, texts):
    ids = tokenizer.tokenize(tf.constant(texts)).to_list()
    assert ids == [library.encode(text) for text in texts]


@given(st.lists(st.lists(st.integers(0, 599), max_size=20), min_size=1, max_size=20))
def test_the_text_of_any_ids_is_that_of_the_library(tokenizer, library, rows):
    assert text_of(tokenizer, rows) == [library.decode(row) for row in rows]


@given(st.text(letters | st.sampled_from(" \t\u3000ａﬁ①"), max_size=40))
def test_text_comes_back_normalised_with_single_spaces(tokenizer, text):
    normalised = " ".join(unicodedata.normalize("NFKC", text).split())
    assert text_of(tokenizer, tokenizer.tokenize([text]).to_list()) == [normalised]


def test_characters_never_seen_are_spelt_in_bytes(tokenizer):
    [ids] = tokenizer.tokenize(["ᚠ"]).to_list()
    assert tokenizer.pieces(ids) == ["▁", "<0xE1>", "<0x9A>", "<0xA0>"]
    assert text_of(tokenizer, [ids]) == ["ᚠ"]


def test_bytes_that_are_no_character_become_valid_utf8(tokenizer):
    half = tokenizer.pieces(range(600)).index("<0xE1>")
    assert text_of(tokenizer, [[half, half]]) == ["\ufffd\ufffd"]


def test_the_special_ids_are_the_first_four(tokenizer, library):
    special = tokenizer.padding_id, tokenizer.unknown_id, tokenizer.start_id, tokenizer.end_id
    assert special == (0, 1, 2, 3)
    assert special == (library.pad_id(), library.unk_id(), library.bos_id(), library.eos_id())
    assert tokenizer.pieces(special) == ["<pad>", "<unk>", "<s>", "</s>"]


def test_start_end_and_padding_leave_no_trace_in_the_text(tokenizer):
    [ids] = tokenizer.tokenize(["ein bier"]).to_list()
    assert text_of(tokenizer, [[2, *ids, 3, 0, 0]]) == ["ein bier"]
    assert text_of(tokenizer, [[], [3, 0], [2, 3]]) == ["", "", ""]


def test_pieces_are_those_of_the_library(tokenizer, library):
    ids = library.encode("ich möchte ein bier")
    assert tokenizer.pieces(ids) == library.encode_as_pieces("ich möchte ein bier")
    assert len(tokenizer.pieces(range(tokenizer.vocab_size))) == library.vocab_size() == 600


def test_start_and_end_are_put_around_each_row(tokenizer):
    rows = tf.ragged.constant([[5, 7], [], [11]], tf.int32)
    assert tokenizer.with_start(rows).to_list() == [[2, 5, 7], [2], [2, 11]]
    assert tokenizer.with_end(rows).to_list() == [[5, 7, 3], [3], [11, 3]]
    assert tokenizer.with_end(tf.ragged.constant([], tf.int32, ragged_rank=1)).to_list() == []


@given(st.lists(any_text, max_size=7))
def test_encode_gives_pieces_and_end_and_pads(tokenizer, library, texts):
    rows = [[*library.encode(text), 3] for text in texts]
    longest = max(map(len, rows), default=0)
    expected = np.zeros((len(rows), longest), "int32")
    for i, row in enumerate(rows):
        expected[i, : len(row)] = row
    encoded = tokenizer.encode(texts)
    np.testing.assert_array_equal(encoded, expected)
    assert encoded.dtype == tf.int32


def test_it_runs_in_a_graph_of_unknown_batch(tokenizer, library):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def there_and_back(texts):
        return tokenizer.encode(texts), tokenizer.detokenize(tokenizer.tokenize(texts))

    for texts in (["ein bier", "", "zwei"], ["ich"]):
        ids, back = there_and_back(tf.constant(texts))
        np.testing.assert_array_equal(ids, tokenizer.encode(texts))
        assert [text.decode() for text in back.numpy()] == texts


@pytest.mark.parametrize(
    "clear", [lambda: keras.utils.set_random_seed(7), keras.backend.clear_session]
)
def test_it_outlives_what_clears_the_kernels_of_tensorflow(text_files, clear):
    tokenizer = Tokenizer.train(text_files, vocab_size=555)  # A model that no other test uses.
    before, in_graph = tokenizer.encode(["ein bier"]), tf.function(tokenizer.encode)
    in_graph(tf.constant(["zwei"]))
    clear()
    np.testing.assert_array_equal(tokenizer.encode(["ein bier"]), before)
    np.testing.assert_array_equal(in_graph(tf.constant(["ein bier"])), before)


@pytest.mark.parametrize("kind", [str, np.str_, np.array, tf.constant])
def test_one_string_becomes_one_row(tokenizer, kind):
    text = kind("ein bier")
    [row] = tokenizer.encode(["ein bier"]).numpy().tolist()
    assert tokenizer.encode(text).numpy().tolist() == row
    assert tokenizer(text).numpy().tolist() == row
    assert tokenizer.tokenize(text).numpy().tolist() == row[:-1]
    assert tokenizer.decode(tokenizer(text)) == "ein bier"


def test_one_string_becomes_one_row_in_a_graph(tokenizer):
    in_graph = tf.function(lambda text: (tokenizer.encode(text), tokenizer.tokenize(text)))
    row, pieces = in_graph(tf.constant("ein bier"))
    assert row.numpy().tolist() == tokenizer.encode("ein bier").numpy().tolist()
    assert pieces.numpy().tolist() == row.numpy().tolist()[:-1]


def test_its_length_is_the_size_of_its_vocabulary(tokenizer):
    assert len(tokenizer) == tokenizer.vocab_size
    assert tokenizer and Tokenizer()


@pytest.mark.tensorflow("A graph with text")
def test_a_keras_model_reads_strings_and_is_saved_with_its_tokenizer(tokenizer, tmp_path):
    texts = tf.constant(["ein bier", "zwei hunde laufen"])
    inputs = keras.Input(shape=(), dtype="string")
    vectors = keras.layers.Embedding(len(tokenizer), 3)(tokenizer(inputs))
    outputs = keras.layers.Dense(1)(keras.layers.GlobalMaxPooling1D()(vectors))
    model = keras.Model(inputs, outputs)
    model.compile("sgd", "mse", run_eagerly=True)
    model.fit(texts, np.zeros((2, 1)), verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded(texts), model(texts))


@pytest.mark.parametrize(("shape", "dtype"), [((1,), "string"), ((), "int32")])
def test_another_keras_input_is_refused(tokenizer, shape, dtype):
    with pytest.raises(ValueError, match=r'keras\.Input\(shape=\(\), dtype="string"\)\. Received'):
        tokenizer(keras.Input(shape=shape, dtype=dtype))


def test_decode_is_the_inverse_of_encode(tokenizer):
    texts = ["ich möchte ein bier", "", "今日は ᚠ 😀"]
    ids = tokenizer.encode(texts)
    rows = tokenizer.tokenize(texts)
    several = [ids, ids.numpy(), ids.numpy().tolist(), rows, rows.to_list(), [*ids.numpy()]]
    assert [tokenizer.decode(one) for one in several] == [texts] * len(several)
    targets = tokenizer.with_start(tokenizer.with_end(rows)).to_tensor(tokenizer.padding_id)
    assert tokenizer.decode(targets) == texts
    assert tokenizer.decode([]) == []
    assert [tokenizer.decode(row) for row in ids.numpy()] == texts  # One row, one string.


def test_decode_drops_the_prefix_at_the_beginning_alone(tokenizer):
    prefixed = Tokenizer(tokenizer.model, prefix="▁ein")
    assert prefixed.decode(prefixed.encode(["ein bier", ""])) == ["ein bier", ""]


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ([[5, 600]], ValueError, "from 0 to 599, as the vocabulary has 600 of them. Received: 600"),
        ([[5], [-1]], ValueError, "Received: -1"),
        (
            [[[5, 6]]],
            TypeError,
            r"must be rows of integers, or one row. Received: .* shape \(1, 2\)",
        ),
        ([[5.0]], TypeError, "dtype float64"),
        (["ein"], TypeError, "dtype <U3"),
    ],
)
def test_what_are_no_rows_of_ids_is_refused(tokenizer, ids, error, message):
    with pytest.raises(error, match=message):
        tokenizer.decode(ids)


def test_a_piece_with_a_nul_is_refused(tokenizer):
    """SentencePiece takes some, and the one in TensorFlow then ends the process."""
    proto = sentencepiece_model_pb2.ModelProto.FromString(tokenizer.model)
    for piece in ("\0", "a\0", "a\0b"):
        proto.pieces[-1].piece = piece
        with pytest.raises(ValueError, match=r"SentencePiece model.* Received: .* bytes"):
            Tokenizer(proto.SerializeToString())
