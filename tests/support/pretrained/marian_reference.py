"""What Marian computes, in float64 NumPy, from weights by Marian's names.

The equations are those of Marian's transformer.h and cells.h, with norms after the sub-layers or
before, and one table of vectors. It shares no code with the package.

Axes: S source length, T target length, D width, H heads, V vocabulary.
"""

import math

import numpy as np

_erf = np.vectorize(math.erf)


class MarianReference:
    """Computes logits.

    Args:
        arrays: dict from Marian's name to array.
        num_heads: Number of heads of each attention.
        activation: "relu", "swish" or "gelu", of the feed-forward networks.

    Attributes:
        largest: dict from the name of a matrix to the largest absolute inputs it had, one a call.
    """

    def __init__(self, arrays, num_heads, activation="relu"):
        self._arrays = {
            name: np.asarray(array, np.float64)
            for name, array in arrays.items()
            if not name.startswith("special:")
        }
        self._num_heads, self._activation = num_heads, activation
        self.largest = {}

    def logits(self, source, target):
        """Returns the logits of each id of a target and of the next one, float (T + 1, V).

        Args:
            source: Ids of a source, with its end id.
            target: Ids of a target.
        """
        memory = self._embed(source)
        for layer in self._layers("encoder"):
            memory = self._attention(f"{layer}_self", memory, memory)
            memory = self._feed_forward(layer, memory)
        memory = self._top("encoder", memory)
        x = self._embed([None, *target])
        for layer in self._layers("decoder"):
            if f"{layer}_rnn_W" in self._arrays:
                x = self._recurrence(f"{layer}_rnn", x)
            else:
                x = self._attention(f"{layer}_self", x, x, causal=True)
            x = self._attention(f"{layer}_context", x, memory)
            x = self._feed_forward(layer, x)
        x = self._top("decoder", x)
        self._see("Wemb", x)
        return x @ self._arrays["Wemb"].T + self._arrays["decoder_ff_logit_out_b"][0]

    def _layers(self, stack):
        number = 1
        while f"{stack}_l{number}_ffn_W1" in self._arrays:
            yield f"{stack}_l{number}"
            number += 1

    def _embed(self, ids):
        """Returns the vectors of ids, float (T, D); the one before the first, None, is zero."""
        table = self._arrays["Wemb"]
        width = table.shape[1]
        vectors = np.array([np.zeros(width) if i is None else table[i] for i in ids])
        waves = width // 2
        frequencies = 10_000 ** (-np.arange(waves) / (waves - 1))
        angles = np.arange(len(ids))[:, None] * frequencies
        return vectors * width**0.5 + np.concatenate([np.sin(angles), np.cos(angles)], axis=1)

    def _see(self, name, x):
        self.largest.setdefault(name, []).append(float(np.abs(x).max()))

    def _dense(self, prefix, suffix, x):
        self._see(f"{prefix}W{suffix}", x)
        bias = self._arrays.get(f"{prefix}b{suffix}", 0)
        return x @ self._arrays[f"{prefix}W{suffix}"] + bias

    def _norm(self, prefix, x, end=""):
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-6)
        arrays = self._arrays
        return scaled * arrays[f"{prefix}_scale{end}"] + arrays[f"{prefix}_bias{end}"]

    def _before(self, prefix, x):
        """Returns the input of a sub-layer, with a norm if the model has it there."""
        return self._norm(prefix, x, "_pre") if f"{prefix}_scale_pre" in self._arrays else x

    def _after(self, prefix, x):
        """Returns the output of a sub-layer, with a norm if the model has it there."""
        return self._norm(prefix, x) if f"{prefix}_scale" in self._arrays else x

    def _top(self, stack, x):
        return self._after(f"{stack}_top_ln", x)

    def _attention(self, prefix, x, memory, causal=False):
        normed = self._before(f"{prefix}_Wo_ln", x)
        memory = normed if memory is x else memory
        inputs = {"q": normed, "k": memory, "v": memory}
        query, key, value = (
            self._dense(f"{prefix}_", name, inputs[name])
            .reshape(len(inputs[name]), self._num_heads, -1)
            .transpose(1, 0, 2)
            for name in "qkv"
        )
        scores = query @ key.transpose(0, 2, 1) / query.shape[-1] ** 0.5
        if causal:
            scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        mixed = (weights @ value).transpose(1, 0, 2).reshape(len(x), -1)
        return self._after(f"{prefix}_Wo_ln", x + self._dense(f"{prefix}_", "o", mixed))

    def _feed_forward(self, layer, x):
        normed = self._before(f"{layer}_ffn_ffn_ln", x)
        inner = self._dense(f"{layer}_ffn_", "1", normed)
        if self._activation == "swish":
            inner = inner / (1 + np.exp(-inner))
        elif self._activation == "gelu":
            inner = inner * (1 + _erf(inner / 2**0.5)) / 2
        else:
            inner = np.maximum(inner, 0)
        outer = self._dense(f"{layer}_ffn_", "2", inner)
        return self._after(f"{layer}_ffn_ffn_ln", x + outer)

    def _recurrence(self, prefix, x):
        normed = self._before(f"{prefix}_ln", x)
        update = self._dense(f"{prefix}_", "", normed)
        forget = 1 / (1 + np.exp(-self._dense(f"{prefix}_", "f", normed)))
        state, outputs = np.zeros(x.shape[1]), []
        for one_forget, one_update in zip(forget, update, strict=True):
            state = one_forget * state + (1 - one_forget) * one_update
            outputs.append(np.maximum(state, 0))
        return self._after(f"{prefix}_ffn_ln", x + np.array(outputs))


def input_scales(reference):
    """Returns dict from a matrix to what an engine of int8 multiplies its inputs by.

    As Marian's extract_stats.py computes it, of the calls of `reference` so far.
    """
    scales = {
        name: 127 / (np.mean(largest) + 1.1 * np.std(largest))
        for name, largest in reference.largest.items()
    }
    return scales | {"none": scales["Wemb"]}
