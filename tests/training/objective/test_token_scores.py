"""Scores of expected ids, from logits and from the factors of logits, against NumPy."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from keras import ops

from kformer import Transformer
from kformer.model.embedding import TokenEmbedding, factors_of
from kformer.training import MaskedAccuracy, MaskedCrossEntropy, Perplexity
from kformer.training.objective.token_scores import token_scores

B, T, V, D = 3, 5, 7, 4


def plain(score, ids, logits):
    """`score` of logits that no `TokenEmbedding` made."""
    return score(ids, ops.convert_to_tensor(logits))


def of_embedding(score, ids, logits):
    """`score` of the same logits in a graph, as a product of themselves and the identity."""
    embedding = TokenEmbedding(logits.shape[-1], logits.shape[-1])
    embedding.build()
    embedding.table.assign(np.eye(logits.shape[-1]))

    @tf.function
    def in_graph(logits):
        product = embedding.logits(logits)
        assert factors_of(product)
        return score(ids, product)

    return in_graph(tf.constant(logits))


def of_embedding_with_bias(score, ids, logits):
    """`score` of the same logits in a graph, as the bias of an embedding and what is missing."""
    bias = np.linspace(-2, 2, logits.shape[-1], dtype="float32")
    embedding = TokenEmbedding(logits.shape[-1], logits.shape[-1], output_bias=True)
    embedding.build()
    embedding.table.assign(np.eye(logits.shape[-1]))
    embedding.bias.assign(bias)

    @tf.function
    def in_graph(vectors):
        product = embedding.logits(vectors)
        assert factors_of(product)
        return score(ids, product)

    return in_graph(tf.constant(logits - bias))


of_graphs = pytest.mark.tensorflow("Only a graph of TensorFlow has the factors of logits.")
forms = pytest.mark.parametrize(
    "form",
    [
        plain,
        *(pytest.param(form, marks=of_graphs) for form in (of_embedding, of_embedding_with_bias)),
    ],
)


def example(rng, scale=3.0):
    ids = np.where(rng.random((B, T)) < 0.3, 0, rng.integers(1, V, (B, T)))
    return ids.astype("int32"), rng.normal(scale=scale, size=(B, T, V)).astype("float32")


@pytest.mark.sample(4)
@forms
@given(seed=st.integers(0, 9999), scale=st.sampled_from([0.1, 3.0, 60.0]))
def test_every_real_token_gets_the_scores_of_its_id(form, seed, scale):
    ids, logits = example(np.random.default_rng(seed), scale)
    scores = form(token_scores, ids, logits)
    real = np.asarray(scores.real) == 1
    place = np.asarray(scores.place)[real]
    np.testing.assert_array_equal(np.sort(place), np.flatnonzero(ids))
    z, target_logit = logits.reshape(-1, V)[place].astype("float64"), ids.reshape(-1)[place]
    shifted = np.exp(z - z.max(axis=-1, keepdims=True))
    for value, expected in [
        (scores.target_logit, z[np.arange(len(z)), target_logit]),
        (scores.mean, z.mean(axis=-1)),
        (scores.log_normalizer, z.max(axis=-1) + np.log(shifted.sum(axis=-1))),
        (scores.best, z.argmax(axis=-1) == target_logit),
    ]:
        np.testing.assert_allclose(np.asarray(value)[real], expected, rtol=1e-4, atol=1e-4)


def two_views(ids, left_out):
    """Expected ids of rows 2 i and 2 i + 1, each row of `ids` twice, as the loss takes them."""
    values = np.repeat(ids.reshape(*ids.shape[:2], -1), 2, axis=0)
    marks = np.zeros_like(values)
    marks[1::2] = left_out
    return np.stack([values, marks], axis=-1)


@pytest.mark.pairs
@pytest.mark.sample(15)
@of_graphs
@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weights", [None, (B,), (B, T)])
@pytest.mark.parametrize("teachers", [0, 3])
@pytest.mark.parametrize("views", [None, "simcut", "rdrop"])
def test_factors_have_the_loss_and_the_gradients_of_their_product(
    label_smoothing, weights, teachers, views
):
    rng = np.random.default_rng(0)
    ids, _ = example(rng)
    if teachers:
        said = rng.integers(0, V, (2, B, T, teachers), np.int32)  # Ids, and their probabilities.
        ids = np.concatenate([ids[..., None], *said], axis=-1)
    rows = B
    if views:
        ids, rows = two_views(ids, left_out=views == "simcut"), 2 * B
    weights = None if weights is None else rng.random((rows, *weights[1:])).astype("float32")
    vectors = tf.Variable(rng.normal(size=(rows, T, D)).astype("float32"))
    embedding = TokenEmbedding(V, D)
    embedding.build()
    loss = MaskedCrossEntropy(label_smoothing)

    @tf.function
    def losses_and_gradients(through):
        with tf.GradientTape() as tape:
            value = loss(ids, through(embedding.logits(vectors)), weights)
        return value, *tape.gradient(value, [vectors, embedding.table.value])

    fast, slow = losses_and_gradients(lambda z: z), losses_and_gradients(tf.identity)
    for one, other in zip(fast, slow, strict=True):
        one, other = tf.convert_to_tensor(one), tf.convert_to_tensor(other)
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.prove
@forms
def test_a_weight_of_zero_takes_a_sentence_out_and_two_counts_it_twice(form):
    ids, logits = example(np.random.default_rng(1))
    alone = [
        form(MaskedCrossEntropy(), ids[[row]], logits[[row]]) * np.count_nonzero(ids[row])
        for row in range(B)
    ]
    weights = np.array([0.0, 2.0, 1.0])
    weighted = form(lambda ids, z: MaskedCrossEntropy()(ids, z, weights), ids, logits)
    expected = (2 * alone[1] + alone[2]) / np.count_nonzero(ids)
    np.testing.assert_allclose(weighted, expected, rtol=1e-5)


@pytest.mark.prove
@of_graphs
@pytest.mark.parametrize("through", [lambda z: z, tf.identity], ids=["factors", "logits"])
def test_a_batch_of_padding_has_no_loss_and_no_gradient(through):
    embedding = TokenEmbedding(V, D)
    embedding.build()

    @tf.function
    def loss_and_gradient(vectors):
        with tf.GradientTape() as tape:
            tape.watch(vectors)
            logits = through(embedding.logits(vectors))
            value = MaskedCrossEntropy()(np.zeros((B, T), "int32"), logits)
        return value, tf.convert_to_tensor(tape.gradient(value, vectors))

    value, gradient = loss_and_gradient(tf.ones((B, T, D)))
    assert value == 0
    assert not np.any(gradient)


@of_graphs
def test_equal_arguments_in_one_graph_share_one_computation():
    def compare(_, product):
        ids, others = tf.ones((B, T), "int64"), tf.ones((B, T), "int64")
        scores = token_scores(ids, product)
        assert token_scores(ids, product) is scores
        assert token_scores(ids, product, padding_id=1) is not scores
        assert token_scores(others, product) is not scores
        assert factors_of(tf.identity(product)) is None
        return product

    of_embedding(compare, *example(np.random.default_rng(2)))
    assert factors_of(tf.ones((B, T, V))) is None


@pytest.mark.prove
@of_graphs
@pytest.mark.parametrize("step", ["train_step", "test_step"])
def test_a_step_of_fit_or_evaluate_normalizes_the_logits_once(step):
    model = Transformer(V, num_layers=1, d_model=D, num_heads=2, d_ff=6)
    model.compile("adam", MaskedCrossEntropy(), metrics=[MaskedAccuracy(), Perplexity()])
    model.optimizer.build(model.trainable_variables)
    batch = ((tf.ones((B, 11), "int32"), tf.ones((B, T), "int32")), tf.ones((B, T), "int32"))
    getattr(model, step)(batch)  # Creates the variables of the metrics.
    graph = tf.function(getattr(model, step)).get_concrete_function(batch).graph
    kinds = ("Softmax", "LogSoftmax", "Exp")
    found = [op.outputs[0].shape for op in graph.get_operations() if op.type in kinds]
    assert [shape[-1:] for shape in found].count([V]) == 1


@pytest.mark.prove
@of_graphs
@pytest.mark.parametrize("read", [True, False])
def test_a_graph_needs_no_logits_unless_somebody_reads_them(read):
    embedding = TokenEmbedding(V, D)
    embedding.build()
    metrics = [MaskedAccuracy(), Perplexity()]
    seen = []

    @tf.function
    def step(ids):
        logits = embedding.logits(tf.ones((B, T, D)))
        seen.append(logits.op)
        for metric in metrics:
            metric.update_state(ids, logits)
        return MaskedCrossEntropy()(ids, logits) + (tf.reduce_sum(logits) if read else 0.0)

    graph = step.get_concrete_function(tf.TensorSpec((B, T), tf.int32)).graph
    needed, ahead = set(), [*(tensor.op for tensor in graph.outputs), *graph.control_outputs]
    while ahead:
        op = ahead.pop()
        if op.name not in needed:
            needed.add(op.name)
            ahead += [*(tensor.op for tensor in op.inputs), *op.control_inputs]
    assert (seen[0].name in needed) == read
