"""The pocket classifier: a `.tflite` file, run without TensorFlow, says what Python says."""

import json

import numpy as np
import pytest

import kformer
from kformer.pocket import PocketClassifier, PocketTranslator
from support import toy
from support.processes import printed_by

S = toy.SHORT
TEXTS = [*toy.SOURCES[:9], "", "das häus 🐕", "wir ruft\0uns ."]


@pytest.fixture(scope="module")
def exported(classifier_tflite):
    return classifier_tflite()


def assert_says(found, expected, tolerance=1e-4):
    assert found.labels == expected.labels
    assert found.probabilities.dtype == np.float32
    np.testing.assert_allclose(found.probabilities, expected.probabilities, atol=tolerance)


@pytest.mark.parametrize("workers", [1, 2])
def test_it_says_what_python_says(exported, tiny_classifier, workers):
    done = []
    found = PocketClassifier(exported, workers).predict(iter(TEXTS), done.append)
    assert_says(found, tiny_classifier.predict(TEXTS))
    assert sum(done) == len(TEXTS)
    assert len({*found.labels}) > 1


def test_vectors_are_those_of_python(exported, tiny_classifier):
    vectors = PocketClassifier(exported).encode(TEXTS)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, tiny_classifier.encode(TEXTS), atol=1e-4)


def test_it_knows_its_labels_and_splits_texts_as_python_does(exported, tiny_classifier):
    classifier = PocketClassifier(exported)
    assert classifier.labels == tiny_classifier.labels
    assert classifier.manifest["labels"] == list(tiny_classifier.labels)
    [ids] = tiny_classifier.tokenizer.encode(TEXTS[:1]).numpy().tolist()
    assert classifier.tokenize(TEXTS[0]) == (ids, True)


def test_no_text_gives_no_rows(exported):
    found = PocketClassifier(exported).predict([])
    assert found.labels == [] and found.probabilities.shape == (0, 3)
    assert PocketClassifier(exported).encode([]).shape == (0, 16)


def test_of_a_long_text_the_beginning_counts_and_a_warning_says_so(exported, tiny_classifier):
    [pieces] = tiny_classifier.tokenizer.tokenize([" ".join(toy.SOURCES[:9])]).to_list()
    whole, part = (
        tiny_classifier.tokenizer.detokenize([ids]).numpy()[0].decode()
        for ids in (pieces[: S + 3], pieces[: S - 1])
    )
    message = f"Sentence 2 has {S + 4} ids, over the limit of {S}: .* {S - 1} were classified"
    with pytest.warns(UserWarning, match=message):
        found = PocketClassifier(exported).predict(["wir", whole])
    assert_says(found, tiny_classifier.predict(["wir", part]))


def test_a_string_has_one_prediction(exported):
    classifier = PocketClassifier(exported)
    expected = classifier.predict(["wir ruft uns"])
    found = classifier.predict("wir ruft uns")
    assert found.label == expected.labels[0]
    np.testing.assert_array_equal(found.probabilities, expected.probabilities[0])


@pytest.mark.prove
def test_batches_of_an_int8_file_give_nearly_the_same_probabilities(
    classifier_tflite, tiny_classifier
):
    classifier = PocketClassifier(classifier_tflite("int8", 3), workers=1)
    assert classifier.manifest["batches"] == {
        "classify_ids": [1, S],
        "classify_ids_3x16": [3, 16],
        f"classify_ids_3x{S}": [3, S],
    }
    done = []
    found = classifier.predict(toy.SOURCES, done.append)
    expected = tiny_classifier.predict(toy.SOURCES)
    assert np.abs(found.probabilities - expected.probabilities).mean() < 0.02
    assert sum(done) == len(toy.SOURCES) and max(done) == 3
    alone = [classifier.predict([text]).probabilities[0] for text in toy.SOURCES[:9]]
    np.testing.assert_allclose(alone, found.probabilities[:9], atol=0.02)


@pytest.mark.prove
@pytest.mark.parametrize("count", [1, 4, 23, 40])
def test_batches_and_several_workers_change_no_answer(classifier_tflite, tiny_classifier, count):
    sources = [toy.SOURCES[i % len(toy.SOURCES)] for i in range(count)]
    texts = [" ".join(source.split()[: 1 + i % 6]) for i, source in enumerate(sources)]
    classifier = PocketClassifier(classifier_tflite(batch_size=5), workers=3)
    assert_says(classifier.predict(texts), tiny_classifier.predict(texts))


def test_a_large_file_is_run_in_processes(exported, tiny_classifier, monkeypatch):
    monkeypatch.setattr("kformer.pocket.worker_team._LARGE", 0)
    found = PocketClassifier(exported, workers=1).predict(TEXTS)
    assert_says(found, tiny_classifier.predict(TEXTS))


def test_it_runs_where_tensorflow_is_never_imported(exported, tiny_classifier):
    code = (
        "import json, sys\n"
        "import kformer\n"
        "path, *texts = sys.argv[1:]\n"
        "print(json.dumps(kformer.load(path).predict(texts).labels))\n"
        "assert not {'tensorflow', 'keras', 'sentencepiece', 'google'} & {*sys.modules}\n"
    )
    texts = toy.SOURCES[:5]
    labels = json.loads(printed_by("-c", code, exported, *texts))
    assert labels == tiny_classifier.predict(texts).labels


def test_each_kind_says_which_class_runs_the_other(exported, short_tflite):
    assert isinstance(kformer.load(exported), PocketClassifier)
    with pytest.raises(ValueError, match=r"PocketClassifier` runs a .* classifier '.*fier.tflite'"):
        PocketTranslator(exported)
    with pytest.raises(ValueError, match=r"PocketTranslator` runs a .* translator '.*toy.tflite'"):
        PocketClassifier(short_tflite())


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"kind": "poet"}, "format 2; update it. Received: format=2 in '.*', of a poet"),
        ({"labels": None}, r"c.tflite.json' \(it must have 'labels'"),
    ],
)
def test_metadata_of_another_kind_or_without_labels_is_refused(exported, written, changes, rule):
    manifest = PocketClassifier(exported).manifest | changes
    manifest = {key: value for key, value in manifest.items() if value is not None}
    path = written("c.tflite", b"a model")
    path.with_name("c.tflite.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match=rule):
        PocketClassifier(path)
