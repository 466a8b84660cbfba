import keras
import numpy as np

import kformer


class Stop(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 2:
            raise KeyboardInterrupt


ids = np.random.default_rng(0).integers(4, 30, (32, 6))


def fit(*callbacks):
    keras.utils.set_random_seed(1)
    model = kformer.Transformer(30, num_layers=1, d_model=8, num_heads=2, d_ff=16)
    model.compile("adam", kformer.training.MaskedCrossEntropy())
    backup = keras.callbacks.BackupAndRestore("backup")
    return model.fit((ids, ids), ids, epochs=4, verbose=0, callbacks=[backup, *callbacks])


try:
    fit(Stop())
except KeyboardInterrupt:
    print("stopped")
assert fit().epoch == [2, 3]
