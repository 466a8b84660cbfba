import keras
import numpy as np

import kformer

model = kformer.Transformer(40, num_layers=1, d_model=16, num_heads=2, d_ff=32)
schedule = kformer.training.WarmupSchedule(d_model=16, warmup_steps=10)
model.compile(
    optimizer=keras.optimizers.Adam(schedule, beta_2=0.98, epsilon=1e-9),
    loss=kformer.training.MaskedCrossEntropy(label_smoothing=0.1),
    metrics=[kformer.training.MaskedAccuracy(), kformer.training.Perplexity()],
)
rng = np.random.default_rng(0)
source, target = rng.integers(4, 40, (32, 6)), rng.integers(4, 40, (32, 5))
target_in = np.concatenate([np.full((32, 1), 2), target], axis=1)
target_out = np.concatenate([target, np.full((32, 1), 3)], axis=1)
history = model.fit((source, target_in), target_out, epochs=3, verbose=0).history
assert history["perplexity"][-1] < history["perplexity"][0]
model.save("model.keras")
