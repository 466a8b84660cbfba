"""The translator that a run trains, with random weights or another model's; its text and report."""

import dataclasses
import itertools
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import keras

from kformer.backend import is_tensorflow
from kformer.inference.capitals import ABOUT as READS_CAPITALS
from kformer.inference.capitals import is_in_capitals
from kformer.inference.facts import SINGLE_SENTENCES
from kformer.inference.quality_estimate import MIN_PAIRS
from kformer.inference.source_marks import ABOUT, KINDS, symbols_of
from kformer.inference.zero_shot import facts_of, zero_shot_directions
from kformer.model.transformer import Transformer
from kformer.tasks.translator import Translator
from kformer.text.bleu_tokenizers import bleu_tokenizer, warn_without_words
from kformer.text.paragraphs.sentence_splitting import split_sentences
from kformer.text.scores import bleu_metric, chrf_metric, signature_of
from kformer.text.text_files import read_lines
from kformer.text.tokenizer import Tokenizer
from kformer.text.vocabulary import has_pieces
from kformer.training.callbacks.translation_scores import TranslationScores
from kformer.training.data.batching import BatchOptions
from kformer.training.data.directions import codes_of
from kformer.training.data.pairs import ParallelText, check_parallel
from kformer.training.data.preflight import corpus_report
from kformer.training.data.translation_dataset import translation_windows
from kformer.training.kinds.translation_task import TranslationTask
from kformer.training.objective.metrics import MaskedAccuracy, Perplexity, Tokens
from kformer.training.recipes.cost import training_cost
from kformer.training.recipes.noise_rates import noise_rates
from kformer.training.recipes.pace import pace_of
from kformer.training.recipes.recipe import TRANSLATION_MONITORS, Recipe
from kformer.training.run.fine_tuning import (
    settings_of_search,
    settings_to_start_from,
    target_settings,
    warm_start,
)
from kformer.training.run.replicas import DTYPES, compile_network
from kformer.training.run.run_preparation import Prepared
from kformer.training.run.training_task import TextOfRun
from kformer.training.shards.passes import Reading
from kformer.training.shards.shards_dataset import ShardBatches

_SCORES = (MaskedAccuracy, Perplexity)
_LINES = 2000  # Of a source, that show what kind of text it is.
_FEW = 0.02  # Share of lines from which a model learns nothing about others of their kind.
_SAMPLE = 100  # Sentences of the validation text that show whether a model is of use.


def text_of(prepared: Prepared[TranslationTask]) -> TextOfRun:
    """Returns the text of a run: files or shards to train on, and files to validate on."""
    task, options = prepared.task, prepared.task.options
    batches = BatchOptions.for_training(
        prepared.recipe,
        weights=options.weights,
        temperature=options.temperature,
        marks=options.marks,
    )
    tokenizers = _tokenizers_of_sides(prepared)
    if task.sets:
        training = ShardBatches(task.sets, batches, tokenizers, _readings(prepared))
    else:
        training = _windows(prepared, task.training, tokenizers, batches)
    plain = batches.for_validation()
    validation = [
        _windows(prepared, text, tokenizers, plain) for text in task.validation.one_by_one()
    ]
    return TextOfRun(training, validation)


def _windows(prepared, text, tokenizers, options):
    """Returns the windows of parallel text, with the symbols of target languages, if any."""
    symbols = prepared.tokenizers[0].language_ids
    directions = [
        (name, symbols[codes_of(name)[1]] if symbols else None) for name in text.directions
    ]
    return translation_windows(text.source, text.target, tokenizers, options, directions)


def _readings(prepared):
    """Returns the direction and the `Reading` of each corpus of shards, if there are directions."""
    symbols, task = prepared.tokenizers[0].language_ids, prepared.task
    if not task.directions:
        return []
    return [
        (name, Reading(swapped, symbols.get(codes_of(name)[1])))
        for name, swapped in zip(task.directions, task.is_swapped, strict=True)
    ]


def _tokenizers_of_sides(prepared):
    source, target = prepared.tokenizers
    if source.target_languages:  # The data has their symbols.
        source = source.without_prefix()
    return source, target or source


def report(prepared: Prepared[TranslationTask]) -> str:
    """Describes the text of a run and its cost, and warns of problems."""
    task, (training, validation) = prepared.task, prepared.text
    recipe = recipe_from(prepared.recipe, *prepared.tokenizers)
    if task.sets:
        lines, tokens, number = training.describe(), training.passes.ids, training.passes.number
        if task.validation_files:
            pairs = check_parallel(task.validation.source, task.validation.target)
            lines.append(f"Validation: {pairs:,} pairs.")
    else:
        tokenizers, names = _tokenizers_of_sides(prepared), task.training.shown
        corpus = corpus_report(training, validation, tokenizers, prepared.origin, names)
        lines, number = [str(corpus)], corpus.batches
        tokens = corpus.source_tokens, corpus.target_tokens
    if task.directions:
        lines.append(_directions_in_words(task))
    lines += training_cost(recipe, *tokens).lines()
    lines += pace_of(recipe, number, prepared.is_trained).lines()
    if recipe.monitor in TRANSLATION_MONITORS:
        lines += [
            f"val_{name}bleu: {signature_of(bleu_metric(task.options.tokenize, language))}"
            for name, language in _languages_of_validation(task).items()
        ]
        lines.append(f"val_chrf: {signature_of(chrf_metric())}")
    return "\n".join(lines)


def _directions_in_words(task):
    """Describes the directions of a run by their pairs, and the ones that have no text."""
    pairs = Counter()
    for name, number in zip(task.directions, task.pairs_of_corpora(), strict=True):
        pairs[name] += number
    numbers = ", ".join(f"{name} {number:,} pairs" for name, number in pairs.items())
    untrained = zero_shot_directions(task.all_directions)
    rest = f" Without text (zero-shot): {', '.join(untrained)}." if untrained else ""
    return f"Directions: {numbers}.{rest}"


def _languages_of_validation(task):
    """Returns the target language of each validation text by its direction; "" without any."""
    directions = {f"{name}_": codes_of(name)[1] for name in task.validation.directions}
    return directions or {"": task.target_language}


def scores(prepared: Prepared[TranslationTask], translator: Translator) -> list:
    """Returns the callbacks for BLEU and chrF of each validation text, if one is monitored."""
    task = prepared.task
    files = [*zip(task.validation.source, task.validation.target, strict=True)]
    if prepared.recipe.monitor not in TRANSLATION_MONITORS:
        return [[] for _ in files]
    translators = [translator] * len(files)
    if translator.target_languages:
        translators = [translator.into(codes_of(name)[1]) for name in task.validation.directions]
    tokenize = task.options.tokenize
    return [
        [TranslationScores(into, *(list(read_lines(file)) for file in both), tokenize=tokenize)]
        for into, both in zip(translators, files, strict=True)
    ]


def calibrate(validation: ParallelText, translator: Translator) -> str | None:
    """Calibrates the quality estimate on the first validation text; returns how well it fits.

    There is none if the text has too few pairs, or the translator a choice of languages; or on
    JAX, which takes minutes to search.
    """
    if not validation.source or translator.target_languages or not is_tensorflow():
        return None
    files = validation.source[0], validation.target[0]
    sources, targets = (list(read_lines(file)) for file in files)
    if sum(bool(source.strip()) for source in sources) < MIN_PAIRS:
        return None
    return f"Quality estimates of the validation text: {translator.calibrate(sources, targets)}."


def scores_of_sample(task: Any, translator: Translator) -> tuple[float, float] | None:
    """Returns BLEU and chrF of a hundred sentences of the first validation text.

    None where `calibrate` returns None, but for the number of pairs; or where BLEU means nothing:
    its tokenizer is not installed, or finds no words, in text without spaces.
    """
    validation = task.validation
    if not validation.source or translator.target_languages or not is_tensorflow():
        return None
    sides = (read_lines(file) for file in (validation.source[0], validation.target[0]))
    pairs = [pair for pair in zip(*sides, strict=True) if all(map(str.strip, pair))]
    if not pairs:
        return None
    sources, targets = zip(*pairs[:: 1 + len(pairs) // _SAMPLE], strict=True)
    language = task.options.tokenize, task.target_language
    with warnings.catch_warnings(action="error", category=UserWarning):
        try:
            warn_without_words(targets, bleu_tokenizer(*language))
        except (UserWarning, ValueError):
            return None
    translations = translator.translate(list(sources), split=False)
    metrics = bleu_metric(*language), chrf_metric()
    return tuple(metric.corpus_score(translations, [targets]).score for metric in metrics)


def new_model(prepared: Prepared[TranslationTask], rising_steps: int) -> Translator:
    """Returns the translator of a run, ready for `fit`; `rising_steps` is of `WarmupSchedule`."""
    task, (tokenizer, target_tokenizer) = prepared.task, prepared.tokenizers
    start = task.options.warm_start
    translator = new_translator(
        prepared.recipe,
        tokenizer,
        None if start is None else Translator.load(start),
        target_tokenizer,
        task.target_language,
        rising_steps,
        task.all_directions,
        task.options.marks,
    )
    translator.about |= _facts_of_sources(prepared)
    return translator


def _facts_of_sources(prepared):
    """Returns what the sources show of a model that learned from them, for its metadata."""
    files, noise = prepared.task.training.source, noise_rates(prepared.recipe.noise)
    lines = [line for file in files for line in itertools.islice(read_lines(file), _LINES)]
    if not lines:
        return {}
    several = sum(len(split_sentences(line)) > 1 for line in lines)
    capitals = sum(map(is_in_capitals, lines))
    return {
        SINGLE_SENTENCES: "join" not in noise and several <= _FEW * len(lines),
        READS_CAPITALS: "upper" in noise or capitals > _FEW * len(lines),
    }


def recipe_from(
    recipe: Recipe, tokenizer: Tokenizer, target_tokenizer: Tokenizer | None = None
) -> Recipe:
    """Returns `recipe` with the sizes of the vocabularies."""
    return dataclasses.replace(
        recipe,
        vocab_size=tokenizer.vocab_size,
        target_vocab_size=target_tokenizer.vocab_size if target_tokenizer else 0,
    )


def new_translator(
    recipe: Recipe,
    tokenizer: Tokenizer,
    start_model: Translator | None = None,
    target_tokenizer: Tokenizer | None = None,
    target_language: str | None = None,
    rising_steps: int | None = None,
    directions: Sequence[str] = (),
    marks: Sequence[str] = (),
) -> Translator:
    """Returns a translator ready for `fit`."""
    keras.utils.set_random_seed(recipe.seed)
    recipe = recipe_from(recipe, tokenizer, target_tokenizer)
    settings = settings_to_start_from(start_model, tokenizer)
    if start_model is not None:
        settings |= target_settings(start_model, target_tokenizer or tokenizer)
    transformer = compiled_transformer(recipe, tokenizer.padding_id, rising_steps, **settings)
    about = {} if start_model is None else dict(start_model.about)
    if target_language is not None:
        about["target_language"] = target_language
    if tokenizer.target_languages:
        about.pop("target_language", None)
        target_tokenizer = target_tokenizer or tokenizer.without_prefix()
    if directions:
        about.pop("source_language", None)
        about |= facts_of(directions)
    learnt = {*marks, *about.pop(ABOUT, ())}
    if known := [m for m in KINDS if m in learnt and has_pieces(tokenizer.model, symbols_of([m]))]:
        about[ABOUT] = known
    kept = settings_of_search(start_model, transformer)
    translator = Translator(tokenizer, transformer, target_tokenizer, about=about, **kept)
    if start_model is not None:
        warm_start(translator, start_model)
    return translator


def compiled_transformer(
    recipe: Recipe, padding_id: int = 0, rising_steps: int | None = None, **settings: Any
) -> Transformer:
    """Returns a new compiled model of the recipe, with further `settings`."""
    transformer = Transformer(
        recipe.vocab_size,
        recipe.num_layers,
        recipe.d_model,
        recipe.num_heads,
        recipe.d_ff,
        recipe.dropout,
        recipe.norm_first,
        target_vocab_size=recipe.target_vocab_size or None,
        padding_id=padding_id,
        activation=recipe.activation,
        num_decoder_layers=recipe.num_decoder_layers or None,
        decoder_cell=recipe.decoder_cell,
        **settings,
        dtype=DTYPES[recipe.precision],
    )
    metrics = [
        *(metric(padding_id, ignored_ids=transformer.forbidden_ids) for metric in _SCORES),
        Tokens(padding_id),
    ]
    compile_network(transformer, recipe, padding_id, metrics, rising_steps)
    return transformer
