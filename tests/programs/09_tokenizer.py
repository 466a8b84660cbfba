import keras
import numpy as np
import tensorflow as tf

import kformer

tokenizer = kformer.Tokenizer.train(["text.de", "text.en"], vocab_size=280)
assert len(tokenizer) == tokenizer.vocab_size == 280
ids = tokenizer.encode("ein Hund")
assert np.array_equal(tokenizer.encode(["ein Hund"])[0], ids)
assert np.array_equal(tokenizer(["ein Hund"])[0], ids)
assert tokenizer.decode(ids) == "ein Hund"
try:
    kformer.Tokenizer.train(["Ein Hund läuft.", "Eine Katze schläft."], vocab_size=300)
    message = ""
except (FileNotFoundError, TypeError, ValueError) as error:
    message = str(error)
assert "file" in message

strings = keras.Input((), dtype="string")
vectors = kformer.TokenEmbedding(len(tokenizer), 16)(tokenizer(strings))
model = keras.Model(strings, kformer.EncoderLayer(d_model=16, num_heads=2, d_ff=32)(vectors))
assert model(tf.constant(["ein Hund"])).shape == (1, len(ids), 16)
