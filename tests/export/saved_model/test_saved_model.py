"""The SavedModel: what Python says, from strings to strings, in ops that a server has."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

from kformer import SearchOptions
from kformer.decoding.search_ids import search_ids, search_of_options
from kformer.export import ServedTranslator, export_saved_model
from kformer.export.saved_model.saved_translator import SavedTranslatorSignatures
from kformer.export.saved_model.serving_files import newest_version
from kformer.export.saved_model.warmup import batch_limits
from kformer.tasks.translator import Translator
from support import toy
from support.serving.operations import OF_TENSORFLOW_TEXT, STOCK, sentencepiece_library
from support.serving.warmup_requests import loader_of_a_server

ODD = ["", "   ", "der 🐕‍🦺 sucht das häus .", "日本 e\u0301 ﬁ ½", "uns \u2581 uns", "ruft\x00wir"]
ODD += ["wir ruft uns .\x00\x00", "\x00"]
BEAMS = [1, 3]
PENALTIES = {1: 0.6, 3: 1.0}  # Of length, by beam size.


@pytest.fixture(scope="module")
def exported(toy_saved_model, toy_beam_saved_model, classifier_saved_model):
    """Version folders by beam size, and that of a classifier."""
    return {1: toy_saved_model, 3: toy_beam_saved_model, "classifier": classifier_saved_model}


@pytest.fixture(scope="module", params=BEAMS, ids=["greedy", "beam"])
def served(request, exported):
    """A search's number of beams, and what runs it in the SavedModel."""
    return request.param, ServedTranslator(exported[request.param])


def said_in_python(translator, texts, beam_size, split=None):
    penalty = PENALTIES[beam_size]
    return translator.translate(texts, split=split, beam_size=beam_size, length_penalty=penalty)


def signature(path):
    return tf.saved_model.load(str(path)).signatures["serving_default"]


@pytest.fixture(scope="module")
def greedy(exported):
    return signature(exported[1])


@pytest.mark.sample(8)
@pytest.mark.parametrize("number", [0, 1, len(toy.SOURCES)])
def test_it_translates_as_python_does(served, toy_translator, number):
    beam_size, translator = served
    texts = toy.SOURCES[:number]
    assert translator.translate(texts) == said_in_python(toy_translator, texts, beam_size)


def test_it_has_several_translations_as_python_does(served, toy_translator):
    beam_size, translator = served
    number = max(beam_size, 2)
    beams = {"beam_size": beam_size if beam_size > 1 else 4, "length_penalty": PENALTIES[beam_size]}
    found = translator.translations(toy.SOURCES[:5], n_best=number, details=False)
    expected = toy_translator.translations(toy.SOURCES[:5], n_best=number, **beams, details=False)
    assert [[each.text for each in several] for several in found] == [
        [each.text for each in several] for several in expected
    ]
    assert any(len(several) == number for several in found)
    with pytest.raises(ValueError, match="was chosen when it was exported"):
        translator.translations(["wir"], beam_size=5)


@pytest.mark.prove
def test_it_translates_odd_text_as_python_does(served, toy_translator):
    beam_size, translator = served
    assert translator.translate(ODD) == said_in_python(toy_translator, ODD, beam_size)


def test_the_model_that_is_compared_has_learnt_something(toy_translator):
    """The tests above must not pass because all answers are alike."""
    translations = toy_translator.translate(toy.SOURCES)
    right = sum(a == b for a, b in zip(translations, toy.TARGETS, strict=True))
    assert right > len(toy.SOURCES) / 2
    assert len(set(translations)) > len(toy.SOURCES) / 2


@pytest.mark.prove
def test_blank_text_stays_blank(served):
    assert served[1].translate(["", " \t ", "wir"])[:2] == ["", ""]


@pytest.mark.prove
def test_progress_counts_sentences(served):
    done = []
    served[1].translate(toy.SOURCES[:5], batch_size=2, progress=done.append)
    assert done == [2, 2, 1]


@pytest.mark.prove
def test_scores_and_flags_are_those_of_python(served, toy_translator):
    beam_size, translator = served
    texts = ["", *toy.SOURCES[:5], "hund " * 60]
    options = SearchOptions(beam_size, PENALTIES[beam_size])
    expected = [best for best, *_ in toy_translator.translations(texts, options, details=False)]
    found = [best for [best] in translator.translations(texts, batch_size=3)]
    assert [(one.text, one.flags) for one in found] == [(one.text, one.flags) for one in expected]
    scores = [one.score for one in expected]
    np.testing.assert_allclose([one.score for one in found], scores, atol=1e-3)
    assert any(one.flags for one in found)


def test_bytes_that_are_no_text_get_a_translation(greedy):
    result = greedy(text=tf.constant([b"\xff\xfe wir \xc3", b"ruft"]))
    # A server must not answer with broken text: decoding it would raise.
    translations = [text.decode("utf-8") for text in result["translation"].numpy()]
    assert len(translations) == 2


@pytest.mark.prove
@pytest.mark.parametrize("beam_size", BEAMS)
def test_the_score_is_that_of_the_search(exported, toy_translator, beam_size):
    tokenizer = toy_translator.tokenizer
    source = tokenizer.encode(toy.SOURCES[:7])
    search = search_of_options(SearchOptions(beam_size, PENALTIES[beam_size]), tokenizer)
    found = search_ids(toy_translator.transformer, source, search)
    score = signature(exported[beam_size])(text=tf.constant(toy.SOURCES[:7]))["score"]
    np.testing.assert_allclose(score, found.scores[:, 0], atol=1e-4)


def test_every_output_has_a_row_for_every_text(greedy):
    for number in (0, 1, 5):
        result = greedy(text=tf.constant(toy.SOURCES[:number], tf.string))
        kinds = {name: (value.shape, value.dtype) for name, value in result.items()}
        assert kinds == {
            "translation": ([number], tf.string),
            "score": ([number], tf.float32),
            "truncated": ([number], tf.bool),
            "flags": ([number], tf.string),
        }


@pytest.mark.prove
def test_text_over_the_limit_is_cut_with_a_warning(exported, greedy, toy_translator):
    over = "🐕" * (toy_translator.max_source_length // 4)  # Four ids each, of bytes, and a space.
    truncated = greedy(text=tf.constant(["wir", over[:10], over * 9, over]))["truncated"]
    assert truncated.numpy().tolist() == [False, False, True, True]
    texts = ["wir ruft uns .", over]
    with pytest.warns(UserWarning, match="Sentence 2 has .* over the limit of 256"):
        expected = toy_translator.translate(texts, split=False)
    with pytest.warns(UserWarning, match="Sentence 2 is over the model's limit"):
        assert ServedTranslator(exported[1]).translate(texts, split=False) == expected


def test_the_first_id_too_many_is_the_one_that_truncates(toy_translator):
    rows = toy_translator.source_rows(toy.SOURCES)  # Of ids, the end's too.
    texts = {len(ids): text for text, ids in zip(toy.SOURCES, rows, strict=True)}
    limit = next(length for length in texts if length + 1 in texts)
    tokenizer, transformer = toy_translator.tokenizer, toy_translator.transformer
    small = Translator(tokenizer, transformer, max_source_length=limit)
    signatures = SavedTranslatorSignatures(small, transformer, SearchOptions(), batch_limits(limit))
    found = signatures.translate(tf.constant([texts[limit], texts[limit + 1]]))
    assert found["truncated"].numpy().tolist() == [False, True]


def test_the_newest_version_is_the_one_of_the_highest_number(tmp_path):
    for name in ("notes", "7", "10", "9"):
        (tmp_path / name).mkdir()
    assert newest_version(tmp_path) == tmp_path / "10"
    (tmp_path / "9" / "saved_model.pb").touch()
    assert newest_version(tmp_path / "9") == tmp_path / "9"


@pytest.mark.prove
def test_a_failed_check_leaves_nothing(toy_translator, tmp_path):
    seen = []

    def check(path):
        seen.append((path.parent, path.name.isdecimal()))
        assert ServedTranslator(path).translate([""]) == [""]
        raise ValueError("not as it should be")

    with pytest.raises(ValueError, match="not as it should be"):
        export_saved_model(toy_translator, tmp_path / "new", check=check)
    assert seen == [(tmp_path / "new", False)]  # No server takes such a name for a version.
    assert list(tmp_path.iterdir()) == []


def test_weights_are_stored_once(exported, toy_translator):
    parameters = toy_translator.transformer.count_params()
    [weights] = (exported[1] / "variables").glob("*.data-*")
    assert 4 * parameters <= weights.stat().st_size < 6 * parameters


def operations(path):
    """The names of all operations in a SavedModel, also of those in its functions."""
    saved = SavedModel.FromString((path / "saved_model.pb").read_bytes())
    [meta] = saved.meta_graphs
    nodes = [*meta.graph_def.node]
    for function in meta.graph_def.library.function:
        nodes += function.node_def
    return {node.op for node in nodes}


@pytest.mark.parametrize("which", [*BEAMS, "classifier"])
def test_every_op_is_one_that_a_server_has(exported, which):
    found = operations(exported[which])
    assert found <= STOCK | OF_TENSORFLOW_TEXT
    of_answers = {"SentencepieceDetokenizeOp", "SentencepieceIdToStringOp"}
    unused = of_answers if which == "classifier" else set()
    assert found >= OF_TENSORFLOW_TEXT - unused
    assert {"StatelessWhile", "While"} & found  # The loop is there, and was looked into.


def test_the_list_of_ops_is_of_those_that_a_server_has():
    assert {op for op in STOCK if not hasattr(tf.raw_ops, op)} == set()
    assert {*dir(tf.load_op_library(str(sentencepiece_library())))} >= OF_TENSORFLOW_TEXT


@pytest.mark.parametrize("which", [*BEAMS, "classifier"])
def test_nothing_asks_for_a_compiler(exported, which):
    content = (exported[which] / "saved_model.pb").read_bytes()
    saved = SavedModel.FromString(content)
    functions = saved.meta_graphs[0].graph_def.library.function
    assert not any(f.attr["_XlaMustCompile"].b for f in functions)
    assert b"XlaDynamicUpdateSlice" not in content and b"jit_compile" not in content


def served_by_the_loader_of_a_server(path, texts):
    """Translations from a fresh process, in which tensorflow-text is never imported."""
    [answer] = loader_of_a_server(path, [["serving_default", {"text": texts}]])
    return answer["translation"]


@pytest.mark.prove
@pytest.mark.parametrize("beam_size", BEAMS)
def test_the_loader_of_a_server_runs_it(exported, toy_translator, beam_size):
    texts = [*toy.SOURCES[:20], *ODD]
    expected = said_in_python(toy_translator, texts, beam_size, split=False)
    assert served_by_the_loader_of_a_server(exported[beam_size], texts) == expected


@pytest.mark.prove
def test_source_and_target_may_have_their_own_tokenizers(two_vocabularies, tmp_path):
    path = export_saved_model(two_vocabularies, tmp_path)
    texts = toy.SOURCES[:9]
    expected = two_vocabularies.translate(texts)
    assert "⁇" in "".join(expected)  # An id that means something else to the source's tokenizer.
    assert ServedTranslator(path).translate(texts) == expected
    assert served_by_the_loader_of_a_server(path, texts) == expected


def test_a_folder_without_a_model_is_refused(tmp_path):
    (tmp_path / "data").mkdir()
    with pytest.raises(ValueError, match=r"or numbered versions\. Received: path='.*data'"):
        ServedTranslator(tmp_path / "data")
    with pytest.raises(ValueError, match=r"or numbered versions\. Received: path='.*missing'"):
        ServedTranslator(tmp_path / "missing")


@pytest.mark.parametrize("content", [b"", b"no model", "half"])
def test_a_damaged_model_is_refused(exported, tmp_path, content):
    if content == "half":
        content = (exported[1] / "saved_model.pb").read_bytes()[:9999]
    (tmp_path / "saved_model.pb").write_bytes(content)
    with pytest.raises(ValueError, match=f"a whole SavedModel. Received: path='{tmp_path}'"):
        ServedTranslator(tmp_path)


@pytest.mark.prove
def test_a_model_without_its_variables_is_refused(exported, tmp_path):
    (tmp_path / "saved_model.pb").write_bytes((exported[1] / "saved_model.pb").read_bytes())
    with pytest.raises(ValueError, match=f"a whole SavedModel. Received: path='{tmp_path}'"):
        ServedTranslator(tmp_path)


def test_a_model_of_another_kind_is_refused(tmp_path):
    module = tf.Module()
    module.double = tf.function(lambda x: {"y": 2 * x}, input_signature=[tf.TensorSpec([None])])
    tf.saved_model.save(module, str(tmp_path), {"serving_default": module.double})
    with pytest.raises(ValueError, match=f"must be a kformer export.* path='{tmp_path}'"):
        ServedTranslator(tmp_path)


def test_a_folder_does_not_take_the_place_of_a_file(toy_translator, tmp_path):
    (tmp_path / "file").write_text("kept")
    with pytest.raises(NotADirectoryError, match=r"Received: '.*file', which is a file"):
        export_saved_model(toy_translator, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.prove
@pytest.mark.parametrize("beam_size", BEAMS)
def test_terms_of_a_glossary_are_in_the_translations(exported, toy_translator, beam_size):
    translator, options = ServedTranslator(exported[beam_size]), {"beam_size": beam_size}
    texts = ["", "der hund sucht den baum .", *toy.SOURCES[:3]]
    answers = translator.translations(texts, glossary={"hund": "hound", "baum": "oak tree"})
    assert answers[0][0].text == ""
    assert "hound" in answers[1][0].text and "oak tree" in answers[1][0].text
    assert all("term missed" not in best.flags for [best] in answers)
    scored = toy_translator.score(texts[1:2], [answers[1][0].text])[0]
    options |= {"length_penalty": PENALTIES[beam_size]}
    score = SearchOptions(**options).normalized(scored.log_probability, len(scored.tokens))
    expected = score if beam_size > 1 else scored.log_probability
    assert answers[1][0].score == pytest.approx(expected, abs=1e-3)
    [split] = translator.split_translations(texts[1:2], glossary={"hund": "hound"})
    assert "hound" in split.text
