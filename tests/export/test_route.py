"""Translators one behind the other, in Python and wherever a model can stand."""

import json
import re

import pytest

import kformer
from kformer import AnyTranslator, Translation
from kformer.inference.engine import Engine, Rated
from kformer.inference.facts import ModelFacts
from kformer.pocket.demo_translator import DEMO_FILE
from kformer.server.hosted_files import host


class WordEngine(Engine):
    """Translates word by word; flags what it does not know, and estimates its quality."""

    def __init__(self, words, languages, quality=None):
        source, target = languages
        self.words, self.quality = words, quality
        self.facts = ModelFacts(
            about={"source_language": source},
            target_language=target,
            choices=None,
            scores=True,
            no_terms=None,
        )

    def search(self, sentences, request):
        self.asked = request.options
        return [
            [self._answer(" ".join(self.words.get(word, word) for word in text.split()), text)]
            for text in sentences
        ]

    def rate(self, sentences, translations, request):
        pairs = zip(sentences, translations, strict=True)
        return [Rated(self._answer(text, sentence), -len(text.split())) for sentence, text in pairs]

    def _answer(self, text, source):
        flags = tuple(f"no {word}" for word in source.split() if word not in self.words)
        return Translation(text, -float(len(text.split())), flags, quality=self.quality)


class Words(AnyTranslator):
    def __init__(self, *arguments):
        self.engine = WordEngine(*arguments)


ENGLISH = Words({"hund": "dog", "katze": "cat", "und": "and"}, ("de", "en"), 0.9)
PORTUGUESE = Words({"dog": "cão", "cat": "gato", "and": "e"}, ("en", "pt"), 0.8)
SPANISH = Words({"cão": "perro", "gato": "gato", "e": "y"}, ("pt", "es"))


@pytest.fixture(scope="module")
def route():
    return kformer.Route([ENGLISH, PORTUGUESE])


def test_each_translates_what_the_one_before_wrote(route):
    assert route.translate(["hund und katze", "", "katze"]) == ["cão e gato", "", "gato"]
    three = kformer.Route([ENGLISH, PORTUGUESE, SPANISH])
    assert three.translate("hund und katze") == "perro y gato"
    assert three.translate("hund") == kformer.Route([route, SPANISH]).translate("hund")


def test_flags_scores_and_doubts_are_those_of_all_hops(route):
    [best] = route.translations("hund oder katze")
    expected = ("no oder",)  # Both hops have it, and it is said once.
    assert (best.text, best.score, best.flags, best.quality) == ("cão oder gato", -6, expected, 0.8)
    assert kformer.Route([route, SPANISH]).translations("hund")[0].quality is None


def test_the_terms_of_a_glossary_are_forced_by_the_last_one(route):
    [best, other] = route.translations(["hund und katze", "katze"], glossary={"hund": "lobo"})
    assert best[0].text.split()[0] == "lobo" and "gato" in best[0].text
    assert best[0].flags == () and other[0].text == "gato"


def test_options_reach_every_hop_and_several_answers_the_last_one(route):
    route.translations("hund", beam_size=3, n_best=2, max_length=7)
    first, last = ENGLISH.engine.asked, PORTUGUESE.engine.asked
    assert (first.beam_size, first.n_best, first.max_length) == (3, 1, 7)
    assert (last.beam_size, last.n_best, last.max_length) == (3, 2, 7)


def test_its_languages_are_the_first_source_and_the_last_target(route):
    assert (route.source_language, route.target_language) == ("de", "pt")


@pytest.mark.parametrize(
    ("translators", "error", "message"),
    [
        ([ENGLISH], ValueError, "Received: 1"),
        ([PORTUGUESE, ENGLISH], ValueError, "writes 'pt' before one that reads 'de'"),
        ([ENGLISH, str.upper], TypeError, "translators[1]=<method 'upper'"),
    ],
)
def test_what_makes_no_route_is_refused(translators, error, message):
    with pytest.raises(error, match=re.escape(message)):
        kformer.Route(translators)


def test_markup_and_placeholders_survive_all_hops(tmp_path):
    """Through two translators that copy stand-ins, as real models do."""
    route = kformer.Route([ENGLISH, PORTUGUESE])
    page = tmp_path / "page.html"
    page.write_text("<p>hund <b>und</b> {name} katze</p>\n")
    report = kformer.translate_document(page, route, tmp_path / "out.html")
    assert report.unplaced == ()
    assert (tmp_path / "out.html").read_text() == "<p>cão <b>e</b> {name} gato</p>\n"


@pytest.fixture(scope="module")
def route_file(tmp_path_factory, toy_keras):
    """A route of the model in the package and of one whose languages are not known."""
    path = tmp_path_factory.mktemp("route") / "both.json"
    path.write_text(json.dumps({"route": [str(DEMO_FILE), str(toy_keras)]}))
    return path


@pytest.fixture(scope="module")
def expected(toy_translator):
    return toy_translator.translate(kformer.demo().translate(TEXTS))


TEXTS = ["Ein Hund läuft.", "Guten Morgen!", ""]


def test_a_file_that_names_models_is_a_model(route_file, expected):
    route = kformer.load(route_file)
    assert isinstance(route, kformer.Route)
    assert route.translate(TEXTS) == expected


def test_the_command_line_has_it(command, route_file, expected):
    result = command("translate", route_file, *TEXTS)
    assert result.stdout.splitlines() == expected
    shown = command("inspect", route_file).stdout
    assert "translator" in shown and "languages   de -> ?" in shown


def test_the_server_has_it(route_file, expected):
    [hosted] = host([f"far={route_file}"])
    rows = hosted.signatures["serving_default"].answer({"text": TEXTS})
    assert [row["translation"] for row in rows] == expected
    assert (hosted.name, hosted.source_language) == ("far", "de")


def test_a_file_of_models_that_do_not_follow_is_refused(tmp_path):
    path = tmp_path / "twice.json"
    path.write_text(json.dumps({"route": [str(DEMO_FILE)] * 2}))
    with pytest.raises(ValueError, match="writes 'en' before one that reads 'de'"):
        kformer.load(path)


def test_a_file_that_names_itself_is_refused(tmp_path):
    path = tmp_path / "self.json"
    path.write_text(json.dumps({"route": ["self.json", "self.json"]}))
    with pytest.raises(ValueError, match=r"names no other route\. Received: .*self\.json"):
        kformer.load(path)


@pytest.mark.parametrize("content", ['{"route": "a"}', '{"route": ["missing.tflite"]}', "{}"])
def test_a_wrong_file_is_refused(content, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises((ValueError, FileNotFoundError), match=r"Received: .*(a\.json|missing|0)"):
        kformer.load(path)
