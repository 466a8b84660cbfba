"""`kformer train`."""

from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.terminal.quiet import quiet
from kformer.training.recipes.recipe import MONITORS, PRECISIONS, SIZES, Recipe, recipe_names
from kformer.training.run.folder import TRANSLATOR, locked
from kformer.training.run.interruption import Interrupted

_RECIPE = "Numbers of the recipe, if not its own"
_Files = list[Path]


def _number(help_text):
    return typer.Option(help=help_text, rich_help_panel=_RECIPE, show_default=False)


def train(
    source: Annotated[_Files, typer.Option(help="Text to translate from; may be repeated.")],
    target: Annotated[_Files, typer.Option(help="Its translation, line for line.")],
    output: Annotated[Path, typer.Option(help="Folder for the translator and its history.")],
    valid_source: Annotated[
        _Files | None, typer.Option(help="Text to choose the best epoch by.")
    ] = None,
    valid_target: Annotated[_Files | None, typer.Option(help="Its translation.")] = None,
    recipe: Annotated[
        str, typer.Option(help=f"Numbers to start from: {', '.join(recipe_names())}.")
    ] = "tiny",
    weight: Annotated[
        list[float] | None,
        typer.Option(help="How often a pass reads the n-th source file; repeated like --source."),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(help="Mixes several source files instead: over 1, small ones come often."),
    ] = None,
    warm_start: Annotated[
        Path | None, typer.Option(help="A .keras translator to start from; its sizes hold.")
    ] = None,
    new_vocabulary: Annotated[
        bool,
        typer.Option("--new-vocabulary", help="Learn a vocabulary then, too."),
    ] = False,
    tokenizer: Annotated[
        Path | None,
        typer.Option(
            help="A SentencePiece model, or a .keras translator, whose vocabulary to use."
        ),
    ] = None,
    target_tokenizer: Annotated[
        Path | None, typer.Option(help="The same for the target, if that has its own.")
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Check and describe the text and the run; write nothing."),
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Replace a finished run in the folder, or one of other settings; an unfinished "
            "one of the same settings goes on.",
        ),
    ] = False,
    restart: Annotated[
        bool,
        typer.Option(
            "--restart", help="Begin anew, and replace even an unfinished run of the same settings."
        ),
    ] = False,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Write logs for TensorBoard, too.")
    ] = False,
    vocab_size: Annotated[int | None, _number("Ids of the joint vocabulary.")] = None,
    target_vocab_size: Annotated[
        int | None, _number("Ids of a vocabulary of the target's own; 0 for a joint one.")
    ] = None,
    num_layers: Annotated[int | None, _number("Layers in encoder and decoder each.")] = None,
    d_model: Annotated[int | None, _number("Width of the model.")] = None,
    num_heads: Annotated[int | None, _number("Attention heads in a layer.")] = None,
    d_ff: Annotated[int | None, _number("Width of the feed-forward networks.")] = None,
    dropout: Annotated[float | None, _number("Dropout rate.")] = None,
    norm_first: Annotated[
        bool | None, _number("Normalise before each sub-layer, or after.")
    ] = None,
    epochs: Annotated[int | None, _number("Passes over the text.")] = None,
    tokens_per_batch: Annotated[int | None, _number("Ids in a batch.")] = None,
    max_length: Annotated[int | None, _number("Most ids of a sentence.")] = None,
    max_length_ratio: Annotated[
        float | None, _number("Most ids of a pair's longer side for one of its shorter; 0 for any.")
    ] = None,
    piece_splitting: Annotated[
        float | None, _number("Share of pieces split into smaller ones.")
    ] = None,
    byte_spelling: Annotated[float | None, _number("Share of pieces spelled in bytes.")] = None,
    warmup_steps: Annotated[int | None, _number("Steps to the highest learning rate.")] = None,
    learning_rate_scale: Annotated[
        float | None, _number("Times the paper's learning rate.")
    ] = None,
    gradient_accumulation: Annotated[int | None, _number("Batches in a step.")] = None,
    ema_momentum: Annotated[
        float | None, _number("Of the average of the weights; 0 for none.")
    ] = None,
    label_smoothing: Annotated[float | None, _number("Share spread over all ids.")] = None,
    precision: Annotated[str | None, _number(f"{' or '.join(PRECISIONS)}.")] = None,
    monitor: Annotated[
        str | None, _number(f"What chooses the best epoch: {' or '.join(MONITORS)}.")
    ] = None,
    patience: Annotated[
        int | None, _number("Validations without a best one that end training; 0 for never.")
    ] = None,
    validate_every: Annotated[
        int | None,
        _number("Steps to the next validation and checkpoint; 0 for one at the end of an epoch."),
    ] = None,
    keep_best: Annotated[
        int | None, _number("Best models to keep in `models`, with the last; 0 for one alone.")
    ] = None,
    average: Annotated[
        int | None, _number("Best models to average at the end; 0 for none.")
    ] = None,
    seed: Annotated[int | None, _number("Of weights, dropout and shuffling.")] = None,
):
    """Train a translator on parallel text, with Keras's model.fit.

    The same command goes on where an unfinished run broke off.
    """
    changes = {
        "vocab_size": vocab_size,
        "target_vocab_size": target_vocab_size,
        "num_layers": num_layers,
        "d_model": d_model,
        "num_heads": num_heads,
        "d_ff": d_ff,
        "dropout": dropout,
        "norm_first": norm_first,
        "epochs": epochs,
        "tokens_per_batch": tokens_per_batch,
        "max_length": max_length,
        "max_length_ratio": max_length_ratio,
        "piece_splitting": piece_splitting,
        "byte_spelling": byte_spelling,
        "warmup_steps": warmup_steps,
        "learning_rate_scale": learning_rate_scale,
        "gradient_accumulation": gradient_accumulation,
        "ema_momentum": ema_momentum,
        "label_smoothing": label_smoothing,
        "precision": precision,
        "monitor": monitor,
        "patience": patience,
        "validate_every": validate_every,
        "keep_best": keep_best,
        "average": average,
        "seed": seed,
    }
    changes = {name: value for name, value in changes.items() if value is not None}
    numbers = Recipe.named(recipe, **changes)
    arguments = (numbers, source, target, output, valid_source, valid_target)
    options = {
        "weights": weight or None,
        "temperature": temperature,
        "warm_start": warm_start,
        "new_vocabulary": new_vocabulary,
        "tokenizer": tokenizer,
        "target_tokenizer": target_tokenizer,
        "exact_sizes": {"vocab_size", "target_vocab_size", *SIZES} & {*changes},
        "overwrite": overwrite,
        "restart": restart,
    }
    from kformer.training.run.preparation import prepare  # It needs NumPy, other commands do not.

    if dry_run:
        _report(prepare(*arguments, **options))
        return
    try:
        with locked(output):
            prepared = prepare(*arguments, **options)
            with quiet():
                from kformer.training.run import trainer

            trainer.run(prepared, tensorboard=tensorboard)
    except Interrupted as stopped:
        again = "Run the same command" + (", without --restart," if restart else "")
        typer.echo(f"kformer: {stopped} {again} to go on.", err=True)
        raise typer.Exit(stopped.exit_code) from stopped
    typer.echo(f"The translator is {output / TRANSLATOR}")


def _report(prepared):
    """Prints what the run would print before its first step."""
    with quiet():
        from kformer.training.run import trainer

        found = trainer.report(prepared)
    typer.echo(found)
    goes_on = f" {str(prepared.output)!r} holds this run; it would go on."
    typer.echo(f"Dry run: nothing was written.{goes_on * prepared.resumes}")
