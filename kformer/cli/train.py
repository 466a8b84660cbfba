"""`kformer train`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from kformer.cli.command_options import LanguageOfTarget, Tokenize, with_options_of
from kformer.cli.common_models import a_file_of
from kformer.cli.run_flags import Flags, train_as_prepared
from kformer.training.recipes.recipe import Recipe, recipe_names

_Files = list[Path]


@with_options_of(Recipe, "Numbers that replace those of the recipe")
@with_options_of(Flags)
def train(
    output: Annotated[Path, typer.Option(help="Folder for the translator and its history.")],
    source: Annotated[
        _Files | None,
        typer.Option(help="Source text, plain or .gz, .bz2, .xz, .zst. May be repeated."),
    ] = None,
    target: Annotated[_Files | None, typer.Option(help="Its translation, line by line.")] = None,
    valid_source: Annotated[
        _Files | None,
        typer.Option(
            help="Validation text, which chooses the best model. May be repeated: each is scored, "
            "and the first one chooses."
        ),
    ] = None,
    valid_target: Annotated[_Files | None, typer.Option(help="Its translation.")] = None,
    pairs: Annotated[
        _Files | None,
        typer.Option(
            help="Instead of --source and --target: source, tab and target on each line; or .csv "
            "or .jsonl with the columns source and target. May be repeated."
        ),
    ] = None,
    valid_pairs: Annotated[
        _Files | None, typer.Option(help="The same, instead of --valid-source.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Names of these columns in --pairs, such as de,en.")
    ] = None,
    shards: Annotated[
        _Files | None,
        typer.Option(help="Instead of text: a folder of kformer prepare. May be repeated."),
    ] = None,
    skip_damaged: Annotated[
        bool, typer.Option("--skip-damaged", help="With --shards: leave out damaged shards.")
    ] = False,
    recipe: Annotated[
        str | None,
        typer.Option(
            help=f"Numbers to start from: {', '.join(recipe_names('translator'))}. By default "
            "tiny, and fine-tune with --warm-start."
        ),
    ] = None,
    weight: Annotated[
        list[float] | None,
        typer.Option(help="Passes over the n-th source file per epoch; repeated like --source."),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(help="Instead of --weight: above 1, small source files are read more often."),
    ] = None,
    target_tokenizer: Annotated[
        Path | None, a_file_of("As --tokenizer, for a target with its own vocabulary.")
    ] = None,
    target_language: LanguageOfTarget = None,
    tokenize: Tokenize = None,
    **settings: Any,
):
    """Train a translator on parallel text, with Keras's model.fit.

    The text is two files, or one with pairs.

    The same command resumes an unfinished run.
    """
    if not (source or target or pairs or shards):
        raise ValueError(
            "Training needs --source and --target, --pairs, or --shards. Received: none of them."
        )
    flags, changes = Flags.among(settings)
    recipe = recipe or ("fine-tune" if flags.warm_start else "tiny")
    numbers = Recipe.named(recipe, "translator", **changes)
    validation = valid_source, valid_target
    options = {
        **flags.options(changes),
        "weights": weight or None,
        "temperature": temperature,
        "target_tokenizer": target_tokenizer,
        "target_language": target_language,
        "tokenize": tokenize,
        "pairs": pairs or None,
        "valid_pairs": valid_pairs or None,
        "shards": shards or None,
        "skip_damaged": skip_damaged,
        "columns": None if columns is None else columns.split(","),
    }
    from kformer.training.kinds.translation_preparation import prepare_translation  # Imports NumPy.

    train_as_prepared(
        lambda folder: prepare_translation(numbers, source, target, folder, *validation, **options),
        output,
        flags,
    )
