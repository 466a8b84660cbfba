import inspect

import keras
import numpy as np
import pytest
from keras import ops

from kformer import Beam, Greedy, Transformer, TransformerDecoder, TransformerEncoder
from kformer.decoding.decoder_step import start_decoding
from kformer.decoding.runtime import GRAPH, LITERT, XLA, SliceBuffers
from kformer.decoding.search_ids import search_ids
from support import reference
from support.backend import PRECISE, TOLERANCE, value_and_gradients
from support.reference import Model, perturbed, weights_of

B, S, T, H, D, F, V, L = 3, 7, 5, 3, 18, 13, 17, 2
SOURCE = np.array([[4, 5, 6, 7, 8, 9, 3], [16, 1, 3, 0, 0, 0, 0], [5, 5, 5, 5, 3, 0, 0]])  # (B, S)
# The second row ends in padding; the last begins with it, as in T5, and has it in the middle.
TARGET = np.array([[2, 4, 6, 8, 10], [2, 12, 1, 0, 0], [0, 11, 0, 16, 7]])  # (B, T)

norms = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
dtypes = pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-12)])
runtimes = pytest.mark.parametrize("runtime", [GRAPH, XLA, LITERT], ids=["graph", "xla", "litert"])


def small_transformer(**settings):
    return perturbed(Transformer(V, num_layers=L, d_model=D, num_heads=H, d_ff=F, **settings))


@pytest.mark.tensorflow("Only Keras's trainer on TensorFlow calls it.")
def test_keras_has_the_private_method_that_the_model_overrides():
    parameters = inspect.signature(keras.Model._maybe_symbolic_build).parameters
    assert [*parameters] == ["self", "iterator", "data_batch"]


@pytest.mark.pairs
@pytest.mark.sample(9)
@norms
@dtypes
@pytest.mark.parametrize("target_vocab_size", [None, 19], ids=["joint", "two vocabularies"])
def test_the_logits_are_those_of_the_paper(norm_first, dtype, tolerance, target_vocab_size):
    transformer = small_transformer(
        norm_first=norm_first, dtype=dtype, target_vocab_size=target_vocab_size
    )
    model = Model(weights_of(transformer), H, L, norm_first)
    expected = reference.transformer(SOURCE, TARGET, model)
    logits = transformer((SOURCE, TARGET))
    scale = np.abs(expected).max()
    np.testing.assert_allclose(logits / scale, expected / scale, atol=tolerance)
    assert logits.shape == (B, T, target_vocab_size or V)


@pytest.mark.sample(8)
@norms
@pytest.mark.parametrize("activation", reference.ACTIVATIONS)
def test_activation_and_number_of_decoder_layers_are_arguments(norm_first, activation):
    settings = {"norm_first": norm_first, "activation": activation, "num_decoder_layers": 1}
    transformer = small_transformer(**settings, dtype=PRECISE)
    expected = reference.transformer(
        SOURCE, TARGET, Model(weights_of(transformer), H, L, **settings)
    )
    logits = transformer((SOURCE, TARGET))
    np.testing.assert_allclose(logits, expected, rtol=TOLERANCE, atol=TOLERANCE)
    assert (len(transformer.encoder.layers), len(transformer.decoder.layers)) == (L, 1)


@pytest.mark.parametrize(
    ("wrong", "received"),
    [
        ({"activation": "tanh"}, "activation='tanh'"),
        ({"activation": None}, "activation=None"),
        ({"num_decoder_layers": 0}, "num_layers=0"),
    ],
)
def test_another_activation_or_no_layer_is_refused(wrong, received):
    with pytest.raises((TypeError, ValueError), match=f"Received: {received}"):
        small_transformer(**wrong)


@pytest.mark.prove
def test_the_caller_chooses_the_runtime():
    written = []

    class Buffers(SliceBuffers):
        def write(self, buffer, rows, index):
            written.append(tuple(rows.shape))
            return super().write(buffer, rows, index)

    runtime = GRAPH._replace(buffers=Buffers())
    step, cache = start_decoding(
        small_transformer(), SOURCE, max_length=T, beams=2, runtime=runtime
    )
    step(np.full((B, 2), 2), 0, np.ones((1, 2, 2 * T), bool), cache)
    assert written == [(B, H, 2, D // H)] * 2 * L  # Keys and values of every layer.


def test_a_padded_batch_gives_what_single_sentences_give():
    transformer = small_transformer()
    batch = np.array(transformer((SOURCE, TARGET)))
    for row, source, target in zip(batch, SOURCE, TARGET, strict=True):
        source, target = source[source != 0], np.trim_zeros(target, "b")
        alone = transformer((source[None], target[None]))[0]
        np.testing.assert_allclose(row[: len(target)], alone, rtol=1e-4, atol=1e-4)


@pytest.mark.prove
def test_a_later_id_cannot_change_earlier_logits():
    transformer = small_transformer()
    before = np.array(transformer((SOURCE, TARGET)))
    for position in range(1, T):
        target = np.where(np.arange(T) < position, TARGET, 13)
        after = np.array(transformer((SOURCE, target)))
        np.testing.assert_array_equal(after[:, :position], before[:, :position])
        assert (after[:, position] != before[:, position]).any(axis=-1).all()


@pytest.mark.prove
@runtimes
@pytest.mark.parametrize("search", [Greedy, Beam], ids=["greedy", "beam"])
def test_a_search_may_start_with_the_padding_id(search, runtime):
    transformer, limit = small_transformer(), 4
    search = search(start_id=0, end_id=V)  # None ends: there is no such id.
    found = search_ids(transformer, SOURCE, search, runtime, limit, np.full(B, limit, "int32"))
    ids = np.array(found.ids)[:, 0]  # (B, T)
    logits = transformer((SOURCE, np.pad(ids[:, :-1], ((0, 0), (1, 0)))))
    gains = np.take_along_axis(np.array(ops.log_softmax(logits)), ids[..., None], axis=2)
    expected = gains.sum(axis=(1, 2))
    if isinstance(search, Beam):
        expected /= ((5 + limit) / 6) ** search.length_penalty
    np.testing.assert_allclose(np.array(found.scores)[:, 0], expected, rtol=1e-4)


@pytest.mark.prove
def test_call_is_encode_then_decode():
    transformer = small_transformer()
    mask = (SOURCE != 0)[:, None, None]
    composed = transformer.decode(TARGET, transformer.encode(SOURCE), mask)
    np.testing.assert_array_equal(composed, transformer((SOURCE, TARGET)))


@pytest.mark.prove
def test_attend_returns_the_weights_of_every_layer():
    weights = small_transformer().attend((SOURCE, TARGET))
    assert [w.shape for w in weights.encoder_self] == [(B, H, S, S)] * L
    assert [w.shape for w in weights.decoder_self] == [(B, H, T, T)] * L
    assert [w.shape for w in weights.decoder_cross] == [(B, H, T, S)] * L
    for layer in (*weights.encoder_self, *weights.decoder_self, *weights.decoder_cross):
        np.testing.assert_allclose(np.sum(layer, axis=-1), np.ones(layer.shape[:3]), rtol=1e-6)
    for layer in (*weights.encoder_self, *weights.decoder_cross):
        assert not np.moveaxis(layer, 3, 1)[SOURCE == 0].any()
    for layer in weights.decoder_self:
        assert not np.triu(layer, k=1).any()
        assert np.diagonal(layer, axis1=2, axis2=3).all()  # Every position sees itself.


@pytest.mark.prove
def test_sequences_may_be_longer_than_any_seen():
    transformer, length = small_transformer(dtype=PRECISE), 211
    transformer((SOURCE, TARGET))
    source, target = np.random.randint(1, V, (2, 1, length))
    model = Model(weights_of(transformer), H, L)
    expected = reference.transformer(source, target, model)
    logits = transformer((source, target))
    np.testing.assert_allclose(logits, expected, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.prove
@norms
@pytest.mark.parametrize("target_vocab_size", [None, 19], ids=["joint", "two vocabularies"])
def test_gradients_reach_every_weight(norm_first, target_vocab_size):
    transformer = small_transformer(norm_first=norm_first, target_vocab_size=target_vocab_size)
    weights = transformer.trainable_weights
    _, gradients = value_and_gradients(
        lambda: keras.ops.log_softmax(transformer((SOURCE, TARGET)))[..., 5], variables=weights
    )
    for weight, gradient in zip(weights, gradients, strict=True):
        # A bias of the keys moves all scores of a query alike, so softmax cannot see it.
        expected_zero = weight.path.endswith("key/bias")
        largest = np.abs(gradient).max()
        assert largest < 1e-3 if expected_zero else largest > 1e-3, weight.path


@pytest.mark.prove
def test_the_defaults_are_the_base_model_of_the_paper():
    config = Transformer(V).get_config()
    sizes = {"num_layers": 6, "d_model": 512, "num_heads": 8, "d_ff": 2048, "dropout": 0.1}
    assert sizes.items() <= config.items()
    assert not config["norm_first"]


def test_an_odd_width_is_an_error():
    with pytest.raises(ValueError, match="Received: d_model=21"):
        Transformer(V, num_layers=1, d_model=21, num_heads=7, d_ff=F)


def test_heads_must_divide_the_width():
    with pytest.raises(ValueError, match="Received: d_model=22, num_heads=3"):
        Transformer(V, num_layers=1, d_model=22, num_heads=3, d_ff=F)


@pytest.mark.prove
def test_an_ignored_source_id_is_as_if_it_was_not_there():
    settings = {"num_layers": 2, "d_model": 18, "num_heads": 3, "d_ff": 11}
    plain = perturbed(Transformer(13, **settings))
    ignoring = Transformer(13, **settings, ignored_source_id=3)
    ignoring.set_weights(plain.get_weights())
    source, target = np.array([[7, 9, 5, 0], [6, 0, 0, 0]]), np.array([[2, 4], [2, 8]])
    ended = np.array([[7, 9, 5, 3, 0], [6, 3, 0, 0, 0]])
    expected = plain((source, target))
    np.testing.assert_allclose(ignoring((ended, target)), expected, atol=1e-5)
    assert np.abs(np.asarray(plain((ended, target))) - np.asarray(expected)).max() > 1e-2
    # A row of this id alone is read, and does not depend on its padding.
    blank = np.array([[3]]), target[:1]
    padded = np.array([[3, 0, 0]]), target[:1]
    np.testing.assert_allclose(ignoring(blank), plain(blank), atol=1e-5)
    np.testing.assert_allclose(ignoring(padded), plain(blank), atol=1e-5)


@pytest.mark.prove
def test_the_padding_id_is_an_argument():
    pad = 11
    transformer = small_transformer(padding_id=pad)
    padded = np.array([[2, 5, 7, pad, pad]])
    np.testing.assert_allclose(
        transformer((padded, TARGET[:1])), transformer((padded[:, :3], TARGET[:1])), atol=1e-4
    )


@pytest.mark.prove
@pytest.mark.tensorflow("Another backend traces twice, once for the shapes alone.")
def test_fit_traces_its_step_once(monkeypatch):
    traced = []
    compute_loss = Transformer.compute_loss

    def counted(self, *args, **kwargs):
        traced.append(args)
        return compute_loss(self, *args, **kwargs)

    monkeypatch.setattr(Transformer, "compute_loss", counted)
    transformer = small_transformer()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    transformer.compile("adam", loss, metrics=[keras.metrics.SparseCategoricalAccuracy()])
    transformer.fit((SOURCE, TARGET), TARGET, epochs=2, batch_size=3, verbose=0)
    assert len(traced) == 1


@pytest.mark.prove
def test_the_copy_task_is_learnt_and_greedy_decoding_copies():
    start, end, length = 2, 3, 5
    words = np.random.randint(4, 9, (2048, length))
    source = np.pad(words, ((0, 0), (0, 1)), constant_values=end)
    target = np.pad(words, ((0, 0), (1, 0)), constant_values=start)
    transformer = Transformer(9, num_layers=1, d_model=32, num_heads=2, d_ff=64, dropout=0)
    transformer.compile(
        keras.optimizers.Adam(5e-3),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        jit_compile=False,
    )
    history = transformer.fit((source, target), source, batch_size=64, epochs=8, verbose=0)
    assert history.history["loss"][-1] < 0.05

    unseen = np.random.randint(4, 9, (32, length))
    unseen = np.pad(unseen, ((0, 0), (0, 1)), constant_values=end)
    step, cache = start_decoding(transformer, unseen, length + 1)
    found = Greedy(start, end)(step, cache, np.full(32, length + 1, "int32"))
    np.testing.assert_array_equal(found.ids[:, 0], unseen)


@pytest.mark.parametrize("network", [Transformer, TransformerEncoder, TransformerDecoder])
def test_a_network_refuses_vectors(network):
    model, vectors = network(11, 1, 6, 3, 7), np.ones((2, 5, 6), "float32")
    message = f"A {network.__name__} takes ids.*`kformer.Encoder`.*shape=\\(2, 5, 6\\)"
    with pytest.raises(ValueError, match=message):
        model((vectors, vectors) if network is Transformer else vectors)
