"""Which translation a student learns, of those that its teachers find."""

import dataclasses

import pytest

from kformer.inference.results import Translation
from kformer.text.scores import sentence_scorer
from kformer.training.distillation import DistillationOptions
from kformer.training.distributions import Teaching


def translation(text, *flags):
    return Translation(text, 0.0, flags, (), ())


class Teacher:
    """Finds the same translations of every source, and keeps the options of each search."""

    def __init__(self, *found):
        self.found, self.searches = list(found), []

    def translations(self, texts, options, progress=None, details=True, split=None):
        assert not details and split is False
        self.searches.append(options)
        return [self.found[: options.n_best] for _ in texts]


def learned(teacher, *pairs, **options):
    found = Teaching(teacher, DistillationOptions(**options))(pairs)
    return [only.text for [only] in found]


def test_without_a_reference_the_best_translation_is_learned():
    teacher = Teacher(translation("the dog barks"), translation("a dog barks"))
    assert learned(teacher, ("der hund bellt", ""), ("x", "")) == ["the dog barks"] * 2
    [search] = teacher.searches
    assert (search.beam_size, search.n_best, search.length_penalty) == (5, 1, 0.6)


@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_with_a_reference_the_translation_most_like_it_is_learned(metric):
    texts = "the dog barks", "a dog is barking loudly", "a dog barks at me"
    teacher = Teacher(*map(translation, texts))
    pairs = [("x", "a dog barks at us"), ("x", ""), ("x", "the dog barks"), ("x", "loudly !")]
    options = {"beam_size": 3, "length_penalty": 1.0, "metric": metric}
    found = learned(teacher, *pairs, **options)
    assert found == [texts[2], texts[0], texts[0], texts[1]]
    [search] = teacher.searches
    assert (search.beam_size, search.n_best, search.length_penalty) == (3, 3, 1.0)


def test_of_translations_that_are_equally_like_the_reference_the_best_is_learned():
    teacher = Teacher(translation("the dog"), translation("the dog"), translation("cat"))
    teacher.found[1] = dataclasses.replace(teacher.found[1], score=-9.0)
    [[found]] = Teaching(teacher, DistillationOptions())([("x", "the dog")])
    assert found.score == 0.0
    assert learned(teacher, ("x", "quite other words")) == ["the dog"]


def test_degenerate_translations_and_those_of_cut_sources_are_not_learned():
    teacher = Teacher(
        translation("the the the", "loop"), translation("the", "source cut"), translation("a dog")
    )
    assert learned(teacher, ("x", "the the the")) == ["a dog"]
    assert learned(teacher, ("x", "")) == [""]
    assert learned(Teacher(translation("a", "length limit")), ("x", "a")) == [""]


def test_a_metric_of_sentences_is_that_of_sacrebleu():
    bleu, chrf = sentence_scorer("bleu"), sentence_scorer("chrf")
    assert bleu("a dog", "a dog") == pytest.approx(100)
    assert chrf("a dog", "a dog") == pytest.approx(100)
    assert bleu("a dog runs", "a dog barks") > bleu("a cat runs", "a dog barks")
    assert bleu("dogs", "dog") == 0 < chrf("dogs", "dog")


def test_a_language_without_spaces_is_compared_by_its_tokenizer():
    teacher = Teacher(translation("猫在睡觉。"), translation("狗在花园里跑。"))
    pair = ("x", "狗在花园里奔跑。")
    assert learned(teacher, pair) == ["猫在睡觉。"]  # To 13a each is one other word.
    assert learned(teacher, pair, tokenize="zh") == ["狗在花园里跑。"]


@pytest.mark.parametrize(
    ("options", "received"),
    [
        ({"beam_size": 0}, "beam_size=0"),
        ({"length_penalty": -1}, "length_penalty=-1"),
        ({"metric": "ter"}, "metric='ter'"),
        ({"tokenize": "mecab"}, "tokenize='mecab'"),
    ],
)
def test_options_are_checked(options, received):
    with pytest.raises(ValueError, match=f"Received: {received}"):
        DistillationOptions(**options)
