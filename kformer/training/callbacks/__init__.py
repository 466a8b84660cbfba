"""Keras callbacks for any `model.fit`: speed, progress, scores, the best model, and when to stop.

- `logs`: `TokensPerSecond`, `KeepBest`, `KeepHistory`, `EarlyStopping`, `StopWhenDiverged`.
- `progress`: a line of progress with the time left.
- `tensorboard`: the same numbers for TensorBoard.
- `translation_scores`: BLEU and chrF of validation translations.
"""
