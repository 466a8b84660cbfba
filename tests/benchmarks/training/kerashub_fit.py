"""KerasHub: its Transformer layers and embedding, trained by `model.fit` as its guides do.

Option: `xla` for `jit_compile=True`.

It is given: the paper's plain cross entropy, without label smoothing; no metrics. Its positions are
learnt, as in its guides, and its layers drop attention weights too: that is in its time.
"""

import keras
import keras_hub
from keras import ops

from benchmarks.sizes import VOCAB_SIZE
from benchmarks.training.batches import PADDING
from benchmarks.training.keras_fit import fit
from benchmarks.training.process import serve
from benchmarks.training.sizes import DROPOUT, MAX_LENGTH


def translation_model(size) -> keras.Model:
    """Returns (source, target_in) -> logits; source, target and output share one table."""
    source = keras.Input((None,), dtype="int32")
    target = keras.Input((None,), dtype="int32")
    embedding = keras_hub.layers.TokenAndPositionEmbedding(VOCAB_SIZE, MAX_LENGTH, size.d_model)
    dropout = keras.layers.Dropout(DROPOUT)
    real = ops.not_equal(source, PADDING)

    memory = dropout(embedding(source))
    for _ in range(size.num_layers):
        encoder = keras_hub.layers.TransformerEncoder(size.d_ff, size.num_heads, DROPOUT)
        memory = encoder(memory, padding_mask=real)
    output = dropout(embedding(target))
    for _ in range(size.num_layers):
        decoder = keras_hub.layers.TransformerDecoder(size.d_ff, size.num_heads, DROPOUT)
        # Right-padded rows need no padding mask of the target: attention is causal.
        output = decoder(output, memory, encoder_padding_mask=real)
    logits = embedding.token_embedding(output, reverse=True)  # (B, T, V)
    return keras.Model((source, target), logits)


def train(size, dtype, options, batches, rounds):
    if dtype == "bfloat16":
        keras.config.set_dtype_policy("mixed_bfloat16")
    model = translation_model(size)
    model.compile(
        optimizer=keras.optimizers.Adam(1e-4, beta_1=0.9, beta_2=0.98, epsilon=1e-9),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=PADDING),
        jit_compile="xla" in options,
    )
    fit(model, batches, rounds)


if __name__ == "__main__":
    serve(train)
