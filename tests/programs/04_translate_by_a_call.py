import numpy as np
import tensorflow as tf

import kformer

translator = kformer.load("translator.keras")
sentences = ["ein Hund", "eine Katze"]
expected = translator.translate(sentences)
assert translator("ein Hund") == expected[0]
assert translator(sentences) == expected
assert translator(tf.constant(sentences)) == expected
answers = translator.predict(sentences)
assert isinstance(answers, np.ndarray) and answers.tolist() == expected
assert translator.predict(np.array(sentences), batch_size=1, verbose=0).tolist() == expected
assert translator.predict(tf.data.Dataset.from_tensor_slices(sentences)).tolist() == expected
assert translator.predict(sentences, beam_size=2).tolist() == translator(sentences, beam_size=2)
logits = translator((np.array([[7, 3]]), np.array([[2, 8]])))
assert logits.shape == (1, 2, translator.tokenizer.vocab_size)
