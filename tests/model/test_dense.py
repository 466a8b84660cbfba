"""Dense layers that `quantize` or `enable_lora` changed, and models that are not of float32."""

import gc
import warnings

import keras
import numpy as np
import pytest
from keras import ops

import kformer
from kformer import Transformer, Translator
from kformer.decoding.decoder_step import start_decoding
from kformer.export import ServedTranslator, Verifier, export_saved_model, export_tflite
from kformer.model.decoder import DECODER_CELLS
from kformer.model.dense import HoldsDense, dense_layers
from kformer.pocket import PocketTranslator
from kformer.training import AveragedAdam, MaskedCrossEntropy, warm_start
from support import toy
from support.layers import CASES, call, flat, inputs_of, model_with
from support.reference import perturbed

V, T = 17, 5
SOURCE = np.array([[4, 5, 6, 7, 8, 9, 3], [16, 1, 3, 0, 0, 0, 0]])  # (B, S)
TARGET = np.array([[2, 4, 6, 8, 10], [2, 12, 1, 7, 5]])  # (B, T)
TEXTS = ["der hund sucht das haus .", "", "ein kind ruft uns ."]

# How far logits may be off, as a share of the largest one.
FORMS = {
    "int8": 0.05,  # Where a number is between two integers, rounding may go either way.
    "int4": 1e-5,
    "float8": 0.2,
    "lora": 1e-5,
    "int8 with lora": 0.05,
    "bfloat16": 0.05,
    "float16": 0.01,
    "float64": 1e-12,
    "mixed_bfloat16": 0.05,
}
every_form = pytest.mark.parametrize("form", FORMS)


def changed(transformer, form):
    """Quantizes a transformer, or gives it LoRA, or both, as `form` has it."""
    modes = [mode for mode in ("int8", "int4", "float8") if mode in form]
    if modes:
        quantized(transformer, *modes)
    if "lora" in form:
        for dense in dense_layers(transformer).values():
            dense.enable_lora(2)
            size = dense.lora_kernel_b.shape
            dense.lora_kernel_b.assign(keras.random.normal(size, stddev=0.5))
    return transformer


def quantized(model, mode):
    gc.freeze()  # Keras collects garbage for each layer.
    with warnings.catch_warnings(action="ignore"):  # Keras names the layers that it leaves alone.
        model.quantize(mode)
    gc.unfreeze()
    return model


def new_transformer(form, vocab_size=V, **settings):
    dtype = form if "float" in form and form != "float8" else "float32"
    sizes = {"num_layers": 1, "d_model": 32, "num_heads": 4, "d_ff": 48}
    return changed(perturbed(Transformer(vocab_size, **sizes, dtype=dtype, **settings)), form)


def numbers(tensor):
    return ops.convert_to_numpy(ops.cast(tensor, "float64"))


@pytest.mark.sample(20)
@every_form
@pytest.mark.parametrize(
    "settings",
    [{}, {"norm_first": True}, {"decoder_cell": "ssru"}],
    ids=["post-norm", "pre-norm", "ssru"],
)
def test_a_step_computes_what_the_whole_sequence_does(form, settings):
    transformer = new_transformer(form, **settings)
    whole = numbers(transformer((SOURCE, TARGET)))
    step, cache = start_decoding(transformer, SOURCE, T)
    for position in range(T):
        logits, cache, *_ = step(TARGET[:, position : position + 1], position, None, cache)
        expected = whole[:, position]
        error = np.abs(numbers(logits)[:, 0] - expected).max()
        assert error <= FORMS[form] * np.abs(expected).max()


@pytest.mark.prove
@pytest.mark.parametrize("form", ["int8", "bfloat16", "float64"])
def test_beams_score_what_scoring_scores(form, tokenizer):
    translator = Translator(tokenizer, new_transformer(form, tokenizer.vocab_size))
    options = kformer.SearchOptions(3, 0.0, coverage_penalty=0.0, max_length=7)
    [[best]] = translator.translations(TEXTS[:1], options)
    found = sum(best.token_log_probabilities)
    assert found == pytest.approx(best.score, rel=max(1e-3, 2 * FORMS[form]), abs=0.1)
    assert len(translator.translate(TEXTS, beam_size=3, coverage_penalty=0.2, max_length=7)) == 3


@pytest.mark.prove
@pytest.mark.parametrize("form", ["int8", "int4", "lora", "int8 with lora", "float64"])
@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "not compiled"])
def test_a_file_brings_it_back(form, compiled, tokenizer, tmp_path):
    transformer = new_transformer(form, tokenizer.vocab_size)
    translator = Translator(tokenizer, transformer)
    if compiled:
        transformer.compile("adam", "mse")
    translator.save(tmp_path / "one.keras")
    loaded = kformer.load(tmp_path / "one.keras")
    scored = loaded.score(TEXTS, TEXTS)
    if form != "int8 with lora":  # For that, Keras rounds the sum of both anew.
        assert scored == translator.score(TEXTS, TEXTS)
    assert loaded.transformer.dtype_policy.name == transformer.dtype_policy.name
    loaded.save(tmp_path / "two.keras")
    assert kformer.load(tmp_path / "two.keras").score(TEXTS, TEXTS) == scored


@pytest.mark.prove
@pytest.mark.parametrize("form", ["int8", pytest.param("lora", marks=pytest.mark.prove)])
def test_what_was_traced_before_is_not_used_after(form, tokenizer):
    translator = Translator(tokenizer, new_transformer("float32", tokenizer.vocab_size))
    before = translator.score(TEXTS, TEXTS), translator.translations(TEXTS)
    changed(translator.transformer, form)
    fresh = Translator(tokenizer, translator.transformer)
    assert translator.score(TEXTS, TEXTS) == fresh.score(TEXTS, TEXTS) != before[0]
    scores, of_fresh, of_before = (
        [best.score for best, *_ in found]
        for found in (translator.translations(TEXTS), fresh.translations(TEXTS), before[1])
    )
    assert scores == of_fresh != of_before


@pytest.mark.prove
@pytest.mark.parametrize(
    ("layer_class", "settings", "shapes"),
    [case for case in CASES if issubclass(case[0], HoldsDense)],
)
@pytest.mark.parametrize("mode", ["int8"])
def test_a_keras_file_brings_every_layer_back(layer_class, settings, shapes, mode, tmp_path):
    layer, inputs = layer_class(**settings), inputs_of(shapes)
    model = model_with(layer, inputs)
    perturbed(layer)
    quantized(model, mode)
    for _ in range(2):  # What was loaded can be saved.
        model.save(tmp_path / "model.keras")
        model = keras.saving.load_model(tmp_path / "model.keras")
    for one, other in zip(flat(call(layer, inputs)), flat(model(inputs)), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.prove
@pytest.mark.parametrize("mode", ["int8", "int4", "float8"])
def test_the_float32_copy_has_the_values_of_the_quantized_weights(mode):
    plain = new_transformer("float32")
    transformer = plain.copy()
    quantized(transformer, mode)
    copies, originals = dense_layers(transformer.copy()), dense_layers(plain)
    steps = {"int8": 1 / 127, "int4": 1 / 7, "float8": 1 / 8}[mode]  # Of the largest number.
    for path, dense in dense_layers(transformer).items():
        kernel, bias = copies[path].get_weights()
        if mode == "int8":
            expected = numbers(dense._kernel) / numbers(dense.kernel_scale)
            np.testing.assert_allclose(kernel, expected, atol=1e-5)
        original, original_bias = originals[path].get_weights()
        assert 0 < np.abs(kernel - original).max() <= steps * np.abs(original).max()
        np.testing.assert_allclose(bias, original_bias, rtol=0.01, atol=1e-6)


@pytest.mark.prove
@every_form
@pytest.mark.parametrize("decoder_cell", DECODER_CELLS)
def test_the_copy_to_export_says_nearly_the_same(form, decoder_cell):
    transformer = new_transformer(form, decoder_cell=decoder_cell)
    copied = transformer.copy()
    assert copied.dtype_policy.name == "float32" and "quantized" not in copied.get_config()
    expected = numbers(transformer((SOURCE, TARGET)))
    error = np.abs(numbers(copied((SOURCE, TARGET))) - expected).max()
    assert error <= max(2 * FORMS[form], 1e-5) * np.abs(expected).max()


@pytest.mark.prove
def test_exports_of_a_quantized_translator_say_what_they_are_checked_against(toy_keras, tmp_path):
    translator = kformer.load(toy_keras)
    quantized(translator.transformer, "int8")
    texts = toy.SOURCES[:4]
    verifier = Verifier(translator, texts)

    def check(path):
        verifier.verify_pocket(".tflite", PocketTranslator(path), path)

    export_tflite(translator, tmp_path / "a.tflite", max_source_length=32, check=check)
    assert verifier.reports[-1].equal == 4
    assert translator.translate(texts) == [*verifier.expected]  # Of easy sentences, also these.


@pytest.mark.prove
def test_a_saved_model_of_a_quantized_translator_says_what_it_is_checked_against(
    toy_keras, tmp_path
):
    translator = kformer.load(toy_keras)
    quantized(translator.transformer, "int8")
    verifier = Verifier(translator, toy.SOURCES[:4])
    path = export_saved_model(
        translator,
        tmp_path / "served",
        check=lambda path: verifier.verify_served(ServedTranslator(path), path),
    )
    assert verifier.reports[-1].equal == 4 and path.is_dir()


@pytest.mark.prove
def test_another_model_starts_from_one_with_lora(tokenizer):
    old = Translator(tokenizer, new_transformer("lora", tokenizer.vocab_size))
    new = Translator(tokenizer, new_transformer("float32", tokenizer.vocab_size))
    warm_start(new, old)
    for one, other in zip(new.score(TEXTS, TEXTS), old.score(TEXTS, TEXTS), strict=True):
        assert one.log_probability == pytest.approx(other.log_probability, abs=1e-3)


@pytest.mark.prove
@pytest.mark.parametrize(
    ("dtype", "optimizer"),
    [
        ("float16", keras.optimizers.SGD(0.03)),  # Squares of gradients are 0 there: no Adam.
        ("bfloat16", AveragedAdam(0.03, beta_2=0.98)),  # Keras's default, 0.999, is 1 there.
        ("float64", AveragedAdam(0.03, beta_2=0.98)),
    ],
    ids=["float16", "bfloat16", "float64"],
)
def test_it_learns_in_other_dtypes_and_then_translates(dtype, optimizer, tokenizer, tmp_path):
    transformer = Transformer(tokenizer.vocab_size, 1, 16, 2, 24, dropout=0, dtype=dtype)
    transformer.compile(optimizer, MaskedCrossEntropy())
    rows = tokenizer.tokenize(TEXTS[::2]).to_tensor().numpy()
    history = transformer.fit((rows, rows[:, :-1]), rows[:, 1:], epochs=3, verbose=0)
    assert history.history["loss"][-1] < history.history["loss"][0]
    translator = Translator(tokenizer, transformer)
    said = translator.translate(TEXTS, sample=True, seed=1, max_length=9)
    translator.save(tmp_path / "translator.keras")
    loaded = kformer.load(tmp_path / "translator.keras")
    assert loaded.translate(TEXTS, sample=True, seed=1, max_length=9) == said
    looked = loaded.attend(TEXTS[0], "the dog")
    np.testing.assert_allclose(np.sum(looked.attention.decoder_cross[0], axis=-1), 1, rtol=1e-5)
