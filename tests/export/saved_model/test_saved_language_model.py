"""The SavedModel of a language model: what Python says, of any prompt."""

import json
import re

import numpy as np
import pytest
import tensorflow as tf

import kformer
from kformer import SearchOptions
from kformer.export import ServedClassifier, ServedLanguageModel, export_saved_model
from support import toy
from support.serving.warmup_requests import asked

ODD = ["", "   ", "der 🐕", "日本 e\u0301", "ruft\x00wir", "\x00", "\ud800", "wir ruft\x00\x00"]
PROMPTS = [*(text[:14] for text in toy.SOURCES[:20]), *ODD]
TOO_LONG = "wir " * 40


@pytest.fixture(scope="module")
def served(language_model_saved_model):
    return kformer.load(language_model_saved_model)


def greedy_by_hand(model, network, prompt):
    """The ids that the network finds best, one after the other, read anew for each."""
    [row] = model.tokenizer.with_start(model.tokenizer.tokenize([prompt])).to_list()
    while len(row) <= model.max_length and row[-1] != model.tokenizer.end_id:
        row.append(int(np.argmax(network(np.array([row], np.int32))[0, -1])))
    return row[1:]


@pytest.mark.prove
def test_it_continues_as_the_network_does(served, tiny_language_model):
    network = tf.function(tiny_language_model.network, [tf.TensorSpec([1, None], tf.int32)])
    for prompt in ("der hund", "", "wir ruft uns"):
        ids = greedy_by_hand(tiny_language_model, network, prompt)
        text = tiny_language_model.tokenizer.detokenize([ids]).numpy()[0].decode()
        assert served.generate([prompt]) == [text.replace("\0", "")]


@pytest.mark.prove
def test_it_answers_as_python_whatever_the_batch(served, tiny_language_model):
    assert type(served) is ServedLanguageModel
    expected = tiny_language_model.generations(PROMPTS, details=False)
    for batch_size in (1, 7, 32):
        found = served.generations(PROMPTS, batch_size=batch_size)
        for [one], [wanted] in zip(found, expected, strict=True):
            assert (one.text, one.flags) == (wanted.text, wanted.flags)
            assert one.score == pytest.approx(wanted.score, abs=1e-3)
    assert {one.flags for [one] in found} >= {(), ("length limit",)}
    texts = [prompt for prompt in PROMPTS if prompt.strip()]
    expected = tiny_language_model.encode(texts)
    np.testing.assert_allclose(served.encode(texts), expected, atol=1e-5)


@pytest.mark.prove
def test_several_continuations_and_scores_are_those_of_python(served, tiny_language_model):
    prompts = PROMPTS[:8]
    options = SearchOptions(4, n_best=4)
    expected = tiny_language_model.generations(prompts, options, details=False)
    found = asked(served.signatures, "generate_beam", text=prompts)
    assert found["generation"] == [[one.text for one in row] for row in expected]
    assert found["flags"] == [[", ".join(one.flags) for one in row] for row in expected]
    texts = toy.SOURCES[:8]
    scored = asked(served.signatures, "score", text=texts)
    of_python = tiny_language_model.score(texts)
    assert scored["tokens"] == [len(one.tokens) for one in of_python]
    expected = [one.log_probability for one in of_python]
    np.testing.assert_allclose(scored["log_probability"], expected, atol=1e-2)


@pytest.mark.prove
def test_a_prompt_without_room_is_flagged_and_refused(served):
    answer = asked(served.signatures, "serving_default", text=["wir", TOO_LONG])
    assert answer["generation"][1] == "" and answer["flags"][1] == "prompt too long"
    assert answer["generation"][0].startswith("wir")
    with pytest.raises(ValueError, match=r"leave room .* Received: prompt 2, which is too long"):
        served.generate(["wir", TOO_LONG])


@pytest.mark.prove
def test_the_longest_prompt_gets_one_id(served, tiny_language_model):
    rows = ((n, tiny_language_model.tokenizer.encode(["wir " * n])[0]) for n in range(1, 40))
    most = max(n for n, row in rows if len(row) <= tiny_language_model.max_length)
    prompts = ["wir " * most, "wir " * (most + 1)]
    assert served.generate(prompts[:1]) == tiny_language_model.generate(prompts[:1])
    for form in (served, tiny_language_model):
        with pytest.raises(ValueError, match="prompt 2"):
            form.generate(prompts)


@pytest.mark.prove
def test_the_report_and_the_files_say_what_it_is(language_model_saved_model):
    report = json.loads((language_model_saved_model / "assets.extra/kformer.json").read_text())
    assert (report["kind"], report["beam_size"], report["n_best"]) == ("language_model", 1, 4)
    checked = report["checked"]
    assert checked["equal"] + checked["ties"] == checked["sentences"]
    assert "bleu" not in checked and checked["other_signatures"]["tokenize"] > 0
    readme = (language_model_saved_model.parent / "README.md").read_text("utf-8")
    assert 'Client("http://localhost:8501", "language_model").generate(prompts)' in readme
    assert "/v1/models/language_model:predict" in readme
    variables = {*re.findall(r"\$(\w+)", readme.split("## Flags")[1])}
    assert variables == {"binary_remote_addr"}  # Of nginx; no placeholder of the template.


@pytest.mark.prove
def test_another_kind_of_model_is_refused(language_model_saved_model):
    with pytest.raises(ValueError, match=r"from `text` to `label`"):
        ServedClassifier(language_model_saved_model)


@pytest.mark.prove
@pytest.mark.parametrize("beam_size", [1, 3])
def test_beams_and_compiled_graphs_answer_as_python(tiny_language_model, tmp_path, beam_size):
    prompts = PROMPTS[::3]
    expected = tiny_language_model.generate(prompts, beam_size=beam_size)
    for xla in (False, True):
        path = export_saved_model(tiny_language_model, tmp_path / str(xla), beam_size, xla=xla)
        assert kformer.load(path).generate(prompts) == expected
