"""The pocket translator: a `.tflite` file, run without TensorFlow, says what Python says."""

import json
import random
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from kformer.pocket import PocketTranslator
from kformer.pocket.pocket_text import text_in
from support import SAVED, toy
from support.processes import printed_by

S = toy.SHORT


@pytest.fixture(scope="module")
def exported(short_tflite):
    return short_tflite()


@pytest.fixture(scope="module")
def batched(short_tflite):
    """A file of several lengths and batches."""
    return short_tflite(batch_size=5)


@pytest.fixture
def copied(exported, tmp_path):
    """A copy of a translator, to be spoilt."""
    return Path(shutil.copy(exported, tmp_path))


@pytest.fixture
def old(tmp_path):
    """A copy of a translator of format 1, with its files beside it."""
    for file in SAVED.glob("0.1.0/translator.*"):
        shutil.copy(file, tmp_path)
    return tmp_path / "translator.tflite"


OLD = SAVED / "0.1.0/said.json"


def change_manifest(path, **changes):
    """Changes the metadata; None removes a key."""
    manifest = json.loads(path.with_suffix(".tflite.json").read_text()) | changes
    manifest = {key: value for key, value in manifest.items() if value is not None}
    path.with_suffix(".tflite.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("workers", [1, 2])
def test_vectors_are_those_of_python(exported, toy_translator, workers):
    texts, done = [*toy.SOURCES[:9], "", "das häus 🐕", "wir ruft\0uns ."], []
    vectors = PocketTranslator(exported, workers).encode(texts, done.append)
    assert vectors.dtype == np.float32 and sum(done) == len(texts)
    np.testing.assert_allclose(vectors, toy_translator.encode(texts), atol=1e-4)
    with pytest.warns(UserWarning, match=rf"Sentence 2 has \d+ ids, .* of {S}: .* were encoded"):
        [_, cut] = PocketTranslator(exported).encode(["wir", "wir " * 40])
    assert np.abs(cut).max() > 0


@pytest.mark.prove
def test_vectors_of_an_int8_file_are_nearly_those(short_tflite, toy_translator):
    vectors = PocketTranslator(short_tflite(precision="int8")).encode(toy.SOURCES)
    expected = toy_translator.encode(toy.SOURCES)
    norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(expected, axis=1)
    assert (np.sum(vectors * expected, axis=1) / norms).min() > 0.99


@pytest.mark.parametrize("beam_size", [1, pytest.param(3, marks=pytest.mark.prove)])
def test_it_translates_as_python_does(short_tflite, toy_translator, beam_size):
    texts = [*toy.SOURCES, "", "  ", "das häus 🐕", "e\u0301 ﬁ ½ \u2581", "wir \ud800 ruft"]
    texts += ["wir ruft\0uns .", "\0wir ruft uns .\0\0", "\0"]
    expected = toy_translator.translate(texts, beam_size=beam_size)
    assert PocketTranslator(short_tflite(beam_size)).translate(texts) == expected


@pytest.mark.prove
@pytest.mark.parametrize(("count", "workers"), [(1, 3), (3, 1), (4, 3), (5, 1), (23, 1), (40, 3)])
def test_batches_and_several_workers_do_not_change_translations(
    toy_translator, batched, count, workers
):
    sources = [toy.SOURCES[i % len(toy.SOURCES)] for i in range(count)]
    texts = [" ".join(source.split()[: 2 + i % 6]) for i, source in enumerate(sources)]
    done = []
    translations = PocketTranslator(batched, workers).translate(texts, progress=done.append)
    assert translations == toy_translator.translate(texts)
    assert sum(done) == count


def test_no_text_has_no_translation(exported):
    assert PocketTranslator(exported).translate([]) == []


def test_blank_text_stays_blank(exported):
    assert PocketTranslator(exported).translate(["", " \t ", "wir"])[:2] == ["", ""]


def test_progress_counts_sentences(exported):
    done = []
    PocketTranslator(exported).translate(toy.SOURCES[:3], progress=done.append)
    assert done == [1, 1, 1]


@pytest.mark.prove
@pytest.mark.parametrize("batches", [False, True])
def test_flags_are_those_of_python(exported, batched, toy_translator, batches):
    texts = ["", *toy.SOURCES[:5], "hund " * 9, "katze " * 3]
    expected = toy_translator.translations(texts, details=False)
    found = PocketTranslator(batched if batches else exported).translations(texts)
    assert [[(best.text, best.flags) for best in row] for row in found] == [
        [(best.text, best.flags)] for best, *_ in expected
    ]
    assert any(best.flags for [best] in found)


@pytest.mark.prove
def test_text_over_the_limit_is_cut_with_a_warning(exported, toy_translator):
    [pieces] = toy_translator.tokenizer.tokenize([" ".join(toy.SOURCES[:9])]).to_list()
    whole, part = (
        toy_translator.tokenizer.detokenize([ids]).numpy()[0].decode()
        for ids in (pieces[: S + 3], pieces[: S - 1])
    )
    message = f"Sentence 2 has {S + 4} ids, over the limit of {S}: only its first {S - 1}"
    with pytest.warns(UserWarning, match=message):
        translations = PocketTranslator(exported).translate(["wir", whole], split=False)
    assert translations == toy_translator.translate(["wir", part], split=False)


@pytest.mark.prove
def test_the_longest_text_allowed_is_no_cause_for_a_warning(exported, toy_translator):
    [pieces] = toy_translator.tokenizer.tokenize([" ".join(toy.SOURCES[:9])]).to_list()
    text = toy_translator.tokenizer.detokenize([pieces[: S - 1]]).numpy()[0].decode()
    expected = toy_translator.translate([text])
    assert PocketTranslator(exported).translate([text]) == expected  # Warnings are errors.


@pytest.mark.prove
def test_it_runs_where_tensorflow_is_never_imported(exported, toy_translator):
    code = (
        "import json, sys\n"
        "from kformer.pocket import PocketTranslator\n"
        "path, *texts = sys.argv[1:]\n"
        "print(json.dumps(PocketTranslator(path).translate(texts)))\n"
        "assert not {'tensorflow', 'keras', 'sentencepiece', 'google'} & {*sys.modules}\n"
    )
    texts = toy.SOURCES[:5]
    assert json.loads(printed_by("-c", code, exported, *texts)) == toy_translator.translate(texts)


def test_its_file_may_move_and_be_renamed(copied, toy_translator):
    folder = copied.parent / "elsewhere" / "ä b"
    folder.mkdir(parents=True)
    moved = copied.rename(folder / "renamed.tflite")
    texts = toy.SOURCES[:3]
    assert PocketTranslator(moved).translate(texts) == toy_translator.translate(texts)


def test_a_zero_ends_a_translation():
    """As in the web page and in C, where a string ends there, too."""
    assert text_in(np.frombuffer("mäus\0\0".encode(), np.uint8)) == "mäus"
    assert text_in(np.zeros(4, np.uint8)) == ""


def test_text_over_the_limit_of_bytes_is_cut_with_a_warning(exported):
    text = "wir" + " " * 6 * S + "ruft"
    message = f"Sentence 1 has {len(text)} bytes, over the limit of {6 * S}: only its first {6 * S}"
    with pytest.warns(UserWarning, match=message):
        [translation] = PocketTranslator(exported).translate([text], split=False)
    assert translation == PocketTranslator(exported).translate(["wir"])[0]


def test_it_returns_the_ids_of_a_text(exported, toy_translator):
    translator = PocketTranslator(exported)
    ids, whole = translator.tokenize("wir ruft uns .")
    assert whole
    assert ids == toy_translator.tokenizer.encode(["wir ruft uns ."])[0].numpy().tolist()
    ids, whole = translator.tokenize(" ".join(toy.SOURCES[:9]))
    assert len(ids) == S and not whole


def test_a_file_of_format_1_encodes_no_texts(old):
    with pytest.raises(ValueError, match=r"signature 'encode_text' .* a file of kformer 0\.1"):
        PocketTranslator(old).encode(["wir"])


def test_it_reads_files_of_format_1(old):
    said = json.loads(OLD.read_text("utf-8"))
    translator = PocketTranslator(old)
    assert translator.translate(list(said)) == list(said.values())
    with pytest.warns(UserWarning, match="ids, over the limit of 128: only its first 127"):
        translator.translate(["wir " * 200])


def test_a_missing_model_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no such file. Received: '.*missing.tflite'"):
        PocketTranslator(tmp_path / "missing.tflite")


def test_a_file_without_metadata_is_refused(old):
    old.with_suffix(".tflite.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"translator\.tflite', without 'translator.tflite"):
        PocketTranslator(old)


def test_a_missing_tokenizer_is_refused(old):
    (old.parent / "translator.source.model").unlink()
    with pytest.raises(FileNotFoundError, match=r"Received: no file '.*translator.source.model'"):
        PocketTranslator(old)


@pytest.mark.parametrize("content", [b"", b"no model"])
def test_a_broken_tokenizer_is_refused(old, content):
    (old.parent / "translator.source.model").write_bytes(content)
    with pytest.raises(ValueError, match=r"SentencePiece model. Received: '.*source.model'"):
        PocketTranslator(old)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", "null", '{"format": "new"}', "\xff"])
def test_broken_metadata_is_refused(old, content):
    old.with_suffix(".tflite.json").write_text(content, "latin-1")
    with pytest.raises(
        ValueError, match=r"as the export wrote it. Received: '.*translator.tflite.js"
    ):
        PocketTranslator(old)


def test_metadata_without_a_needed_key_is_refused(old):
    change_manifest(old, end_id=None, source_model=None)
    with pytest.raises(ValueError, match=r"json' \(it must have 'end_id', 'source_model'\)"):
        PocketTranslator(old)


def test_metadata_of_a_newer_format_is_refused(copied):
    manifest = json.dumps({"format": 3})
    content = copied.read_bytes()
    with zipfile.ZipFile(copied, "w") as archive:
        archive.writestr("kformer.json", manifest)
    copied.write_bytes(content[: len(content) // 2] + copied.read_bytes())
    with pytest.raises(ValueError, match=r"format 2; update it. Received: format=3 in '.*tflite'"):
        PocketTranslator(copied)


@pytest.mark.parametrize("kept", [0, 9, 0.5, 0.99])
def test_a_broken_model_is_refused(old, kept):
    content = old.read_bytes()
    old.write_bytes(content[: kept if isinstance(kept, int) else int(kept * len(content))])
    with pytest.raises(ValueError, match=r"must be a TFLite model .* Received: '.*tor.tflite'"):
        PocketTranslator(old)


@pytest.mark.parametrize("kept", [0, 9, 0.5, 0.99])
def test_a_truncated_file_is_refused(copied, kept):
    content = copied.read_bytes()
    copied.write_bytes(content[: kept if isinstance(kept, int) else int(kept * len(content))])
    with pytest.raises(FileNotFoundError, match=r"its metadata at its end.* Received: '.*toy.tfl"):
        PocketTranslator(copied)


def test_a_model_without_the_signature_is_refused(old):
    change_manifest(old, signature="translate")
    with pytest.raises(ValueError, match=r"a signature 'translate'. Received: '.*tor.tflite'"):
        PocketTranslator(old)


def test_a_bit_that_changed_is_an_error_and_no_other_translation(short_tflite, tmp_path):
    content = short_tflite().read_bytes()
    size = PocketTranslator(short_tflite(), workers=1).manifest["model_bytes"]
    assert size < len(content)
    path = tmp_path / "flipped.tflite"
    for place in random.Random(3).sample(range(size), 20):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        with pytest.raises(ValueError, match=r"was damaged or changed\. Received: '.*flipped"):
            PocketTranslator(path)
