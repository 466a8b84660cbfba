"""Keras callbacks for any `model.fit`: speed, progress, scores, the best model, and when to stop.

- `speed`: `TokensPerSecond`. `history`: `KeepHistory`. `progress`: a table of validations, and
  the time left.
- `best_model`: `KeepBest`. `early_stopping`: `StopWithoutImprovement`. Both build on `best_score`.
- `time_limit`: `StopInTime`.
- `divergence`: `StopWhenDiverged`, and the error that it raises.
- `tensorboard`: the logs for TensorBoard.
- `translation_scores`: BLEU and chrF of validation translations.
- `validation`: the base class of those that act after each validation.
"""
