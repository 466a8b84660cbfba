import keras
import numpy as np

import kformer

answers = np.load("answers.npz")
model = keras.models.load_model("model.keras")
np.testing.assert_allclose(model.predict(answers["texts"], verbose=0), answers["logits"], atol=1e-5)
again = kformer.load("model.keras")
assert isinstance(again, keras.Model)
assert int(again.optimizer.iterations) == int(model.optimizer.iterations) == 10
copy = keras.models.clone_model(model)
assert [layer.name for layer in copy.layers] == [layer.name for layer in model.layers]
other = keras.models.model_from_json(model.to_json())
assert other.count_params() == model.count_params()
