"""The search defaults of a model: all ways to search use them, and a caller's options win."""

import pytest

import kformer
from kformer import SearchOptions
from kformer.inference.search_options import with_defaults
from support import toy

OWN = {"beam_size": 3, "length_penalty": 1.0, "length_offset": 0.0, "max_length": 6}
TEXTS = [*toy.SOURCES[:5], ""]


@pytest.fixture
def searching(toy_keras):
    """A translator with search defaults of its own."""
    translator = kformer.load(toy_keras)
    translator.search_defaults = OWN
    return translator


def test_an_option_of_the_caller_wins_and_all_others_are_the_models(searching, toy_translator):
    assert searching.search_options() == SearchOptions(**OWN)
    options = SearchOptions(2, max_length=4)
    assert searching.search_options(options) == SearchOptions(**{**OWN, **options.given})
    # Also where the caller gives what is kformer's default.
    assert searching.search_options(SearchOptions(beam_size=1, length_offset=5.0)) == SearchOptions(
        1, 1.0, 5.0, max_length=6
    )
    assert searching.search_options(SearchOptions(max_length=None)).max_length is None


@pytest.mark.prove
def test_every_method_searches_by_them(searching, toy_translator):
    expected = toy_translator.translate(TEXTS, **OWN)
    assert expected != toy_translator.translate(TEXTS)
    assert searching.translate(TEXTS) == expected
    assert [one.text for one, *_ in searching.translations(TEXTS)] == expected
    assert searching.translate(TEXTS, split=True) == toy_translator.translate(
        TEXTS, split=True, **OWN
    )
    both = [kformer.Ensemble([one, one]) for one in (searching, toy_translator)]
    assert both[0].translate(TEXTS) == both[1].translate(TEXTS, **OWN)
    greedy = {"beam_size": 1, "max_length": None}
    assert searching.translate(TEXTS, **greedy) == toy_translator.translate(TEXTS)
    assert searching.translate(TEXTS, beam_size=1, max_length=50) == toy_translator.translate(TEXTS)


@pytest.mark.prove
def test_copies_and_files_keep_them_and_older_readers_refuse_the_file(searching, tmp_path):
    searching.save(tmp_path / "own.keras")
    loaded = kformer.load(tmp_path / "own.keras")
    assert loaded.search_defaults == searching.copy().search_defaults == OWN
    assert loaded.translate(TEXTS) == searching.translate(TEXTS)
    assert searching.get_config()["format"] == 3
    searching.search_defaults = None
    assert searching.get_config()["format"] == 2  # Readers of 0.1.0 read this one as ever.
    assert searching.search_defaults == {}


@pytest.mark.prove
def test_a_language_model_has_them_too(tiny_language_model, tmp_path):
    prompts, own = ["we", "the cat"], {"beam_size": 2, "max_length": 3}
    expected = tiny_language_model.generate(prompts, **own)
    model = tiny_language_model.copy()
    model.search_defaults = SearchOptions(**own)
    model.save(tmp_path / "lm.keras")
    loaded = kformer.load(tmp_path / "lm.keras")
    assert loaded.search_defaults == own
    assert loaded.generate(prompts) == expected
    assert [one.text for one, *_ in loaded.generations(prompts)] == expected
    assert loaded.generate(prompts, max_length=4) == tiny_language_model.generate(
        prompts, beam_size=2, max_length=4
    )


@pytest.mark.parametrize(
    ("given", "own", "expected"),
    [
        ({"sample": True}, OWN, SearchOptions(sample=True, max_length=6)),
        ({"beam_size": 2}, {"sample": True, "top_k": 9}, SearchOptions(2)),
        ({"sample": False}, {"sample": True, "temperature": 0.5}, SearchOptions()),
        ({"top_k": 9}, {"sample": True}, SearchOptions(sample=True, top_k=9)),
        (
            {"beam_size": 1},
            {"beam_size": 4, "coverage_penalty": 0.2},
            SearchOptions(),
        ),
        ({"n_best": 4}, {"beam_size": 4}, SearchOptions(4, n_best=4)),
    ],
)
def test_defaults_give_way_to_another_way_of_searching(given, own, expected):
    assert with_defaults(given, own) == expected


@pytest.mark.parametrize(
    ("wrong", "error", "received"),
    [
        ([4], TypeError, r"search_defaults=\[4\]"),
        ({"num_beams": 4}, ValueError, "'num_beams'"),
        ({"n_best": 2, "beam_size": 2}, ValueError, "'n_best'"),
        ({"beam_size": 0}, ValueError, "beam_size=0"),
        ({"beam_size": 2.0}, TypeError, "beam_size=2.0"),
    ],
)
def test_what_is_no_default_is_refused_when_it_is_set(toy_translator, wrong, error, received):
    with pytest.raises(error, match=f"Received: {received}"):
        toy_translator.search_defaults = wrong
    assert toy_translator.search_defaults == {}
