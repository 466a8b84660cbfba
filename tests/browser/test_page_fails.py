"""What the web page says where it cannot translate."""

import json
import shutil
import zipfile

import pytest
import tensorflow as tf

MODEL = "translator.tflite"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file: None, "could not be fetched: the server answered 404"),
        (lambda file: b"", "not whole"),
        (lambda file: file[: len(file) // 2], "not whole"),
        (lambda file: bytes(len(file) - 9_000) + file[-9_000:], "was damaged or changed"),
        (lambda file: file.replace(b'"format": 2', b'"format": 3'), "newer than this page"),
        (lambda file: file.replace(b"kformer.json", b"another.json"), "holds no translator"),
    ],
    ids=["missing", "empty", "half", "zeros", "newer", "no metadata"],
)
def test_a_broken_file_shows_an_error(browser, changed, change, message):
    with changed(MODEL, change) as address:
        said = browser("open", address)
    assert said["state"] == "failed"
    assert said["status"] == "The translator could not be loaded"
    assert message in said["failure"] and len(said["failure"]) > 10
    assert said["lines"] == []


def failing(folder):
    """A file whose `translate` fails for a source that begins with "x": it looks beyond a table."""

    class Failing(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([768], tf.uint8, "source")])
        def translate(self, source):
            first = tf.cast(source[:1], tf.int32)  # LiteRT does not compare uint8.
            beyond = tf.cast(first == ord("x"), tf.int32) * 999
            shifted = tf.gather(tf.range(3), beyond)  # Fails there.
            translation = tf.cast(tf.cast(source, tf.int32) + shifted, tf.uint8)
            return {
                "translation": translation,
                "truncated": shifted,
                "source_ids": tf.fill([5], 3) + shifted,
                "ids": tf.fill([6], 3) + shifted,
            }

    module = Failing()
    tf.saved_model.save(module, str(folder), {"translate": module.translate})
    converter = tf.lite.TFLiteConverter.from_saved_model(str(folder), signature_keys=["translate"])
    return converter.convert()


def test_an_operation_that_fails_shows_an_error_and_never_garbage(browser, changed, tmp_path):
    content = failing(tmp_path / "saved")

    def change(file):
        path = tmp_path / "failing.tflite"
        with zipfile.ZipFile(_written(tmp_path / "whole", file)) as archive:
            manifest = json.loads(archive.read("kformer.json"))
        del manifest["sha256"]  # Of another model.
        path.write_bytes(content)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("kformer.json", json.dumps(manifest))
        return path.read_bytes()

    with changed(MODEL, change) as address:
        assert browser("open", address)["state"] == "ready"
        assert browser("translate", "abc")["lines"] == ["abc"]
        failed = browser("translate", "xyz")
        assert failed["state"] == "failed" and failed["lines"] == []
        assert "gather index out of bounds" in failed["failure"]
        again = browser("translate", "abcd")
    assert (again["lines"], again["failure"], again["state"]) == (["abcd"], None, "ready")


def _written(path, content):
    path.write_bytes(content)
    return path


def test_opened_as_a_file_it_asks_for_a_server(browser, folder):
    said = browser("open", (folder / "index.html").as_uri())
    assert said["state"] == "failed"
    assert "python3 -m http.server" in said["failure"]


CODE = "litert/litert_wasm_internal.wasm"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda file: None,
            f"{CODE.split('/')[1]}, which runs the translator, could not be fetched",
        ),
        (lambda file: file[: len(file) // 2], "is damaged on the server"),
        (lambda file: b"<!DOCTYPE html>", "is damaged on the server"),
    ],
    ids=["missing", "half", "another"],
)
def test_without_litert_it_says_so_and_loads_again(
    browser, changed, folder, tmp_path, change, message
):
    with changed(CODE, change) as address:
        said = browser("open", f"{address}#text=wir")
        assert said["state"] == "failed" and message in said["failure"]
        assert said["source"] == "wir" and "Aborted" not in said["failure"]
        assert browser("count", "button", "Try again") == 1
        (tmp_path / "changed" / CODE).unlink(missing_ok=True)
        shutil.copy(folder / CODE, tmp_path / "changed" / CODE)
        again = browser("clickAndSettle", "Try again")
    assert (again["state"], again["failure"]) == ("ready", None)
    assert again["source"] == "wir" and again["lines"] != [""]


def test_a_missing_script_of_the_worker_is_said_in_words(browser, changed):
    with changed("litert-worker.js", lambda file: None) as address:
        said = browser("open", address)
    assert said["state"] == "failed"
    assert "a file of the page is missing or broken" in said["failure"]
