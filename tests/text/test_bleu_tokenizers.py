"""BLEU counts words where there are words: by tokenizers that fit the language."""

import importlib.util
import warnings

import pytest
import sacrebleu

from kformer.text.bleu_tokenizers import (
    TOKENIZERS,
    bleu_tokenizer,
    warn_of_tokenized,
    warn_without_words,
)
from kformer.text.scores import bleu, sentence_scorer

JAPANESE = [
    "犬が庭を走っている。",
    "彼は水泳が得意ではなかった。",
    "これはペンです。",
    "猫はどこですか。",
]
CHINESE = ["那只狗在花园里奔跑。", "他不太会游泳。", "我爱你。", "猫在哪里？"]
KOREAN = ["개가 정원에서 달린다.", "그는 수영을 잘하지 못했다.", "고양이는 어디에 있습니까?"]
PACKAGES = {"ja-mecab": ("MeCab", "ja"), "ko-mecab": ("mecab_ko", "ko")}


def one_character_changed(lines):
    return [line[:1] + "〇" + line[2:] for line in lines]


@pytest.fixture
def all_installed(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)


@pytest.mark.parametrize("references", [JAPANESE, CHINESE, KOREAN])
@pytest.mark.parametrize("tokenize", TOKENIZERS)
@pytest.mark.filterwarnings("ignore:The references have no spaces")
def test_scores_are_those_of_the_tokenizer_of_sacrebleu(tokenize, references):
    if tokenize in PACKAGES:
        pytest.importorskip(PACKAGES[tokenize][0])
    translations = one_character_changed(references)
    expected = sacrebleu.corpus_bleu(translations, [references], tokenize=tokenize)
    score = bleu(translations, references, tokenize=tokenize)
    assert score.value == expected.score
    assert f"|tok:{tokenize}" in score.signature


def test_one_changed_character_costs_a_line_without_spaces_its_words_but_not_its_characters():
    translations = one_character_changed(JAPANESE)
    with pytest.warns(UserWarning, match="no spaces between words"):
        assert bleu(translations, JAPANESE).value == 0
    assert 60 < bleu(translations, JAPANESE, tokenize="char").value < 100


@pytest.mark.parametrize(
    ("languages", "tokenizer"),
    [
        ("zh zho cmn_Hans zh-TW yue", "zh"),
        ("ja jpn ja-JP jpn_Jpan JA", "ja-mecab"),
        ("ko kor ko_KR", "ko-mecab"),
        ("th tha lo lao km khm_Khmr my mya_Mymr bo dzo", "char"),
        ("de eng fr-CA rus vi jav xx", "13a"),
    ],
)
def test_a_language_has_its_tokenizer(all_installed, languages, tokenizer):
    for language in languages.split():
        assert bleu_tokenizer(language=language) == tokenizer, language
        assert bleu_tokenizer("intl", language) == "intl"
    assert bleu_tokenizer() == "13a"


@pytest.mark.parametrize("language", ["zh", "ja", "ko", "de"])
def test_languages_that_sacrebleu_knows_have_the_same_tokenizer(all_installed, language):
    theirs = sacrebleu.BLEU._TOKENIZER_MAP.get(language, sacrebleu.BLEU.TOKENIZER_DEFAULT)
    assert bleu_tokenizer(language=language) == theirs


def test_every_tokenizer_of_sacrebleu_works_or_is_refused_because_of_its_download():
    assert set(TOKENIZERS) <= set(sacrebleu.BLEU.TOKENIZERS)
    for name in set(sacrebleu.BLEU.TOKENIZERS) - set(TOKENIZERS):
        with pytest.raises(ValueError, match=f"download the tokenizer '{name}'.*Received: tok"):
            bleu(CHINESE, CHINESE, tokenize=name)


@pytest.mark.parametrize("tokenize", ["13A", "", "mecab", 13])
def test_another_tokenizer_is_refused(tokenize):
    with pytest.raises(ValueError, match=f"`tokenize` must be one of 13a.*={tokenize!r}"):
        bleu(CHINESE, CHINESE, tokenize=tokenize)


@pytest.mark.parametrize("tokenize", PACKAGES)
def test_a_missing_package_is_named(tokenize, monkeypatch):
    package, extra = PACKAGES[tokenize]
    monkeypatch.setitem(__import__("sys").modules, package, None)
    message = rf"'{tokenize}' of BLEU needs packages: pip install 'kformer\[{extra}\]'"
    for arguments in ({"tokenize": tokenize}, {"language": extra}):
        with pytest.raises(ValueError, match=message):
            bleu(JAPANESE, JAPANESE, **arguments)


@pytest.mark.parametrize("tokenizer", ["13a", "intl", "none"])
@pytest.mark.parametrize(
    ("lines", "fitting"),
    [
        (JAPANESE, "ja-mecab or char"),
        (["コンピューターを使います。"], "ja-mecab or char"),
        (CHINESE, "zh or char"),
        (["แมวอยู่ที่ไหน", "ฉันรักคุณ มาก"], "char"),
        (["ແມວຢູ່ໃສ"], "char"),
        (["ឆ្មានៅឯណា"], "char"),
        (["ကြောင်ဘယ်မှာလဲ။", "ကျွန်တော်သည် ကျောင်းသို့သွားသည်။"], "char"),
        ([*["Der Hund rennt durch den Garten."] * 3, *JAPANESE], "ja-mecab or char"),
    ],
)
def test_lines_without_spaces_between_words_are_warned_of(tokenizer, lines, fitting):
    message = rf"tokenizer '{tokenizer}' .* use `tokenize` \(--tokenize\) {fitting}, or chrF"
    with pytest.warns(UserWarning, match=message) as caught:
        warn_without_words(lines, tokenizer)
    assert [one.filename for one in caught] == [__file__]


@pytest.mark.parametrize(
    "lines",
    [
        ["Der Hund rennt.", "Donaudampfschifffahrtsgesellschaft"],
        KOREAN,
        ["犬 が 庭 を 走っ て いる 。", "コンピューター を 使い ます 。"],
        ["那 只 狗 在 花园 里 奔跑 。"],
        ["แมว อยู่ ที่ไหน"],
        ["Li Xiaoming (李小明) was born in Beijing (北京) and lives there."] * 3,
        ["", "  ", "123 !"],
    ],
)
def test_other_lines_are_not(lines):
    with warnings.catch_warnings(record=True) as warned:
        warn_without_words(lines, "13a")
    assert not warned


@pytest.mark.parametrize("tokenizer", ["zh", "ja-mecab", "ko-mecab", "char"])
def test_tokenizers_without_need_of_spaces_are_not_warned_of(tokenizer):
    with warnings.catch_warnings(record=True) as warned:
        warn_without_words([*JAPANESE, *CHINESE], tokenizer)
    assert not warned


def test_tokenized_references_are_warned_of_once(caplog):
    lines = ["the dog runs ."] * 200 + ["a cat"] * 100
    with pytest.warns(UserWarning, match="as tokenized text does") as caught:
        score = bleu(lines, lines)
    assert [one.filename for one in caught] == [__file__]
    assert score.value == pytest.approx(100)
    assert not caplog.records  # sacreBLEU's own warning, which comes with every score.


@pytest.mark.parametrize(
    ("lines", "tokenizer"),
    [(["a dog ."] * 200, "none"), (["a dog .", "a cat", "a cow"] * 200, "13a"), ([], "13a")],
)
def test_other_references_are_not_warned_of(lines, tokenizer):
    with warnings.catch_warnings(record=True) as warned:
        warn_of_tokenized(lines, tokenizer)
    assert not warned


def test_the_sentences_of_a_student_are_compared_by_the_same_tokenizer():
    near, far = "犬が庭を走ってる。", "猫は寝ている。"
    by_words, by_characters = sentence_scorer("bleu"), sentence_scorer("bleu", language="th")
    assert by_words(near, JAPANESE[0]) == by_words(far, JAPANESE[0]) == 0
    assert by_characters(near, JAPANESE[0]) > by_characters(far, JAPANESE[0]) > 0
