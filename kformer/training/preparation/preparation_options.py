"""The settings of `prepare_shards`, each with its description and its check."""

import dataclasses
import functools
import inspect

from kformer.arguments import check_flag, check_number, check_text
from kformer.identification.identifier import check_identified
from kformer.near_names import with_near_fields
from kformer.training.recipes.recipe import OF_VOCABULARIES, Recipe

OF_NEW_VOCABULARY = ("vocab_size", "target_vocab_size", *OF_VOCABULARIES)
_OF_RECIPES = {field.name: field.metadata for field in dataclasses.fields(Recipe)}
_DEFAULTS = Recipe.named("tiny")


def _setting(default, description, check, **limits):
    metadata = {"description": description, "check": functools.partial(check, **limits)}
    return dataclasses.field(default=default, metadata=metadata)


def _recipe_field(name):
    """Declares a field that recipes have, too."""
    return dataclasses.field(default=getattr(_DEFAULTS, name), metadata=_OF_RECIPES[name])


@with_near_fields()
@dataclasses.dataclass(frozen=True, kw_only=True)
class PreparationOptions:
    """The settings of `prepare_shards`.

    Examples:
        >>> from kformer.training import PreparationOptions
        >>> options = PreparationOptions(max_length=100, drop_near_duplicates=True)
        >>> options.max_length, options.max_length_ratio, options.min_letters
        (100, 4.0, 0.5)
    """

    max_length: int = _recipe_field("max_length")
    max_length_ratio: float = dataclasses.field(
        default=4.0, metadata=_OF_RECIPES["max_length_ratio"]
    )
    min_letters: float = _setting(
        0.5,
        "Minimum share of letters among the characters of a side, spaces not counted; 0 for any.",
        check_number,
        least=0,
        most=1,
    )
    source_script: str = _setting(
        "",
        "Script of at least half of the source's letters, such as Latin; or several: Han,Hiragana.",
        check_text,
    )
    target_script: str = _setting("", "The same of the target.", check_text)
    source_language: str = _setting(
        "",
        "Code of the source's language, such as de: pairs whose source kformer identify takes for "
        "another language are dropped.",
        check_identified,
    )
    target_language: str = _setting("", "The same of the target.", check_identified)
    keep_identical: bool = _setting(
        False, "Keep pairs with the same text on both sides.", check_flag
    )
    drop_near_duplicates: bool = _setting(
        False, "Also drop pairs that differ little from another one.", check_flag
    )
    vocab_size: int = _recipe_field("vocab_size")
    target_vocab_size: int = _recipe_field("target_vocab_size")
    pieces: str = _recipe_field("pieces")
    character_coverage: float = _recipe_field("character_coverage")
    normalization: str = _recipe_field("normalization")
    split_digits: bool = _recipe_field("split_digits")

    def __post_init__(self):
        for field in dataclasses.fields(self):
            field.metadata["check"](field.name, getattr(self, field.name))
        if 0 < self.max_length_ratio < 1:
            raise ValueError(
                "`max_length_ratio` is that of the longer side to the shorter, so at least 1; or 0 "
                f"for any. Received: max_length_ratio={self.max_length_ratio}."
            )


PreparationOptions.__doc__ = f"{inspect.getdoc(PreparationOptions)}\n\nAttributes:\n" + "\n".join(
    f"    {field.name}: {field.metadata['description']}"
    for field in dataclasses.fields(PreparationOptions)
)
