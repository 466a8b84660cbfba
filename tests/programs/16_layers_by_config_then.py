import json
from pathlib import Path

import kformer  # isort: skip
import keras  # After kformer.

layers = [*map(keras.layers.deserialize, json.loads(Path("layers.json").read_text()))]
assert [type(layer).__name__ for layer in layers] == ["Decoder", "TransformerEncoder", "SSRU"]
assert layers[0].decoder_cell == "ssru" and layers[1].vocab_size == 30
assert isinstance(layers[2], kformer.SSRU)
optimizer = keras.optimizers.deserialize(json.loads(Path("optimizer.json").read_text()))
assert optimizer.learning_rate == 0  # The schedule's first step.
