"""The training objective: loss, metrics, optimizer, schedule, averaged weights.

- `token_scores`: what loss and metrics share.
- `loss`, `metrics`: masked cross-entropy, accuracy, perplexity, counts of tokens.
- `optimizer`, `schedule`: Adam with averaged weights, and the warm-up schedule.
- `average`, `stateful`: evaluation with averaged weights, and the state of callbacks.
"""
