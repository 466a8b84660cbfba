"""`kformer.identify`: the language of texts, by the classifier in the package."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kformer
from kformer.identification import identifier
from kformer.pocket import PocketClassifier

SENTENCES = {
    "ar": "أين تقع أقرب محطة للقطار من فضلك؟",
    "be": "Учора мы доўга гулялі па старым горадзе.",
    "bg": "Вчера дълго се разхождахме из стария град.",
    "cs": "Včera jsme se dlouho procházeli po starém městě.",
    "cy": "Mae'r plant yn chwarae yn yr ardd heddiw.",
    "da": "Jeg kunne godt tænke mig en kop kaffe og et stykke kage.",
    "de": "Gestern sind wir lange durch die alte Stadt gelaufen.",
    "el": "Χθες περπατήσαμε πολλή ώρα στην παλιά πόλη.",
    "en": "Yesterday we walked through the old town for a long time.",
    "eo": "Hieraŭ ni longe promenis tra la malnova urbo.",
    "es": "Ayer caminamos mucho tiempo por el casco antiguo.",
    "et": "Eile jalutasime kaua mööda vanalinna.",
    "eu": "Atzo luzaro ibili ginen alde zaharrean zehar.",
    "fa": "دیروز مدت زیادی در شهر قدیمی قدم زدیم.",
    "fi": "Eilen kävelimme pitkään vanhassakaupungissa.",
    "fr": "Hier, nous avons longtemps marché dans la vieille ville.",
    "he": "אתמול טיילנו זמן רב בעיר העתיקה.",
    "hi": "कल हम पुराने शहर में बहुत देर तक घूमे।",
    "hu": "Tegnap sokáig sétáltunk az óvárosban.",
    "hy": "Երեկ մենք երկար քայլեցինք հին քաղաքով։",
    "is": "Í gær gengum við lengi um gamla bæinn.",
    "it": "Ieri abbiamo camminato a lungo nella città vecchia.",
    "ja": "昨日は旧市街を長い間歩きました。",
    "ko": "어제 우리는 구시가지를 오래 걸었습니다.",
    "lt": "Vakar ilgai vaikščiojome po senamiestį.",
    "lv": "Vakar mēs ilgi staigājām pa vecpilsētu.",
    "nl": "Gisteren hebben we lang door de oude stad gelopen.",
    "pl": "Wczoraj długo spacerowaliśmy po starym mieście.",
    "pt": "Ontem caminhamos muito tempo pela cidade velha.",
    "ro": "Ieri ne-am plimbat mult timp prin orașul vechi.",
    "ru": "Вчера мы долго гуляли по старому городу.",
    "sv": "Igår gick vi länge genom den gamla staden.",
    "sw": "Jana tulitembea kwa muda mrefu katika mji wa zamani.",
    "th": "เมื่อวานเราเดินเล่นในเมืองเก่าเป็นเวลานาน",
    "tr": "Dün eski şehirde uzun süre yürüdük.",
    "uk": "Учора ми довго гуляли старим містом.",
    "ur": "کل ہم پرانے شہر میں دیر تک گھومتے رہے۔",
    "vi": "Hôm qua chúng tôi đi bộ rất lâu trong khu phố cổ.",
    "zh": "昨天我们在老城区走了很久。",
}


def test_sentences_have_their_languages():
    answers = kformer.identify(SENTENCES.values())
    assert [answer.language for answer in answers] == [*SENTENCES]
    assert min(answer.confidence for answer in answers) > 0.5


@pytest.mark.parametrize("code", ["de", "fr", "ru", "tr", "pl"])
def test_capital_letters_do_not_matter(code):
    text = SENTENCES[code]
    assert kformer.identify(text.upper()).language == code


def test_at_least_sixty_languages_are_known():
    known = kformer.identification.languages()
    assert len({*known}) == len(known) >= 60
    assert {*SENTENCES} <= {*known} and "und" not in known


def test_a_script_of_one_language_needs_no_classifier(monkeypatch):
    monkeypatch.setattr(identifier, "_classifier", None)
    for code in ("el", "he", "hy", "ja", "ko", "th", "zh"):
        assert kformer.identify(SENTENCES[code]).language == code


def test_the_file_is_a_classifier_of_at_most_two_megabytes():
    assert identifier.CLASSIFIER_FILE.stat().st_size <= 2_000_000
    classifier = PocketClassifier(identifier.CLASSIFIER_FILE)
    label, probabilities = classifier.predict(
        "gestern sind wir lange durch die alte stadt gelaufen"
    )
    assert label == "de" and math.isclose(probabilities.sum(), 1, abs_tol=1e-3)


@pytest.mark.parametrize("text", ["", "  \n", "42 + 1 = 43", "https://example.org", "<br>", "🙂!?"])
def test_a_text_without_words_is_in_no_language(text):
    assert kformer.identify(text) == ("und", 1.0, [])


@pytest.mark.parametrize(
    "text",
    [
        "Kei te haere ahau ki te toa ki te hoko taro",  # Māori.
        "Ngiyabonga kakhulu ngosizo lwakho namuhla ekuseni",  # Zulu.
        "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ",  # Cherokee, of a script that nothing here knows.
        "xkjq wvzzt qpfgh bbnmrt zzxcv",
    ],
)
def test_a_text_in_another_language_is_unknown(text):
    assert kformer.identify(text).language == "und"


def test_a_text_in_two_languages_is_mixed():
    text = f"{SENTENCES['de']} {SENTENCES['en']}"
    answer = kformer.identify(text)
    assert answer.language == "mul"
    assert {code for code, _ in answer.candidates} == {"de", "en"}
    assert math.isclose(answer.confidence, 1 - answer.candidates[0][1])


@pytest.mark.parametrize("code", ["ru", "ja", "ko", "el", "he"])
def test_latin_names_do_not_make_a_text_mixed(code):
    assert kformer.identify(f"{SENTENCES[code]} (Microsoft Windows)").language == code


def test_ideographs_are_japanese_beside_kana_and_else_chinese():
    assert kformer.identify("東京都庁").candidates == [("zh", 0.9), ("ja", pytest.approx(0.1))]
    assert kformer.identify("東京の都庁").language == "ja"


def test_only_the_possible_languages_are_candidates():
    for code, text in SENTENCES.items():
        answer = kformer.identify(text, [code, "sq"])
        assert {each for each, _ in answer.candidates} <= {code, "sq"}
        assert answer.language == code
    danish = SENTENCES["da"]
    assert kformer.identify(danish, ["nb", "th"]).candidates[0][0] == "nb"


def test_a_script_of_another_language_than_the_possible_ones_is_unknown():
    assert kformer.identify(SENTENCES["ko"], ["de", "ja"]).language == "und"


def test_each_text_is_identified_by_itself():
    texts = [*SENTENCES.values(), "", " ".join(SENTENCES.values())]
    together = kformer.identify(texts)
    assert together == [kformer.identify(text) for text in texts]
    assert kformer.identify(reversed(texts)) == together[::-1]
    assert kformer.identify([]) == []


def test_threads_may_share_the_identifier():
    texts = [*SENTENCES.values()] * 3
    with ThreadPoolExecutor(8) as threads:
        assert [*threads.map(kformer.identify, texts)] == kformer.identify(texts)


def test_the_length_of_a_text_does_not_matter():
    for code in ("de", "fr", "ru", "hi"):
        assert kformer.identify((SENTENCES[code] + " ") * 2000).language == code


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=200), max_size=3))
def test_any_text_has_an_answer(texts):
    for answer in kformer.identify(texts):
        parts = [part for _, part in answer.candidates]
        assert parts == sorted(parts, reverse=True) and len(parts) <= 5
        assert 0 <= answer.confidence <= 1 + 1e-6 and sum(parts) <= 1 + 1e-6
        assert all(isinstance(part, float) for part in parts)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((3,), TypeError, r"texts=3"),
        ((["a", 3],), TypeError, r"3"),
        (("a", ["de", "xx"]), ValueError, r"languages.* Received: .*'xx'"),
        (("a", []), ValueError, r"a possible language. Received: languages=\[\]"),
    ],
)
def test_wrong_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        kformer.identify(*arguments)


def test_numbers_are_those_of_python():
    answer = kformer.identify(SENTENCES["de"])
    assert not isinstance(answer.confidence, np.generic)
