"""Documents by the saved forms of a translator: the same texts as alone, and tags in them."""

import re

import pytest

import kformer
from documents.test_round_trips import translated
from support import toy


@pytest.mark.prove
def test_every_form_translates_a_page(toy_model, toy_translator, tmp_path):
    translator = kformer.load(toy_model)
    first, second = toy.SOURCES[:2]
    page = (
        f"<h1>{first}</h1>\n<p><b>{first.split()[0]}</b> {' '.join(first.split()[1:])}<td>{second}"
    )
    output, report = translated(tmp_path, "page.html", page, translator, target_language="en")
    texts = [" ".join(text.split()) for text in re.split("<[^b/][^>]*>|</h1>", output.decode())]
    texts = [re.sub("</?b>", "", text) for text in texts if text]
    assert texts == toy_translator.translate([first, first, second])
    assert output.count(b"<b>") == output.count(b"</b>") == 1
    assert (report.segments, report.distinct) == (3, 2)
