"""Callbacks: speed in the progress bar, the best translator on disk."""

import time

import keras


class TokensPerSecond(keras.callbacks.Callback):
    """Adds `tokens/s` to the logs: real target tokens of training, by the clock.

    The model must be compiled with the metric `kformer.training.Tokens`, whose counts this
    replaces in the logs.
    """

    def on_epoch_begin(self, epoch, logs=None):
        self._start = time.perf_counter()
        self._speed = 0.0

    def on_train_batch_end(self, batch, logs=None):
        if "tokens" not in logs:
            raise ValueError(
                "Compile the model with the metric `kformer.training.Tokens()`, so that tokens "
                f"can be counted. Received: metrics {sorted(logs)}."
            )
        self._speed = logs.pop("tokens") / (time.perf_counter() - self._start)
        logs["tokens/s"] = self._speed

    def on_epoch_end(self, epoch, logs=None):
        logs.pop("tokens", None)
        logs.pop("val_tokens", None)
        logs["tokens/s"] = self._speed


class KeepBest(keras.callbacks.Callback):
    """Saves the translator after each epoch that is better than all before it.

    Args:
        translator: `kformer.Translator` of the model in training.
        path: The `.keras` file, always whole: written beside and renamed.
        monitor: What is to be low. Where the logs lack it, every epoch is saved. (Not the
            perplexity: with label smoothing it rises while the translations still get better.)
    """

    def __init__(self, translator, path, monitor: str = "val_loss"):
        super().__init__()
        self.translator = translator
        self.path = path
        self.monitor = monitor
        self.best = float("inf")

    def on_epoch_end(self, epoch, logs=None):
        score = (logs or {}).get(self.monitor)
        if score is None or score < self.best:
            self.best = self.best if score is None else score
            self.translator.save(self.path)
