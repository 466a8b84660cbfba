"""The options of training runs: each is defined here once, with its description and its default.

Trainers, commands, run configs and documentation read the dataclasses. The `TypedDict` beside each
dataclass lists the same names for type checkers, which a test compares.
"""

import dataclasses
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from kformer.arguments import check_choice, check_number
from kformer.inference.source_marks import KINDS as MARKS
from kformer.kinds import LANGUAGE_MODEL
from kformer.text.bleu_tokenizers import TOKENIZERS
from kformer.text.documents import DOCUMENTS, LINE
from kformer.training.recipes.noise_rates import NO_NOISE
from kformer.training.recipes.recipe import (
    CHOICE,
    MODEL,
    OF_TRANSLATORS,
    RUN,
    TEXT,
    TRANSLATION_MONITORS,
    VOCABULARY,
    Recipe,
)

if TYPE_CHECKING:  # The command line imports this module, also for --help.
    from kformer.training.data.directions import Direction


def option_metadata(
    group: str, description: str, recorded: Callable | None = None, **settings: Any
):
    """Returns the metadata of an option.

    Args:
        group: The options of commands that it is with, as for the numbers of a recipe.
        recorded: Function from a value to the one of the run config, in which a `pathlib.Path`
            stands for the hash of a file; None for an option that may change when a run resumes.
    """
    own = {"group": group, "description": description, "recorded": recorded, "in_commands": True}
    return own | settings


def _if_on(flag: bool) -> bool | None:
    """Returns the value in the run config of a flag that early run configs lack."""
    return bool(flag) or None


def flag_option(group: str, description: str, recorded: Callable | None = None):
    """Declares an option that is off by default, by arguments of `option_metadata`."""
    metadata = option_metadata(group, description, recorded, is_flag=True)
    return dataclasses.field(default=False, metadata=metadata)


class RunArguments(TypedDict, total=False):
    """The fields of `RunOptions`, as keyword arguments."""

    warm_start: str | Path | None
    new_vocabulary: bool
    tokenizer: str | Path | None
    exact_sizes: Collection[str]
    overwrite: bool
    restart: bool
    max_hours: float | None
    checkpoint_seconds: float
    tensorboard: bool
    callbacks: Sequence[Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of every kind of run."""

    warm_start: str | Path | None = dataclasses.field(
        default=None,
        metadata=option_metadata(
            MODEL,
            "A .keras file to start from, instead of random weights. The new model has its sizes.",
            recorded=Path,
            is_model=True,
        ),
    )
    new_vocabulary: bool = flag_option(
        VOCABULARY, "With `warm_start`: learn a new vocabulary from the text.", recorded=bool
    )
    tokenizer: str | Path | None = dataclasses.field(
        default=None,
        metadata=option_metadata(
            VOCABULARY,
            "A SentencePiece model or a .keras file with the vocabulary to use, instead of "
            "learning one from the text.",
            recorded=Path,
            is_model=True,
        ),
    )
    exact_sizes: Collection[str] = dataclasses.field(
        default=(),
        metadata=option_metadata(
            RUN,
            "Names of sizes that must be exactly the recipe's. By default the vocabulary has as "
            "many ids as the text supports, at most the recipe's number, and the sizes of "
            "`warm_start` and `tokenizer` replace the recipe's; for the sizes named here that is "
            "an error.",
            in_commands=False,
        ),
    )
    overwrite: bool = flag_option(
        RUN,
        "Replace a finished run in the folder, or a run with other settings. An "
        "unfinished run with the same settings is resumed.",
    )
    restart: bool = flag_option(
        RUN, "Start again, and replace even an unfinished run with the same settings."
    )
    max_hours: float | None = dataclasses.field(
        default=None,
        metadata=option_metadata(
            RUN,
            "Hours of training, at most: it ends after the last validation that comes in time. "
            "Recipes with `validate_every` have more of these.",
        ),
    )
    checkpoint_seconds: float = dataclasses.field(
        default=60.0,
        metadata=option_metadata(
            RUN,
            "Time between two checkpoints, as for `kformer.training.resumable_fit`.",
            in_commands=False,
        ),
    )
    tensorboard: bool = flag_option(RUN, "Also write logs for TensorBoard.")
    callbacks: Sequence[Any] = dataclasses.field(
        default=(), metadata=option_metadata(RUN, "More Keras callbacks.", in_commands=False)
    )

    @property
    def vocabulary(self) -> str | Path | None:
        """Path of the file with the vocabularies; None if they are learned from the text."""
        if self.tokenizer is None and not self.new_vocabulary:
            return self.warm_start
        return self.tokenizer

    def recorded(self) -> dict:
        """Returns the options for the run config, with files as `pathlib.Path`."""
        return {
            field.name: _recorded(field, getattr(self, field.name))
            for field in dataclasses.fields(self)
            if field.metadata.get("recorded")
        }

    def check(self, recipe: Recipe):
        """Raises ValueError if the options contradict each other or the recipe."""
        if self.new_vocabulary and self.warm_start is None:
            raise ValueError(
                "`new_vocabulary` needs `warm_start`; other runs learn a vocabulary in any case. "
                f"Received: new_vocabulary=True, warm_start={self.warm_start}."
            )
        if self.max_hours is not None:
            check_number("max_hours", self.max_hours, above=0)
        if self.vocabulary is not None and (self.new_vocabulary or recipe.target_vocab_size):
            raise ValueError(
                "With an existing vocabulary, none is learned. Received: tokenizer="
                f"{self.tokenizer and str(self.tokenizer)!r}, "
                f"new_vocabulary={self.new_vocabulary}, "
                f"target_vocab_size={recipe.target_vocab_size}."
            )


def _recorded(field, value):
    return None if value is None else field.metadata["recorded"](value)


class TranslationArguments(RunArguments, total=False):
    """The fields of `TranslationOptions`, as keyword arguments."""

    weights: list[float] | None
    temperature: float | None
    target_tokenizer: str | Path | None
    columns: Sequence[str] | None
    directions: "Sequence[Direction | str] | None"
    valid_directions: "Sequence[Direction | str] | None"
    both_directions: str | None
    target_language: str | None
    tokenize: str | None
    skip_damaged: bool
    terms: bool
    placeholders: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class TranslationOptions(RunOptions):
    """The options of a translator's run."""

    weights: list[float] | None = dataclasses.field(
        default=None,
        metadata=option_metadata(
            TEXT,
            "Passes over the n-th source file, or the n-th folder of shards, per epoch; by default "
            "1 for each.",
            recorded=lambda weights: [float(weight) for weight in weights],
            option="weight",
        ),
    )
    temperature: float | None = dataclasses.field(
        default=None,
        metadata=option_metadata(
            TEXT,
            "Instead of `weights`: above 1, small source files are read more often.",
            recorded=lambda temperature: temperature,
        ),
    )
    target_tokenizer: str | Path | None = dataclasses.field(
        default=None,
        metadata=option_metadata(
            VOCABULARY,
            "As `tokenizer`, for a target with its own vocabulary.",
            recorded=Path,
            is_model=True,
        ),
    )
    columns: Sequence[str] | None = dataclasses.field(
        default=None,
        metadata=option_metadata(
            RUN,
            "Names of the columns of source and target in files of pairs.",
            recorded=lambda columns: [*columns],
            in_commands=False,
        ),
    )
    directions: "Sequence[Direction | str] | None" = dataclasses.field(
        default=None,
        metadata=option_metadata(
            TEXT,
            "Text of a direction, for a model of several languages: de-en:SOURCE:TARGET, of two "
            "files, or de-en:TABLE, of a table with the columns de and en. May be repeated.",
            recorded=list,
            option="direction",
            command_type=list[str],
            metavar="DIRECTION",
        ),
    )
    valid_directions: "Sequence[Direction | str] | None" = dataclasses.field(
        default=None,
        metadata=option_metadata(
            TEXT,
            "Validation text of a direction, as `directions`. May be repeated: each is scored, and "
            "the mean chooses.",
            recorded=list,
            option="valid-direction",
            command_type=list[str],
            metavar="DIRECTION",
        ),
    )
    both_directions: str | None = dataclasses.field(
        default=None,
        metadata=option_metadata(
            TEXT,
            "Languages of source and target, such as de-en: train one model of both directions, on "
            "each pair both ways.",
            recorded=str,
            metavar="LANGUAGES",
        ),
    )
    target_language: str | None = dataclasses.field(
        default=None,
        metadata=option_metadata(
            TEXT,
            "Code of the language of the translations, such as ja: kept in the model, and chooses "
            "the tokenizer of BLEU. By default that of `warm_start`.",
            recorded=str,
            metavar="LANGUAGE",
        ),
    )
    tokenize: str | None = dataclasses.field(
        default=None,
        metadata=option_metadata(
            CHOICE,
            f"Tokenizer of BLEU: {', '.join(TOKENIZERS)}. By default that of the target language, "
            "if it is known, else 13a.",
            recorded=str,
        ),
    )
    skip_damaged: bool = flag_option(
        TEXT, "With shards: leave out damaged shards, with a warning, instead of an error."
    )
    terms: bool = flag_option(
        TEXT,
        "Put translations of words into random sources, between two symbols, so that the model "
        "follows glossaries without another search.",
        recorded=_if_on,
    )
    placeholders: bool = flag_option(
        TEXT,
        "Put symbols in place of words into random pairs, so that the model copies placeholders.",
        recorded=_if_on,
    )

    @property
    def marks(self) -> tuple[str, ...]:
        """The kinds of marks that random pairs get, of `kformer.inference.source_marks.KINDS`."""
        return tuple(name for name in MARKS if getattr(self, name))

    def check_no_marks(self, received: str):
        """Raises ValueError if marks are wanted in `received`, which has ids in place of text."""
        if self.marks:
            raise ValueError(
                "`terms` and `placeholders` are put into text, which shards do not have. "
                f"Received: {' and '.join(self.marks)} with {received}."
            )

    def check(self, recipe: Recipe):
        if self.tokenizer is None and self.target_tokenizer is not None:
            raise ValueError(
                "A tokenizer of the target needs one of the source beside it. "
                f"Received: tokenizer=None, target_tokenizer={str(self.target_tokenizer)!r}."
            )
        super().check(recipe)
        if self.target_language is not None and (self.directions or self.both_directions):
            raise ValueError(
                "Directions name their languages, so `target_language` does not go with them. "
                f"Received: target_language={self.target_language!r}, "
                f"both_directions={self.both_directions!r}, directions={self.directions}."
            )
        if self.columns is not None and self.directions:
            raise ValueError(
                "Tables of directions have a column for each language, so `columns` does not go "
                f"with them. Received: columns={self.columns}, directions={self.directions}."
            )
        if self.tokenize is not None and recipe.monitor not in TRANSLATION_MONITORS:
            raise ValueError(
                "`tokenize` is for the BLEU of validations, so `monitor` must be one of "
                f"{', '.join(TRANSLATION_MONITORS)}. Received: tokenize={self.tokenize!r}, "
                f"monitor={recipe.monitor!r}."
            )


class LanguageArguments(RunArguments, total=False):
    """The fields of `LanguageOptions`, as keyword arguments."""

    documents: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class LanguageOptions(RunOptions):
    """The options of a language model's run."""

    documents: str = dataclasses.field(
        default=LINE,
        metadata=option_metadata(
            TEXT,
            "Definition of a document: line, each line; blank-line, the lines between blank ones; "
            "file, each file. With the latter two the model learns line breaks, and indentation.",
            recorded=str,
            choices=DOCUMENTS,
        ),
    )

    def check(self, recipe: Recipe):
        check_no_target(recipe, LANGUAGE_MODEL.words)
        check_choice("documents", self.documents, DOCUMENTS)
        if recipe.noise != NO_NOISE:
            raise ValueError(
                "A language model would learn to write noise, so its recipe must have none. "
                f"Received: noise={recipe.noise!r}."
            )
        super().check(recipe)


def check_no_target(recipe: Recipe, model: str):
    """Raises ValueError if the recipe has numbers of a target, which a `model` has not."""
    received = {name: getattr(recipe, name) for name in OF_TRANSLATORS}
    wrong = [f"{name}={value}" for name, value in received.items() if value != OF_TRANSLATORS[name]]
    if wrong:
        without = (f"{name}={value}" for name, value in OF_TRANSLATORS.items())
        raise ValueError(
            f"A {model} has no target: its recipe has {', '.join(without)}. "
            f"Received: {', '.join(wrong)}."
        )
