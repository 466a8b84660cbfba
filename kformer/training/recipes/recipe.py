"""`Recipe`: the numbers of a training run, each with its description and its check."""

import dataclasses
import functools
import inspect
import itertools
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from kformer.arguments import check_choice, check_flag, check_integer, check_number
from kformer.kinds import LANGUAGE_MODEL, TRANSLATOR, Kind
from kformer.near_names import with_near_fields
from kformer.training.recipes.noise_rates import NO_NOISE, NOISES, noise_rates

_FOLDER = Path(__file__).parent
SIZES = (  # Of the model.
    "num_layers",
    "num_decoder_layers",
    "d_model",
    "num_heads",
    "d_ff",
    "norm_first",
    "activation",
    "decoder_cell",
)
MONITORS = {  # The scores that may choose the best model: name in the logs, "min" or "max".
    "loss": ("val_loss", "min"),
    "perplexity": ("val_perplexity", "min"),
    "bleu": ("val_bleu", "max"),
    "chrf": ("val_chrf", "max"),
    "accuracy": ("val_accuracy", "max"),
    "f1": ("val_f1", "max"),
}
SUITED = "auto"  # Stands for one of them.
TRANSLATION_MONITORS = ("bleu", "chrf")  # They need translations of the validation text.
ADAM, MUON = "adam", "muon"
NO_CONSISTENCY, SIMCUT, R_DROP = "none", "simcut", "rdrop"
OF_VOCABULARIES = ("pieces", "character_coverage", "normalization", "split_digits")
TEXT, VOCABULARY, MODEL, LEARNING, CHOICE, RUN = (  # The groups of settings on a page of --help.
    "Text and output",
    "Vocabulary",
    "Model",
    "Learning",
    "Validation and choice of the best model",
    "Run",
)
_NO_VALUE, _ANY_VALUE = object(), object()  # Of a number in runs that began without it.
OF_TRANSLATORS = {  # Numbers of a target, each with its value where there is none.
    "target_vocab_size": 0,
    "num_decoder_layers": 0,
    "max_length_ratio": 0,
    "decoder_cell": "attention",
}


def sizes_in(config: dict) -> dict:
    """Returns, by name, the `SIZES` in the config of a `kformer.Transformer`."""
    layers = config["num_decoder_layers"] or config["num_layers"]
    return {name: config[name] for name in SIZES} | {"num_decoder_layers": layers}


def is_smaller_student(name: str, size: int, start_size: int) -> bool:
    """Returns whether a size that differs from the start's is a smaller number of layers."""
    return name in ("num_layers", "num_decoder_layers") and 0 < size < start_size


def _number(
    description: str,
    check,
    group: str = LEARNING,
    *,
    is_changeable: bool = False,
    earlier: Any = _NO_VALUE,
    **limits,
):
    """Declares a number of a recipe: its description, the check of its values, its option.

    Args:
        group: Heading of its option on a page of --help.
        is_changeable: Whether a run may be resumed with another value.
        earlier: The value of runs of versions that had no such field; `_ANY_VALUE` for the value
            with which they are resumed.
        **limits: Arguments of `check`.
    """
    metadata = {
        "description": description,
        "check": functools.partial(check, **limits),
        "group": group,
        "is_changeable": is_changeable,
        "earlier": earlier,
    }
    return dataclasses.field(metadata=metadata)


_positive = functools.partial(_number, check=check_integer, least=1)
_not_negative = functools.partial(_number, check=check_integer, least=0)
_share = functools.partial(_number, check=check_number, least=0, below=1)
_choice = functools.partial(_number, check=check_choice)


class RecipeChanges(TypedDict, total=False):
    """The numbers of a `Recipe`, as keyword arguments."""

    vocab_size: int
    target_vocab_size: int
    pieces: str
    character_coverage: float
    normalization: str
    split_digits: bool
    num_layers: int
    num_decoder_layers: int
    d_model: int
    num_heads: int
    d_ff: int
    dropout: float
    norm_first: bool
    activation: str
    decoder_cell: str
    epochs: int
    tokens_per_batch: int
    max_length: int
    max_length_ratio: float
    piece_splitting: float
    byte_spelling: float
    noise: str
    optimizer: str
    warmup_steps: int
    learning_rate: float
    learning_rate_scale: float
    gradient_accumulation: int
    ema_momentum: float
    label_smoothing: float
    consistency: str
    consistency_weight: float
    cutoff: float
    precision: str
    monitor: str
    patience: int
    validate_every: int
    keep_best: int
    average: int
    seed: int


@with_near_fields('use `Recipe.named("tiny")`, with your changes')
@dataclasses.dataclass(frozen=True)
class Recipe:
    """All numbers of a training run. The values are in `recipes/NAME.toml`, nowhere else.

    A file contains every number, or `base`, the name of another recipe, and the numbers that
    differ. With `kind` the recipe is for one kind of model only; a base does not pass it on.

    Examples:
        >>> from kformer.training import Recipe
        >>> recipe = Recipe.named("tiny", epochs=5)
        >>> recipe.num_layers, recipe.d_model, recipe.epochs
        (4, 128, 5)
    """

    vocab_size: int = _positive(
        "Ids of the joint vocabulary, or of the source's own.", group=VOCABULARY
    )
    target_vocab_size: int = _not_negative(
        "Ids of the target's own vocabulary; 0 for a joint one.", group=VOCABULARY
    )
    pieces: str = _choice(
        "Pieces of a new vocabulary: unigram (parts of words), char or word.",
        among=("unigram", "char", "word"),
        group=VOCABULARY,
        earlier=_ANY_VALUE,
    )
    character_coverage: float = _number(
        "Least share of the text's characters that get pieces in a new vocabulary, from 0.98 to 1; "
        "the others do where ids are left.",
        check_number,
        least=0.98,
        most=1,
        group=VOCABULARY,
        earlier=_ANY_VALUE,
    )
    normalization: str = _choice(
        "What becomes of characters in a new vocabulary: nmt_nfkc (NFKC, and all white space is a "
        "space), nfkc, or identity (nothing).",
        among=("nmt_nfkc", "nfkc", "identity"),
        group=VOCABULARY,
        earlier=_ANY_VALUE,
    )
    split_digits: bool = _number(
        "Make each digit a piece in a new vocabulary.",
        check_flag,
        group=VOCABULARY,
        earlier=_ANY_VALUE,
    )
    num_layers: int = _positive("Layers of the encoder.", group=MODEL)
    num_decoder_layers: int = _not_negative(
        "Layers of the decoder; 0 for as many as the encoder has. Few decode fast.", group=MODEL
    )
    d_model: int = _positive("Width of the model.", group=MODEL)
    num_heads: int = _positive("Attention heads per layer.", group=MODEL)
    d_ff: int = _positive("Width of the feed-forward networks.", group=MODEL)
    dropout: float = _share("Dropout rate.", group=MODEL)
    norm_first: bool = _number(
        "Normalize before each sub-layer instead of after it.", check_flag, group=MODEL
    )
    activation: str = _choice(
        "Activation of the feed-forward networks: relu, gelu or swish.",
        among=("relu", "gelu", "swish"),
        group=MODEL,
    )
    decoder_cell: str = _choice(
        "How the decoder reads earlier words: attention, or ssru, a recurrent unit that decodes "
        "faster.",
        among=("attention", "ssru"),
        group=MODEL,
        earlier="attention",
    )
    epochs: int = _not_negative(
        "Passes over the text; 0 for a number that suits its size.", is_changeable=True
    )
    tokens_per_batch: int = _not_negative(
        "Ids per batch on its longer side, with padding; 0 for a number that suits the text's size."
    )
    max_length: int = _positive(
        "Maximum ids per sentence, the end id included.", least=2, group=TEXT
    )
    max_length_ratio: float = _number(
        "Maximum ratio of the longer side of a pair to the shorter, in ids; 0 for any.",
        check_number,
        least=0,
        group=TEXT,
    )
    piece_splitting: float = _share(
        "Subword regularization: share of pieces split into smaller ones, in training text.",
        group=TEXT,
    )
    byte_spelling: float = _share(
        "Byte-fallback augmentation: share of pieces spelled in bytes, in training text.",
        group=TEXT,
    )
    noise: str = _number(
        "Noise in training text: names and rates, such as upper=0.05,typos=0.1, among "
        f"{', '.join(NOISES)}; or robust, which stands for rates that pay; or none.",
        lambda _, value: noise_rates(value),
        group=TEXT,
        earlier=NO_NOISE,
    )
    optimizer: str = _choice(
        "Optimizer: adam, or muon, which is for the matrices of layers and has Adam for the rest.",
        among=(ADAM, MUON),
        earlier=ADAM,
    )
    warmup_steps: int = _positive("Steps until the learning rate peaks.", is_changeable=True)
    learning_rate: float = _number(
        "Highest learning rate, whatever the width; 0 for the paper's.",
        check_number,
        least=0,
        is_changeable=True,
        earlier=0.0,
    )
    learning_rate_scale: float = _number(
        "Factor of the paper's learning rate, which peaks at (d_model * warmup_steps)^-0.5, if "
        "`learning_rate` is 0.",
        check_number,
        above=0,
        is_changeable=True,
    )
    gradient_accumulation: int = _positive("Batches whose mean gradient makes one step.")
    ema_momentum: float = _share(
        "Momentum of the average of the weights, which is validated and saved; 0 for no average."
    )
    label_smoothing: float = _share("Share of the target probability spread over all ids.")
    consistency: str = _choice(
        "Consistency training, which computes two views of each example and asks for equal "
        "answers: none, simcut (one view has words cut off), or rdrop (only dropout differs). A "
        "step takes two to three times as long.",
        among=(NO_CONSISTENCY, SIMCUT, R_DROP),
        earlier=NO_CONSISTENCY,
    )
    consistency_weight: float = _number(
        "Weight of the divergence of the two views in the loss.",
        check_number,
        least=0,
        earlier=_ANY_VALUE,
    )
    cutoff: float = _share(
        "Share of the tokens that simcut cuts off in the second view.", earlier=_ANY_VALUE
    )
    precision: str = _choice(
        "Precision of the activations: float32 or bfloat16. Weights are float32.",
        among=("float32", "bfloat16"),
        is_changeable=True,
    )
    monitor: str = _choice(
        "Validation score that chooses the best model: loss; perplexity, which is without label "
        "smoothing; bleu or chrf of a translator; accuracy or f1 (macro F1) of a classifier. auto: "
        "chrf of a translator where there is validation text, else loss.",
        among=(*MONITORS, SUITED),
        group=CHOICE,
        is_changeable=True,
    )
    patience: int = _not_negative(
        "Validations in a row without a new best score that end training; 0 for never.",
        group=CHOICE,
        is_changeable=True,
    )
    validate_every: int = _not_negative(
        "Steps between two validations, each with a checkpoint; 0 for one per epoch.",
        group=CHOICE,
        is_changeable=True,
    )
    keep_best: int = _not_negative(
        "Best models to keep in `models`, with the last one; 0 for `translator.keras` alone.",
        group=CHOICE,
        is_changeable=True,
    )
    average: int = _not_negative(
        "Best models to average at the end; 0 for no average.", group=CHOICE, is_changeable=True
    )
    seed: int = _not_negative("Seed of the weights, dropout and shuffling.", most=2**32 - 1)

    def __post_init__(self):
        for field in dataclasses.fields(self):
            field.metadata["check"](field.name, getattr(self, field.name))
        if self.d_model % 2 or self.d_model % self.num_heads:
            raise ValueError(
                "`d_model` must be even, and a multiple of `num_heads`. "
                f"Received: d_model={self.d_model}, num_heads={self.num_heads}."
            )
        if self.max_length > self.tokens_per_batch > 0:
            raise ValueError(
                "`max_length` must be at most `tokens_per_batch`. "
                f"Received: max_length={self.max_length}, tokens_per_batch={self.tokens_per_batch}."
            )
        if 0 < self.max_length_ratio < 1:
            raise ValueError(
                "`max_length_ratio` is that of the longer side to the shorter, so at least 1; or 0 "
                f"for any. Received: max_length_ratio={self.max_length_ratio}."
            )

    def check_validation(self, files: str | Path | Sequence[str | Path] | None):
        """Raises ValueError if the recipe needs validation text and `files` is empty.

        With another monitor the last model is kept where there is none.
        """
        if (self.patience or self.monitor in TRANSLATION_MONITORS) and not files:
            raise ValueError(
                "Early stopping and the monitors bleu and chrf need validation text. "
                f"Received: patience={self.patience}, monitor={self.monitor!r} without any."
            )

    @classmethod
    def named(
        cls, name: str, kind: str | None = None, **changes: Unpack[RecipeChanges]
    ) -> "Recipe":
        """Reads the recipe `name`, with `changes` to some of its numbers.

        Args:
            kind: "translator", "classifier" or "language model", to refuse a recipe for another
                kind of model; None for any.
            **changes: Numbers of the recipe that differ, by name. A `learning_rate_scale` replaces
                the recipe's `learning_rate`.
        """
        if "learning_rate_scale" in changes:
            changes = {"learning_rate": 0.0, **changes}
        if name not in recipe_names():
            check_choice("recipe", name, recipe_names(kind))
        if name not in recipe_names(kind):
            own_kind = _entries(_FOLDER / f"{name}.toml")["kind"]
            raise ValueError(
                f"A {kind} has one of the recipes {', '.join(recipe_names(kind))}. "
                f"Received: recipe={name!r}, which is for a {own_kind}."
            )
        return cls(**{**_numbers(name), **changes})


Recipe.__doc__ = f"{inspect.getdoc(Recipe)}\n\nAttributes:\n" + "\n".join(
    f"    {field.name}: {field.metadata['description']}" for field in dataclasses.fields(Recipe)
)


def numbers_before(numbers: dict) -> dict:
    """Returns the values that numbers have for a run of a version without them, by name.

    Args:
        numbers: The numbers of the recipe with which the run is resumed.
    """
    earlier = {field.name: field.metadata["earlier"] for field in dataclasses.fields(Recipe)}
    return {
        name: numbers.get(name) if value is _ANY_VALUE else value
        for name, value in earlier.items()
        if value is not _NO_VALUE
    }


def peak_scale(recipe: Recipe) -> float:
    """Returns the factor by which the paper's schedule peaks at the learning rate of a recipe."""
    paper_peak = (recipe.d_model * recipe.warmup_steps) ** -0.5
    return recipe.learning_rate / paper_peak or recipe.learning_rate_scale


def rate_option(recipe: Recipe) -> str:
    """Returns the option of commands by which the learning rate of a recipe is changed."""
    return "--learning-rate" if recipe.learning_rate else "--learning-rate-scale"


def recipe_names(kind: str | None = None) -> list[str]:
    """Returns the names of the package's recipes, or of the recipes for one `kind` of model."""
    files = sorted(_FOLDER.glob("*.toml"), key=lambda file: file.stem)
    return [file.stem for file in files if kind in (None, _entries(file).get("kind", kind))]


def recipe_for(kind: Kind, recipe: Recipe | str | None, warm_start: Any = None) -> Recipe:
    """Returns the recipe of a run: the given one, or the one with the given name."""
    if isinstance(recipe, Recipe):
        return recipe
    if recipe is None:
        recipe = default_recipe(kind, warm_start)
    if not isinstance(recipe, str):
        raise TypeError(
            "`recipe` must be a kformer.training.Recipe or the name of one, such as "
            f"{kind.recipe!r}. Received: recipe={recipe!r:.99}."
        )
    return Recipe.named(recipe, kind.words)


def default_recipe(kind: Kind, warm_start: Any = None) -> str:
    """Returns the name of the recipe of a run of a kind, if none is given."""
    # The head of a classifier or a tagger may be new, and learns little at a low rate.
    fine_tunes = kind in (TRANSLATOR, LANGUAGE_MODEL) and warm_start is not None
    return "fine-tune" if fine_tunes else kind.recipe


def description_of(name: str) -> str:
    """Returns the description of a recipe: the comment at the beginning of its file."""
    lines = (_FOLDER / f"{name}.toml").read_text("utf-8").splitlines()
    comment = itertools.takewhile(lambda line: line.startswith("# "), lines)
    return " ".join(line.removeprefix("# ") for line in comment)


@functools.cache
def _entries(file: Path) -> dict:
    """Returns the contents of a recipe's file: numbers, and perhaps `base` and `kind`."""
    return tomllib.loads(file.read_text("utf-8"))


def _numbers(name: str, derived: tuple[str, ...] = ()) -> dict:
    """Returns the numbers of a recipe: its base's, replaced by its own."""
    numbers = {**_entries(_FOLDER / f"{name}.toml")}
    numbers.pop("kind", None)
    base = numbers.pop("base", None)
    if base is None:
        return numbers
    derived = (*derived, name)
    if base in derived or base not in recipe_names():
        raise ValueError(
            "The base of a recipe must be another recipe, and not one that is based on it. "
            f"Received: base={base!r} in '{name}.toml'."
        )
    return {**_numbers(base, derived), **numbers}
