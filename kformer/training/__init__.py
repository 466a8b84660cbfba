"""What learning needs: data, loss, metrics, schedule, and a whole run.

Names are imported when they are first used.
"""

from kformer.lazy import imported

if __name__ != "kformer.training":  # The link of that name, at the top of the repository.
    raise ImportError(
        "The package is `kformer.training`: import that. (Under two names its Keras classes would "
        f"be registered twice.) Received: import {__name__}."
    )

_MODULE_OF = {
    "check_parallel": "text_files",
    "translation_dataset": "dataset",
    "DroppedPairs": "dropped_pairs",
    "count_dropped_pairs": "pair_filter",
    "TrainingCost": "cost",
    "training_cost": "cost",
    "CorpusReport": "preflight",
    "check_corpus": "preflight",
    "MaskedCrossEntropy": "loss",
    "MaskedAccuracy": "metrics",
    "Perplexity": "metrics",
    "Tokens": "metrics",
    "WarmupSchedule": "schedule",
    "AveragedAdam": "optimizer",
    "WithAverage": "average",
    "TokensPerSecond": "callbacks",
    "KeepBest": "callbacks",
    "KeepHistory": "callbacks",
    "EarlyStopping": "callbacks",
    "StopWhenDiverged": "callbacks",
    "TranslationScores": "translation_scores",
    "warm_start": "fine_tuning",
    "Progress": "progress",
    "TensorBoardLogs": "tensorboard",
    "resumable_fit": "resume",
    "Interrupted": "interruption",
    "Recipe": "recipe",
    "train": "fit",
}

__all__ = list(_MODULE_OF)


def __getattr__(name):
    return imported("kformer.training", _MODULE_OF, name)


def __dir__():
    return __all__
