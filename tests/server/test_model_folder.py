"""A folder of models that is served, while its files come, change and go."""

import concurrent.futures
import json
import os
import shutil
import time

import pytest

import kformer
from kformer.server import host
from kformer.server.hosted_files import saved_forms_in
from kformer.server.refusals import Refusal
from support import toy
from support.serving.served_api import served_api

OF_CTRANSLATE2 = [
    f"other/{name}" for name in ("model.bin", "config.json", "source.spm", "target.spm")
]
TEXT = toy.SOURCES[0]


@pytest.fixture
def folder(toy_tflite, tmp_path):
    for name in ("one", "two"):
        shutil.copyfile(toy_tflite, tmp_path / f"{name}.tflite")
    return tmp_path


def names(models):
    return [model.name for model in models]


def settled(models):
    """Renews a list of models after two looks at their files, as a server does."""
    for _ in range(2):
        models[:] = models.changed()
    return names(models)


def test_each_model_of_a_folder_has_the_name_of_its_file_and_loads_when_used(folder):
    (folder / "README.md").write_text("Models.")
    (folder / "one.tflite.json").write_text("{}")  # The report of an export.
    (folder / ".three.tflite").write_bytes(b"is being written")
    models = host([folder])
    assert names(models) == ["one", "two"]
    assert [model.held.model for model in models] == [None, None]
    [row] = models[1].signatures["serving_default"].answer({"text": [TEXT]})
    assert row["translation"] == kformer.load(folder / "two.tflite").translate(TEXT)
    assert models[1].held.model is not None
    assert (models[0].counts.loads, models[1].counts.loads) == (1, 2)


def test_all_saved_forms_of_a_folder_are_seen(folder):
    for file in ("served/1/saved_model.pb", *OF_CTRANSLATE2):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text("{}")
    (folder / "run").mkdir()
    (folder / "run" / "translator.keras").write_bytes(b"PK")
    (folder / "route.json").write_text('{"route": ["one.tflite", "two.tflite"]}')
    (folder / "notes").mkdir()
    seen = dict(saved_forms_in(folder))
    assert [*seen] == ["one", "other", "route", "run", "served", "two"]
    assert seen["run"] == folder / "run" / "translator.keras"


def test_a_broken_model_among_many_is_named_and_left_out(folder):
    said = []
    content = (folder / "one.tflite").read_bytes()
    (folder / "damaged.tflite").write_bytes(content[: len(content) // 2])
    models = host([folder], say=said.append)
    assert names(models) == ["one", "two"]
    [line] = said
    assert line.startswith(f"{folder / 'damaged.tflite'} is not served: A .tflite file has")
    assert settled(models) == ["one", "two"]
    assert len(said) == 1  # It is not tried again.
    (folder / "damaged.tflite").write_bytes(content)
    assert settled(models) == ["one", "two", "damaged"]


def test_a_folder_without_a_model_that_works_is_refused(tmp_path):
    (tmp_path / "damaged.tflite").write_bytes(b"no model")
    with pytest.raises(ValueError, match=f"one model or more .*Received: {tmp_path}"):
        host([tmp_path], say=lambda line: None)


def test_models_come_change_and_go_with_their_files(folder, classifier_tflite):
    said = []
    models = host([folder], say=said.append)
    first, second = models
    assert settled(models) == ["one", "two"]
    assert models[0] is first
    shutil.copyfile(classifier_tflite(), folder / "new.tflite")
    shutil.copyfile(classifier_tflite(), folder / "two.tflite")
    assert names(models.changed()) == ["one", "two"]  # They may be half-written.
    assert settled(models) == ["one", "two", "new"]
    assert [model.kind.name for model in models] == ["translator", "classifier", "classifier"]
    assert models[1].counts is second.counts
    with pytest.raises(Refusal, match="two is being replaced") as refused:  # To an old request.
        second.signatures["serving_default"].answer({"text": [TEXT]})
    assert refused.value.retry_after
    (folder / "one.tflite").write_bytes(b"damaged")
    assert settled(models) == ["one", "two", "new"]
    (folder / "one.tflite").unlink()
    assert settled(models) == ["two", "new"]
    assert [line.partition(" ")[0] for line in said] == [
        "two",
        str(folder / "one.tflite"),
        str(folder / "one.tflite"),
    ]


def test_a_model_that_changes_loses_no_request(folder, short_tflite):
    path = folder / "one.tflite"
    expected = {kformer.load(path).translate(TEXT), kformer.load(short_tflite()).translate(TEXT)}
    replacement = shutil.copyfile(short_tflite(), folder / ".new")
    os.utime(replacement, (1, 1))

    def ask(_):
        response = api.ask("/v1/models/one:predict", {"instances": [TEXT]})
        assert response.status == 200, response.json
        return response.json["predictions"][0]["translation"] in expected

    with served_api(folder, "--quiet") as api:
        state = {"status": "ok", "models": 2, "loaded": 0, "loading": []}
        assert api.ask("/health").json == state
        with concurrent.futures.ThreadPoolExecutor(4) as clients:
            answers = [*clients.map(ask, range(20))]
            folder.rename(away := folder.with_name("away"))
            time.sleep(1.5)  # The server looks for its folder.
            away.rename(folder)
            replacement.replace(path)
            while api.ask("/v1/models").json["data"][0]["created"] != 1:
                answers += clients.map(ask, range(8))
            answers += clients.map(ask, range(8))
        assert all(answers)
        metrics = api.ask("/metrics").content.decode()
        _, log = api.end()
    rows = float(len(answers))
    assert f'kformer_model_wait_seconds_count{{model="one"}} {rows}' in metrics
    assert 'kformer_model_loads_total{model="two"} 1.0' in metrics
    assert 'kformer_model_loaded{model="two"} 0.0' in metrics
    said = [line["message"] for line in map(json.loads, log.splitlines()) if "message" in line]
    assert said == [f"one is now what {path} holds."]
