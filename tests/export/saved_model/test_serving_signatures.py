"""The signatures of a SavedModel: what Python says, of any text, in any number."""

import numpy as np
import pytest
import sentencepiece
import tensorflow as tf
from tensorflow_serving.apis.prediction_log_pb2 import PredictionLog

from kformer.export import ServedTranslator, export_saved_model
from kformer.export.saved_model.serving_signatures import MAX_TEXTS
from kformer.export.saved_model.warmup import FILE, batch_limits
from kformer.inference.search_options import SearchOptions
from kformer.inference.sure_checks import sure_flags
from support import toy
from support.serving.warmup_requests import (
    asked,
    assert_same_answers,
    loader_of_a_server,
    signatures_of,
)

TEXTS = [*toy.SOURCES[:7], "", "  ", "der 🐕‍🦺 sucht das häus .", "日本 e\u0301 ﬁ ½"]
TARGETS = [*toy.TARGETS[:5], *toy.TARGETS[:2], "", "we", "the 🐕", "\u2581"]
TOO_LONG = "uns " * 300
BROKEN = b"\xff wir \xc3 ruft"
ENCODE = {"vector": ([None, 32], "float32"), "flags": ([None], "string")}
TOKENIZE = {
    "ids": ([None, 256], "int32"),
    "length": ([None], "int32"),
    "flags": ([None], "string"),
}
CLASSIFY = {
    "label": ([None], "string"),
    "probabilities": ([None, 3], "float32"),
    "labels": ([None, 3], "string"),
    "flags": ([None], "string"),
}
TRANSLATOR = {
    "serving_default": {
        "translation": ([None], "string"),
        "score": ([None], "float32"),
        "truncated": ([None], "bool"),
        "flags": ([None], "string"),
    },
    "beam": {
        "translation": ([None, 4], "string"),
        "score": ([None, 4], "float32"),
        "flags": ([None, 4], "string"),
    },
    "score": {
        "log_probability": ([None], "float32"),
        "tokens": ([None], "int32"),
        "flags": ([None], "string"),
    },
    "align": {
        "attention": ([None, None, None], "float32"),
        "source_pieces": ([None, None], "string"),
        "target_pieces": ([None, None], "string"),
    },
    "encode": ENCODE,
    "tokenize": TOKENIZE,
}
CLASSIFIER = {
    "serving_default": CLASSIFY,
    "classify": CLASSIFY,
    "encode": {**ENCODE, "vector": ([None, 16], "float32")},
    "tokenize": TOKENIZE,
}
KINDS = {"translator": TRANSLATOR, "classifier": CLASSIFIER}  # Outputs by signature.
EACH = [(kind, name) for kind, signatures in KINDS.items() for name in signatures]
WITH_FLAGS = [(kind, name) for kind, name in EACH if "flags" in KINDS[kind][name]]
OF_PAIRS = ("score", "align")  # Of a source and a target.


@pytest.fixture(scope="module")
def paths(toy_saved_model, classifier_saved_model):
    return {"translator": toy_saved_model, "classifier": classifier_saved_model}


@pytest.fixture(scope="module")
def models(paths):
    return {kind: signatures_of(path) for kind, path in paths.items()}


@pytest.fixture
def kind():
    return "translator"  # Where a test has no parameter of that name.


@pytest.fixture
def signatures(models, kind):
    return models[kind]


def inputs(name, texts, targets=None):
    """The inputs of signature `name`, in their order."""
    if name in OF_PAIRS:
        return {"source": texts, "target": texts if targets is None else targets}
    return {"text": texts}


@pytest.mark.parametrize("kind", KINDS)
def test_each_has_the_batch_first_in_all_that_goes_in_and_out(signatures, kind):
    assert {*signatures} == {*KINDS[kind]}
    for name, kinds in KINDS[kind].items():
        taken = signatures[name].structured_input_signature[1]
        assert {*taken} == {*inputs(name, [])}
        assert all(spec.shape.as_list() == [None] for spec in taken.values())
        given = signatures[name].structured_outputs
        found = {key: (spec.shape.as_list(), spec.dtype.name) for key, spec in given.items()}
        assert found == kinds
        assert not any(key.endswith("_bytes") for key in [*taken, *given])


@pytest.mark.sample(9)
@pytest.mark.parametrize(("kind", "name"), EACH)
def test_any_number_of_texts_has_as_many_answers(signatures, name):
    for number in (0, 1, 5):
        answer = asked(signatures, name, **inputs(name, TEXTS[:number]))
        assert {len(values) for values in answer.values()} == {number}


@pytest.mark.sample(9)
@pytest.mark.parametrize(("kind", "name"), EACH)
def test_a_text_has_its_answer_whatever_its_neighbours(signatures, name):
    texts = [*TEXTS, *reversed(TEXTS), *toy.SOURCES]  # More than are decoded at once.
    assert len(texts) > 64
    together = asked(signatures, name, **inputs(name, texts))
    for i in (0, 7, 9, 20, len(texts) - 1):
        alone = asked(signatures, name, **inputs(name, [texts[i]]))
        expected = {key: [rows[i]] for key, rows in together.items()}
        if name == "align":  # Its axes have the lengths of the longest of the texts.
            sizes = [len(alone[f"{side}_pieces"][0]) for side in ("source", "target")]
            for side, size in zip(("source", "target"), sizes, strict=True):
                assert not any(expected[f"{side}_pieces"][0][size:])
                expected[f"{side}_pieces"] = [expected[f"{side}_pieces"][0][:size]]
            attention = expected["attention"][0][: sizes[1]]
            expected["attention"] = [[row[: sizes[0]] for row in attention]]
        assert_same_answers([alone], [expected])


@pytest.mark.prove
def test_the_n_best_are_those_of_python(signatures, toy_translator):
    answer = asked(signatures, "beam", text=TEXTS)
    options = SearchOptions(beam_size=4, n_best=4)
    for i, expected in enumerate(toy_translator.translations(TEXTS, options, details=False)):
        there = len(expected)
        assert answer["translation"][i] == [one.text for one in expected] + [""] * (4 - there)
        scores = [one.score for one in expected]
        np.testing.assert_allclose(answer["score"][i][:there], scores, atol=1e-4)
        assert answer["score"][i][there:] == [-1e9] * (4 - there)
        # What a text alone shows is seen outside of the graph.
        flags = [{*one.flags} - {*sure_flags(TEXTS[i], one.text)} for one in expected]
        found = [{*filter(None, flag.split(", "))} for flag in answer["flags"][i]]
        assert found == flags + [set()] * (4 - there)
    assert any(len(set(row)) == 4 for row in answer["translation"])


@pytest.mark.prove
def test_the_export_says_how_many_are_the_best(toy_translator, toy_beam_saved_model):
    answer = asked(signatures_of(toy_beam_saved_model), "beam", text=TEXTS[:3])
    options = SearchOptions(beam_size=3, length_penalty=1.0, n_best=3)
    expected = toy_translator.translations(TEXTS[:3], options, details=False)
    assert answer["translation"] == [[one.text for one in row] for row in expected]


def test_the_score_of_a_translation_is_that_of_python(signatures, toy_translator):
    answer = asked(signatures, "score", source=TEXTS, target=TARGETS)
    expected = toy_translator.score(TEXTS, TARGETS)
    wanted = [one.log_probability for one in expected]
    np.testing.assert_allclose(answer["log_probability"], wanted, rtol=1e-4, atol=1e-3)
    assert answer["tokens"] == [len(one.tokens) for one in expected]
    assert answer["flags"] == [""] * len(TEXTS)


@pytest.mark.prove
def test_scoring_a_translation_gives_its_score_in_the_search(signatures):
    found = asked(signatures, "serving_default", text=toy.SOURCES[:9])
    scored = asked(signatures, "score", source=toy.SOURCES[:9], target=found["translation"])
    np.testing.assert_allclose(scored["log_probability"], found["score"], atol=1e-3)


@pytest.mark.prove
def test_a_vector_is_the_mean_of_the_memory(signatures, toy_translator):
    vectors = np.array(asked(signatures, "encode", text=TEXTS)["vector"])
    for text, vector in zip(TEXTS, vectors, strict=True):
        memory = toy_translator.transformer.encode(np.array(toy_translator.source_rows([text])))
        np.testing.assert_allclose(vector, np.mean(memory[0], axis=0), atol=1e-4)
    np.testing.assert_allclose(vectors, toy_translator.encode(TEXTS), atol=1e-5)
    assert len(np.unique(vectors.round(3), axis=0)) == len(TEXTS) - 1  # Two of them are blank.


def test_ids_are_those_of_the_library(signatures, toy_translator):
    library = sentencepiece.SentencePieceProcessor()
    library.LoadFromSerializedProto(toy_translator.tokenizer.model)
    answer = asked(signatures, "tokenize", text=TEXTS)
    for text, ids, length in zip(TEXTS, answer["ids"], answer["length"], strict=True):
        expected = [*library.EncodeAsIds(text), library.eos_id()]
        assert ids == [*expected, *[0] * (256 - len(expected))]
        assert length == len(expected)


@pytest.mark.prove
@pytest.mark.parametrize(("kind", "name"), WITH_FLAGS)
def test_text_over_the_limit_is_flagged(signatures, name):
    texts = [TOO_LONG, "wir", "x" * 1_000_000, " " * 1_000_000, b"\x80" * 1_000_000]
    flags = asked(signatures, name, **inputs(name, texts))["flags"]
    flags = [row if isinstance(row, str) else row[0] for row in flags]
    assert "source cut" in flags[0] and "source cut" in flags[2] and "source cut" in flags[4]
    assert "cut" not in flags[1]
    assert flags[3].startswith("source cut")  # Only blanks were seen of it.


def test_what_was_cut_is_as_python_cuts_it(signatures, toy_translator):
    text = "é" * 99_990 + "wir ruft uns . " * 9
    for kept in (TOO_LONG, text, text[99_980:], " " * 99_995 + "wir ruft uns"):
        with pytest.warns(UserWarning, match="over the limit") as cut:
            expected = toy_translator.source_rows([kept + TOO_LONG])
        assert cut
        answer = asked(signatures, "tokenize", text=[kept + TOO_LONG])
        assert answer["ids"][0][: answer["length"][0]] == expected[0]
        assert answer["flags"] == ["source cut"]


@pytest.mark.prove
@pytest.mark.parametrize(("kind", "name"), WITH_FLAGS)
def test_text_that_is_no_utf8_is_flagged(signatures, name):
    answer = asked(
        signatures,
        name,
        **inputs(
            name, [BROKEN, "wir \ufffd", "\udcff".encode("utf-8", "surrogatepass")], ["we"] * 3
        ),
    )
    flags = [row if isinstance(row, str) else row[0] for row in answer["flags"]]
    assert flags[0].startswith("source not UTF-8") and flags[2].startswith("source not UTF-8")
    assert "UTF-8" not in flags[1]


def test_the_sides_of_a_score_have_flags_of_their_own(signatures):
    pairs = [("wir", TOO_LONG), (TOO_LONG, BROKEN), (BROKEN, "we"), ("wir", "we")]
    source, target = map(list, zip(*pairs, strict=True))
    assert asked(signatures, "score", source=source, target=target)["flags"] == [
        "target cut",
        "source cut, target not UTF-8",
        "source not UTF-8",
        "",
    ]


@pytest.mark.prove
def test_flags_are_those_of_python(signatures, toy_translator):
    texts = ["wir " * n for n in (1, 5, 9, 17, 40)] + ["x" * 60, "ein bild " * 30, "der hund " * 10]
    texts += toy.SOURCES[:9]
    expected = toy_translator.translations(texts, details=False)
    found = asked(signatures, "serving_default", text=texts)
    assert found["translation"] == [best.text for (best,) in expected]
    assert found["flags"] == [", ".join(best.flags) for (best,) in expected]
    assert {"loop", ""} <= {flag for flags in found["flags"] for flag in flags.split(", ")}


@pytest.mark.prove
@pytest.mark.parametrize(("kind", "name"), EACH)
def test_too_many_texts_are_refused_and_the_next_request_is_not(signatures, name):
    message = rf"at most {MAX_TEXTS} texts. Received:\] \[10000\]"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        asked(signatures, name, **inputs(name, ["wir"] * 10_000))
    answer = asked(signatures, name, **inputs(name, ["wir"]))
    assert {len(values) for values in answer.values()} == {1}


@pytest.mark.prove
@pytest.mark.parametrize(("kind", "name"), [(k, name) for k, name in EACH if name != "tokenize"])
def test_too_many_ids_are_refused_and_the_next_request_is_not(signatures, kind, name):
    target = 306 if kind == "translator" else 0
    rows = 141 if target and name not in OF_PAIRS else 65  # Of 256 ids, and some of a target.
    ids = rows * (256 + target) if name in OF_PAIRS else rows * 256
    message = rf"at most {64 * (256 + target)} ids in all of its texts. Received:\] \[{ids}\]"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        asked(signatures, name, **inputs(name, ["wir " * 400] * rows))
    answer = asked(signatures, name, **inputs(name, ["wir"]))
    assert {len(values) for values in answer.values()} == {1}


@pytest.mark.prove
@pytest.mark.parametrize(("kind", "name"), EACH)
def test_too_many_characters_are_refused(signatures, name):
    """Before they are tokenized, which takes time, too."""
    message = r"at most 6400000 characters in all of its texts. Received:\] \[6500000\]"
    for text in ("x" * 100_000, "x" * 200_000, b"\x80" * 400_000):  # More of a text is not read.
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            asked(signatures, name, **inputs(name, [text] * 65))


@pytest.mark.prove
def test_a_batch_of_the_longest_texts_is_answered(signatures):
    """The largest that a server merges: whoever sent the others, none is refused for them."""
    long = ["uns wir " * 200] * 64
    found = asked(signatures, "score", source=long, target=long)
    assert found["tokens"] == [306] * 64 and {*found["flags"]} == {"source cut, target cut"}


@pytest.mark.parametrize("targets", [False, True])
@pytest.mark.parametrize("xla", [False, True])
@pytest.mark.parametrize("longest", [2, 29, 256, 1000])
def test_no_batch_that_a_server_merges_is_over_a_limit(longest, xla, targets):
    row = 2 * longest + 50 if targets else longest  # The longest text and its target.
    assert batch_limits(longest, None, xla, targets).batch_size == 64
    for tokens in (row, row + 1, 3 * row, 17 * row - 1, 1000 * row):
        limits = batch_limits(longest, tokens, xla, targets)
        assert limits.batch_size * row <= limits.tokens == tokens
        assert limits.batch_sizes[0] == 1 and [*limits.batch_sizes] == sorted(limits.batch_sizes)
    with pytest.raises(ValueError, match=f"at least {row}, .* max_batch_tokens={row - 1}"):
        batch_limits(longest, row - 1, xla, targets)


@pytest.mark.prove
def test_a_lower_limit_holds_everywhere(toy_translator, tmp_path):
    long, said = ["ruft " * 400] * 9, []

    def check(path):  # As `kformer export` does; a batch of 32 would be refused.
        with pytest.warns(UserWarning, match="only its beginning was translated"):
            said.extend(ServedTranslator(path).translations(long, split=False))

    path = export_saved_model(toy_translator, tmp_path, check=check, max_batch_tokens=3000)
    assert len(said) == 9 and all("source cut" in best.flags for [best] in said)
    assert "\nmax_batch_size { value: 4 }\n" in (tmp_path / "batching.config").read_text()
    assert "3,000" in (tmp_path / "README.md").read_text()
    sizes = set()
    for record in tf.data.TFRecordDataset(str(path / FILE)).as_numpy_iterator():
        request = PredictionLog.FromString(record).predict_log.request
        sizes |= {tensor.tensor_shape.dim[0].size for tensor in request.inputs.values()}
    assert sizes == {1, 4}
    with pytest.raises(tf.errors.InvalidArgumentError, match="at most 3000 ids"):
        asked(signatures_of(path), "encode", text=long + long)


def test_a_score_needs_as_many_targets_as_sources(signatures):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"sources. Received:\] \[2\] \[1\]"):
        asked(signatures, "score", source=["wir", "ruft"], target=["we"])


@pytest.mark.prove
@pytest.mark.parametrize("kind", KINDS)
def test_the_loader_of_a_server_answers_as_python(paths, signatures, kind):
    texts = [*TEXTS, TOO_LONG, BROKEN.decode("utf-8", "surrogateescape")]
    requests = [[name, inputs(name, texts)] for name in KINDS[kind]]
    expected = [
        asked(
            signatures,
            name,
            **{
                key: [t.encode("utf-8", "surrogateescape") for t in row]
                for key, row in given.items()
            },
        )
        for name, given in requests
    ]
    assert_same_answers(loader_of_a_server(paths[kind], requests), expected)
