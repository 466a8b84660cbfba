"""The language model that a run trains: with random weights, or with those of another."""

import keras

from kformer.model.networks.transformer_decoder import TransformerDecoder
from kformer.tasks.language_model import LanguageModel
from kformer.text.documents import read_documents
from kformer.training.language.bits import BitsPerByte
from kformer.training.language.dataset import language_dataset
from kformer.training.objective.loss import MaskedCrossEntropy
from kformer.training.objective.metrics import MaskedAccuracy, Perplexity, Tokens
from kformer.training.recipes.recipe import Recipe
from kformer.training.run.compiling import compile_network, one_stack, rising_steps
from kformer.training.run.fine_tuning import settings_to_start_from, warm_start_stack
from kformer.training.run.preparation import Prepared
from kformer.training.run.task import Learner
from kformer.training.run.vocabularies import tokenizers_of


def learner(prepared: Prepared, epoch) -> Learner:
    """Returns what the run trains; `epoch` is that of `language_dataset`."""
    recipe, task = prepared.recipe, prepared.task
    tokenizer, _ = tokenizers_of(prepared)
    documents = task.options.documents
    common = {
        "tokens_per_batch": recipe.tokens_per_batch,
        "max_length": recipe.max_length,
        "documents": documents,
    }
    batches = language_dataset(
        *(task.files["text"], tokenizer),
        piece_splitting=recipe.piece_splitting,
        byte_spelling=recipe.byte_spelling,
        seed=recipe.seed,
        epoch=epoch,
        **common,
    )
    validation = [
        language_dataset(file, tokenizer, shuffle=False, **common) for file in task.validation_files
    ]
    rise = rising_steps(prepared, batches)
    model = new_language_model(recipe, tokenizer, task.options.warm_start, rise)
    files = task.validation_files
    bits = [
        [BitsPerByte(read_documents(file, documents, parts=True), tokenizer.model)]
        for file in files
    ]
    return Learner.on(model, batches, validation, files, scores=bits)


def new_language_model(
    recipe: Recipe, tokenizer, start=None, rising_steps: int | None = None
) -> LanguageModel:
    """Returns a language model ready for `fit`.

    Args:
        recipe: All numbers, with the sizes of the model to start from.
        tokenizer: `kformer.Tokenizer`.
        start: Path of a language model to start from; or None.
        rising_steps: See `WarmupSchedule`.
    """
    other = None if start is None else LanguageModel.load(start)
    keras.utils.set_random_seed(recipe.seed)
    settings = {"start_id": tokenizer.start_id, **settings_to_start_from(other, tokenizer)}
    decoder = one_stack(TransformerDecoder, recipe, tokenizer, **settings)
    model = LanguageModel(tokenizer, decoder, recipe.max_length)
    if other is not None:
        warm_start_stack(model, other)
    loss = MaskedCrossEntropy(recipe.label_smoothing, tokenizer.padding_id)
    metrics = [kind(tokenizer.padding_id) for kind in (MaskedAccuracy, Perplexity, Tokens)]
    compile_network(decoder, recipe, loss, metrics, rising_steps)
    return model
