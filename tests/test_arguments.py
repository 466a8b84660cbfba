"""Arguments are checked where they enter, and lists of texts may be of several kinds."""

import re

import numpy as np
import pytest
import tensorflow as tf

import kformer
from kformer import Beam, SearchOptions, Tokenizer, Transformer, Translator
from kformer.arguments import as_texts, check_integer, check_number, single_text, stacklevel_of_user
from kformer.decoding.search.constraints import NoRepeat, RepetitionPenalty
from kformer.export import export_saved_model, export_tflite
from kformer.pocket import PocketTranslator
from kformer.serving import Client
from support import toy
from support.reference import perturbed

WORDS = ["ein bier", "", "straße ☕"]


class Series:
    """A column of a table, as of pandas: values with an index, which need not be 0, 1, 2, ..."""

    ndim = 1

    def __init__(self, values):
        self._values = dict(enumerate(values, start=7))

    def __getitem__(self, label):
        return self._values[label]

    def __iter__(self):
        return iter(self._values.values())

    def __len__(self):
        return len(self._values)

    def __array__(self, dtype=None, copy=None):
        return np.array([*self], dtype=object)

    def __bool__(self):
        raise ValueError("The truth value of a Series is ambiguous.")

    def tolist(self):
        return [*self]


KINDS = {
    "list": list,
    "tuple": tuple,
    "generator": iter,
    "keys": lambda texts: dict.fromkeys(texts).keys(),
    "tensor": tf.constant,
    "variable": lambda texts: tf.Variable(texts),
    "array": np.array,
    "array of bytes": lambda texts: np.array([text.encode() for text in texts]),
    "array of objects": lambda texts: np.array(texts, dtype=object),
    "tensor's array": lambda texts: tf.constant(texts).numpy(),
    "array of StringDType": lambda texts: np.array(texts, dtype=np.dtypes.StringDType()),
    "Series": Series,
}
kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())


@pytest.fixture(scope="module")
def translator(tokenizer):
    return Translator(tokenizer, perturbed(Transformer(400, 1, 16, 2, 24, norm_first=True)))


@kinds
def test_any_row_of_strings_is_a_list_of_texts(kind):
    texts = as_texts(kind(WORDS), "texts")
    assert texts == WORDS
    assert all(isinstance(text, str) for text in texts)


def test_a_column_of_pandas_is_a_list_of_texts():
    pandas = pytest.importorskip("pandas", exc_type=ImportError)
    column = pandas.Series(WORDS, index=[3, 1, 2])
    assert as_texts(column, "texts") == WORDS
    with pytest.raises(TypeError, match=r"Received: texts\[1\]="):
        as_texts(pandas.Series(["a", None, "b"]), "texts")
    with pytest.raises(TypeError, match="list of strings"):
        as_texts(pandas.DataFrame({"a": WORDS}), "texts")


@pytest.mark.prove
@kinds
def test_they_translate_as_a_list_does(translator, kind):
    expected = translator.translate(WORDS, max_length=3, prefixes=WORDS)
    assert translator.translate(kind(WORDS), max_length=3, prefixes=kind(WORDS)) == expected
    assert translator.score(kind(WORDS), kind(WORDS)) == translator.score(WORDS, WORDS)
    rows = translator.tokenizer.tokenize(kind(WORDS))
    assert rows.to_list() == translator.tokenizer.tokenize(WORDS).to_list()
    assert translator.source_rows(kind(WORDS)) == translator.source_rows(WORDS)


WRONG = [None, float("nan"), b"bytes", 7, {"text": "a"}, ["a"], tf.constant("a"), np.array("a")]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize("container", [list, iter, Series])
def test_the_element_that_is_no_string_is_named(wrong, container):
    if container is Series and isinstance(wrong, bytes):
        assert as_texts(container([wrong]), "sources") == ["bytes"]
        return
    rule = r"`sources` must be a list of strings\. Received: sources\[2\]="
    with pytest.raises(TypeError, match=rule):
        as_texts(container(["a", "b", wrong]), "sources")


@pytest.mark.parametrize(
    "wrong",
    [
        "text",
        b"text",
        None,
        7,
        {"a": "b"},
        {"a"},
        np.array("text"),
        np.array([["a"]]),
        tf.constant("text"),
        tf.constant([["a"]]),
        tf.data.Dataset,
    ],
    ids=repr,
)
def test_what_is_no_list_of_texts_is_refused(wrong):
    with pytest.raises(TypeError) as raised:
        as_texts(wrong, "texts")
    cure = f"; put a single one into a list: [{wrong!r}]" if isinstance(wrong, str | bytes) else ""
    message = f"`texts` must be a list of strings{cure}. Received: texts={wrong!r:.99}."
    assert str(raised.value) == message


def test_a_tensor_without_a_value_is_no_list_of_texts():
    @tf.function
    def in_graph(texts):
        with pytest.raises(TypeError, match="must be a list of strings"):
            as_texts(texts, "texts")
        return texts

    in_graph(tf.constant(["a"]))


def test_bytes_of_an_array_must_be_utf8():
    with pytest.raises(ValueError, match=r"must be UTF-8\. Received: texts\[1\]=b'\\xff'"):
        as_texts(np.array([b"a", b"\xff"]), "texts")


def test_every_entrance_names_the_element(translator):
    wrong = ["a", None]
    for ask in (
        translator.translate,
        translator.translations,
        translator.source_rows,
        translator.tokenizer.tokenize,
        Client("http://localhost:9").translate,
        lambda texts: translator.translate(["a", "b"], prefixes=texts),
        lambda texts: translator.score(["a", "b"], texts),
        lambda texts: translator.score(texts, ["a", "b"]),
        lambda texts: kformer.bleu(texts, ["a", "b"]),
    ):
        with pytest.raises(TypeError, match=r"must be a list of strings\. .*\[1\]=None"):
            ask(wrong)


@pytest.mark.parametrize(
    "kind",
    [str, np.str_, tf.constant, tf.Variable, np.array, lambda text: np.array(text.encode())],
)
@pytest.mark.parametrize("text", ["", "straße ☕"])
def test_a_string_of_any_kind_is_a_single_text(kind, text):
    assert single_text("texts", kind(text)) == text
    assert type(single_text("texts", kind(text))) is str


@pytest.mark.parametrize("wrong", [None, 7, 2.5, np.int8(3), ["a"], np.array(["a"]), b"a", {"a"}])
def test_anything_else_is_none(wrong):
    assert single_text("texts", wrong) is None


def test_a_single_text_among_lists_is_refused(translator):
    for ask in (
        lambda: translator.score(["a"], "b"),
        lambda: translator.translate(["a"], prefixes="b"),
        lambda: translator.translate(b"b"),
    ):
        with pytest.raises(TypeError, match=r"put a single one into a list: \[b?'b'\]\. Received:"):
            ask()
    with pytest.raises(ValueError, match=r"Received: 1 sources, 2 targets"):
        translator.score("a", ["a", "b"])
    with pytest.raises(ValueError, match=r"Bytes must be UTF-8\. Received: texts=b'\\xff'"):
        translator.translate(np.array(b"\xff"))


def test_a_warning_has_the_line_of_the_user(tmp_path):
    """And not the line of the package, but in the command line, which has its own messages."""

    def called_in(name, function):
        namespace = {"__name__": name, "function": function}
        exec("def call():\n    return function()\n", namespace)
        return namespace["call"]

    assert stacklevel_of_user() == 1
    assert called_in("kformer.tasks.translator", stacklevel_of_user)() == 2
    assert called_in("kformer.x", called_in("kformer", stacklevel_of_user))() == 3
    assert called_in("kformer.cli.translate", stacklevel_of_user)() == 1
    assert called_in("kformers", stacklevel_of_user)() == 1


def refused(call, *received):
    """Whether the call is refused in our form of error."""
    with pytest.raises((TypeError, ValueError)) as raised:
        call()
    rule, _, rest = str(raised.value).partition(" Received: ")
    assert re.match(r"`\w+` must ", rule) and rule.endswith(".")
    assert rest.startswith(received)
    return True


@pytest.mark.parametrize("wrong", [-1, 0, 2.0, "4", None, True, [4], float("nan")], ids=repr)
def test_sizes_are_checked_at_every_entrance(translator, tokenizer, tmp_path, wrong):
    calls = {
        "beam_size": [
            lambda: translator.translate(["a"], beam_size=wrong),
            lambda: Beam(wrong),
            lambda: export_saved_model(translator, tmp_path / "served", wrong),
            lambda: export_tflite(translator, tmp_path / "a.tflite", wrong),
        ],
        "batch_size": [
            lambda: translator.translate(["a"], batch_size=wrong),
            lambda: translator.translations([], batch_size=wrong),
            lambda: export_tflite(translator, tmp_path / "a.tflite", batch_size=wrong),
            lambda: Client("http://localhost:9", batch_size=wrong),
        ],
        "connections": [lambda: Client("http://localhost:9", connections=wrong)],
        "max_source_length": [
            lambda: Translator(tokenizer, translator.transformer, max_source_length=wrong),
        ],
        "vocab_size": [lambda: Tokenizer.train("no file", wrong)],
        "n": [lambda: NoRepeat(wrong)],
    }
    if wrong is None:  # The model's own number of beams.
        calls["beam_size"] = [lambda: Beam(wrong)]
    for name, several in calls.items():
        for call in several:
            assert refused(call, f"{name}={wrong!r}")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("wrong", ["1", None, float("nan"), float("inf"), True, [1.0]], ids=repr)
def test_numbers_are_checked_at_every_entrance(translator, wrong):
    if wrong is not None:  # The model's own.
        assert refused(lambda: translator.translate(["a"], length_penalty=wrong), "length_penalty=")
    assert refused(lambda: Beam(length_penalty=wrong), "length_penalty=")
    assert refused(lambda: RepetitionPenalty(wrong), "penalty=")
    assert refused(lambda: Client("http://localhost:9", timeout=wrong), "timeout=")
    assert refused(lambda: Tokenizer.train("no file", 300, wrong), "character_coverage=")


@pytest.mark.parametrize("wrong", [{"beam_size": 4}, 4, "beam", [], False], ids=repr)
def test_options_are_search_options(translator, wrong):
    assert refused(lambda: translator.translations(["a"], wrong), f"options={wrong!r}")


def test_options_in_place_of_a_number_are_refused(translator):
    assert refused(lambda: translator.translate(["a"], SearchOptions()), "SearchOptions(")


def test_one_text_is_a_string(translator):
    assert refused(lambda: translator.attend(["ein bier"]), "text=['ein bier']")
    assert refused(lambda: translator.attend("ein bier", ["a"]), "target=['a']")


def test_parts_of_a_translator_in_the_wrong_order_are_refused(translator, tokenizer):
    transformer = translator.transformer
    assert refused(lambda: Translator(transformer, tokenizer), "tokenizer=<Transformer")
    assert refused(lambda: Translator(tokenizer, tokenizer), "transformer=<Tokenizer")
    assert refused(lambda: Translator(tokenizer, transformer, 256), "target_tokenizer=256")


@pytest.mark.parametrize(
    ("files", "wrong"),
    [
        (None, "files=None, texts=None"),
        (7, "7"),
        ([None], "None"),
        (["a", b"b"], "b'b', of type bytes"),
    ],
)
def test_text_to_learn_from_is_given_by_paths(files, wrong):
    assert refused(lambda: Tokenizer.train(files, 300), wrong)


@pytest.mark.parametrize(
    "wrong",
    [{"url": None}, {"version": "3"}, {"version": -1}, {"label": 3}, {"retries": -1}],
    ids=repr,
)
def test_a_client_checks_what_it_is_given(wrong):
    ((name, value),) = wrong.items()
    assert refused(lambda: Client(**{"url": "http://localhost:9", **wrong}), f"{name}={value!r}")


@pytest.mark.parametrize("wrong", [0, -1, 2.0, "2", True])
def test_workers_of_a_file_are_an_integer(short_tflite, wrong):
    assert refused(lambda: PocketTranslator(short_tflite(), wrong), f"workers={wrong!r}")


def test_a_file_takes_what_python_takes(short_tflite):
    pocket = PocketTranslator(short_tflite(), workers=1)
    expected = pocket.translate(toy.SOURCES[:2])
    for kind in KINDS.values():
        assert pocket.translate(kind(toy.SOURCES[:2])) == expected
    with pytest.raises(TypeError, match=r"Received: texts\[1\]=None"):
        pocket.translate(["a", None])
    assert refused(lambda: pocket.tokenize(None), "text=None")


def test_limits_are_part_of_what_is_allowed():
    assert check_integer("n", np.int8(3), least=3, most=3) == 3
    assert type(check_integer("n", np.int8(3))) is int
    assert check_number("n", np.float32(0.5), least=0.5, most=0.5) == 0.5
    assert type(check_number("n", 1)) is float
    with pytest.raises(ValueError, match=r"`n` must be greater than 0\. Received: n=0\."):
        check_number("n", 0, above=0)
