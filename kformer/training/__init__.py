"""Training: from text files to a translator, a classifier or a language model.

- `trainers`: `train`, `train_classifier`, `train_language_model`: whole runs.
- `recipes`: all numbers of a run. `run`: a run of any kind. `kinds`: the differences between kinds.
- `data`: text files to batches. `objective`: loss, metrics, optimizer, schedule.
- `callbacks`: for any `model.fit`. `resumption`: a `fit` that can be resumed exactly.
- `preparation`: text files to shards. `shards`: pairs as ids on disk, for text of any size.
- `parallel`: several devices and processes.
- `distillation`, `distributions`: students that learn from translations of teachers, and from the
  probabilities of their words.
- `shortlist_learning`: learns a `kformer.Shortlist` from text.

The public names are in `__init__.pyi`; each is imported when it is first used.
"""

from kformer import lazy_names

if __name__ != "kformer.training":  # The link of that name, at the top of the repository.
    raise ImportError(
        "Import `kformer.training` instead: under two names, its Keras classes would be registered "
        f"twice. Received: import {__name__}."
    )

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
