"""The training objective: loss, metrics, optimizer and schedule.

- `token_scores`: what loss and metrics share. `expected`: the shapes and ids that they accept.
- `loss`, `metrics`: masked cross-entropy, accuracy, perplexity, macro F1, counts of tokens.
- `optimizer`: Adam with averaged weights, and the warm-up schedule.
"""
