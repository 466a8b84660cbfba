"""The training objective: loss, metrics, optimizer and schedule.

- `token_scores`: scores that loss and metrics share. `expected`: their inputs, checked.
- `loss`, `metrics`: masked cross-entropy, accuracy, perplexity, macro F1, counts of tokens.
- `optimizer`: Adam with averaged weights, and the warm-up schedule.
"""
