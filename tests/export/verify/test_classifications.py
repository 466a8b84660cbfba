"""Verification of a classifier: ties of two labels are counted, anything else is refused."""

import numpy as np
import pytest

from kformer import Predictions
from kformer.export import Verifier
from kformer.export.verify.agreement import check_vectors
from kformer.pocket import PocketClassifier
from support import toy

TEXTS = toy.SOURCES[:9]


class Scripted:
    """A form of a classifier that says what Python says, but for what a test changes."""

    def __init__(self, classifier):
        self.labels, self.probabilities = classifier.predict(TEXTS)

    def predict(self, texts):
        places = [TEXTS.index(text) for text in texts]
        return Predictions([self.labels[i] for i in places], self.probabilities[places])


@pytest.fixture(scope="module")
def verifier(tiny_classifier):
    return Verifier(tiny_classifier, TEXTS)


@pytest.fixture
def form(tiny_classifier):
    return Scripted(tiny_classifier)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    return path


def test_equal_answers_pass(verifier, form, file):
    report = verifier.verify("copy", form, file)
    assert (report.total, report.equal, report.ties, report.different) == (9, 9, 0, 0)
    assert (report.bytes, report.bleu, report.accuracy) == (5, None, None)
    assert verifier.reports[-1] is report and verifier.reports[0].form == "Python"


def test_references_give_the_share_of_right_labels(tiny_classifier, form, file):
    labels = ["bad"] * 9
    right = form.labels.count("bad") / 9
    assert 0 < right < 1
    verifier = Verifier(tiny_classifier, TEXTS, labels)
    assert verifier.verify("copy", form, file).accuracy == right == verifier.reports[0].accuracy


@pytest.mark.parametrize("exact", [True, False])
def test_another_label_is_refused_where_python_is_sure(
    tiny_classifier, verifier, form, file, exact
):
    i = form.labels.index("bad")
    form.labels[i] = tiny_classifier.labels[form.probabilities[i].argmin()]
    if exact:
        with pytest.raises(ValueError, match="1 of 9 sentences otherwise") as error:
            verifier.verify("wrong one", form, file)
        for named in ("wrong one", TEXTS[i], f"{form.labels[i]!r} [", "'bad' ["):
            assert named in str(error.value)
    else:
        report = verifier.verify("rounded", form, file, exact=False)
        assert (report.equal, report.ties, report.different) == (8, 0, 1)


@pytest.mark.sample(2)
@pytest.mark.parametrize("exact", [True, False])
def test_a_label_that_is_as_probable_is_a_tie(tiny_classifier, file, exact):
    twins = tiny_classifier.copy()
    for weight in twins.classifier.head.weights:
        weight.assign(np.stack([weight[..., 2], weight[..., 1], weight[..., 1]], axis=-1))
    form = Scripted(twins)
    form.labels[form.labels.index("sehr gut")] = "so là là"
    report = Verifier(twins, TEXTS).verify("other", form, file, exact=exact)
    assert (report.total, report.equal, report.ties, report.different) == (9, 8, 1, 0)


@pytest.mark.parametrize(("change", "passes"), [(5e-5, True), (2e-4, False), (np.nan, False)])
def test_probabilities_must_be_those_of_python_where_weights_are_not_rounded(
    verifier, form, file, change, passes
):
    form.probabilities[4, 2] += change
    assert verifier.verify("rounded", form, file, exact=False).equal == 9
    if passes:
        assert verifier.verify("nearly", form, file).equal == 9
    else:
        with pytest.raises(ValueError, match="1 of 9 sentences otherwise"):
            verifier.verify("wrong", form, file)


def test_a_label_that_the_classifier_lacks_is_refused(verifier, form, file):
    form.labels[0] = "ugly"
    with pytest.raises(ValueError, match="'ugly' "):
        verifier.verify("wrong", form, file)


def test_ids_that_differ_excuse_no_probability(verifier, form, file):
    """Of a text that a form splits otherwise, Python is asked about the form's ids."""
    form.probabilities[4] = form.probabilities[5]
    with pytest.raises(ValueError, match="1 of 9 sentences"):
        verifier.verify("wrong", form, file, tokenize=lambda text: ([5, 3], True))


def test_a_file_passes_and_its_vectors_do(tiny_classifier, classifier_tflite):
    verifier = Verifier(tiny_classifier, [*TEXTS, " ".join(TEXTS)], ["bad"] * 10)
    pocket = PocketClassifier(classifier_tflite())
    with pytest.warns(UserWarning, match="Sentence 10"):
        report = verifier.verify_pocket(".tflite", pocket, classifier_tflite())
    assert (report.total, report.equal) == (9, 9)  # The last is over the limit.
    tiny_classifier = tiny_classifier.copy()
    weight = tiny_classifier.classifier.encoder.encoder.layers[0].weights[0]
    weight.assign_add(np.ones(weight.shape))
    with pytest.raises(ValueError, match="vectors of an export must equal Python's"):
        check_vectors(tiny_classifier, pocket, TEXTS)
