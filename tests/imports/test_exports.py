"""An imported translator in the three saved forms: the same ids, translations and vectors."""

import keras
import numpy as np
import pytest

import kformer
from kformer.export import export_saved_model, export_tflite
from support.pretrained import marian

TEXTS = [
    "der hund schläft .",
    "meine mutter trinkt 猫 ☃☂ tee",
    "",
    " ",
    "☃☂ ☃",
    "ein ☃ haus",
    ">>fra<< der hund",
    "vater 😀 und mutter",
    " a  b ",
    "９９ ﬁ",
    "wir haben zwei kinder",
]
WORDS = marian.vocabulary((">>fra<<",))


@pytest.fixture(scope="module")
def translator(tmp_path_factory):
    keras.utils.set_random_seed(1)
    network = marian.transformer(WORDS.pieces)
    folder = tmp_path_factory.mktemp("pretrained") / "marian"
    config = {"max_position_embeddings": 24}  # Short, so that exports take less time.
    free = kformer.from_marian(marian.write_folder(folder, WORDS, network, **config))
    config["bad_words_ids"] = [[first_id(free)]]
    folder = folder.with_name("forbidding")
    return kformer.from_marian(marian.write_folder(folder, WORDS, network, **config))


def first_id(translator):
    """The first id of a translation: the likeliest there."""
    [[best]] = translator.translations(TEXTS[:1])
    return translator.target_tokenizer.tokenize([best.text]).to_list()[0][0]


def test_a_forbidden_id_is_not_written_and_keeps_its_probability(translator):
    [forbidden] = translator.transformer.forbidden_ids
    for beam_size in (1, 3):
        answers = translator.translate(TEXTS, beam_size=beam_size)
        rows = translator.target_tokenizer.tokenize(answers).to_list()
        assert not any(forbidden in row for row in rows)
    piece = translator.target_tokenizer.pieces([forbidden])[0].replace("▁", " ").strip()
    [scored] = translator.score(TEXTS[:1], [f"{piece} haus"])
    assert scored.token_log_probabilities[0] > -3  # Likely all the same.


@pytest.mark.prove
def test_the_saved_model_says_what_python_says(translator, tmp_path):
    served = kformer.load(export_saved_model(translator, tmp_path / "served"))
    expected = translator.translate(TEXTS)
    assert served.translate(TEXTS) == expected
    assert len({*expected}) > len(TEXTS) / 2
    np.testing.assert_allclose(served.encode(TEXTS), translator.encode(TEXTS), atol=1e-4)
    options = kformer.SearchOptions(4, n_best=4)
    several = served.signatures["beam"](text=keras.ops.convert_to_tensor(TEXTS[:1]))
    [wanted] = translator.translations(TEXTS[:1], options)
    found = [text.decode() for text in several["translation"].numpy()[0]]
    assert found == [one.text for one in wanted]
    target = ["the dog sees ☃ ."]
    [scored] = translator.score(TEXTS[:1], target)
    inputs = {"source": TEXTS[:1], "target": target}
    inputs = {name: keras.ops.convert_to_tensor(value) for name, value in inputs.items()}
    [of_server] = served.signatures["score"](**inputs)["log_probability"].numpy()
    assert of_server == pytest.approx(scored.log_probability, abs=1e-3)


@pytest.mark.prove
@pytest.mark.filterwarnings("ignore:Sentence . has too long a translation")  # In int8.
@pytest.mark.parametrize("beam_size", [1, 4])
@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_the_tflite_file_says_what_python_says(precision, beam_size, translator, tmp_path):
    path = tmp_path / "translator.tflite"
    pocket = kformer.load(export_tflite(translator, path, beam_size, precision=precision))
    rows = translator.source_rows(TEXTS)
    assert [pocket.tokenize(text) for text in TEXTS] == [(row, True) for row in rows]
    expected = translator.translate(TEXTS, beam_size=beam_size)
    same = [a == b for a, b in zip(pocket.translate(TEXTS), expected, strict=True)]
    assert all(same) if precision == "float32" else len(same) == len(TEXTS)
    vectors = translator.encode(TEXTS)
    away = np.abs(pocket.encode(TEXTS) - vectors).max(axis=1)
    if precision == "float32":
        assert away.max() < 1e-4
    else:  # The attention of this random model is sharp: few of its vectors are further away.
        assert np.median(away) < 0.2 * np.abs(vectors).max()
