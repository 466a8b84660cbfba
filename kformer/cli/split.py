"""`kformer split`."""

from pathlib import Path
from typing import Annotated

import typer

from kformer.arguments import check_integer
from kformer.cli.command_options import SourceFiles, TargetFiles
from kformer.cli.terminal.next_steps import suggest
from kformer.cli.terminal.streams import quiet

_Files = list[Path]


def split(
    output: Annotated[Path, typer.Option(help="Folder for the parts: train.source, ...")],
    source: SourceFiles = None,
    target: TargetFiles = None,
    pairs: Annotated[
        _Files | None,
        typer.Option(help="Both sides in one file, as for `kformer prepare`. May be repeated."),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(help="Names of their columns, or the languages of .tmx and .zip: de,en."),
    ] = None,
    valid: Annotated[int, typer.Option(help="Random pairs to validate on.")] = 1000,
    test: Annotated[int, typer.Option(help="Random pairs to test on, at the end.")] = 0,
    unlike: Annotated[
        int,
        typer.Option(help="Pairs unlike the others, with rare words or unusual lengths."),
    ] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the choice.")] = 0,
):
    """Hold pairs out of parallel text, to validate and test on.

    Pairs that share a side with a held-out pair are dropped from the training text.
    """
    check_integer("seed", seed, least=0)
    with quiet():
        from kformer.training.preparation.held_out import hold_out

    division = hold_out(
        output,
        source,
        target,
        pairs=pairs,
        columns=None if columns is None else columns.split(","),
        valid=valid,
        test=test,
        unlike=unlike,
        seed=seed,
    )
    parts = {"train": division.train, **division.held_out}
    for name, number in parts.items():
        typer.echo(f"{output / name}.source, .target: {number:,} pairs")
    typer.echo(f"Dropped: {division.dropped:,} pairs that are blank, or share a held-out side.")
    files = [f"{output}/train.source", "--target", f"{output}/train.target"]
    for name in (part for part in division.held_out if part != "test"):
        files += ["--valid-source", f"{output}/{name}.source"]
        files += ["--valid-target", f"{output}/{name}.target"]
    suggest("kformer", "train", "--source", *files, "--output", "runs/new")
