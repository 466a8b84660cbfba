"""A training run of a translator, on text or on shards, before TensorFlow loads."""

import dataclasses
import functools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kformer.inference.source_marks import symbols_of
from kformer.kinds import TRANSLATOR
from kformer.tasks.keras_file import (
    about_in,
    prefix_in,
    target_language_in,
    target_languages_in,
    tokenizer_models,
    transformer_config,
)
from kformer.text.bleu_tokenizers import bleu_tokenizer
from kformer.text.text_files import as_list
from kformer.text.vocabulary import language_symbol, with_languages
from kformer.training.data.directions import (
    as_directions,
    codes_of,
    names_of_both,
)
from kformer.training.data.dropped_pairs import check_some_are_left
from kformer.training.data.pairs import (
    ParallelText,
    check_parallel,
    check_weights,
    checksum_of_text,
    corpus_weights,
    count_pairs,
)
from kformer.training.kinds.text_arguments import folders_of_directions, text_of_arguments
from kformer.training.recipes.noise_rates import NO_NOISE
from kformer.training.recipes.recipe import TRANSLATION_MONITORS, Recipe, sizes_in
from kformer.training.run.outcome import useless_translator
from kformer.training.run.run_options import TranslationOptions
from kformer.training.run.run_preparation import Prepared
from kformer.training.run.run_preparation import prepare as prepare_run
from kformer.training.run.run_vocabularies import learn_vocabularies, read_vocabularies
from kformer.training.run.text_size import ids_of_pairs
from kformer.training.run.training_task import Task
from kformer.training.shards.manifest import MANIFEST
from kformer.training.shards.shard_set import check_shards_are_left, shard_sets, vocabularies_of


class TranslationTask(Task):
    """A translator, trained on parallel text: "source" and "target", or "pairs"; and "valid_…".

    Args:
        training, validation: `ParallelText`.
        options: The optional arguments.

    Attributes:
        sets: `ShardSet`s to train on instead of text.
        directions: The direction of each corpus, such as "de-en"; empty without directions.
    """

    sets: Sequence = ()
    kind = TRANSLATOR
    monitors = ("loss", "perplexity", *TRANSLATION_MONITORS)
    learning = "kformer.training.kinds.translation_learner"
    options: TranslationOptions

    def __init__(
        self, training: ParallelText, validation: ParallelText, options: TranslationOptions
    ):
        valid = {f"valid_{name}": paths for name, paths in validation.paths.items()}
        super().__init__({**training.paths, **valid}, options)
        self.training = training
        self.directions = [*training.directions]
        self.validation = validation
        self.temporary = {
            *(() if training.recorded else training.paths),
            *(() if validation.recorded else valid),
        }

    def check(self, recipe: Recipe):
        super().check(recipe)
        options = self.options
        check_weights(self.corpora, options.weights, options.temperature)
        self._check_directions()
        if recipe.monitor in TRANSLATION_MONITORS:
            for language in self._languages_of_validation():
                bleu_tokenizer(options.tokenize, language)

    def _check_directions(self):
        """Raises ValueError if only one of training and validation text has directions."""
        validation = self.validation
        if validation.source and bool(validation.directions) != bool(self.directions):
            raise ValueError(
                "Text of several directions is validated by direction, and other text is not. "
                f"Received: {len(self.directions)} training and {len(validation.directions)} "
                "validation texts with directions."
            )
        targets = {*self.target_languages} or {codes_of(name)[1] for name in self.directions}
        for name in validation.directions:
            if codes_of(name)[1] not in targets:
                raise ValueError(
                    "Validation text must be in a language that the model translates into: "
                    f"{', '.join(sorted(targets))}. Received: valid_directions={name!r}."
                )

    def _languages_of_validation(self):
        targets = [codes_of(name)[1] for name in self.validation.directions]
        return targets or [self.target_language]

    @property
    def target_language(self) -> str | None:
        """Code of the language of the translations: as given, or of the model to start from.

        None if the model has several.
        """
        if self.directions:
            targets = {codes_of(name)[1] for name in self.directions}
            return None if self.target_languages else targets.pop()
        language, start = self.options.target_language, self.options.warm_start
        return language or (None if start is None else target_language_in(start))

    @functools.cached_property
    def target_languages(self) -> dict[str, str]:
        """Symbols, by the code, of the languages of which each translation needs one; or {}.

        They are those of the model to start from, and of the directions. One alone needs no symbol.
        """
        if not self.directions:
            return {}
        start = self.options.warm_start
        known = {} if start is None else target_languages_in(start)
        targets = [codes_of(name)[1] for name in self.directions]
        languages = known | {code: known.get(code, language_symbol(code)) for code in targets}
        return languages if known or len(languages) > 1 else {}

    @property
    def all_directions(self) -> list[str]:
        """The directions that the model has seen, also as the model to start from."""
        start = self.options.warm_start
        before = [] if start is None else about_in(start).get("directions", [])
        return [*dict.fromkeys([*before, *self.directions])]

    @property
    def corpora(self) -> int:
        """Number of corpora that are mixed."""
        return len(self.training.source)

    def pairs_of_corpora(self) -> list[int]:
        """Returns the number of pairs of each corpus."""
        return count_pairs(self.training.source, self.training.target)

    @property
    def validation_files(self):
        return self.validation.source

    @property
    def validation_names(self):
        if self.validation.directions:
            return [*self.validation.directions]
        shown = self.validation.shown
        return [shown.get(file, file) for file in self.validation.source]

    @property
    def is_chosen_by_mean(self):
        return bool(self.validation.directions)

    def suited_monitor(self):
        """Returns "chrf" if the validation text can be translated and scored, else "loss"."""
        if not self.validation_files or os.environ.get("KERAS_BACKEND") == "jax":  # Slow there.
            return "loss"
        try:
            for language in self._languages_of_validation():
                bleu_tokenizer(self.options.tokenize, language)
        except ValueError:  # It is not installed.
            return "loss"
        return "chrf"

    def read_examples(self):
        validation = self.validation
        if validation.source or validation.target:
            check_parallel(validation.source, validation.target)
        return {"pairs": check_parallel(self.training.source, self.training.target)}

    def learn_vocabularies(self, recipe: Recipe):
        return learn_vocabularies(
            recipe,
            self.training.source,
            self.training.target,
            self.options.exact_sizes,
            languages=[*self.target_languages],
            characters=symbols_of(self.options.marks),
        )

    def given_vocabularies(self):
        options = self.options
        # The learner keeps the tokenizers, and so the prefix, of the model that it starts from.
        prefix_kept = options.tokenizer is None and not self.directions
        languages = [*self.target_languages]
        return read_vocabularies(
            options.vocabulary, options.target_tokenizer, prefix_kept, languages, options.marks
        )

    def check_some_are_left(self, recipe: Recipe, vocabularies: Any):
        models = vocabularies.source, vocabularies.target or vocabularies.source
        limits = recipe.max_length, recipe.max_length_ratio or None
        for text in (self.training, self.validation):
            if text.source:
                check_some_are_left(text.source, text.target, models, *limits, text.shown)

    def ids_of_a_pass(self, vocabularies: Any):
        models = vocabularies.source, vocabularies.target or vocabularies.source
        return ids_of_pairs(self.training.source, self.training.target, models, self._weights())

    def _weights(self):
        """Returns how often a pass reads each corpus."""
        options = self.options
        if options.weights is None and options.temperature is None:
            return [1.0] * self.corpora
        groups = self.directions or None
        return corpus_weights(self.pairs_of_corpora(), options.weights, options.temperature, groups)

    def sizes_to_start_from(self):
        config = transformer_config(Path(self.options.warm_start))
        sizes = sizes_in(config)
        if self.options.tokenizer is None and not self.options.new_vocabulary:
            sizes["vocab_size"] = config["vocab_size"]
        return sizes

    def calibrate(self, model: Any):
        """Calibrates the quality estimate, if there is enough validation text."""
        return self._learning.calibrate(self.validation, model)

    def uselessness(self, model: Any, scores: Any, epochs: int | None):
        """Translates a part of the validation text, if there is a search on this backend."""
        figures = self._learning.scores_of_sample(self, model)
        if figures is None:
            return None
        bleu, chrf = figures
        return useless_translator(bleu, chrf, epochs)

    def checksum(self, file: str):
        is_text = file in (*self.training.source, *self.training.target)
        is_text = is_text or file in (*self.validation.source, *self.validation.target)
        return checksum_of_text(file) if is_text else super().checksum(file)

    def tokenizers(self, vocabularies: Any):
        source, target = super().tokenizers(vocabularies)
        if self.target_languages:
            return [type(source)(source.model, None, self.target_languages), target]
        start = self.options.warm_start
        if start is None or (prefix := prefix_in(start)) is None:
            return [source, target]
        if tokenizer_models(start, prefix_kept=True)[0] == source.model:
            source = type(source)(source.model, prefix)  # It is put before each source.
        return [source, target]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShardsOptions(TranslationOptions):
    """The options of a translator's run on shards.

    Attributes:
        shards: A path or a list of paths of folders that `prepare_shards` wrote.
        left_out: Paths of the damaged shards, once they are known: a run resumes without the same
            ones.
    """

    shards: str | Path | Sequence[str | Path]
    left_out: Sequence[str] = ()

    @property
    def vocabulary(self):
        return as_list(self.shards)[0]

    def recorded(self):
        return {**super().recorded(), "left_out": [*self.left_out]}

    def check(self, recipe: Recipe):
        super().check(recipe)
        if recipe.noise != NO_NOISE:
            raise ValueError(
                "Noise changes text, and shards hold ids: train on the text, or without noise. "
                f"Received: noise={recipe.noise!r} with shards."
            )


class ShardsTask(TranslationTask):
    """A translator, trained on shards instead of text.

    Args:
        validation: `ParallelText`.
        options: `ShardsOptions`.
    """

    options: ShardsOptions

    def __init__(
        self, validation: ParallelText, options: ShardsOptions, directions: Sequence[str] = ()
    ):
        options.check_no_marks(f"shards={options.shards!r}")
        self.sets = shard_sets(options.shards, options.skip_damaged)
        if options.both_directions:
            self.sets = 2 * self.sets
        left_out = [name for shards in self.sets for name in shards.left_out()]
        options = dataclasses.replace(options, left_out=left_out)
        manifests = [str(shards.folder / MANIFEST) for shards in self.sets]
        training = ParallelText([], [], {"shards": manifests}, directions=directions)
        super().__init__(training, validation, options)

    def check(self, recipe: Recipe):
        super().check(recipe)
        if self.directions:
            _ = self.is_swapped

    @functools.cached_property
    def is_swapped(self) -> list[bool]:
        """For each corpus, whether its sides are swapped; raises the errors of `ShardSet`."""
        number = len(self.sets) // 2 if self.options.both_directions else 0
        languages = self.options.both_directions
        read: list[bool] = []
        for i, (shards, direction) in enumerate(zip(self.sets, self.directions, strict=True)):
            if languages and i >= number:
                read.append(not read[i - number])
                shards.check_swapped(read[-1])
            else:
                read.append(shards.is_swapped(direction, named=not languages))
        return read

    @property
    def corpora(self):
        return len(self.sets)

    def pairs_of_corpora(self):
        return [shards.manifest.pairs for shards in self.sets]

    def read_examples(self):
        validation = self.validation
        if validation.source or validation.target:
            check_parallel(validation.source, validation.target)
        return {"pairs": sum(self.pairs_of_corpora())}

    def given_vocabularies(self):
        """Returns the vocabularies of the shards."""
        vocabularies, options = vocabularies_of(self.sets[0]), self.options
        languages = [*self.target_languages]
        if languages:
            source = with_languages(vocabularies.source, languages)
            vocabularies = vocabularies._replace(source=source)
        path = options.tokenizer or options.warm_start
        if path is not None:
            wanted = read_vocabularies(path, options.target_tokenizer, languages=languages)
            if any(vocabularies.models[i] != wanted.models[i] for i in (0, -1)):
                raise ValueError(
                    "Shards hold the ids of their own tokenizer: prepare them with --tokenizer. "
                    f"Received: {str(path)!r}, for shards in {str(self.sets[0].folder)!r}."
                )
        return vocabularies

    def ids_of_a_pass(self, vocabularies: Any):
        sizes = [
            sum(max(shard["ids"]) + shard["pairs"] for shard in shards.manifest.shards)
            for shards in self.sets
        ]
        return sum(size * weight for size, weight in zip(sizes, self._weights(), strict=True))

    def check_some_are_left(self, recipe: Recipe, vocabularies: Any):
        check_shards_are_left(self.sets, recipe.max_length, recipe.max_length_ratio or None)
        super().check_some_are_left(recipe, vocabularies)


def prepare_translation(
    recipe: Recipe,
    source: Any,
    target: Any,
    output: Path,
    valid_source: Any = None,
    valid_target: Any = None,
    *,
    pairs: Any = None,
    valid_pairs: Any = None,
    shards: Any = None,
    **options: Any,
) -> Prepared[TranslationTask]:
    """Checks a run and provides its vocabularies, as `run_preparation.prepare` does.

    The arguments and errors are as for `kformer.training.train`; `options` are the fields of
    `TranslationOptions`.
    """
    directions = as_directions(options.get("directions"))
    if any(direction.shards for direction in directions):
        shards, options["directions"] = folders_of_directions(directions, shards), None
    training = text_of_arguments((source, target, pairs), options)
    validation = text_of_arguments((valid_source, valid_target, valid_pairs), options, "valid_")
    for kind, text in (("", training), ("valid_", validation)):
        if options.get(f"{kind}directions"):  # The run config has their names.
            options[f"{kind}directions"] = [*text.directions]
    if options.get("both_directions") and options.get("weights"):
        options["weights"] = 2 * [*options["weights"]]  # One for each file, in each direction.
    if not shards:
        task = TranslationTask(training, validation, TranslationOptions(**options))
    elif training.source or training.target:
        raise ValueError(
            "A run trains on shards or on text, not on both. "
            f"Received: {shards=} and source={source}, target={target}, pairs or directions."
        )
    else:
        names = [direction.languages for direction in directions]
        if languages := options.get("both_directions"):
            names = names_of_both(languages, len(as_list(shards)))
        options["directions"] = names if directions else None
        task = ShardsTask(validation, ShardsOptions(shards=shards, **options), names)
    return prepare_run(task, recipe, output)
