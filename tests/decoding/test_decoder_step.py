"""The decoder for one position against its reference, the decoder's layers over whole sequences."""

import functools

import keras
import numpy as np
import pytest

from kformer import Transformer
from kformer.decoding.decoder_step import start_decoding
from kformer.decoding.runtime import GRAPH, LITERT, XLA
from kformer.decoding.search.search_loop import Step
from support.reference import perturbed

B, S, T, V = 2, 7, 5, 13
SOURCE = np.array([[1, 1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1]])  # (B, S)
SIZES = {
    "one layer": {"num_layers": 1, "d_model": 6, "num_heads": 1, "d_ff": 5},
    "three layers": {"num_layers": 3, "d_model": 18, "num_heads": 3, "d_ff": 11},
    "two vocabularies": {
        **{"num_layers": 2, "d_model": 14, "num_heads": 7, "d_ff": 3},
        **{"target_vocab_size": 17, "activation": "gelu"},
    },
    "a shallow decoder": {
        **{"num_layers": 3, "d_model": 10, "num_heads": 5, "d_ff": 7},
        **{"num_decoder_layers": 1, "activation": "swish", "output_bias": True},
        **{"tied_output": False},
    },
    "other positions, an ignored id": {
        **{"num_layers": 2, "d_model": 6, "num_heads": 3, "d_ff": 5, "ignored_source_id": 1},
        **{"first_position": 2, "max_wavelength": 20_000.0},
    },
    "an ssru": {
        **{"num_layers": 1, "d_model": 14, "num_heads": 2, "d_ff": 5},
        **{"num_decoder_layers": 3, "decoder_cell": "ssru"},
    },
}
RUNTIMES = {
    "graph": GRAPH,
    "xla": XLA,
    "litert": LITERT,
    "blocks of two": LITERT._replace(block=2),
}


@functools.cache
def transformer_of(size, norm_first):
    return perturbed(Transformer(V, **SIZES[size], norm_first=norm_first))


def decode(step, cache, ids, parents, masked):
    """The `StepOutput` of each position of `ids` (B, K, T).

    Args:
        parents: (T, K), the beam that each beam continues.
        masked: Whether the step gets the slots of each beam's ancestors.
    """
    beams = ids.shape[1]
    visible = np.zeros((beams, T * beams), bool)
    outputs = []
    for position in range(T):
        visible = visible[parents[position]]
        if position:
            cache = step.reorder(cache, np.tile(parents[position], (len(ids), 1)))
        visible[np.arange(beams), position * beams + np.arange(beams)] = True
        mask = visible[None] if masked else None
        outputs.append(step(ids[:, :, position], position, mask, cache))
        cache = outputs[-1].cache
        if step.block and position % step.block == step.block - 1:
            cache = step.flush(cache, position + 1 - step.block)
    return outputs


def ancestors(parents):
    """(T, K): which beam at each position is the ancestor of each last beam."""
    line = [np.arange(parents.shape[1])]
    for position in range(T - 1, 0, -1):
        line.append(parents[position][line[-1]])
    return np.stack(line[::-1])


@pytest.mark.pairs
@pytest.mark.sample(12)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
@pytest.mark.parametrize("runtime", RUNTIMES.values(), ids=RUNTIMES.keys())
@pytest.mark.parametrize(
    ("beams", "masked"),
    [(1, False), (1, True), (4, True)],
    ids=["one beam", "one beam with a mask", "four beams"],
)
def test_position_by_position_it_is_the_decoder_over_whole_sequences(
    size, norm_first, runtime, beams, masked
):
    transformer = transformer_of(size, norm_first)
    ids = np.random.randint(1, V, (B, beams, T)).astype("int32")
    parents = np.random.randint(0, beams, (T, beams))
    step, cache = start_decoding(transformer, SOURCE, T, beams, runtime)
    outputs = decode(step, cache, ids, parents, masked)
    for last in range(beams):
        line = ancestors(parents)[:, last]  # (T,)
        inputs = (SOURCE, ids[:, line, np.arange(T)])
        whole = transformer(inputs)
        weights = np.mean(transformer.attend(inputs).decoder_cross[-1], axis=1)  # (B, T, S)
        for position, beam in enumerate(line):
            logits, _, attention, _ = outputs[position]
            np.testing.assert_allclose(logits[:, beam], whole[:, position], rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(attention[:, beam], weights[:, position], atol=1e-5)


@pytest.mark.parametrize("block", [1, 2, None])
def test_slots_that_are_not_visible_do_not_matter(block):
    transformer = transformer_of("three layers", False)
    step, cache = start_decoding(transformer, SOURCE, T, 1, XLA._replace(block=block))
    filled = keras.tree.map_structure(lambda x: x * 0 + 1e3, cache)
    visible, ids = (np.arange(T) == 4)[None, None], np.full((B, 1), 5)
    np.testing.assert_allclose(
        step(ids, 4, visible, cache).logits, step(ids, 4, visible, filled).logits, atol=1e-6
    )


@pytest.mark.parametrize("runtime", RUNTIMES.values(), ids=RUNTIMES.keys())
def test_it_is_a_step_that_searches_may_rebuild(runtime):
    transformer = transformer_of("one layer", False)
    step, _ = start_decoding(transformer, SOURCE, T, 1, runtime)
    rebuilt = step.rebuild()
    assert isinstance(step, Step) and type(rebuilt) is type(step)
    for name in Step.__annotations__:
        assert getattr(rebuilt, name) == getattr(step, name)
