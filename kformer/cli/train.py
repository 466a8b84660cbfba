"""`kformer train`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from kformer.cli.command_options import SourceFiles, TargetFiles
from kformer.cli.run_flags import Settings, train_as_prepared, with_options_of_run
from kformer.kinds import TRANSLATOR
from kformer.training.recipes.recipe import Recipe, default_recipe, recipe_names
from kformer.training.run.run_options import TranslationOptions

_Files = list[Path]


@with_options_of_run(TranslationOptions, TRANSLATOR.recipe)
def train(
    output: Annotated[Path, typer.Option(help="Folder for the translator and its history.")],
    source: SourceFiles = None,
    target: TargetFiles = None,
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
    recipe: Annotated[
        str | None,
        typer.Option(
            help=f"Numbers to start from: {', '.join(recipe_names('translator'))}. By default "
            "tiny, and fine-tune with --warm-start."
        ),
    ] = None,
    **settings: Any,
):
    """Train a translator on parallel text, with Keras's model.fit.

    The text is two files, or one with pairs.

    The same command resumes an unfinished run.
    """
    if not (source or target or pairs or shards or settings.get("directions")):
        raise ValueError(
            "Training needs --source and --target, --pairs, --direction, or --shards. "
            "Received: none of them."
        )
    flags, options, changes = Settings.among(settings, TranslationOptions)
    recipe = recipe or default_recipe(TRANSLATOR, options.get("warm_start"))
    numbers = Recipe.named(recipe, TRANSLATOR.words, **changes)
    options["columns"] = None if columns is None else columns.split(",")
    text = {"pairs": pairs or None, "valid_pairs": valid_pairs or None, "shards": shards or None}
    from kformer.training.kinds.translation_task import prepare_translation  # Imports NumPy.

    train_as_prepared(
        lambda folder: prepare_translation(
            numbers, source, target, folder, valid_source, valid_target, **text, **options
        ),
        output,
        flags,
        restart="restart" in options,
    )
