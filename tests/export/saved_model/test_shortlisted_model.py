"""A SavedModel with a shortlist says what Python says with it."""

import json

import pytest

from kformer.export import ServedTranslator, export_saved_model
from support import toy


@pytest.mark.prove
@pytest.mark.parametrize("xla", [False, pytest.param(True, marks=pytest.mark.prove)])
def test_it_says_what_python_says(toy_translator, toy_shortlist, tmp_path, xla):
    full = toy_translator.translate(toy.SOURCES[:8])
    few = [toy_shortlist.ends, toy_shortlist.entries, toy_shortlist.order, toy_shortlist.always, 19]
    toy_translator.shortlist = type(toy_shortlist)(*few, vocabularies=toy_shortlist.vocabularies)
    try:
        version = export_saved_model(toy_translator, tmp_path / "toy", xla=xla)
        expected = toy_translator.translate(toy.SOURCES[:8])
    finally:
        toy_translator.shortlist = None
    assert ServedTranslator(version).translate(toy.SOURCES[:8]) == expected != full
    report = json.loads((version / "assets.extra" / "kformer.json").read_text("utf-8"))
    assert report["candidates"] == 19
