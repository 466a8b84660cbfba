"""Texts of many sentences through every form of a translator."""

import pytest

import kformer
from kformer.serving import Client
from support import toy
from support.processes import printed_by

TEXT = "\t{}\r\n\r\n  {}  \n{}".format(*toy.SOURCES[:3])
TRANSLATION = "\t{}\r\n\r\n  {}  \n{}"
LONG = " ".join(toy.SOURCES).replace(" .", "")  # Over the limit of ids of every form.


@pytest.fixture(scope="module")
def translators(toy_translator, toy_served, toy_tflite, toy_server):
    with Client(toy_server.url("rest")) as client:
        yield {
            "keras": toy_translator,
            "SavedModel": kformer.load(toy_served),
            "tflite": kformer.load(toy_tflite),
            "client": client,
        }


@pytest.fixture(params=["keras", "SavedModel", "tflite", "client"])
def translator(request, translators):
    return translators[request.param]


@pytest.mark.sample(5)
def test_white_space_and_line_breaks_stay_as_they_are(translator, toy_translator):
    expected = TRANSLATION.format(*toy_translator.translate(toy.SOURCES[:3]))
    texts, done = [TEXT, "", " \n", toy.SOURCES[1]], []
    found = translator.translate(texts, split=True, source_language="de", progress=done.append)
    assert found == [expected, "", " \n", toy_translator.translate(toy.SOURCES[1:2])[0]]
    assert sum(done) == 4
    assert [one.text for one in translator.split_translations(texts)] == found


@pytest.mark.sample(4)
def test_sentences_have_what_translations_tell_of_them(translator):
    [one] = translator.split_translations([f"{TEXT}\nder"])
    sources = [*toy.SOURCES[:3], "der"]
    assert [sentence.source for sentence in one.sentences] == sources
    expected = [best for [best] in translator.translations(sources)]
    assert [sentence.text for sentence in one.sentences] == [best.text for best in expected]
    assert [sentence.flags for sentence in one.sentences] == [best.flags for best in expected]
    assert one.flags == tuple(dict.fromkeys(flag for best in expected for flag in best.flags))


@pytest.mark.sample(4)
def test_a_sentence_over_the_limit_is_split_and_nothing_is_cut(translator):
    with pytest.warns(UserWarning, match=r"^Text 2 has a sentence that is too long") as caught:
        _, one = translator.split_translations(["wir", f"{TEXT}\n{LONG}"])
    assert len(caught) == 1 and caught[0].filename == __file__
    assert "source split" in one.flags and "source cut" not in one.flags
    assert one.sentences[-1].source == LONG
    with pytest.warns(UserWarning, match="too long") as caught:
        assert translator.translate([f"{TEXT}\n{LONG}"], split=True) == [one.text]
    assert len(caught) == 1 and caught[0].filename == __file__


def test_what_does_not_go_together_is_refused(translator, toy_translator):
    with pytest.raises(ValueError, match="Received: source_language='de', split=False"):
        translator.translate(["wir"], source_language="de", split=False)
    with pytest.raises(TypeError, match="Received: texts=7"):
        translator.split_translations(7)
    with pytest.raises(ValueError, match="Received: prefixes, split=True"):
        toy_translator.translate(["wir"], prefixes=["we"], split=True)


@pytest.mark.prove
def test_the_search_is_the_one_that_was_asked_for(toy_translator):
    options = kformer.SearchOptions(beam_size=3, max_length=4)
    [one] = toy_translator.split_translations([TEXT], options, batch_size=2)
    expected = [best for best, *_ in toy_translator.translations(toy.SOURCES[:3], options)]
    assert [sentence.text for sentence in one.sentences] == [best.text for best in expected]
    assert one.flags == ("length limit",)
    assert toy_translator.translate([TEXT], beam_size=3, max_length=4, split=True) == [one.text]


def test_a_file_of_format_2_knows_its_language(translators):
    """In English, the day would end a sentence."""
    [one] = translators["tflite"].split_translations(["Am 3. Mai ruft Dr. Meier. Gut!"])
    assert [sentence.source for sentence in one.sentences] == ["Am 3. Mai ruft Dr. Meier.", "Gut!"]


def test_no_tensorflow_is_needed_to_split(toy_tflite):
    code = (
        "import sys\n"
        "from kformer.pocket import PocketTranslator\n"
        "print(PocketTranslator(sys.argv[1]).translate([sys.argv[2]], split=True))\n"
        "assert not {'tensorflow', 'keras'} & {*sys.modules}\n"
    )
    expected = kformer.load(toy_tflite).translate([TEXT], split=True)
    assert printed_by("-c", code, toy_tflite, TEXT) == f"{expected}\n"
