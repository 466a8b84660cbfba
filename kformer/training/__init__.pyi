from .callbacks.best_model import KeepBest
from .callbacks.divergence import StopWhenDiverged
from .callbacks.early_stopping import StopWithoutImprovement
from .callbacks.history import KeepHistory
from .callbacks.progress import Progress
from .callbacks.speed import TokensPerSecond
from .callbacks.tensorboard import TensorBoardLogs
from .callbacks.translation_scores import TranslationScores
from .classification.dataset import classification_dataset
from .classification.trainer import train_classifier
from .data.corpus_report import CorpusReport
from .data.dataset import translation_dataset
from .data.dropped_pairs import DroppedPairs
from .data.pairs import split_pairs
from .data.parallel_files import check_parallel
from .data.preflight import check_corpus, count_dropped_pairs
from .language.dataset import language_dataset
from .language.trainer import train_language_model
from .objective.average import WithAverage
from .objective.loss import MaskedCrossEntropy
from .objective.metrics import MaskedAccuracy, Perplexity, Tokens
from .objective.optimizer import AveragedAdam
from .objective.schedule import WarmupSchedule
from .parallel.devices import distribute
from .parallel.hosts import join_processes
from .recipes.cost import TrainingCost, training_cost
from .recipes.recipe import Recipe
from .resumption.interruption import Interrupted
from .resumption.resume import resumable_fit
from .run.fine_tuning import warm_start
from .shards.dataset import shards_dataset
from .shards.manifest import Manifest
from .shards.preparation.options import PreparationOptions
from .shards.preparation.prepare import prepare_shards
from .shortlist.learning import learn_shortlist
from .translation.trainer import train

__all__ = [
    "AveragedAdam",
    "CorpusReport",
    "DroppedPairs",
    "Interrupted",
    "KeepBest",
    "KeepHistory",
    "Manifest",
    "MaskedAccuracy",
    "MaskedCrossEntropy",
    "Perplexity",
    "PreparationOptions",
    "Progress",
    "Recipe",
    "StopWhenDiverged",
    "StopWithoutImprovement",
    "TensorBoardLogs",
    "Tokens",
    "TokensPerSecond",
    "TrainingCost",
    "TranslationScores",
    "WarmupSchedule",
    "WithAverage",
    "check_corpus",
    "check_parallel",
    "classification_dataset",
    "count_dropped_pairs",
    "distribute",
    "join_processes",
    "language_dataset",
    "learn_shortlist",
    "prepare_shards",
    "resumable_fit",
    "shards_dataset",
    "split_pairs",
    "train",
    "train_classifier",
    "train_language_model",
    "training_cost",
    "translation_dataset",
    "warm_start",
]
