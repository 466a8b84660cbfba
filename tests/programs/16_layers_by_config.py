import json
from pathlib import Path

import keras

import kformer

layers = [
    kformer.Decoder(num_layers=1, d_model=16, num_heads=2, d_ff=32, decoder_cell="ssru"),
    kformer.TransformerEncoder(30, num_layers=1, d_model=16, num_heads=2, d_ff=32),
    kformer.SSRU(16),
]
Path("layers.json").write_text(json.dumps([keras.layers.serialize(layer) for layer in layers]))
optimizer = keras.optimizers.Adam(kformer.training.WarmupSchedule(16))
Path("optimizer.json").write_text(json.dumps(keras.optimizers.serialize(optimizer)))
