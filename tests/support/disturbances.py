"""Callbacks that disturb a run."""

import keras


class PowerCut(keras.callbacks.Callback):
    """Breaks off before an epoch."""

    def __init__(self, epoch):
        super().__init__()
        self.epoch = epoch

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == self.epoch:
            raise ZeroDivisionError("power cut")


class Spoil(keras.callbacks.Callback):
    """Multiplies all weights before an epoch."""

    def __init__(self, epoch, factor):
        super().__init__()
        self.epoch = epoch
        self.factor = factor

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == self.epoch:
            self.model.set_weights([self.factor * w for w in self.model.get_weights()])
