"""A newer kformer reads what an older one wrote.

`saved/VERSION` holds the three forms of a translator of the toy language (see toy.py), written by
that version's `kformer train` and `kformer export`, and what they said of some sentences.
"""

import json

import pytest

import kformer
from kformer.export import ServedTranslator
from kformer.pocket import PocketTranslator
from support import SAVED

VERSIONS = sorted(SAVED.iterdir())


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
@pytest.mark.parametrize(
    ("read", "name"),
    [
        (kformer.load, "translator.keras"),
        (ServedTranslator, "served"),
        (PocketTranslator, "translator.tflite"),
    ],
)
def test_it_says_what_it_said_then(folder, read, name):
    said = json.loads((folder / "said.json").read_text("utf-8"))
    assert read(folder / name).translate(list(said)) == list(said.values())
    assert len(set(said.values())) > 5


def test_there_is_something_of_the_first_version():
    assert VERSIONS[0].name == "0.1.0"
