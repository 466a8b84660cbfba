"""Verification of a language model: other continuations are refused."""

import pytest

from kformer import SearchOptions
from kformer.export import Verifier
from kformer.export.verify.generations import Generations
from support import toy

PROMPTS = [text[:14] for text in toy.SOURCES[:9]]


class Scripted:
    """A form of a language model that says what it is told."""

    def __init__(self, answers):
        self.answers = answers

    def generate(self, prompts):
        return [self.answers[PROMPTS.index(prompt)] for prompt in prompts]


@pytest.fixture(scope="module")
def verifier(tiny_language_model):
    return Verifier(tiny_language_model, PROMPTS)


@pytest.fixture
def file(written):
    return written("file", b"12345")


def test_equal_continuations_pass(verifier, tiny_language_model, file):
    report = verifier.verify("copy", Scripted(tiny_language_model.generate(PROMPTS)), file)
    assert (report.total, report.equal, report.ties, report.bytes) == (9, 9, 0, 5)
    assert (report.bleu, report.accuracy) == (None, None)


def test_another_continuation_is_refused_and_named(verifier, tiny_language_model, file):
    answers = tiny_language_model.generate(PROMPTS)
    answers[3] = "wir"
    with pytest.raises(ValueError, match=f"1 of 9 sentences otherwise .* {PROMPTS[3]!r}: 'wir',"):
        verifier.verify("other", Scripted(answers), file)
    report = verifier.verify("rounded", Scripted(answers), file, exact=False)
    assert (report.equal, report.different) == (8, 1)


@pytest.mark.prove
def test_what_python_says_of_a_row_of_ids_is_the_prompt_with_its_best_ids(tiny_language_model):
    kind = Generations(tiny_language_model, SearchOptions())
    for prompt, answer in zip(PROMPTS, tiny_language_model.generate(PROMPTS), strict=True):
        rows = tiny_language_model.source_rows([prompt])
        assert kind.gives(rows, answer, True)
        assert kind.gives(rows, answer, True, noisy=True)
        assert not kind.gives(rows, f"{answer}x", True)
