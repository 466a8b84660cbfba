"""A file that changes on the disk does not change the model that was loaded from it."""

import os
import shutil
from pathlib import Path

import pytest

from kformer.pocket import PocketTranslator
from kformer.pocket.held_file import HeldFile
from kformer.pocket.workers import ProcessWorker
from pocket.test_workers import inputs_of
from support import toy


@pytest.fixture
def path(toy_tflite, tmp_path):
    return shutil.copyfile(toy_tflite, tmp_path / "a.tflite")


@pytest.mark.parametrize("damage", ["overwritten", "emptied"])
def test_a_model_stays_as_it_was_loaded_when_its_file_is_overwritten_in_place(path, damage):
    translator, texts = PocketTranslator(path), toy.SOURCES[:3]
    expected = translator.translate(texts)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.write(b"\x07" * size) if damage == "overwritten" else file.truncate(0)
    assert translator.translate(texts) == expected
    assert translator.translate(texts * 100)[:3] == expected  # Other workers, and bulk text.
    with pytest.raises((ValueError, FileNotFoundError)):
        PocketTranslator(path)


def test_processes_share_the_copy(short_tflite, tmp_path):
    path = shutil.copyfile(short_tflite(), tmp_path / "a.tflite")
    held = HeldFile(path)
    path.unlink()
    worker, inputs = ProcessWorker(held), inputs_of("translate")
    expected = ProcessWorker(short_tflite())("translate", **inputs)
    assert worker("translate", **inputs)["ids"].tolist() == expected["ids"].tolist()


@pytest.mark.parametrize("has_memory", [True, False])
def test_the_copy_goes_with_the_model(path, has_memory, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    if not has_memory:  # As on systems other than Linux.
        monkeypatch.delattr(os, "memfd_create")
    held = HeldFile(path)
    place = Path(os.fspath(held))
    assert str(held) == str(path) != str(place)
    assert held.stat().st_size == path.stat().st_size
    assert place.read_bytes() == path.read_bytes()
    others = [child for child in tmp_path.iterdir() if child != path]
    assert others == ([] if has_memory else [place])
    del held
    assert not place.exists()
