"""The sentence that teaches the Transformer: "ich mochte ein bier" is "i want a beer".

Two vocabularies of its own, forty steps of `fit`, three pictures; the model is a small one, or the
base model of the paper.
"""

import keras
import numpy as np
import pytest

from kformer import Greedy, Transformer, plot_attention
from kformer.decoding.decoder_step import start_decoding
from kformer.plot import save_figure

SOURCE_IDS = {"P": 0, "ich": 1, "mochte": 2, "ein": 3, "bier": 4}
TARGET_IDS = {"P": 0, "i": 1, "want": 2, "a": 3, "beer": 4, "S": 5, "E": 6}
SOURCE = ["ich", "mochte", "ein", "bier", "P"]
TARGET_IN = ["S", "i", "want", "a", "beer"]
TARGET_OUT = ["i", "want", "a", "beer", "E"]

PICTURES = {
    "encoder_self": (SOURCE, SOURCE),
    "decoder_self": (TARGET_IN, TARGET_IN),
    "decoder_cross": (TARGET_IN, SOURCE),
}


def ids(words, vocabulary):
    return np.array([[vocabulary[word] for word in words]], "int32")


@pytest.fixture(
    scope="module",
    params=[
        ({"num_layers": 2, "d_model": 64, "d_ff": 128}, 2e-3),
        pytest.param(({}, 5e-5), marks=pytest.mark.prove),
    ],
    ids=["small", "base"],
)
def learnt(request):
    """The trained Transformer and its last loss."""
    sizes, rate = request.param
    keras.utils.set_random_seed(2)
    transformer = Transformer(
        len(SOURCE_IDS), target_vocab_size=len(TARGET_IDS), dropout=0, **sizes
    )
    optimizer = keras.optimizers.Adam(rate)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    transformer.compile(optimizer, loss, jit_compile=False)
    inputs = ids(SOURCE, SOURCE_IDS), ids(TARGET_IN, TARGET_IDS)
    history = transformer.fit(inputs, ids(TARGET_OUT, TARGET_IDS), epochs=40, verbose=0)
    return transformer, history.history["loss"][-1]


@pytest.mark.prove
def test_forty_steps_learn_the_sentence(learnt):
    _, loss = learnt
    assert loss < 0.03


@pytest.mark.prove
def test_greedy_decoding_says_i_want_a_beer(learnt):
    transformer, _ = learnt
    step, cache = start_decoding(transformer, ids(SOURCE, SOURCE_IDS), max_length=5)
    greedy = Greedy(start_id=TARGET_IDS["S"], end_id=TARGET_IDS["E"])
    found = greedy(step, cache, np.array([5], "int32"))
    words = [list(TARGET_IDS)[i] for i in np.array(found.ids)[0, 0]]
    assert words == TARGET_OUT
    assert np.array(found.ended).all()


@pytest.mark.prove
@pytest.mark.parametrize("kind", PICTURES)
def test_the_attention_of_the_first_head_in_the_last_layer_is_a_picture(learnt, kind, tmp_path):
    transformer, _ = learnt
    attention = transformer.attend((ids(SOURCE, SOURCE_IDS), ids(TARGET_IN, TARGET_IDS)))
    weights = np.array(getattr(attention, kind)[-1])[0, 0]  # The last layer; row and head 0.
    queries, keys = PICTURES[kind]
    figure = plot_attention(weights, queries, keys, title=kind)
    save_figure(figure, tmp_path / f"{kind}.png")
    assert (tmp_path / f"{kind}.png").stat().st_size > 5000

    ax = figure.axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == queries
    assert [label.get_text() for label in ax.get_xticklabels()] == keys
    np.testing.assert_array_equal(ax.images[0].get_array(), weights)
    np.testing.assert_allclose(weights.sum(axis=1), np.ones(5), rtol=1e-5)
    if keys is SOURCE:
        assert not weights[:, keys.index("P")].any()  # Nobody looks at padding.
