from .callbacks.best_model import KeepBest
from .callbacks.stopping import StopWhenDiverged, StopWithoutImprovement
from .callbacks.training_log import KeepHistory, TensorBoardLogs, TokensPerSecond
from .callbacks.training_progress import Progress
from .callbacks.translation_scores import TranslationScores
from .callbacks.weight_average import WithAverage
from .data.corpus_report import CorpusReport
from .data.directions import Direction
from .data.dropped_pairs import DroppedPairs
from .data.pairs import check_parallel, split_pairs
from .data.preflight import check_corpus, count_dropped_pairs
from .data.translation_dataset import translation_dataset
from .kinds.classification_learner import classification_dataset
from .kinds.language_learner import language_dataset
from .objective.loss import MaskedCrossEntropy
from .objective.metrics import MaskedAccuracy, Perplexity, Tokens
from .objective.optimizer import AveragedAdam, AveragedMuon, WarmupSchedule
from .parallel.devices import distribute
from .parallel.hosts import join_processes
from .preparation.preparation_options import PreparationOptions
from .preparation.shards_writer import prepare_shards
from .recipes.cost import TrainingCost, training_cost
from .recipes.recipe import Recipe
from .resumption.interruption import Interrupted
from .resumption.resumable_fit import resumable_fit
from .run.fine_tuning import warm_start
from .run.training_facts import training_facts
from .shards.manifest import Manifest
from .shards.shards_dataset import shards_dataset
from .shortlist_learning import learn_shortlist
from .trainers import train, train_classifier, train_language_model, train_tagger

__all__ = [
    "AveragedAdam",
    "AveragedMuon",
    "CorpusReport",
    "Direction",
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
    "train_tagger",
    "training_cost",
    "training_facts",
    "translation_dataset",
    "warm_start",
]
