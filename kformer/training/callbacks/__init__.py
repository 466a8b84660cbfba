"""Keras callbacks for any `model.fit`: speed, progress, scores, the best model, and when to stop.

- `training_log`: `TokensPerSecond`, `KeepHistory` and the logs for TensorBoard.
- `training_progress`: a table of validations, and the time left.
- `best_model`: `KeepBest`. `stopping`: `StopWithoutImprovement`, `StopInTime`, `StopWhenDiverged`.
- `translation_scores`: BLEU and chrF of validation translations.
- `weight_average`: `WithAverage`, validation with averaged weights, and the state of callbacks.
"""
