"""Training: from text files to a translator, a classifier or a language model.

- `data`: text files to batches. `objective`: loss, metrics, optimizer, schedule.
- `callbacks`: for any `model.fit`. `resumption`: a `fit` that can be resumed exactly.
- `run`: a whole run, of any kind. `translation`, `classification`, `language`: what is a kind's
  own.
- `distillation`: students that learn from the translations of teachers.
- `shards`: pairs as ids on disk, for text of any size.
- `recipes`: all numbers of a run.

The public names are in `__init__.pyi`; each is imported when it is first used.
"""

from kformer import lazy_names

if __name__ != "kformer.training":  # The link of that name, at the top of the repository.
    raise ImportError(
        "Import `kformer.training` instead: under two names, its Keras classes would be registered "
        f"twice. Received: import {__name__}."
    )

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
