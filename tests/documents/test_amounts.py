"""A model writes amounts as its language does; an amount whose digits are lost comes back."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from kformer.documents.amounts import is_amount, lacks_amounts
from kformer.documents.document_translation import translate_markup
from kformer.documents.placeholders import keep_pattern


def translated(text, answer, **options):
    """Returns the translation of a text, and what the translator was asked.

    The answer is to the text with all its amounts; to others it is "-".
    """
    asked = []

    def translate(texts):
        asked.extend(texts)
        return [answer if each == text else "-" for each in texts]

    [(result, _)] = translate_markup([text], translate, kind="text", **options)
    return result, asked


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("It costs US$ 4,200.00 now", "Custa agora US$ 4.200,00"),
        ("They paid £2.8bn", "Pagaram 2,8 mil milhões de libras"),
        ("They paid $3.6bn", "Pagaram 3,6 mil milhões de dólares"),
        ("They paid £125m", "Pagaram 125 milhões de libras"),
        ("The race has 1,500 m", "A corrida tem 1500 metros"),
        ("The race has 1,500 m", "A corrida tem 1\u202f500 m"),
        ("The hill has 8,848.50 m", "Der Berg hat 8.848,5 m"),
        ("Half of it, 50%, is gone", "%50, yarısı, gitti"),
        ("Half of it, 50%, is gone", "٥٠٪ منها"),
        ("A room 500 km away", "Um quarto 12 500 km"),
    ],
)
def test_the_model_writes_an_amount_as_its_language_does(text, answer):
    assert translated(text, answer) == (answer, [text])


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("They paid £2.8bn", "Pagaram 2,7 mil milhões"),
        ("The road has 1.5 km", "A estrada tem 15 km"),
        ("The road has 15 km", "A estrada tem 1,5 km"),
        ("It costs $5 or 5 €", "Custa $5"),
        ("The road has 5 km", "A estrada é longa"),
        ("A race of 1,500 m", "Uma corrida de 21 500 m"),
    ],
)
def test_amounts_whose_digits_are_lost_come_back(text, answer):
    result, asked = translated(text, answer)
    amounts = keep_pattern(["quantity"]).findall(text)
    assert all(result.count(amount) == 1 for amount in amounts) and "-" in result
    assert len(asked) == 2 and not any(amount in asked[1] for amount in amounts)
    assert translated(text, answer, keep=["url"]) == (answer, [text])


def test_an_amount_stays_in_the_text_if_a_placeholder_is_lost():
    asked = []

    def translate(texts):
        asked.extend(texts)
        return [text.replace("{name}", "").upper() for text in texts]

    [(result, _)] = translate_markup(["{name} paid £2.8bn"], translate, kind="text")
    assert result == "{name} PAID £2.8BN" and asked == ["{name} paid £2.8bn", "paid £2.8bn"]


AMOUNTS = st.tuples(
    st.sampled_from(["", "$", "£", "US$ ", "€"]),
    st.integers(0, 10**9),
    st.sampled_from(["{:,}", "{:,}.25", "{}", "{}.5", "{:_}"]),
    st.sampled_from([" km", "%", "bn", "m", " €", ""]),
)


@given(AMOUNTS, st.sampled_from(["", " ", "x", ".", ", and ", "é", "'"]))
def test_no_match_is_a_part_of_a_number(amount, behind):
    currency, number, form, unit = amount
    written = currency + form.format(number).replace("_", " ") + unit
    for match in keep_pattern(["quantity"]).finditer(f"Of {written}{behind}"):
        assert match[0].strip(currency + unit) == form.format(number).replace("_", " ").strip(
            currency + unit
        )


@given(AMOUNTS)
def test_an_amount_has_its_own_digits(amount):
    currency, number, form, unit = amount
    written = currency + form.format(number).replace("_", " ") + unit
    if is_amount(written):
        assert not lacks_amounts([written], written.replace(",", "\u202f"))
        assert not lacks_amounts([written], written.translate({44: ".", 46: ","}))
        assert lacks_amounts([written], currency + form.format(number + 1) + unit)
